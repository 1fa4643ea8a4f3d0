"""The input and output of a tool call as text: JSON, commands, and the end of what a command printed."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from rich.text import Text

from accord.model.content import TextContent
from accord.terminal_text import format_size, sanitize
from accord.tui.transcript.ansi import printed_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from accord.model.tool import Diff, ToolCall
    from accord.tui.agent.workspace import CommandOutput

_MAX_RAW_TEXT, _MAX_ITEMS = 4000, 200
"""Characters of a text and items of a list to show from raw input and output."""


def as_json(value: Any, *, clip: bool = True, flat: bool = False) -> str:
    """Format a value as JSON, indented or on one line (`flat`); a string stays as it is."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(
            _truncate(value) if clip else value, ensure_ascii=False, indent=None if flat else 2, default=str
        )
    except (TypeError, ValueError, RecursionError):
        return str(value)


def words_of(value: Any) -> Iterator[str]:
    """Return the strings and numbers in a value, without field names, zeros and booleans."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool) and value:
        yield str(value)
    elif isinstance(value, (dict, list)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from words_of(each)


def _truncate(value: Any) -> Any:
    """Truncate long strings and lists inside a value: an agent may send megabytes here."""
    if isinstance(value, str):
        return value if len(value) <= _MAX_RAW_TEXT else f"{value[:_MAX_RAW_TEXT]}… ({format_size(len(value))} in all)"
    if isinstance(value, dict):
        return {key: _truncate(value[key]) for key in list(value)[:_MAX_ITEMS]}
    if isinstance(value, list):
        return [_truncate(each) for each in value[:_MAX_ITEMS]]
    return value


_NAMES = ("command", "cmd")
_WHYS = ("error", "message", "stderr", "output", "stdout")
_MAX_END_LINES = 20
"""Lines at the end to search for the last one that isn't blank."""
_MAX_ERROR_TEXT = 10_000


class ToolInput(NamedTuple):
    """The input of a tool: its command, if it has one, and the rest."""

    command: str
    rest: Any


def split_command(value: Any) -> ToolInput:
    """Split the command from the rest of a tool's input."""
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
                return ToolInput(command, {key: each for key, each in value.items() if key != name})
    return ToolInput("", value)


def last_error_line(call: ToolCall, terminals: Iterable[CommandOutput | None]) -> Text | None:
    """Return the last line of a failed call's output; None if it didn't fail or printed nothing."""
    ends = [each for each in terminals if each is not None]
    has_failed = any(each.exit is not None and each.exit.code != 0 for each in ends)
    if not has_failed and call.status != "failed":
        return None
    for each in reversed(ends):
        if (line := _last(printed_lines(each.text, _MAX_END_LINES)[0])) is not None:
            return line
    texts = [item.text for item in call.content if isinstance(item, TextContent)]
    for text in [*reversed(texts), *_error_texts(call.raw_output)]:
        rows = [
            row for row in sanitize(text[-_MAX_ERROR_TEXT:]).splitlines()[-_MAX_END_LINES:] if not row.startswith("```")
        ]
        if (line := _last([Text(row, no_wrap=True) for row in rows])) is not None:
            return line
    return None


def _error_texts(value: Any) -> list[str]:
    """Return the error messages in a raw output."""
    found = [value.get(name) for name in _WHYS] if isinstance(value, dict) else [value]
    return [each for each in found if isinstance(each, str)]


def _last(rows: list[Text]) -> Text | None:
    line = next((row for row in reversed(rows) if row.plain.strip()), None)
    if line is not None:
        line.overflow = "ellipsis"
    return line


class OutputEnd(NamedTuple):
    """The last lines of a command's output, and how many come before them."""

    rows: list[Text]
    skipped: int


def end_of_output(call: ToolCall, terminals: Iterable[CommandOutput | None], most: int) -> OutputEnd:
    """Return the last lines that a command printed: to its terminal, or as the agent reports them."""
    for each in reversed([each for each in terminals if each is not None]):
        rows, skipped = printed_lines(each.text, most)
        if any(row.plain.strip() for row in rows):
            return OutputEnd(_without_blank_ends(rows), skipped + each.skipped)
    if call.kind != "execute":
        return OutputEnd([], 0)
    texts = [item.text for item in call.content if isinstance(item, TextContent)]
    for text in [*reversed(texts), *_error_texts(call.raw_output)]:
        plain = "\n".join(row for row in text[-_MAX_ERROR_TEXT:].splitlines() if not row.startswith("```"))
        rows, skipped = printed_lines(plain, most)
        if any(row.plain.strip() for row in rows):
            skipped += text.count("\n", 0, max(len(text) - _MAX_ERROR_TEXT, 0))
            return OutputEnd(_without_blank_ends(rows), skipped)
    return OutputEnd([], 0)


def _without_blank_ends(rows: list[Text]) -> list[Text]:
    full = [place for place, row in enumerate(rows) if row.plain.strip()]
    rows = rows[full[0] : full[-1] + 1] if full else []
    for row in rows:
        row.overflow = "ellipsis"
    return rows


def with_operations(diff: Diff, call: ToolCall) -> Diff:
    """Mark moves and deletions that only the kind of the call shows: version 1 has no field for them."""
    if call.kind not in ("move", "delete") or any(each.operation not in ("add", "modify") for each in diff.changes):
        return diff
    places = [location.path for location in call.locations]
    changes = []
    for change in diff.changes:
        old = next((each for each in places if each != change.path), None)
        if call.kind == "delete" and not change.new_text:
            change = msgspec.structs.replace(change, operation="delete")
        elif call.kind == "move" and len(diff.changes) == 1 and old is not None:
            change = msgspec.structs.replace(change, operation="move", old_path=old)
        changes.append(change)
    return msgspec.structs.replace(diff, changes=changes)
