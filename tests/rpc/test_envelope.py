"""Lines to messages and back, by literals."""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from accord.rpc import envelope
from accord.rpc.envelope import (
    Batch,
    Failure,
    Fault,
    Malformed,
    Notification,
    Reader,
    Request,
    Success,
    read,
)

BASE = b'{"jsonrpc":"2.0",'


def code_of(message: Any) -> int:
    assert isinstance(message, Malformed), message
    return message.answer.code


# -- calls


@pytest.mark.req("V1-FRAME-17", "V1-FRAME-18", "V2-FRAME-10")
@pytest.mark.parametrize(
    "text, id",
    [
        (b"0", 0),
        (b"-1", -1),
        (b"9007199254740993", 2**53 + 1),
        (b"9223372036854775807", 2**63 - 1),
        (b"-9223372036854775808", -(2**63)),
        (b'"x"', "x"),
        (b'"1"', "1"),
        (b'""', ""),
        ('"é\\n\\u0041"'.encode(), "é\nA"),
        (b"null", None),
    ],
)
def test_a_request_has_any_legal_id(text: bytes, id: Any) -> None:
    request = read(BASE + b'"id":' + text + b',"method":"m","params":{"a":1}}')

    assert request == Request(id, "m", b'{"a":1}')
    assert type(request.id) is type(id)


@pytest.mark.req("V1-FRAME-18", "V1-FRAME-28", "V2-FRAME-10", "V2-FRAME-13")
@pytest.mark.parametrize(
    "text",
    [
        b"1.5",
        b"1e-3",
        b"1e19",
        b"true",
        b"false",
        b"{}",
        b"[]",
        b"[1]",
        b"9223372036854775808",
        b"1" + b"0" * 400,
        b"1e999",
    ],
)
def test_an_invalid_id_is_rejected_with_a_null_id(text: bytes) -> None:
    message = read(BASE + b'"id":' + text + b',"method":"m"}')

    assert code_of(message) == -32600
    assert message.id is None


@pytest.mark.req("V1-FRAME-17")
def test_a_notification_is_a_call_without_an_id() -> None:
    assert read(BASE + b'"method":"m","params":{}}') == Notification("m", b"{}")


def test_keys_may_come_in_any_order() -> None:
    line = b'{"params":{"id":7,"method":"other"},"method":"m","jsonrpc":"2.0","id":1}'

    assert read(line) == Request(1, "m", b'{"id":7,"method":"other"}')


def test_the_last_of_two_equal_keys_counts() -> None:
    assert read(BASE + b'"id":1,"id":2,"method":"a","method":"b"}') == Request(2, "b", b"{}")


def test_unknown_keys_are_ignored() -> None:
    assert read(BASE + b'"id":1,"method":"m","meta":{"x":1},"":null}') == Request(1, "m", b"{}")


@pytest.mark.req("V1-FRAME-31")
@pytest.mark.parametrize("params", [b"", b',"params":null', b',"params":{}', b',"params" : { } '])
def test_params_that_are_absent_or_null_are_empty(params: bytes) -> None:
    message = read(BASE + b'"id":1,"method":"m"' + params + b"}")

    assert isinstance(message, Request)
    assert json.loads(message.params) == {}


def test_params_may_be_a_list() -> None:
    assert read(BASE + b'"id":1,"method":"m","params":[1,2]}') == Request(1, "m", b"[1,2]")


@pytest.mark.req("V1-FRAME-28")
@pytest.mark.parametrize("params", [b"1", b'"x"', b"true", b"1.5"])
def test_params_that_are_a_scalar_are_refused_with_the_id(params: bytes) -> None:
    message = read(BASE + b'"id":"a","method":"m","params":' + params + b"}")

    assert code_of(message) == -32600
    assert message.id == "a"


@pytest.mark.req("V1-FRAME-28")
@pytest.mark.parametrize("method", [b"1", b"null", b"{}", b"[]", b"true"])
def test_a_method_must_be_a_string_and_the_error_has_the_id(method: bytes) -> None:
    message = read(BASE + b'"id":3,"method":' + method + b"}")

    assert code_of(message) == -32600
    assert message.id == 3


# -- answers


