"""What a tool call was given and how it failed, as shortly as it can be said: its command, and the last line of it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.text import Text

from accord.model.content import TextContent
from accord.tui.conversation.ansi import printed_lines
from accord.tui.plain import plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from accord.model.tool import ToolCall
    from accord.tui.conversation.block import Printed

_NAMES = ("command", "cmd")
_WHYS = ("error", "message", "stderr", "output", "stdout")
_FEW = 20
"""Lines of the end among which the last one that says something is looked for."""
_LONG = 10_000


class Given(NamedTuple):
    """What a tool was given: a command, where it is one, and the rest."""

    command: str
    rest: Any


def given(value: Any) -> Given:
    """Takes a command out of what a tool was given."""
    if isinstance(value, dict):
        for name in _NAMES:
            match value.get(name):
                case str(command):
                    pass
                case [*words] if words and all(isinstance(word, str) for word in words):
                    command = shlex.join(words)
                case _:
                    continue
            if command.strip():
                return Given(command, {key: each for key, each in value.items() if key != name})
    return Given("", value)


def last_words(call: ToolCall, terminals: Iterable[Printed | None]) -> Text | None:
    """The last line of what a call that failed printed or said; None where it did not fail, or says nothing."""
    ends = [each for each in terminals if each is not None]
    has_failed = any(each.exit is not None and each.exit.code != 0 for each in ends)
    if not has_failed and call.status != "failed":
        return None
    for each in reversed(ends):
        if (line := _last(printed_lines(each.text, _FEW)[0])) is not None:
            return line
    texts = [item.text for item in call.content if isinstance(item, TextContent)]
    for text in [*reversed(texts), *_said(call.raw_output)]:
        rows = [row for row in plain(text[-_LONG:]).splitlines()[-_FEW:] if not row.startswith("```")]
        if (line := _last([Text(row, no_wrap=True) for row in rows])) is not None:
            return line
    return None


def _said(value: Any) -> list[str]:
    """What a raw output says of how it went wrong."""
    found = [value.get(name) for name in _WHYS] if isinstance(value, dict) else [value]
    return [each for each in found if isinstance(each, str)]


def _last(rows: list[Text]) -> Text | None:
    line = next((row for row in reversed(rows) if row.plain.strip()), None)
    if line is not None:
        line.overflow = "ellipsis"
    return line
