"""Who awaits whom: by literals, and with any bytes."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.errors import LocalProtocolError
from accord.rpc.conversation import Answered, Cancelled, Conversation, Unexpected
from accord.rpc.envelope import Call, Failure, Fault, Malformed, Notification, Reader, Request, Success

ASK = b'{"jsonrpc":"2.0","id":%b,"method":"m","params":{}}'


def heard(conversation: Conversation[Any], *lines: bytes) -> list[Any]:
    return list(conversation.receive(b"".join(line + b"\n" for line in lines)))


def said(line: bytes) -> Any:
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    return json.loads(line)


# -- their requests


@pytest.mark.req("V1-FRAME-20", "V1-FRAME-25", "V2-FRAME-11")
def test_a_request_is_answered_once_with_its_own_id() -> None:
    conversation: Conversation[str] = Conversation()
    number, word = heard(conversation, ASK % b"1", ASK % b'"1"')

    assert said(conversation.answer("1", b'{"of":"word"}')) == {"jsonrpc": "2.0", "id": "1", "result": {"of": "word"}}
    assert said(conversation.answer(1, b'{"of":"number"}')) == {"jsonrpc": "2.0", "id": 1, "result": {"of": "number"}}
    assert (number.id, word.id) == (1, "1")


@pytest.mark.req("V1-FRAME-25")
def test_a_second_answer_is_our_own_fault() -> None:
    conversation: Conversation[str] = Conversation()
    heard(conversation, ASK % b"1")
    conversation.answer(1, b"{}")

    with pytest.raises(LocalProtocolError, match="request 1 has been answered already"):
        conversation.answer(1, b"{}")
    with pytest.raises(LocalProtocolError, match="never asked"):
        conversation.refuse(7, Fault(1, "no"))


@pytest.mark.req("V2-FRAME-12")
def test_an_id_that_is_still_open_is_refused_and_the_first_request_stays_open() -> None:
    conversation: Conversation[str] = Conversation()
    first, second = heard(conversation, ASK % b"5", ASK % b"5")

    assert isinstance(first, Request)
    assert isinstance(second, Malformed)
    assert said(conversation.complain(second)) == {
        "jsonrpc": "2.0",
        "id": 5,
        "error": {"code": -32600, "message": "Invalid request: a request with the id 5 is still open"},
    }
    assert conversation.owes(5)
    conversation.answer(5, b"{}")


def test_an_id_may_be_used_again_once_it_is_answered() -> None:
    conversation: Conversation[str] = Conversation()
    heard(conversation, ASK % b"5")
    conversation.answer(5, b"{}")

    assert heard(conversation, ASK % b"5") == [Request(5, "m", b"{}")]


@pytest.mark.req("V1-FRAME-18", "V2-FRAME-10")
def test_a_null_id_is_legal_in_the_first_version_and_refused_in_the_second() -> None:
    first: Conversation[str] = Conversation(null_ids=True)
    second: Conversation[str] = Conversation(null_ids=False)

    assert heard(first, ASK % b"null") == [Request(None, "m", b"{}")]
    assert said(first.answer(None, b"{}"))["id"] is None
    (refused,) = heard(second, ASK % b"null")
    assert said(second.complain(refused))["error"]["code"] == -32600
    assert second.they_await == []


def test_a_read_call_and_a_loose_one_share_the_ids() -> None:
    class Params(msgspec.Struct):
        a: int = 0

    conversation: Conversation[str] = Conversation()
    conversation.reader = Reader({"m": Params}, {})
    (call,) = heard(conversation, ASK % b"1")
    (twin,) = heard(conversation, b'{"jsonrpc":"2.0","id":1,"method":"other"}')

    assert isinstance(call, Call)
    assert isinstance(twin, Malformed)
    assert conversation.they_await == [1]


# -- answers to us


def asked(conversation: Conversation[str], waiter: str) -> int:
    id, line = conversation.request(b'"m"', b"{}", waiter)
    assert said(line) == {"jsonrpc": "2.0", "id": id, "method": "m", "params": {}}
    return id


@pytest.mark.req("V1-FRAME-19", "V2-FRAME-12")
def test_our_ids_are_integers_that_never_come_twice() -> None:
    conversation: Conversation[str] = Conversation()

    assert [asked(conversation, "") for _ in range(3)] == [0, 1, 2]


def test_an_answer_finds_who_waits_for_it() -> None:
    conversation: Conversation[str] = Conversation()
    first, second = asked(conversation, "first"), asked(conversation, "second")

    answers = heard(
        conversation,
        b'{"jsonrpc":"2.0","id":%d,"result":{"a":1}}' % second,
        b'{"jsonrpc":"2.0","id":%d,"error":{"code":1,"message":"no"}}' % first,
    )

    assert [answer.waiter for answer in answers] == ["second", "first"]
    assert bytes(answers[0].answer.result) == b'{"a":1}'
    assert answers[1].answer == Failure(first, Fault(1, "no"))
    assert conversation.we_await == []


@pytest.mark.req("V1-FRAME-32")
@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}',
        b'{"id":"0","jsonrpc":"2.0","result":{}}',  # the number 0 is open, not the word
    ],
)
def test_an_answer_that_nobody_awaits_is_only_reported(line: bytes) -> None:
    conversation: Conversation[str] = Conversation()
    asked(conversation, "waits")

    (message,) = heard(conversation, line)

    assert isinstance(message, Unexpected)
    assert conversation.we_await == ["waits"]


@pytest.mark.req("V1-FRAME-32")
def test_the_second_answer_to_a_request_is_only_reported() -> None:
    conversation: Conversation[str] = Conversation()
    id = asked(conversation, "waits")
    line = b'{"jsonrpc":"2.0","id":%d,"result":{}}' % id

    first, second = heard(conversation, line, line)

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
    asked(conversation, "waits")
    asked(conversation, "waits too")

    (answer,) = heard(conversation, line)

    assert isinstance(answer, Answered)
    assert answer.waiter == "waits"
    assert isinstance(answer.answer, Failure)
    assert conversation.we_await == ["waits too"]


@pytest.mark.req("V1-FRAME-34", "V1-CANCEL-16", "V2-CANCEL-18")
def test_each_direction_has_its_own_ids() -> None:
    conversation: Conversation[str] = Conversation()
    ours = asked(conversation, "waits")

    assert heard(conversation, ASK % b"%d" % ours) == [Request(ours, "m", b"{}")]
    assert conversation.owes(ours) and conversation.awaits(ours)
    (answer,) = heard(conversation, b'{"jsonrpc":"2.0","id":%d,"result":{}}' % ours)
    assert answer.waiter == "waits"
    assert conversation.owes(ours)


def test_a_forgotten_request_is_answered_to_nobody() -> None:
    conversation: Conversation[str] = Conversation()
    id = asked(conversation, "waits")

    assert conversation.forget(id) == "waits"
    assert conversation.forget(id) is None
    assert heard(conversation, b'{"jsonrpc":"2.0","id":%d,"result":{}}' % id) == [Unexpected(id, None)]


def test_at_the_end_everyone_who_waits_is_given_back_and_they_may_still_be_answered() -> None:
    conversation: Conversation[str] = Conversation()
    asked(conversation, "a")
    asked(conversation, "b")
    heard(conversation, ASK % b"1")

    assert conversation.end() == ["a", "b"]
    assert conversation.end() == []
    assert said(conversation.answer(1, b"{}"))["id"] == 1


# -- cancelling


CANCEL = b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":%b}}'


@pytest.mark.req("V1-CANCEL-11", "V2-CANCEL-15")
def test_they_cancel_a_request_of_theirs_and_are_still_owed_an_answer() -> None:
    conversation: Conversation[str] = Conversation()
    heard(conversation, ASK % b'"a"')

    assert heard(conversation, CANCEL % b'"a"') == [Cancelled("a")]
    assert conversation.owes("a")


@pytest.mark.req("V1-CANCEL-15", "V1-CANCEL-16", "V1-CANCEL-17", "V2-CANCEL-18")
@pytest.mark.parametrize("id", [b"0", b"7", b'"5"', b"null", b"5.0", b"true", b"{}", b"[5]"])
def test_a_cancellation_of_anything_else_is_ignored(id: bytes) -> None:
    conversation: Conversation[str] = Conversation()
    asked(conversation, "ours has the id 0")
    heard(conversation, ASK % b"5")

    assert heard(conversation, CANCEL % id) == []
    assert conversation.we_await == ["ours has the id 0"]


@pytest.mark.parametrize("params", [b"{}", b"[]", b"null", b'{"requestId":1,"x":NaN}'])
@pytest.mark.req("V1-CANCEL-17", "V1-FRAME-24")
def test_a_cancellation_that_names_nothing_is_ignored_or_no_json(params: bytes) -> None:
    conversation: Conversation[str] = Conversation()

    messages = heard(conversation, b'{"jsonrpc":"2.0","method":"$/cancel_request","params":%b}' % params)

    assert not any(isinstance(message, Cancelled) for message in messages)


def test_a_cancellation_with_an_id_is_a_request_like_any_other() -> None:
    conversation: Conversation[str] = Conversation()

    (message,) = heard(conversation, b'{"jsonrpc":"2.0","id":1,"method":"$/cancel_request","params":{"requestId":1}}')

    assert isinstance(message, Request)


@pytest.mark.req("V1-CANCEL-20")
def test_we_cancel_and_the_answer_is_still_ours() -> None:
    conversation: Conversation[str] = Conversation()
    id = asked(conversation, "waits")

    assert said(conversation.cancel(id)) == {
        "jsonrpc": "2.0",
        "method": "$/cancel_request",
        "params": {"requestId": id},
    }
    (answer,) = heard(conversation, b'{"jsonrpc":"2.0","id":%d,"result":{}}' % id)
    assert answer.waiter == "waits"


# -- batches


@pytest.mark.req("V2-FRAME-18", "V2-FRAME-19")
def test_the_answers_to_a_batch_leave_together_when_the_last_is_there() -> None:
    conversation: Conversation[str] = Conversation()
    heard(conversation, b"[" + ASK % b"1" + b"," + ASK % b"2" + b',{"jsonrpc":"2.0","method":"n"}]')

    assert conversation.answer(2, b'{"second":true}') == b""
    assert said(conversation.refuse(1, Fault(-32601, "no"))) == [
        {"jsonrpc": "2.0", "id": 2, "result": {"second": True}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}},
    ]


@pytest.mark.req("V2-FRAME-14", "V2-FRAME-20")
def test_a_batch_of_notifications_is_answered_with_nothing() -> None:
    conversation: Conversation[str] = Conversation()

    messages = heard(conversation, b'[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","method":"b"}]')

    assert messages == [Notification("a", b"{}"), Notification("b", b"{}")]
    assert conversation.they_await == []


@pytest.mark.req("V2-FRAME-21")
def test_each_fault_of_a_batch_is_answered_beside_the_rest() -> None:
    conversation: Conversation[str] = Conversation()
    first, request, twin = heard(conversation, b"[1," + ASK % b"1" + b"," + ASK % b"1" + b"]")

    assert conversation.complain(first) == b""
    assert conversation.answer(1, b"{}") == b""
    answers = said(conversation.complain(twin))
    assert [(answer["id"], "error" in answer) for answer in answers] == [(None, True), (1, False), (1, True)]
    assert isinstance(request, Request)


@pytest.mark.req("V2-FRAME-22")
def test_answers_in_a_batch_find_who_waits_by_id() -> None:
    conversation: Conversation[str] = Conversation()
    for name in "ab":
        asked(conversation, name)

    answers = heard(conversation, b'[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":0,"result":{}}]')

    assert [answer.waiter for answer in answers] == ["b", "a"]


def test_a_broken_entry_of_a_batch_answers_nobody() -> None:
    conversation: Conversation[str] = Conversation()
    asked(conversation, "waits")

    broken, request = heard(conversation, b'[{"jsonrpc":"2.0","id":0},' + ASK % b"1" + b"]")

    assert conversation.complain(broken) == b""
    assert len(said(conversation.answer(request.id, b"{}"))) == 2
    assert conversation.we_await == ["waits"]


@pytest.mark.req("V1-FRAME-39", "V2-FRAME-23")
def test_where_batches_are_rejected_one_error_answers_and_nothing_is_processed() -> None:
    conversation: Conversation[str] = Conversation(batches="reject")

    (message,) = heard(conversation, b"[" + ASK % b"1" + b"]")

    assert said(conversation.complain(message)) == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32600, "message": "Invalid request: batches are not used here"},
    }
    assert conversation.they_await == []


# -- any bytes


class Known(msgspec.Struct, rename="camel"):
    session_id: str
    text: str = ""


def answered(conversation: Conversation[str], lines: list[bytes]) -> list[Any]:
    """Plays a side that answers everything at once, as the rules have it; gives every answer."""
    out = b""
    for line in lines:
        for message in conversation.receive(line + b"\n"):
            match message:
                case Call() | Request():
                    if isinstance(message, Request) or isinstance(message.id, (int, str, type(None))):
                        out += conversation.answer(message.id, b"{}")  # type: ignore[arg-type]
                case Malformed():
                    out += conversation.complain(message)
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

    answers = answered(conversation, some)

    assert conversation.they_await == []
    assert all(answer["jsonrpc"] == "2.0" and ("result" in answer) != ("error" in answer) for answer in answers)


def legal(id: Any) -> bool:
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

    answers = answered(conversation, some)

    assert Counter(key(answer["id"]) for answer in answers) == owed


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(lines, max_size=6))
def test_a_block_gives_what_its_lines_give(some: list[bytes]) -> None:
    whole, single = conversation_with_readers(), conversation_with_readers()

    assert shown(whole.receive(b"".join(line + b"\n" for line in some))) == shown(
        message for line in some for message in single.receive(line)
    )


def shown(messages: Any) -> list[Any]:
    """Messages in a form that can be compared, whichever way they were read."""
    found = []
    for message in messages:
        if isinstance(message, Answered) and isinstance(message.answer, Success):
            found.append((message.waiter, bytes(message.answer.result)))
        elif isinstance(message, Call):
            found.append((type(message).__struct_config__.tag, message.id, msgspec.to_builtins(message.params)))
        elif isinstance(message, Malformed):
            found.append(message._replace(gathering=message.gathering is not None))
        else:
            found.append(message)
    return found
