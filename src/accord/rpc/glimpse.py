"""What the beginning of a message tells, when the rest of it was skipped or is broken."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple, Union

import msgspec

from accord.rpc.ids import Int64, RequestId

# A string (perhaps cut: looking back for its end would take quadratic time), a bracket or a mark, or a bare word.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[{}\[\]:,]|[^\s"{}\[\]:,]+', re.DOTALL)
_id = msgspec.json.Decoder(Union[Int64, str, None])
_word = msgspec.json.Decoder(str)


class Glimpse(NamedTuple):
    """As much as could be told. `kind` is what it seems to be; stray text is no message at all."""

    kind: Literal["call", "answer", "stray"]
    id: RequestId = None
    method: str | None = None


def glimpse(head: bytes) -> Glimpse:
    """Reads the keys that stand at the top of a message, as far as they are there in full."""
    if not head.lstrip().startswith(b"{"):
        return Glimpse("stray")
    found = _top(head)
    id, method = _id_in(found), _method_in(found)
    if b'"jsonrpc"' not in found and method is None:
        return Glimpse("stray")
    is_call = b'"method"' in found or b'"params"' in found
    is_answer = not is_call and (id is not None or b'"result"' in found or b'"error"' in found)
    return Glimpse("answer" if is_answer else "call", id, method)


def _top(head: bytes) -> dict[bytes, bytes]:
    """The keys of the outermost object and the first token of each value."""
    found: dict[bytes, bytes] = {}
    depth, key = 0, b""
    for match in _TOKEN.finditer(head):
        token = match[0]
        if token in (b"{", b"["):
            if depth == 1:
                found[key] = token
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif depth != 1 or token == b":":
            continue
        elif token == b",":
            key = b""
        elif not key:
            key = token
        elif match.end() < len(head):  # else it may be cut
            found[key] = token
    return found


def _id_in(found: dict[bytes, bytes]) -> RequestId:
    try:
        id: RequestId = _id.decode(found.get(b'"id"', b"null"))
        return id
    except ValueError:
        return None


def _method_in(found: dict[bytes, bytes]) -> str | None:
    try:
        return _word.decode(found.get(b'"method"', b"null"))
    except ValueError:
        return None
