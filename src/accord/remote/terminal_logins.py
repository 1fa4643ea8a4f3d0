"""Hides terminal logins between an editor and a remote agent.

The editor would run them on its machine: either `accord connect` with arguments that the remote agent chose, or a
command that the remote agent chose. Only `initialize` is changed. All other messages keep their bytes."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw

from accord.remote.message import Fields, encode, raw, read_fields, read_id, read_text

_INITIALIZE = "initialize"
_META = "terminal-auth"
"""The key of `_meta` for terminal logins in version 1, in the client's capabilities and in login methods."""
_CAPABILITIES = [
    path
    for capabilities in ("clientCapabilities", "capabilities")  # of version 1 and 2; a client may send both
    for path in ((capabilities, "auth", "terminal"), (capabilities, "_meta", _META))
]

_items = msgspec.json.Decoder(list[Raw])


class TerminalLogins:
    """The terminal logins of one connection."""

    def __init__(self) -> None:
        self._requests: set[Any] = set()

    def change_outgoing(self, block: bytes) -> bytes:
        """Remove the capability for terminal logins from lines of the editor."""
        if b'"initialize"' not in block:
            return block
        return b"\n".join(map(self._change_request, block.split(b"\n")))

    def _change_request(self, line: bytes) -> bytes:
        message = read_fields(line)
        id = read_id(message)
        if message is None or id is None or read_text(message, "method") != _INITIALIZE:
            return line
        self._requests.add(id)
        changed = message
        for path in _CAPABILITIES:
            changed = _remove(changed, "params", *path)
        return line if changed is message else encode(changed)

    def change_incoming(self, block: bytes) -> bytes:
        """Remove the terminal logins from lines of the agent."""
        if not self._requests:
            return block
        return b"\n".join(map(self._change_response, block.split(b"\n")))

    def _change_response(self, line: bytes) -> bytes:
        message = read_fields(line)
        id = read_id(message)
        if message is None or "method" in message or id not in self._requests:
            return line
        self._requests.discard(id)
        result = read_fields(message.get("result", UNSET))
        if result is None or "authMethods" not in result:
            return line
        try:
            methods = _items.decode(result["authMethods"])
        except ValueError:
            return line  # not a list
        kept = [method for method in methods if not _is_terminal_login(method)]
        if len(kept) == len(methods):
            return line
        return encode({**message, "result": raw({**result, "authMethods": raw(kept)})})


def _is_terminal_login(method: Raw) -> bool:
    fields = read_fields(method)
    if fields is None:
        return False
    return read_text(fields, "type") == "terminal" or _META in (read_fields(fields.get("_meta", UNSET)) or {})


def _remove(fields: Fields, *path: str) -> Fields:
    """Return the fields without the one at a path; the same object if it isn't there."""
    name, *rest = path
    if name not in fields:
        return fields
    if not rest:
        return {key: value for key, value in fields.items() if key != name}
    inner = read_fields(fields[name])
    changed = inner and _remove(inner, *rest)
    return fields if changed is inner else {**fields, name: raw(changed)}
