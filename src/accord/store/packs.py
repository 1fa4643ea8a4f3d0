"""The encoding of statements in the database.

The statements between two commits are one pack: a JSON list. Consecutive chunks of streamed text share an entry (role,
message id, then the chunks one by one, so that a replay repeats every update exactly). Any other statement is an object
with its kind. Unknown kinds, written by a later version, are skipped and counted; they stay in the file."""

from __future__ import annotations

from typing import Any, Union, get_args

import msgspec
from msgspec import UNSET, UnsetType

from accord.model import statement as s
from accord.model.content import Audio, Content, Image, Resource, ResourceLink, TextContent, UnknownContent
from accord.model.session import Compaction
from accord.model.statement import MessageChunk, Role, Statement, ToolPatch
from accord.model.tool import FINAL, Diff, Location, TerminalRef, ToolContent
from accord.schema.wire import encode

_ROLES: dict[str, Role] = {"agent": "agent", "thought": "thought", "user": "user"}


Shown = dict[str, list[ToolContent]]
"""The content of each open tool call of a session."""


class Pack:
    """The unsaved statements of one session."""

    __slots__ = ("_message_id", "_role", "_run", "_shown", "items", "options")

    def __init__(self, shown: Shown | None = None) -> None:
        self._shown: Shown = {} if shown is None else shown
        self.items: list[Any] = []
        self.options: bytes | None = None
        """The last options, encoded."""
        self._run: list[str] | None = None
        self._role = ""
        self._message_id = ""

    def add(self, statement: Statement) -> None:
        """Add a statement. It is encoded now, because its objects may change later; text can't change."""
        if type(statement) is MessageChunk and statement.meta is None:
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
        data = _encode_patch(statement, self._shown) if type(statement) is ToolPatch else encode(statement)
        self.items.append(msgspec.Raw(data))
        if isinstance(statement, s.SetOptions):
            self.options = encode(statement.options)

    def prepend_to(self, other: Pack) -> None:
        """Put the statements of this pack before those of another."""
        other.items[:0] = self.items
        other.options = other.options if other.options is not None else self.options

    def encode(self) -> bytes:
        """Return the pack as bytes. Lone surrogates in text are replaced."""
        try:
            return encode(self.items)
        except UnicodeEncodeError:
            return encode([item if isinstance(item, msgspec.Raw) else _replace_surrogates(item) for item in self.items])


def _encode_patch(patch: ToolPatch, shown: Shown) -> bytes:
    """Encode a patch of a tool call. If it appends one item to the content, only that item is written."""
    data = None
    content = patch.content
    if content is None:
        shown[patch.id] = []
    elif isinstance(content, list):
        before = shown.get(patch.id)
        if before and len(content) == len(before) + 1 and content[-1] is patch.added and _is_same(before, content):
            short = encode(msgspec.structs.replace(patch, content=UNSET))
            data = b'%b,"items":%d}' % (short[:-1], len(content))
        shown[patch.id] = list(content)
    if patch.status in FINAL:
        shown.pop(patch.id, None)
    return encode(patch) if data is None else data


def _is_same(before: list[ToolContent], content: list[ToolContent]) -> bool:
    return all(one is other for one, other in zip(before, content, strict=False))


def _replace_surrogates(run: list[str]) -> list[str]:
    return [text.encode("utf-8", "replace").decode() for text in run]


# -- reading

_Plain = Union[
    s.TerminalPatch,
    s.TerminalData,
    s.SetPlan,
    s.RemovePlan,
    s.SetCommands,
    s.SetOptions,
    s.SetInfo,
    s.SetUsage,
    s.AddNotice,
    s.SetState,
    s.SetSubagent,
    s.Raw,
    s.PrivateData,
]
_PLAIN = {kind.__struct_config__.tag for kind in get_args(_Plain)}
_Known = Union[TextContent, Image, Audio, ResourceLink, Resource]


class Unpacker:
    """Decodes the packs of one session, in order from the first."""

    def __init__(self) -> None:
        self.skipped: dict[str, int] = {}
        """The number of statements of unknown kinds, by kind."""
        self._shown: Shown = {}

    def read(self, data: bytes) -> list[Statement]:
        """Return the statements of one pack."""
        found: list[Statement] = []
        try:
            items = msgspec.json.decode(data)
        except msgspec.DecodeError:
            self._skip("damaged")
            return found
        for item in items if isinstance(items, list) else [items]:
            if type(item) is list and len(item) > 1 and item[0] in _ROLES:
                role, message_id = _ROLES[item[0]], item[1]
                found += [
                    MessageChunk(role=role, message_id=message_id, content=TextContent(text)) for text in item[2:]
                ]
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
                return MessageChunk(
                    role=item["role"],
                    message_id=item["message_id"],
                    content=content(item["content"]),
                    meta=item.get("meta"),
                )
            case "WholeMessage":
                return s.WholeMessage(
                    role=item["role"],
                    message_id=item["message_id"],
                    content=_contents(item),
                    meta=item.get("meta"),
                )
            case "SessionMessage":
                return s.SessionMessage(**{**_fields(s.SessionMessage, item), "content": _contents(item)})
            case "SessionMessageText":
                return s.SessionMessageText(id=item["id"], content=content(item["content"]), meta=item.get("meta"))
            case "Compacted":
                saved = item["compaction"]
                pieces = [content(piece) for piece in saved["summary"]]
                compaction = Compaction(**{**_fields(Compaction, saved), "summary": pieces})
                return s.SetCompaction(compaction=compaction, meta=item.get("meta"))
            case "CompactionText":
                return s.CompactionText(id=item["id"], content=content(item["content"]), meta=item.get("meta"))
        return None

    def _tool_patch(self, item: dict[str, Any]) -> ToolPatch:
        patch = ToolPatch(**_fields(ToolPatch, item))
        if "added" in item:
            patch.added = tool_content(item["added"])
        if item.get("locations") is not None:
            patch.locations = msgspec.convert(item["locations"], list[Location])
        if item.get("content") is not None:
            patch.content = [tool_content(piece) for piece in item["content"]]
            if isinstance(patch.added, msgspec.Struct) and patch.content and patch.content[-1] == patch.added:
                patch.added = patch.content[-1]
        elif "items" in item and patch.added is not UNSET:
            before = self._shown.get(patch.id, [])
            if len(before) == item["items"] - 1:
                patch.content = [*before, patch.added]
        if not isinstance(patch.content, UnsetType):
            self._shown[patch.id] = patch.content or []
        if patch.status in FINAL:
            self._shown.pop(patch.id, None)
        return patch


def content(item: dict[str, Any]) -> Content:
    """Decode a content block."""
    if isinstance(item.get("data"), dict):  # a kind that was unknown when it arrived
        return UnknownContent(type=item["type"], data=item["data"])
    known: Content = msgspec.convert(item, _Known)
    return known


def _contents(item: dict[str, Any]) -> list[Content] | UnsetType | None:
    """Decode the content of a message: blocks, None if it was cleared, `UNSET` if it didn't change."""
    pieces = item.get("content", UNSET)
    return [content(piece) for piece in pieces] if isinstance(pieces, list) else pieces


def tool_content(item: dict[str, Any]) -> ToolContent:
    """Decode content of a tool call."""
    if "changes" in item:
        return msgspec.convert(item, Diff)
    if "terminal_id" in item:
        return TerminalRef(terminal_id=item["terminal_id"], meta=item.get("meta"))
    return content(item)


def _fields(kind: type[msgspec.Struct], item: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are known to this version."""
    return {name: item[name] for name in kind.__struct_fields__ if name in item}
