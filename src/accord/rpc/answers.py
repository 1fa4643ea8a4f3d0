"""Answers read quickly: the usual shape, alone or a whole block of them.

What is refused here is read slowly by `envelope`, which understands everything."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, Raw, UnsetType

from accord.rpc.envelope import Failure, Fault, Success
from accord.rpc.ids import Int64

_HEAD = 80  # in so many bytes an answer shows what it is


class _Answer(msgspec.Struct):
    """The usual shape of an answer, its result unread."""

    jsonrpc: Literal["2.0"]
    id: Int64 | str | None
    result: Raw | UnsetType = UNSET
    error: Fault | UnsetType = UNSET
    method: Raw | UnsetType = UNSET


_decoder = msgspec.json.Decoder(_Answer)


def looks_like_answer(line: bytes) -> bool:
    """A guess from the first bytes, to try the right reading first; both are tried in the end."""
    head = line[:_HEAD]
    return b'"method"' not in head and (b'"result"' in head or b'"error"' in head)


def answer(line: bytes) -> Success | Failure | None:
    """One line as an answer; None when it is something else or out of the ordinary."""
    try:
        return _usual(_decoder.decode(line))
    except (ValueError, RecursionError):
        return None


def answers(block: bytes, lines: int) -> list[Success | Failure] | None:
    """All lines of the block as answers; None when any line is something else. `lines` is how many there are."""
    found = []
    try:
        for each in _decoder.decode_lines(block):
            usual = _usual(each)
            if usual is None:
                return None
            found.append(usual)
    except (ValueError, RecursionError):
        return None
    return found if len(found) == lines else None


def _usual(found: _Answer) -> Success | Failure | None:
    if found.method is not UNSET:
        return None
    if found.error is not UNSET:
        return Failure(found.id, found.error) if found.result is UNSET else None
    return Success(found.id, found.result) if found.result is not UNSET else None


def beginnings(block: bytes) -> list[int]:
    """Where in a block the lines begin that look like answers. Every byte is looked at a few times, however it is
    made up."""
    found = set()
    for key in (b'"result"', b'"error"'):
        at = block.find(key)
        while at >= 0:
            begin = block.rfind(b"\n", 0, at) + 1
            end = block.find(b"\n", at) + 1 or len(block)
            if at - begin < _HEAD and looks_like_answer(block[begin : min(end, begin + _HEAD)]):
                found.add(begin)
            at = block.find(key, end)
    return sorted(found)
