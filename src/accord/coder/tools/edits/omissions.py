"""Detect text that stands for other text: `# ... rest of the code unchanged ...`, or `\\n` in place of line feeds.

Some models abbreviate code. Written literally, a placeholder would replace the code that it stands for."""

from __future__ import annotations

import re

from accord.coder.tools.base import ToolError
from accord.coder.tools.text import cut

_WHAT = r"(?:rest|remaining|remainder|existing|other|previous|same|unchanged)\b"
_PLACEHOLDER = re.compile(
    rf"^[ \t]*(?:(?:#|//|/\*|--|<!--|;|%)[ \t]*)?\(?(?:\.\.\.|…)[ \t]*(?:the )?{_WHAT}[^\n]{{0,80}}$"
    r"|^[ \t]*(?:#|//|/\*|--|<!--|;|%)[ \t]*(?:the )?(?:rest|remainder) of (?:the |this )?"
    r"(?:code|file|function|class|methods?|implementation)\b[^\n]{0,80}$",
    re.MULTILINE | re.IGNORECASE,
)
MIN_ESCAPES = 2


def refuse_placeholder(new: str, old: str) -> None:
    """Refuse text with a placeholder for code that it would replace."""
    for match in _PLACEHOLDER.finditer(new):
        line = match[0].strip()
        if line not in old:
            raise ToolError(
                f"the new text contains the placeholder {cut(line, 80)!r}. It would be written as it is, and the code "
                "that it stands for would be lost. Write out all of it, or edit only the lines that change"
            )


def describe_escapes(content: str) -> str:
    """Return a note about content whose line feeds were probably escaped twice; empty if it has none like that."""
    is_data = content.lstrip().startswith(("{", "[", '"'))  # where escapes are usual
    if is_data or "\n" in content.strip() or content.count("\\n") < MIN_ESCAPES:
        return ""
    return (
        "\nThe file is one line that contains \\n as two characters. If it should have several lines, write it again."
    )
