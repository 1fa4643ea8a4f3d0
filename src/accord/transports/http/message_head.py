"""Read the parts of a JSON-RPC message that determine its route: id, method and session."""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec
from msgspec import UNSET, Raw, UnsetType

Kind = Literal["request", "notification", "response"]


class MessageHead(NamedTuple):
    """The parts of one message that routing needs."""

    kind: Kind
    id: bytes
    """The id in its JSON notation; empty for notifications."""
    method: str
    """Empty for responses."""
    session: str | None
    """`params.sessionId` of a call, `result.sessionId` of a response."""
    cancels: bytes = b""
    """`params.requestId` of a `$/cancel_request`, in its JSON notation."""
    failed: bool = False
    """Whether a response is an error."""

    @property
    def is_connection_scoped(self) -> bool:
        """Whether it is a `$/` message, which never belongs to a session."""
        return self.method.startswith("$/")


class _Params(msgspec.Struct, rename="camel"):
    session_id: str | UnsetType = UNSET
    request_id: Raw | UnsetType = UNSET


class _Usual(msgspec.Struct):
    """A call whose `params` is an object, or a response: decoded in one pass."""

    id: Raw | UnsetType = UNSET
    method: str | UnsetType = UNSET
    params: _Params | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class _Loose(msgspec.Struct):
    id: Raw | UnsetType = UNSET
    method: Raw | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


_usual = msgspec.json.Decoder(_Usual)
_loose = msgspec.json.Decoder(_Loose)
_params = msgspec.json.Decoder(_Params)
_any = msgspec.json.Decoder()


def read_head(message: bytes) -> MessageHead | None:
    """Read the head of one message; None if it isn't a JSON object. Other errors are left to the receiver."""
    try:
        usual = _usual.decode(message)
    except (ValueError, RecursionError):
        return _read_loosely(message)
    params = usual.params
    if usual.method is UNSET:
        session = None if usual.result is UNSET else _session_in(usual.result)
        return MessageHead("response", _text(usual.id), "", session, failed=usual.error is not UNSET)
    found = UNSET if params is UNSET else params.session_id
    cancels = b"" if params is UNSET else _text(params.request_id)
    return MessageHead(
        "notification" if usual.id is UNSET else "request",
        _text(usual.id),
        usual.method,
        None if found is UNSET else found,
        cancels,
    )


def _read_loosely(message: bytes) -> MessageHead | None:
    """Read a message whose method or params are invalid. The receiver answers it with an error."""
    try:
        loose = _loose.decode(message)
    except (ValueError, RecursionError):
        return None
    session = None if loose.params is UNSET else _session_in(loose.params)
    if loose.method is UNSET and (loose.result is not UNSET or loose.error is not UNSET):
        return MessageHead("response", _text(loose.id), "", None, failed=loose.error is not UNSET)
    try:
        method = "" if loose.method is UNSET else str(_any.decode(loose.method))
    except (ValueError, RecursionError):
        method = ""
    return MessageHead("notification" if loose.id is UNSET else "request", _text(loose.id), method, session)


def _session_in(raw: Raw) -> str | None:
    try:
        found = _params.decode(raw).session_id
    except (ValueError, RecursionError):
        return None
    return None if found is UNSET else found


def _text(raw: Raw | UnsetType) -> bytes:
    return b"" if raw is UNSET else bytes(raw).strip()
