"""Compaction of a session's history: fewer events with the same content.

The chunks of a message are joined, and of updates that replace each other (modes, options, usage) only the last
remains."""

from __future__ import annotations

from typing import NamedTuple

import msgspec
from msgspec import UNSET, Raw, UnsetType

from accord.hub.event_log import Event
from accord.hub.raw_params import write_object

REPLACING = frozenset(
    (
        "available_commands_update",
        "config_option_update",
        "current_mode_update",
        "plan",
        "session_info_update",
        "usage_update",
    )
)
"""Updates that replace the previous one of their kind, so that only the last one matters."""


MAX_JOINED = 256 * 1024
"""The maximum length of a joined chunk in characters. Chunks of many megabytes would be a burden for clients."""


class _Content(msgspec.Struct, forbid_unknown_fields=True):
    type: str
    text: str


class _Chunk(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    session_update: str
    content: _Content
    message_id: str | UnsetType = UNSET


class _Params(msgspec.Struct, rename={"session_id": "sessionId", "meta": "_meta"}, forbid_unknown_fields=True):
    session_id: str
    update: _Chunk
    meta: Raw | UnsetType = UNSET


class _Kind(msgspec.Struct):
    sessionUpdate: str


class _AnyUpdate(msgspec.Struct, rename={"session_id": "sessionId"}):
    session_id: str
    update: _Kind


_chunk = msgspec.json.Decoder(_Params)
_any_update = msgspec.json.Decoder(_AnyUpdate)


class _Open(NamedTuple):
    """Chunks of a message that are being joined."""

    last: Event
    key: tuple[str, str, object, bytes, str]
    texts: list[str]
    length: int


class Compactor:
    """Compacts events, added one by one in their order."""

    def __init__(self) -> None:
        self._events: dict[object, Event] = {}
        self._open: _Open | None = None

    def add(self, event: Event) -> None:
        """Add the next event."""
        if event.kind != "notification":
            return  # requests have been answered, and notices are about past clients
        key, text = _read_chunk(event)
        joined = self._open
        if key is not None and joined is not None and joined.key == key and joined.length + len(text) <= MAX_JOINED:
            joined.texts.append(text)
            self._open = joined._replace(last=event, length=joined.length + len(text))
            return
        self._close()
        if key is not None:
            self._open = _Open(event, key, [text], len(text))
            return
        replaced = _read_replacing(event)
        if replaced is not None:
            self._events.pop(replaced, None)  # the last one remains, at its own position
        self._events[replaced if replaced is not None else event.seq] = event

    def finish(self) -> list[Event]:
        """Return the compacted events."""
        self._close()
        return list(self._events.values())

    def _close(self) -> None:
        if self._open is None:
            return
        last, key, texts, _ = self._open
        self._open = None
        if len(texts) > 1:
            session_id, kind, message_id, meta, _ = key
            update: dict[str, object] = {"sessionUpdate": kind, "content": {"type": "text", "text": "".join(texts)}}
            if message_id is not UNSET:
                update["messageId"] = message_id
            params: dict[str, object] = {"sessionId": session_id, "update": update}
            if meta:
                params["_meta"] = Raw(meta)
            last = msgspec.structs.replace(last, params=write_object(params))
        self._events[last.seq] = last


def _read_chunk(event: Event) -> tuple[tuple[str, str, object, bytes, str] | None, str]:
    """Return the common fields of a message's chunks, and the text; None if it isn't a plain chunk of text."""
    if event.method != "session/update":
        return None, ""
    try:
        found = _chunk.decode(event.params)
    except ValueError:
        return None, ""
    update = found.update
    if not update.session_update.endswith("_chunk") or update.content.type != "text":
        return None, ""
    if update.session_update == "user_message_chunk" and update.message_id is UNSET:
        return None, ""  # these may be two prompts
    meta = b"" if found.meta is UNSET else bytes(found.meta)
    return (found.session_id, update.session_update, update.message_id, meta, event.origin), update.content.text


def _read_replacing(event: Event) -> tuple[str, str] | None:
    if event.method != "session/update":
        return None
    try:
        found = _any_update.decode(event.params)
    except ValueError:
        return None
    kind = found.update.sessionUpdate
    return (found.session_id, kind) if kind in REPLACING else None
