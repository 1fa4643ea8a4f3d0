"""Statements as bytes, and bytes as statements.

What was said between two commits is one pack: a JSON list. Neighbouring pieces of streamed text share an entry (role,
message, then the pieces, each by itself, so that every update can be told again exactly); any other statement is an
object that names its kind. A kind that a later version wrote is skipped here and counted; it stays in the file."""

from __future__ import annotations

from typing import Any, Union

import msgspec
from msgspec import UNSET

from accord.model import statement as s
from accord.model.content import Audio, Content, Image, Link, Resource, TextContent, UnknownContent
from accord.model.session import Compaction
from accord.model.statement import Role, Said, Statement, ToolPatch
from accord.model.tool import FINAL, Diff, Location, TerminalRef, ToolContent
from accord.schema.wire import encode

_ROLES: dict[str, Role] = {"agent": "agent", "thought": "thought", "user": "user"}


Shown = dict[str, list[ToolContent]]
"""What each open tool call of a session shows."""


class Pack:
    """What was said in one session and is not kept yet."""

    __slots__ = ("_message_id", "_role", "_run", "_shown", "items", "options")

    def __init__(self, shown: Shown | None = None) -> None:
        self._shown: Shown = {} if shown is None else shown
        self.items: list[Any] = []
        self.options: bytes | None = None
        """The options as they were last told."""
        self._run: list[str] | None = None
        self._role = ""
        self._message_id = ""

    def add(self, statement: Statement) -> None:
        """Takes one statement. Whatever can still change is written down at once; text cannot."""
        if type(statement) is Said and statement.meta is None:
            content = statement.content
            if type(content) is TextContent and content.meta is None and content.annotations is None:
                role, message_id = statement.role, statement.message_id
                if self._run is None or self._role != role or self._message_id != message_id:
                    self._role, self._message_id = role, message_id
                    self._run = [role, message_id]
                    self.items.append(self._run)
                self._run.append(content.text)
                return
        self._run = None
        data = _patch(statement, self._shown) if type(statement) is ToolPatch else encode(statement)
        self.items.append(msgspec.Raw(data))
        if isinstance(statement, s.OptionsAre):
            self.options = encode(statement.options)

    def put_before(self, other: Pack) -> None:
        """Makes one pack of two: what is here was said first."""
        other.items[:0] = self.items
        other.options = other.options if other.options is not None else self.options

    def encoded(self) -> bytes:
        """The pack as it is kept. A text that is no text (half a character) is kept as far as it can be read."""
        try:
            return encode(self.items)
        except UnicodeEncodeError:
            return encode([item if isinstance(item, msgspec.Raw) else _sound(item) for item in self.items])


def _patch(patch: ToolPatch, shown: Shown) -> bytes:
    """A call that shows one more item is kept as that item, not as all that it has shown so far once more."""
    data = None
    content = patch.content
    if isinstance(content, list):
        before = shown.get(patch.id)
        if before and len(content) == len(before) + 1 and content[-1] is patch.added and _same(before, content):
            short = encode(msgspec.structs.replace(patch, content=UNSET))
            data = b'%b,"items":%d}' % (short[:-1], len(content))
        shown[patch.id] = list(content)
    if patch.status in FINAL:
        shown.pop(patch.id, None)
    return encode(patch) if data is None else data


def _same(before: list[ToolContent], content: list[ToolContent]) -> bool:
    return all(one is other for one, other in zip(before, content, strict=False))


def _sound(run: list[str]) -> list[str]:
    return [text.encode("utf-8", "replace").decode() for text in run]


# -- reading

_Plain = Union[
    s.TerminalPatch,
    s.TerminalData,
    s.PlanSet,
    s.PlanGone,
    s.CommandsAre,
    s.OptionsAre,
    s.InfoIs,
    s.UsageIs,
    s.Noticed,
    s.StateIs,
    s.SubagentIs,
    s.Raw,
    s.Noted,
]
_PLAIN = {kind.__name__ for kind in _Plain.__args__}  # type: ignore[attr-defined]
_Known = Union[TextContent, Image, Audio, Link, Resource]


