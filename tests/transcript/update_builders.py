"""Builders of updates, and a transcript that reads them like a connection: strictly, else leniently, or not."""

from __future__ import annotations

from typing import Any

import msgspec

from accord.schema import v1 as wire_v1
from accord.schema import v2 as wire_v2
from accord.schema.repair import Unreadable, read
from accord.transcript import Transcript
from accord.transcript import v1 as fold_v1
from accord.transcript import v2 as fold_v2

Json = dict[str, Any]

_NOTIFICATIONS = {1: wire_v1.SessionNotification, 2: wire_v2.UpdateSessionNotification}
_FOLDS: dict[int, Any] = {1: fold_v1.Fold, 2: fold_v2.Fold}


def decode(version: int, update: Json) -> Any:
    """One update as its wire type. Raises `Unreadable` for what no rule can read."""
    params = {"sessionId": "s", "update": update}
    try:
        return msgspec.json.decode(msgspec.json.encode(params), type=_NOTIFICATIONS[version]).update
    except msgspec.ValidationError:
        return read(_NOTIFICATIONS[version], params).update


class Telling:
    """A transcript and the events it gave."""

    def __init__(self, version: int, transcript: Transcript | None = None) -> None:
        self.version = version
        self.transcript = Transcript() if transcript is None else transcript
        self.fold = _FOLDS[version](self.transcript)
        self.events: list[Any] = []

    def tell(self, *updates: Json) -> Transcript:
        for update in updates:
            try:
                self.events.append(self.fold.apply(decode(self.version, update)))
            except Unreadable:
                continue
        return self.transcript


def v1(*updates: Json) -> Transcript:
    return Telling(1).tell(*updates)


def v2(*updates: Json) -> Transcript:
    return Telling(2).tell(*updates)


def events(version: int, *updates: Json) -> list[Any]:
    telling = Telling(version)
    telling.tell(*updates)
    return telling.events


# Updates, as short as they can be written


def block(text: str) -> Json:
    return {"type": "text", "text": text}


def message_chunk(text: str, id: str | None = None, kind: str = "agent_message_chunk", **more: Any) -> Json:
    named = {} if id is None else {"messageId": id}
    return {"sessionUpdate": kind, "content": block(text), **named, **more}


def thought(text: str, id: str | None = None) -> Json:
    return message_chunk(text, id, "agent_thought_chunk")


def user_chunk(text: str, id: str | None = None) -> Json:
    return message_chunk(text, id, "user_message_chunk")


def update(kind: str, /, **fields: Any) -> Json:
    return {"sessionUpdate": kind, **fields}


def tool(id: str, /, **fields: Any) -> Json:
    return update("tool_call_update", toolCallId=id, **fields)


def text_block(text: str) -> Json:
    return {"type": "content", "content": block(text)}
