"""What a message of the wire says, on one line: what was said comes first, and names of sessions and messages last."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

_READ = 32 * 1024
"""Bytes up to which a message is read to be told shortly; of a longer one the beginning is shown as it is."""
_HEAD = 400
_CONTENTS = (b'"params":', b'"result":', b'"error":')
_UPDATE = b'"update":'


def gist(line: bytes) -> bytes:
    """The parameters, the result or the error of a message; of an update what is new, without its kind."""
    if len(line) <= _READ:
        import msgspec

        with suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
            match msgspec.json.decode(line):
                case {"params": {"update": {"sessionUpdate": str(), **update}, **more}}:
                    return msgspec.json.encode(_told({**update, **more}))
                case {"params": said} | {"result": said} | {"error": said}:
                    return msgspec.json.encode(_told(said))
    head = line[:_HEAD]
    marks = (_UPDATE,) if _UPDATE in head else _CONTENTS
    places = [at + len(mark) for mark in marks if (at := head.find(mark)) >= 0]
    return line[min(places) :] if places else line


def _told(value: Any) -> Any:
    match value:
        case {"type": "text", "text": str(text), **more} if not more:
            return text
        case dict():
            names = sorted(value, key=_is_late)
            return {name: _told(value[name]) for name in names}
        case list():
            return [_told(each) for each in value]
    return value


def _is_late(name: str) -> bool:
    """Whether a field is of use only to find something, and not to know what was said."""
    return name == "_meta" or name.endswith("Id")