@pytest.mark.req("V1-FRAME-21")
@pytest.mark.parametrize("result", [b"{}", b"null", b"[1]", b'"x"', b"0", b"false"])
def test_a_result_may_be_any_value(result: bytes) -> None:
    for reading in (read, envelope.read_response):
        answer = reading(BASE + b'"id":1,"result":' + result + b"}")
        assert isinstance(answer, Success)
        assert (answer.id, bytes(answer.result)) == (1, result)


@pytest.mark.req("V1-FRAME-22", "V1-FRAME-44", "V2-FRAME-27")
@pytest.mark.parametrize("code", [-32700, -32600, -32601, -32602, -32603, -32000, -32002, -32022, -32800, 12345, 0])
def test_an_error_keeps_its_code_message_and_data(code: int) -> None:
    line = BASE + b'"id":"a","error":{"code":%d,"message":"no","data":{"x":[1]}}}' % code

    assert read(line) == envelope.read_response(line) == Failure("a", Fault(code, "no", {"x": [1]}))


def test_an_error_without_data_has_none() -> None:
    failure = read(BASE + b'"id":1,"error":{"code":1,"message":"no"}}')

    assert isinstance(failure, Failure)
    assert failure.error.data is UNSET


def test_a_null_error_beside_a_result_is_a_success() -> None:
    assert read(BASE + b'"id":1,"result":{"a":1},"error":null}') == Success(1, b'{"a":1}')


@pytest.mark.req("V1-FRAME-21", "V1-FRAME-33")
def test_an_answer_with_both_a_result_and_an_error_is_a_failure() -> None:
    assert read(BASE + b'"id":1,"result":{},"error":{"code":5,"message":"no"}}') == Failure(1, Fault(5, "no"))


@pytest.mark.req("V1-FRAME-33")
@pytest.mark.parametrize(
    "error, code, message",
    [
        (b"null", -32600, "the peer's error response is malformed"),
        (b'"broken"', -32600, "the peer's error response is malformed"),
        (b"{}", -32600, "the peer's error response is malformed"),
        (b'{"code":-32000}', -32000, "the peer's error response is malformed"),
        (b'{"code":-32000,"message":null}', -32000, "the peer's error response is malformed"),
        (b'{"message":"out of paper"}', -32600, "out of paper"),
        (b'{"code":"E1","message":"out of paper"}', -32600, "out of paper"),
        (b'{"code":true,"message":"out of paper"}', -32600, "out of paper"),
        (b'{"code":4294967296,"message":"out of paper"}', -32600, "out of paper"),
    ],
)
def test_of_a_malformed_error_what_can_be_read_is_kept(error: bytes, code: int, message: str) -> None:
    assert read(BASE + b'"id":1,"error":' + error + b"}") == Failure(1, Fault(code, message))


@pytest.mark.parametrize("id", [b"", b'"id":1.5,', b'"id":{},', b'"id":true,'])
def test_an_answer_without_a_legal_id_is_refused(id: bytes) -> None:
    message = read(BASE + id + b'"result":{}}')

    assert code_of(message) == -32600
    assert message.id is None


@pytest.mark.parametrize(
    "line",
    [
        BASE + b'"id":4}',
        BASE + b'"id":4,"params":{}}',
        b'{"id":4,"result":{}}',
        b'{"jsonrpc":"1.0","id":4,"error":{}}',
        BASE + b'"id":4,"result":{"text":"cut',
        BASE + b'"id":4,"result":"\xff"}',
    ],
)
def test_what_has_an_id_and_no_method_may_be_meant_as_an_answer(line: bytes) -> None:
    message = read(line)

    assert isinstance(message, Malformed)
    assert message.answers == 4


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":4,"method":"m"}',
        b'{"jsonrpc":"1.0","id":4,"method":"m","result":{}}',
        BASE + b'"id":4,"method":"m","params":{"text":"cut',
        b'{"level":"info","id":4,"text":"a log line"}',
        b'-> {"jsonrpc":"2.0","id":4,"result":{}}',
    ],
)
def test_a_call_or_a_log_line_is_never_meant_as_an_answer(line: bytes) -> None:
    message = read(line)

    assert isinstance(message, Malformed)
    assert message.answers is None


# -- invalid messages


