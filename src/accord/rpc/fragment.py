"""The beginning of a message whose rest was skipped or is broken."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

import msgspec

from accord.rpc.ids import RequestId, read_id

# A string (perhaps truncated: requiring its end would take quadratic time), punctuation, or a bare word.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"?|[{}\[\]:,]|[^\s"{}\[\]:,]+', re.DOTALL)
_word = msgspec.json.Decoder(str)


class Fragment(NamedTuple):
    """The readable part of a truncated message. `kind` is a guess; stray output isn't a message at all."""

    kind: Literal["call", "answer", "stray"]
    id: RequestId = None
    method: str | None = None


def read_fragment(head: bytes) -> Fragment:
    """Read the top-level keys of a message that are complete."""
    if not head.lstrip().startswith(b"{"):
        return Fragment("stray")
    found = _top(head)
    id, method = _id_in(found), _method_in(found)
    if b'"jsonrpc"' not in found and method is None:
        return Fragment("stray")
    is_call = b'"method"' in found or b'"params"' in found
    is_answer = not is_call and (id is not None or b'"result"' in found or b'"error"' in found)
    return Fragment("answer" if is_answer else "call", id, method)


def _top(head: bytes) -> dict[bytes, bytes]:
    """Return the keys of the outermost object and the first token of each value."""
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
        elif match.end() < len(head):  # otherwise it may be truncated
            found[key] = token
    return found


def _id_in(found: dict[bytes, bytes]) -> RequestId:
    try:
        return read_id(found.get(b'"id"', b"null"))
    except ValueError:
        return None


def _method_in(found: dict[bytes, bytes]) -> str | None:
    try:
        return _word.decode(found.get(b'"method"', b"null"))
    except ValueError:
        return None
