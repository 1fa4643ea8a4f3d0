"""Edits as blocks of text, which some models were trained to write instead of arguments.

    <<<<<<< SEARCH
    old text
    =======
    new text
    >>>>>>> REPLACE

Aider, Cline and Roo Code have variants of it: other markers, and line numbers before the old text."""

from __future__ import annotations

import re

_BLOCK = re.compile(
    r"^(?:<{5,9}|-{5,9}) ?SEARCH>?[^\n]*\n"
    r"(?:(?::start_line: *\d+|:end_line: *\d+) *\n)*(?:-{5,9} *\n)?"
    r"(.*?)^={5,9} *\n(.*?)^(?:>{5,9}|\+{5,9}) ?REPLACE\b",
    re.MULTILINE | re.DOTALL,
)


PATCHES = frozenset({"patch", "diff", "patchtext", "edits", "input", "blocks"})
"""The arguments, normalized, that may hold blocks or a patch. In others, they are text to write."""
_START = re.compile(r"\s*(?:```\w*\n)?(?=[<-]{5})")


def has_blocks(text: object) -> bool:
    """Return whether a text consists of such blocks."""
    start = _START.match(text) if isinstance(text, str) else None
    return start is not None and _BLOCK.match(start.string, start.end()) is not None


def parse_blocks(text: str) -> list[dict[str, str]]:
    """Return the edits of a text, as arguments of `edit_file`."""
    return [{"old_string": old, "new_string": new} for old, new in _BLOCK.findall(text.replace("\r\n", "\n"))]