@pytest.mark.req("V1-FRAME-27", "V2-FRAME-15")
@pytest.mark.parametrize(
    "line",
    [
        b"{oops",
        b"starting server on port 80",
        b"{",
        b'{"jsonrpc":"2.0","id":1,"method":"m"',
        b'{"jsonrpc":"2.0","id":1,"method":"m"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"m"}{"jsonrpc":"2.0","id":2,"method":"m"}',
        b"[1,",
        b"NaN",
        b"Infinity",
        b'{"a":NaN,"b":"\\ud800"}',
        b"'single'",
        b"{'a':1}",
        b'{"a":01}',
        b"\xff\xfe",
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":"\xff',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":NaN',
        b"\x00",
        b'"\x01"',
        b'"\\q"',
        b'"\\u12"',
    ],
)
def test_invalid_json_is_a_parse_error_with_a_null_id(line: bytes) -> None:
    message = read(line)

    assert code_of(message) == -32700
    assert message.id is None
    assert message.stray


@pytest.mark.req("V1-FRAME-28")
@pytest.mark.parametrize("line", [b"42", b'"text"', b"true", b"null", b"1.5", b"{}", b'{"level":"info"}'])
def test_json_without_a_message_is_stray_and_an_invalid_request(line: bytes) -> None:
    message = read(line)

    assert code_of(message) == -32600
    assert message.stray


@pytest.mark.req("V1-FRAME-16", "V1-FRAME-28")
@pytest.mark.parametrize("version", [b'"1.0"', b"2.0", b"2", b"null", b'"2"', b"{}"])
def test_another_version_of_json_rpc_is_refused_with_the_id(version: bytes) -> None:
    message = read(b'{"jsonrpc":' + version + b',"id":8,"method":"m"}')

    assert code_of(message) == -32600
    assert message.id == 8


def test_the_version_may_be_spelt_with_escapes() -> None:
    assert read(b'{"jsonrpc":"\\u0032.0","id":8,"method":"m"}') == Request(8, "m", b"{}")


@pytest.mark.req("V1-FRAME-37")
@pytest.mark.parametrize("line", [b"", b"\r", b" \t\r", b"\xef\xbb\xbf"])
def test_an_empty_line_is_nothing(line: bytes) -> None:
    assert read(line) is None


@pytest.mark.req("V1-FRAME-37")
def test_a_carriage_return_or_blanks_around_a_message_do_not_matter() -> None:
    assert read(b' \t{"jsonrpc":"2.0","id":1,"method":"m"} \r') == Request(1, "m", b"{}")


def test_a_byte_order_mark_before_a_message_does_not_matter() -> None:
    assert read(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"m"}') == Request(1, "m", b"{}")


@pytest.mark.req("V1-FRAME-28")
@pytest.mark.parametrize(
    "line, id, answers, silent",
    [
        (b'"id":7,"method":"m","params":%b', 7, None, False),
        (b'"method":"m","params":%b,"id":7', 7, None, False),
        (b'"method":"m","params":%b', None, None, True),
        (b'"id":7,"result":%b', None, 7, False),
        (b'"result":%b,"id":7', None, 7, False),
    ],
)
def test_a_message_that_is_nested_too_deeply_is_known_by_its_id(
    line: bytes, id: Any, answers: Any, silent: bool
) -> None:
    message = read(BASE + line % (b'{"a":' * 100_000 + b"1" + b"}" * 100_000) + b"}")

    assert isinstance(message, Malformed)
    assert (message.id, message.answers, message.silent, message.stray) == (id, answers, silent, False)
    assert message.answer.message == "Invalid request: the message is nested too deeply"


@pytest.mark.parametrize("value", [b"NaN", b"-Infinity", b'"\xff"', b'"\xc3\x28"', b'["\\ud800",NaN]'])
@pytest.mark.parametrize(
    "line, id, answers",
    [
        (b'"id":7,"method":"m","params":{"a":%b}', 7, None),
        (b'"method":"m","params":{"a":%b},"id":"x"', "x", None),
        (b'"id":7,"result":{"a":%b}', None, 7),
    ],
)
def test_a_whole_message_with_a_value_that_is_not_json_is_known_by_its_id(
    line: bytes, id: Any, answers: Any, value: bytes
) -> None:
    message = read(BASE + line % value + b"}")

    assert isinstance(message, Malformed)
    assert code_of(message) == -32700
    assert (message.id, message.answers, message.silent, message.stray) == (id, answers, False, False)


