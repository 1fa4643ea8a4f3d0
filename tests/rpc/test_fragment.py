"""The beginning of a message, when the rest was skipped."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.rpc.fragment import _TOKEN, Fragment, read_fragment


@pytest.mark.req("V2-FRAME-13")
@pytest.mark.parametrize(
    "head, kind, id, method",
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"m","params":{"te', "call", 7, "m"),
        (b' {"jsonrpc" : "2.0", "id" : "a b" , "method" : "m" , "params":{"te', "call", "a b", "m"),
        (b'{"jsonrpc":"2.0","id":-3,"result":{"te', "answer", -3, None),
        (b'{"jsonrpc":"2.0","id":"\\u0041","error":{"te', "answer", "A", None),
        (b'{"jsonrpc":"2.0","id":5,"other":[[{"te', "answer", 5, None),
        # what is inside does not count
        (b'{"jsonrpc":"2.0","method":"m","params":{"id":7,"te', "call", None, "m"),
        (b'{"jsonrpc":"2.0","result":{"id":7,"te', "answer", None, None),
        (b'{"jsonrpc":"2.0","_meta":{"id":7,"method":"x"},"method":"m","te', "call", None, "m"),
        (b'{"jsonrpc":"2.0","a":"\\"id\\":7,","method":"m","te', "call", None, "m"),
        # what was before the params and what came after them
        (b'{"params":{"id":7},"id":8,"method":"m","jsonrpc":"2.0"', "call", 8, "m"),
        # cut, or no id
        (b'{"jsonrpc":"2.0","id":12', "call", None, None),
        (b'{"jsonrpc":"2.0","id":"ab', "call", None, None),
        (b'{"jsonrpc":"2.0","id":"a b, c', "call", None, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m",', "call", None, "m"),
        (b'{"jsonrpc":"2.0","id":true,"result":', "call", None, None),
        (b'{"jsonrpc":"2.0","id":{"a":1},"method":7,', "call", None, None),
        # no message
        (b'a line of a log with {"id":7}', "stray", None, None),
        (b'{"level":"info","id":7,"text":"te', "stray", None, None),
        (b'[{"jsonrpc":"2.0","id":7,"method":"m"},', "stray", None, None),
        (b"", "stray", None, None),
    ],
)
def test_top_level_keys_are_found(head: bytes, kind: Any, id: Any, method: str | None) -> None:
    assert read_fragment(head) == Fragment(kind, id, method)


@settings(derandomize=True, deadline=None)
@given(st.binary(max_size=60) | st.text(alphabet='{}[]":, \\\\a1', max_size=60).map(str.encode))
def test_any_bytes_may_be_looked_at(head: bytes) -> None:
    assert read_fragment(head).kind in ("call", "answer", "stray")


@pytest.mark.parametrize("tail", [b"\\" * 4096, b'\\"' * 2048, b"x" * 4096])
def test_a_string_that_is_cut_is_gone_through_once(tail: bytes) -> None:
    """Looking for its end again from every quote inside would take quadratic time."""
    assert len(_TOKEN.findall(b'{"a":"' + tail)) <= 5
