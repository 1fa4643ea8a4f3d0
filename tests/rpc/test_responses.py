"""Answers, alone and many at once, and where they lie among other lines."""

from __future__ import annotations

import pytest

from accord.rpc.envelope import Failure, Fault, Success, find_responses, read_response, read_responses

YES = b'{"jsonrpc":"2.0","id":1,"result":{}}'
NO = b'{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"no"}}'
CALL = b'{"jsonrpc":"2.0","method":"m","params":{"result":1,"error":[{"error":2}],"text":"\\"result\\""}}'


def block(*lines: bytes) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def test_a_block_of_answers_is_read_as_each_of_them_is() -> None:
    assert read_responses(block(YES, NO), 2) == [read_response(YES), read_response(NO)]
    first, second = read_responses(block(YES, NO), 2) or []
    assert isinstance(first, Success) and (first.id, bytes(first.result)) == (1, b"{}")
    assert second == Failure("a", Fault(-32601, "no"))


@pytest.mark.parametrize("more", [b"", b',"_meta":{"a":1}', b',"extra":null'])
def test_unknown_members_of_an_answer_are_ignored(more: bytes) -> None:
    line = YES[:-1] + more + b"}"

    for found in (read_response(line), *(read_responses(block(line), 1) or [None])):
        assert isinstance(found, Success)
        assert (found.id, bytes(found.result)) == (1, b"{}")


@pytest.mark.parametrize(
    "lines",
    [
        [YES, CALL],
        [YES, b"no JSON"],
        [YES, b'{"jsonrpc":"1.0","id":1,"result":{}}'],
        [YES, b'{"jsonrpc":"2.0","id":2}'],
        [YES, b'{"jsonrpc":"2.0","id":2,"result":1,"error":{"code":1,"message":"both"}}'],
        [YES, b'{"jsonrpc":"2.0","id":2,"result":1,"method":"m"}'],
        [YES, b"\xff"],
    ],
)
def test_a_block_with_anything_else_does_not_count_as_responses(lines: list[bytes]) -> None:
    assert read_responses(block(*lines), 2) is None


def test_two_answers_in_one_line_are_not_taken_for_two_lines() -> None:
    assert read_responses(YES + YES + b"\n", 1) is None


@pytest.mark.parametrize("order", [[YES, CALL, NO], [CALL, YES, CALL, CALL, NO, CALL], [CALL], [YES], [NO, NO, YES]])
def test_answers_are_found_among_calls_that_have_the_same_words_inside(order: list[bytes]) -> None:
    whole = block(*order)
    starts = [len(block(*order[:index])) for index, line in enumerate(order) if line is not CALL]

    assert find_responses(whole) == starts
    assert find_responses(whole[:-1]) == starts  # the last newline may be missing


def test_a_line_full_of_such_words_is_looked_at_once() -> None:
    full = b'{"jsonrpc":"2.0","method":"m","params":[' + b",".join([b'{"result":0,"error":1}'] * 200_000) + b"]}"

    assert find_responses(block(full, YES, full)) == [len(full) + 1]