@pytest.mark.parametrize(
    "value, repaired",
    [
        (b"NaN", b"null"),
        (b"-Infinity", b"null"),
        (b'"caf\xc3"', b'"caf\xef\xbf\xbd"'),
        (b'["\\ud800",NaN]', b'["\xef\xbf\xbd",null]'),
    ],
)
def test_a_notification_with_a_value_that_is_not_json_is_repaired(value: bytes, repaired: bytes) -> None:
    """It gets no error response, and may report the end of a turn."""
    message = read(BASE + b'"method":"m","params":{"a":%b,"b":1}}' % value)

    assert message == Notification("m", b'{"a":%b,"b":1}' % repaired)


@pytest.mark.parametrize(
    "line, head",
    [
        (b"Traceback (most recent call last):", "Traceback (most recent call last):"),
        (b"{oops", "{oops"),
        (b'{"method":"authenticate","params":{"key":"s3cret', ""),
        (b'[{"method":"authenticate","params":{"key":"s3cret', ""),
        (b'{ "method":"authenticate","params":{"key":"s3cret', ""),
        (b'Loading... {"method":"authenticate","params":{"key":"s3cret', "Loading..."),
    ],
)
def test_a_broken_message_is_not_repeated_in_a_log(line: bytes, head: str) -> None:
    """Its params may hold secrets. Of text that was never a message, the beginning is quoted."""
    message = read(line)

    assert isinstance(message, Malformed) and message.head == head


def test_deep_nesting_is_refused_and_not_a_crash() -> None:
    for depth in (1_000, 100_000):
        line = BASE + b'"id":1,"method":"m","params":' + b"[" * depth + b"]" * depth + b"}"
        assert isinstance(read(line), (Request, Malformed))
        assert isinstance(read(b"[" * depth), Malformed)
        assert isinstance(read(b"[" * depth + b"]" * depth), (Batch, Malformed))
        assert isinstance(read(b'{"\\ud800":' * depth + b"1" + b"}" * depth), Malformed)


# -- text that is hard to hold


def test_a_lone_surrogate_becomes_the_replacement_character_and_pairs_stay() -> None:
    request = read(BASE + b'"id":1,"method":"m","params":{"cut":"a\\ud83d","whole":"\\ud83d\\ude00","\\udc00":1}}')

    assert isinstance(request, Request)
    assert json.loads(request.params) == {"cut": "a\ufffd", "whole": "😀", "\ufffd": 1}


def test_numbers_keep_their_value_beside_a_lone_surrogate() -> None:
    request = read(BASE + b'"id":9223372036854775807,"method":"m","params":{"n":1180591620717411303424,"s":"\\ud83d"}}')

    assert isinstance(request, Request)
    assert request.id == 2**63 - 1
    assert json.loads(request.params)["n"] == 2**70


@pytest.mark.parametrize("number, held", [(b"1e999", 1), (b"-1e999", -1), (b"1" * 5000, 1), (b"-" + b"1" * 5000, -1)])
def test_a_number_that_no_machine_can_hold_is_the_largest_that_it_can(number: bytes, held: int) -> None:
    request = read(BASE + b'"id":1,"method":"m","params":{"n":' + number + b',"m":2}}')

    assert isinstance(request, Request)
    assert json.loads(request.params) == {"n": held * sys.float_info.max, "m": 2}


# -- batches


@pytest.mark.req("V2-FRAME-16")
@pytest.mark.parametrize("line", [b"[]", b" [ ] "])
def test_an_empty_batch_is_one_invalid_request(line: bytes) -> None:
    message = read(line)

    assert code_of(message) == -32600
    assert message.id is None


@pytest.mark.req("V2-FRAME-21")
def test_a_batch_keeps_its_order_and_its_faults_have_a_null_id() -> None:
    batch = read(
        b'[1,{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","method":"b"},{"jsonrpc":"2.0","id":2,"result":{}},'
        b'{"id":3,"method":"c"},[]]'
    )

    assert isinstance(batch, Batch)
    assert [type(entry) for entry in batch.entries] == [
        Malformed,
        Request,
        Notification,
        Success,
        Malformed,
        Malformed,
    ]
    assert [entry.id for entry in batch.entries if isinstance(entry, Malformed)] == [None, None, None]


# -- the fast reading


class Params(msgspec.Struct):
    text: str = ""


class Needed(msgspec.Struct):
    text: str


READER = Reader({"ask": Params, "need": Needed}, {"tell": Needed})


