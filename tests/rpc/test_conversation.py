"""The state of a conversation: with literal messages, and with any bytes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from accord.errors import LocalProtocolError
from accord.rpc.conversation import Answered, Cancelled, Conversation, Unexpected
from accord.rpc.envelope import Call, Failure, Fault, Malformed, Notification, Reader, Request, Success

ASK = b'{"jsonrpc":"2.0","id":%b,"method":"m","params":{}}'


def receive_block(conversation: Conversation[Any], block: bytes) -> Iterator[Any]:
    """Reads a block as a connection does: calls in one pass if possible, otherwise line by line."""
    calls = conversation.reader.block(block, block.count(b"\n") + (not block.endswith(b"\n")))
    if calls is not None:
        for call in calls:
            yield call if call.id is UNSET else conversation.register(call)
        return
    for line in block.split(b"\n"):
        if line:
            yield from conversation.receive_line(line)


def receive(conversation: Conversation[Any], *lines: bytes) -> list[Any]:
    return list(receive_block(conversation, b"".join(line + b"\n" for line in lines)))


def decode(line: bytes) -> Any:
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    return json.loads(line)


# -- their requests


@pytest.mark.req("V1-FRAME-20", "V1-FRAME-25", "V2-FRAME-11")
def test_a_request_is_answered_once_with_its_own_id() -> None:
    conversation: Conversation[str] = Conversation()
    number, word = receive(conversation, ASK % b"1", ASK % b'"1"')

    assert decode(conversation.answer("1", b'{"of":"word"}')) == {"jsonrpc": "2.0", "id": "1", "result": {"of": "word"}}
    assert decode(conversation.answer(1, b'{"of":"number"}')) == {"jsonrpc": "2.0", "id": 1, "result": {"of": "number"}}
    assert (number.id, word.id) == (1, "1")


@pytest.mark.req("V1-FRAME-25")
def test_a_second_answer_is_our_own_fault() -> None:
    conversation: Conversation[str] = Conversation()
    receive(conversation, ASK % b"1")
    conversation.answer(1, b"{}")

    with pytest.raises(LocalProtocolError, match="request 1 has already been answered"):
        conversation.answer(1, b"{}")
    with pytest.raises(LocalProtocolError, match="never received"):
        conversation.refuse(7, Fault(1, "no"))


@pytest.mark.req("V2-FRAME-12")
def test_an_id_that_is_still_open_is_refused_and_the_first_request_stays_open() -> None:
    conversation: Conversation[str] = Conversation()
    first, second = receive(conversation, ASK % b"5", ASK % b"5")

    assert isinstance(first, Request)
    assert isinstance(second, Malformed)
    assert decode(conversation.refuse_malformed(second)) == {
        "jsonrpc": "2.0",
        "id": 5,
        "error": {"code": -32600, "message": "Invalid request: a request with the id 5 is still open"},
    }
    assert conversation.owes_response(5)
    conversation.answer(5, b"{}")


def test_an_id_may_be_used_again_once_it_is_answered() -> None:
    conversation: Conversation[str] = Conversation()
    receive(conversation, ASK % b"5")
    conversation.answer(5, b"{}")

    assert receive(conversation, ASK % b"5") == [Request(5, "m", b"{}")]


@pytest.mark.req("V1-FRAME-18", "V2-FRAME-10")
def test_a_null_id_is_legal_in_the_first_version_and_refused_in_the_second() -> None:
    first: Conversation[str] = Conversation(null_ids=True)
    second: Conversation[str] = Conversation(null_ids=False)

    assert receive(first, ASK % b"null") == [Request(None, "m", b"{}")]
    assert decode(first.answer(None, b"{}"))["id"] is None
    (refused,) = receive(second, ASK % b"null")
    assert decode(second.refuse_malformed(refused))["error"]["code"] == -32600
    assert second.peer_requests == []


def test_a_read_call_and_a_loose_one_share_the_ids() -> None:
    class Params(msgspec.Struct):
        a: int = 0

    conversation: Conversation[str] = Conversation()
    conversation.reader = Reader({"m": Params}, {})
    (call,) = receive(conversation, ASK % b"1")
    (twin,) = receive(conversation, b'{"jsonrpc":"2.0","id":1,"method":"other"}')

    assert isinstance(call, Call)
    assert isinstance(twin, Malformed)
    assert conversation.peer_requests == [1]


# -- answers to us


def send_request(conversation: Conversation[str], waiter: str) -> int:
    id, line = conversation.request(b'"m"', b"{}", waiter)
    assert decode(line) == {"jsonrpc": "2.0", "id": id, "method": "m", "params": {}}
    return id


@pytest.mark.req("V1-FRAME-19", "V2-FRAME-12")
def test_our_ids_are_integers_that_never_come_twice() -> None:
    conversation: Conversation[str] = Conversation()

    assert [send_request(conversation, "") for _ in range(3)] == [0, 1, 2]


def test_an_answer_finds_who_waits_for_it() -> None:
    conversation: Conversation[str] = Conversation()
    first, second = send_request(conversation, "first"), send_request(conversation, "second")

    answers = receive(
        conversation,
        b'{"jsonrpc":"2.0","id":%d,"result":{"a":1}}' % second,
        b'{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"no"}}' % first,
    )

    assert [answer.waiter for answer in answers] == ["second", "first"]
    assert bytes(answers[0].answer.result) == b'{"a":1}'
    assert answers[1].answer == Failure(first, Fault(1, "no"))
    assert conversation.waiters == []


@pytest.mark.req("V1-FRAME-32")
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}',
        b'{"id":"0","jsonrpc":"2.0","result":{}}',  # the number 0 is open, not the word
    ],
)
def test_an_unexpected_response_is_only_reported(line: bytes) -> None:
    conversation: Conversation[str] = Conversation()
    send_request(conversation, "waits")

    (message,) = receive(conversation, line)

    assert isinstance(message, Unexpected)
    assert conversation.waiters == ["waits"]


@pytest.mark.req("V1-FRAME-32")
def test_the_second_answer_to_a_request_is_only_reported() -> None:
    conversation: Conversation[str] = Conversation()
    id = send_request(conversation, "waits")
    line = b'{"jsonrpc":"2.0","id":%d,"result":{}}' % id

    first, second = receive(conversation, line, line)

    assert first.waiter == "waits"
    assert second == Unexpected(id, None)


@pytest.mark.req("V1-FRAME-33")
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":0}',  # neither result nor error
        b'{"id":0,"result":{}}',  # no version
        b'{"jsonrpc":"2.0","id":0,"error":"broken"}',
        b'{"jsonrpc":"2.0","id":0,"error":null}',
    ],
)
def test_a_malformed_answer_fails_the_request_it_is_meant_for(line: bytes) -> None:
    conversation: Conversation[str] = Conversation()
    send_request(conversation, "waits")
    send_request(conversation, "waits too")

    (answer,) = receive(conversation, line)

    assert isinstance(answer, Answered)
    assert answer.waiter == "waits"
    assert isinstance(answer.answer, Failure)
    assert conversation.waiters == ["waits too"]


@pytest.mark.req("V1-FRAME-34", "V1-CANCEL-16", "V2-CANCEL-18")
def test_each_direction_has_its_own_ids() -> None:
    conversation: Conversation[str] = Conversation()
    ours = send_request(conversation, "waits")

    assert receive(conversation, ASK % b"%d" % ours) == [Request(ours, "m", b"{}")]
    assert conversation.owes_response(ours) and conversation.awaits_response(ours)
    (answer,) = receive(conversation, b'{"jsonrpc":"2.0","id":%d,"result":{}}' % ours)
    assert answer.waiter == "waits"
    assert conversation.owes_response(ours)


def test_a_forgotten_request_is_answered_to_nobody() -> None:
    conversation: Conversation[str] = Conversation()
    id = send_request(conversation, "waits")

    assert conversation.pop_waiter(id, None) == "waits"
    assert conversation.pop_waiter(id, None) is None
    assert receive(conversation, b'{"jsonrpc":"2.0","id":%d,"result":{}}' % id) == [Unexpected(id, None)]


def test_at_the_end_everyone_who_waits_is_given_back_and_they_may_still_be_answered() -> None:
    conversation: Conversation[str] = Conversation()
    send_request(conversation, "a")
    send_request(conversation, "b")
    receive(conversation, ASK % b"1")

    assert conversation.end() == ["a", "b"]
    assert conversation.end() == []
    assert decode(conversation.answer(1, b"{}"))["id"] == 1


# -- cancelling


CANCEL = b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%b}}'


@pytest.mark.req("V1-CANCEL-11", "V2-CANCEL-15")
def test_a_request_that_the_peer_cancelled_still_gets_a_response() -> None:
    conversation: Conversation[str] = Conversation()
    receive(conversation, ASK % b'"a"')

    assert receive(conversation, CANCEL % b'"a"') == [Cancelled("a")]
    assert conversation.owes_response("a")


@pytest.mark.req("V1-CANCEL-15", "V1-CANCEL-16", "V1-CANCEL-17", "V2-CANCEL-18")
@pytest.mark.parametrize("id", [b"0", b"7", b'"5"', b"null", b"5.5", b"7.0", b"true", b"{}", b"[5]"])
def test_a_cancellation_of_anything_else_is_ignored(id: bytes) -> None:
    conversation: Conversation[str] = Conversation()
    send_request(conversation, "ours has the id 0")
    receive(conversation, ASK % b"5")

    assert receive(conversation, CANCEL % id) == []
    assert conversation.waiters == ["ours has the id 0"]


@pytest.mark.parametrize("asked, cancelled", [(b"5", b"5.0"), (b"5.0", b"5"), (b"5e0", b"50e-1")])
def test_an_integer_may_be_written_with_a_fraction_that_is_zero(asked: bytes, cancelled: bytes) -> None:
    conversation: Conversation[str] = Conversation()
    receive(conversation, ASK % asked)

    assert receive(conversation, CANCEL % cancelled) == [Cancelled(5)]
    assert conversation.answer(5, b"{}") == b'{"jsonrpc":"2.0","id":5,"result":{}}\n'


@pytest.mark.req("V1-FRAME-18", "V2-FRAME-10")
@pytest.mark.parametrize("id", [b"1.0", b"1e3", b"-0.0", b"9007199254740993.0"])
def test_a_request_is_answered_with_the_id_as_it_was_sent(id: bytes) -> None:
    conversation: Conversation[str] = Conversation()
    (request,) = receive(conversation, ASK % id)

    assert conversation.answer(request.id, b"{}") == b'{"jsonrpc":"2.0","id":%b,"result":{}}\n' % id


def test_our_id_may_come_back_as_a_float() -> None:
    conversation: Conversation[str] = Conversation()
    send_request(conversation, "first")

    (answered,) = receive(conversation, b'{"jsonrpc":"2.0","id":0.0,"result":{}}')

    assert answered.waiter == "first"


@pytest.mark.parametrize("params", [b"{}", b"[]", b"null", b'{"requestId":1,"x":NaN}'])
@pytest.mark.req("V1-CANCEL-17", "V1-FRAME-24")
def test_a_cancellation_that_names_nothing_is_ignored_or_no_json(params: bytes) -> None:
    conversation: Conversation[str] = Conversation()

    messages = receive(conversation, b'{"jsonrpc":"2.0","method":"$/cancel_request","params":%b}' % params)

    assert not any(isinstance(message, Cancelled) for message in messages)


def test_a_cancellation_with_an_id_is_a_request_like_any_other() -> None:
    conversation: Conversation[str] = Conversation()

    (message,) = receive(conversation, b'{"jsonrpc":"2.0","id":1,"method":"$/cancel_request","params":{"requestId":1}}')

    assert isinstance(message, Request)


def test_we_cancel_and_the_answer_is_still_ours() -> None:
    conversation: Conversation[str] = Conversation()
    id = send_request(conversation, "waits")

    assert decode(conversation.cancel(id)) == {
        "jsonrpc": "2.0",
        "method": "$/cancel_request",
        "params": {"requestId": id},
    }
    (answer,) = receive(conversation, b'{"jsonrpc":"2.0","id":%d,"result":{}}' % id)
    assert answer.waiter == "waits"


# -- batches


@pytest.mark.req("V2-FRAME-18", "V2-FRAME-19")
def test_the_responses_to_a_batch_are_sent_together_once_complete() -> None:
    conversation: Conversation[str] = Conversation()
    receive(conversation, b"[" + ASK % b"1" + b"," + ASK % b"2" + b',{"jsonrpc":"2.0","method":"n"}]')

    assert conversation.answer(2, b'{"second":true}') == b""
    assert decode(conversation.refuse(1, Fault(-32601, "no"))) == [
        {"jsonrpc": "2.0", "id": 2, "result": {"second": True}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}},
    ]


@pytest.mark.req("V2-FRAME-14", "V2-FRAME-20")
def test_a_batch_of_notifications_is_answered_with_nothing() -> None:
    conversation: Conversation[str] = Conversation()

    messages = receive(conversation, b'[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]')

    assert messages == [Notification("a", b"{}"), Notification("b", b"{}")]
    assert conversation.peer_requests == []


@pytest.mark.req("V2-FRAME-21")
def test_each_fault_of_a_batch_is_answered_beside_the_rest() -> None:
    conversation: Conversation[str] = Conversation()
    first, request, twin = receive(conversation, b"[1," + ASK % b"1" + b"," + ASK % b"1" + b"]")

    assert conversation.refuse_malformed(first) == b""
    assert conversation.answer(1, b"{}") == b""
    answers = decode(conversation.refuse_malformed(twin))
    assert [(answer["id"], "error" in answer) for answer in answers] == [(None, True), (1, False), (1, True)]
    assert isinstance(request, Request)


@pytest.mark.req("V2-FRAME-22")
def test_answers_in_a_batch_find_who_waits_by_id() -> None:
    conversation: Conversation[str] = Conversation()
    for name in "ab":
        send_request(conversation, name)

    answers = receive(conversation, b'[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":0,"result":{}}]')

    assert [answer.waiter for answer in answers] == ["b", "a"]


def test_a_broken_entry_of_a_batch_answers_nobody() -> None:
    conversation: Conversation[str] = Conversation()
    send_request(conversation, "waits")

    broken, request = receive(conversation, b'[{"jsonrpc":"2.0","id":0},' + ASK % b"1" + b"]")

    assert conversation.refuse_malformed(broken) == b""
    assert len(decode(conversation.answer(request.id, b"{}"))) == 2
    assert conversation.waiters == ["waits"]


@pytest.mark.req("V1-FRAME-39", "V2-FRAME-23")
def test_where_batches_are_rejected_one_error_answers_and_nothing_is_processed() -> None:
    conversation: Conversation[str] = Conversation(batches="reject")

    (message,) = receive(conversation, b"[" + ASK % b"1" + b"]")

    assert decode(conversation.refuse_malformed(message)) == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32600, "message": "Invalid request: batches are not used here"},
    }
    assert conversation.peer_requests == []


# -- any bytes


class Known(msgspec.Struct, rename="camel"):
    session_id: str
    text: str = ""


def receive_answers(conversation: Conversation[str], lines: list[bytes]) -> list[Any]:
    """Plays a side that answers everything at once, as the rules have it; gives every answer."""
    out = b""
    for line in lines:
        for message in receive_block(conversation, line + b"\n"):
            match message:
                case Call() | Request():
                    if isinstance(message, Request) or isinstance(message.id, (int, str, type(None))):
                        out += conversation.answer(message.id, b"{}")  # type: ignore[arg-type]
                case Malformed():
                    out += conversation.refuse_malformed(message)
                case Answered() | Cancelled() | Notification() | Unexpected():
                    pass
                case _:
                    pytest.fail(f"{message!r} is no message")
    found: list[Any] = []
    for line in out.splitlines():
        answer = json.loads(line)
        found += answer if isinstance(answer, list) else [answer]
    return found


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ids = (
    st.integers(-(2**63), 2**63 - 1) | st.text(max_size=5) | st.none() | st.floats(allow_nan=False) | st.integers(2**63)
)
envelopes = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "2.0", "2.0", "1.0", 2]),
        "id": ids | json_values,
        "method": st.sampled_from(["known", "told", "unknown", "$/cancel_request", "$/other"]) | json_values,
        "params": st.builds(lambda s: {"sessionId": s}, st.text(max_size=3)) | json_values,
        "result": json_values,
        "error": st.fixed_dictionaries({"code": st.integers(), "message": st.text(max_size=5)}) | json_values,
    },
)
lines = (
    st.binary(max_size=40)
    | envelopes.map(lambda value: json.dumps(value).encode())
    | envelopes.map(lambda value: json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass"))
    | st.lists(envelopes | json_values, max_size=4).map(lambda value: json.dumps(value).encode())
    | json_values.map(lambda value: json.dumps(value).encode())
    | st.tuples(envelopes, st.integers(0, 60)).map(lambda pair: json.dumps(pair[0]).encode()[: pair[1]])
).filter(lambda line: b"\n" not in line)


def conversation_with_readers() -> Conversation[str]:
    conversation: Conversation[str] = Conversation()
    conversation.reader = Reader({"known": Known}, {"told": Known})
    for name in "abc":
        conversation.request(b'"m"', b"{}", name)
    return conversation


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(lines, max_size=6))
def test_any_bytes_are_read_without_an_exception_and_leave_nothing_owed(some: list[bytes]) -> None:
    conversation = conversation_with_readers()

    answers = receive_answers(conversation, some)

    assert conversation.peer_requests == []
    assert all(answer["jsonrpc"] == "2.0" and ("result" in answer) != ("error" in answer) for answer in answers)


def legal(id: Any) -> bool:
    if isinstance(id, float) and id.is_integer():
        return -(2**63) <= int(id) < 2**63
    if isinstance(id, (bool, float)):
        return False
    return id is None or isinstance(id, str) or (isinstance(id, int) and -(2**63) <= id < 2**63)


def key(id: Any) -> tuple[str, Any]:
    return type(id).__name__, id


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(st.tuples(ids, st.sampled_from(["known", "unknown"]), st.booleans(), st.booleans()), max_size=8))
def test_every_request_is_answered_exactly_once_with_its_own_id_and_notifications_never(asks: list[Any]) -> None:
    conversation = conversation_with_readers()
    owed: Counter[tuple[str, Any]] = Counter()
    some = []
    for id, method, batched, is_request in asks:
        message = {"params": {"sessionId": "s"}, "method": method, "jsonrpc": "2.0"}
        if is_request:
            message["id"] = id
            owed[key(id) if legal(id) else key(None)] += 1
        some.append(json.dumps([message] if batched else message).encode())

    answers = receive_answers(conversation, some)

    assert Counter(key(answer["id"]) for answer in answers) == owed


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(lines, max_size=6))
def test_a_block_gives_what_its_lines_give(some: list[bytes]) -> None:
    whole, single = conversation_with_readers(), conversation_with_readers()

    assert describe(receive_block(whole, b"".join(line + b"\n" for line in some))) == describe(
        message for line in some for message in receive_block(single, line)
    )


def describe(messages: Any) -> list[Any]:
    """Messages in a form that can be compared, whichever way they were read."""
    found = []
    for message in messages:
        if isinstance(message, Answered) and isinstance(message.answer, Success):
            found.append((message.waiter, bytes(message.answer.result)))
        elif isinstance(message, Call):
            found.append((type(message).__struct_config__.tag, message.id, msgspec.to_builtins(message.params)))
        elif isinstance(message, Malformed):
            found.append(message._replace(batch_responses=message.batch_responses is not None))
        else:
            found.append(message)
    return found