class Unpacker:
    """Reads the packs of one session, in order from the first."""

    def __init__(self) -> None:
        self.skipped: dict[str, int] = {}
        """Of which kinds there were statements that cannot be read here, and how many."""
        self._shown: Shown = {}

    def read(self, data: bytes) -> list[Statement]:
        """The statements of one pack."""
        found: list[Statement] = []
        try:
            items = msgspec.json.decode(data)
        except msgspec.DecodeError:
            self._skip("damaged")
            return found
        for item in items if isinstance(items, list) else [items]:
            if type(item) is list and len(item) > 1 and item[0] in _ROLES:
                role, message_id = _ROLES[item[0]], item[1]
                found += [Said(role=role, message_id=message_id, content=TextContent(text)) for text in item[2:]]
                continue
            kind = item.get("type", "") if isinstance(item, dict) else ""
            try:
                statement = self._statement(str(kind), item)
            except (msgspec.ValidationError, LookupError, TypeError, ValueError):
                statement = None
            if statement is None:
                self._skip(str(kind) or "nameless")
            else:
                found.append(statement)
        return found

    def _skip(self, kind: str) -> None:
        self.skipped[kind] = self.skipped.get(kind, 0) + 1

    def _statement(self, kind: str, item: dict[str, Any]) -> Statement | None:
        if kind in _PLAIN:
            plain: Statement = msgspec.convert(item, _Plain)
            return plain
        match kind:
            case "ToolPatch":
                return self._tool_patch(item)
            case "Said":
                return Said(
                    role=item["role"],
                    message_id=item["message_id"],
                    content=content(item["content"]),
                    meta=item.get("meta"),
                )
            case "WholeMessage":
                pieces = [content(piece) for piece in item["content"]]
                return s.WholeMessage(
                    role=item["role"], message_id=item["message_id"], content=pieces, meta=item.get("meta")
                )
            case "Compacted":
                told = item["compaction"]
                pieces = [content(piece) for piece in told["summary"]]
                return s.Compacted(compaction=Compaction(**{**_fields(Compaction, told), "summary": pieces}))
            case "CompactionText":
                return s.CompactionText(id=item["id"], content=content(item["content"]))
        return None

    def _tool_patch(self, item: dict[str, Any]) -> ToolPatch:
        patch = ToolPatch(**_fields(ToolPatch, item))
        if "added" in item:
            patch.added = tool_content(item["added"])
        if "locations" in item:
            patch.locations = msgspec.convert(item["locations"], list[Location])
        if "content" in item:
            patch.content = [tool_content(piece) for piece in item["content"]]
            if isinstance(patch.added, msgspec.Struct) and patch.content and patch.content[-1] == patch.added:
                patch.added = patch.content[-1]
        elif "items" in item and patch.added is not UNSET:
            before = self._shown.get(patch.id, [])
            if len(before) == item["items"] - 1:
                patch.content = [*before, patch.added]
        if isinstance(patch.content, list):
            self._shown[patch.id] = patch.content
        if patch.status in FINAL:
            self._shown.pop(patch.id, None)
        return patch


def content(item: dict[str, Any]) -> Content:
    """A piece of content as it was."""
    if isinstance(item.get("data"), dict):  # a kind that was unknown when it came: kept whole
        return UnknownContent(type=item["type"], data=item["data"])
    known: Content = msgspec.convert(item, _Known)
    return known


def tool_content(item: dict[str, Any]) -> ToolContent:
    """What a tool call showed."""
    if "changes" in item:
        return msgspec.convert(item, Diff)
    if "terminal_id" in item:
        return TerminalRef(terminal_id=item["terminal_id"])
    return content(item)


def _fields(kind: type[msgspec.Struct], item: dict[str, Any]) -> dict[str, Any]:
    """What the kind knows of, and nothing that a later version has added."""
    return {name: item[name] for name in kind.__struct_fields__ if name in item}