def test_a_block_of_known_calls_is_read_in_one_pass() -> None:
    block = (
        b'{"jsonrpc":"2.0","id":1,"method":"ask"}\n'
        b'{"jsonrpc":"2.0","method":"tell","params":{"text":"x"}}\r\n'
        b'{"params":{"text":"y"},"id":"2","method":"need","jsonrpc":"2.0"}\n'
    )

    calls = READER.block(block, 3)

    assert calls is not None
    assert [(READER.calls[type(call)], call.id, call.params.text) for call in calls] == [
        ("ask", 1, ""),
        ("tell", UNSET, "x"),
        ("need", "2", "y"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","method":"ask"}',  # a request without an id
        b'{"jsonrpc":"2.0","id":1,"method":"tell","params":{"text":""}}',  # a notification with one
        b'{"jsonrpc":"2.0","id":null,"method":"tell","params":{"text":""}}',
        b'{"jsonrpc":"2.0","id":1,"method":"need"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ask","params":null}',
        b'{"jsonrpc":"2.0","id":1,"method":"unknown"}',
        b'{"jsonrpc":"1.0","id":1,"method":"ask"}',
        b'{"jsonrpc":"2.0","id":1.0,"method":"ask"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ask","params":{"text":"\xff"}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ask","params":{"text":"\\ud800"}}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b"[" * 100_000,
        b"garbage",
        b"",
    ],
)
def test_whatever_is_out_of_the_ordinary_is_left_to_the_slow_reading(line: bytes) -> None:
    assert READER.line(line) is None
    assert READER.block(line + b"\n", 1) is None


@pytest.mark.parametrize(
    "block, lines",
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"ask"}{"jsonrpc":"2.0","id":2,"method":"ask"}\n', 1),
        (b'{"jsonrpc":"2.0",\n"id":1,"method":"ask"}\n', 2),
    ],
)
@pytest.mark.req("V1-FRAME-02")
def test_a_message_is_a_line_and_a_line_is_a_message(block: bytes, lines: int) -> None:
    assert READER.block(block, lines) is None


def test_a_reader_of_nothing_reads_nothing() -> None:
    reader = Reader({}, {})

    assert reader.line(b'{"jsonrpc":"2.0","id":1,"method":"ask"}') is None
    assert reader.block(b'{"jsonrpc":"2.0","id":1,"method":"ask"}\n', 1) is None


# -- lines out


@pytest.mark.req("V1-FRAME-16", "V1-FRAME-20", "V1-FRAME-21", "V2-FRAME-11")
@pytest.mark.parametrize("id", [0, -1, 2**53 + 1, "1", "é\n", None])
def test_an_answer_has_the_id_in_its_value_and_type(id: Any) -> None:
    success = json.loads(envelope.success(id, b"{}"))
    failure = json.loads(envelope.failure(id, Fault(-32603, "no")))

    assert success == {"jsonrpc": "2.0", "id": id, "result": {}}
    assert failure == {"jsonrpc": "2.0", "id": id, "error": {"code": -32603, "message": "no"}}
    assert type(success["id"]) is type(failure["id"]) is type(id)


@pytest.mark.req("V1-FRAME-01", "V1-FRAME-03")
def test_nothing_that_is_written_has_a_line_end_inside() -> None:
    lines = [
        envelope.failure("a\nb", Fault(1, "two\nlines\u2028", {"k\n": "v\r\n"})),
        envelope.success("a\nb", b"{}"),
        envelope.call_head("m\n"),
    ]

    assert not any(b"\n" in line or b"\r" in line for line in lines)
    assert "\u2028".encode() in lines[0]


RESPONSE = b'{"jsonrpc":"2.0","id":1,"result":{"text":"\\ud800"}}'
REQUEST = b'{"jsonrpc":"2.0","id":1,"method":"m","params":{}}'


@pytest.mark.parametrize("before", [b"", REQUEST + b"\n", RESPONSE + b"\n"])
@pytest.mark.parametrize(
    "last", [b"", RESPONSE, RESPONSE + b"\n", RESPONSE[:-1] + b"\n", REQUEST, REQUEST[:-1], b"{", b"bye"]
)
def test_only_a_response_that_breaks_off_is_dropped(before: bytes, last: bytes) -> None:
    assert envelope.drop_incomplete_response(before + last) == before + last
    for size in range(len(b'{"jsonrpc":"2.0","id":1,'), len(RESPONSE)):
        assert envelope.drop_incomplete_response(before + RESPONSE[:size]) == before
