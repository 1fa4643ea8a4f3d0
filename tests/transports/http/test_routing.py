"""Streams of messages, chosen without I/O."""

from __future__ import annotations

import pytest

from accord.transports.http.message_head import MessageHead, read_head
from accord.transports.http.routing import Route, SessionHeaders, StreamRouter


def head_of(message: bytes) -> MessageHead:
    head = read_head(message)
    assert head is not None
    return head


def route_answer(request: bytes, answer: bytes) -> Route:
    router = StreamRouter()
    head = head_of(request)
    router.note_incoming(head, head.session)
    return router.route(head_of(answer))


@pytest.mark.parametrize(
    "message, kind, id, method, session",
    [
        (b'{"jsonrpc":"2.0","id":1,"method":"a","params":{"sessionId":"s"}}', "request", b"1", "a", "s"),
        (b'{"jsonrpc":"2.0","id":"1","method":"a"}', "request", b'"1"', "a", None),
        (b'{"jsonrpc":"2.0","id":null,"method":"a"}', "request", b"null", "a", None),
        (b'{"method":"session/update","params":{"sessionId":"s"}}', "notification", b"", "session/update", "s"),
        (b'{"id":1,"result":{"sessionId":"s"}}', "response", b"1", "", "s"),
        (b'{"id":1,"result":null}', "response", b"1", "", None),
        (b'{"id":1,"result":[1]}', "response", b"1", "", None),
        (b'{"id":1,"method":"a","params":[1]}', "request", b"1", "a", None),
        (b'{"id":1,"method":"a","params":{"sessionId":7}}', "request", b"1", "a", None),
        (b'{"id":1,"method":7}', "request", b"1", "7", None),
    ],
)  # fmt: skip
def test_the_head_of_a_message(message: bytes, kind: str, id: bytes, method: str, session: str | None) -> None:
    head = head_of(message)
    assert (head.kind, head.id, head.method, head.session) == (kind, id, method, session)


@pytest.mark.parametrize("message", [b"", b"no JSON", b"[1]", b"1", b'"text"', b'{"a":'])
def test_what_is_not_an_object_has_no_head(message: bytes) -> None:
    assert read_head(message) is None


@pytest.mark.req("V1-HTTP-10", "V2-HTTP-01")
@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume", "session/fork"])
def test_the_answer_that_opens_a_session_goes_to_the_connection(method: str) -> None:
    request = b'{"id":1,"method":"%b","params":{"sessionId":"s"}}' % method.encode()
    assert route_answer(request, b'{"id":1,"result":{}}').session is None


@pytest.mark.req("V1-HTTP-10")
def test_what_names_no_session_goes_to_the_connection() -> None:
    assert route_answer(b'{"id":1,"method":"session/list","params":{}}', b'{"id":1,"result":{}}') == Route(None)
    assert StreamRouter().route(head_of(b'{"method":"_test/noted","params":{}}')) == Route(None)
    assert StreamRouter().route(head_of(b'{"id":null,"error":{"code":-32700,"message":"m"}}')) == Route(None)


@pytest.mark.req("V1-HTTP-11")
@pytest.mark.parametrize(
    "message",
    [
        b'{"method":"session/update","params":{"sessionId":"s","update":{}}}',
        b'{"id":9,"method":"session/request_permission","params":{"sessionId":"s"}}',
        b'{"id":9,"method":"fs/read_text_file","params":{"path":"/x","sessionId":"s"}}',
    ],
)
def test_calls_of_the_agent_go_to_the_session_they_name(message: bytes) -> None:
    assert StreamRouter().route(head_of(message)) == Route("s")


@pytest.mark.req("V1-HTTP-11")
def test_answers_go_to_the_session_of_their_request() -> None:
    request = b'{"id":1,"method":"session/prompt","params":{"sessionId":"s"}}'
    assert route_answer(request, b'{"id":1,"result":{"stopReason":"end_turn"}}') == Route("s")
    assert route_answer(request, b'{"id":1,"error":{"code":-32603,"message":"m"}}') == Route("s")
    assert route_answer(request, b'{"id":"1","result":{}}') == Route(None), "another id"


@pytest.mark.req("V1-HTTP-25")
def test_dollar_messages_belong_to_the_connection_whatever_they_contain() -> None:
    cancel = b'{"method":"$/cancel_request","params":{"requestId":9,"sessionId":"s"}}'
    router = StreamRouter()
    assert router.route(head_of(cancel)).session is None
    assert SessionHeaders().session_of(head_of(cancel)) is None


def test_a_cancellation_comes_after_what_it_cancels_although_that_is_on_another_stream() -> None:
    router = StreamRouter()
    router.route(head_of(b'{"id":9,"method":"session/request_permission","params":{"sessionId":"s"}}'))
    cancel = head_of(b'{"method":"$/cancel_request","params":{"requestId":9}}')
    assert router.route(cancel) == Route(None, after="s")


def test_the_answer_that_closes_a_session_ends_its_stream_unless_it_is_an_error() -> None:
    request = b'{"id":1,"method":"session/close","params":{"sessionId":"s"}}'
    assert route_answer(request, b'{"id":1,"result":{}}') == Route("s", is_last=True)
    assert route_answer(request, b'{"id":1,"error":{"code":-32002,"message":"m"}}') == Route("s")


@pytest.mark.req("V1-HTTP-09")
def test_a_client_names_the_session_of_its_calls_and_of_its_answers() -> None:
    headers = SessionHeaders()
    headers.note_incoming(head_of(b'{"id":9,"method":"session/request_permission","params":{"sessionId":"s"}}'), "s")
    headers.note_incoming(head_of(b'{"id":10,"method":"elicitation/create","params":{}}'), "t")
    assert headers.session_of(head_of(b'{"id":9,"result":{}}')) == "s"
    assert headers.session_of(head_of(b'{"id":10,"result":{}}')) == "t", "the stream it came on decides"
    assert headers.session_of(head_of(b'{"id":11,"result":{}}')) is None
    assert headers.session_of(head_of(b'{"id":1,"method":"session/prompt","params":{"sessionId":"s"}}')) == "s"
    assert headers.session_of(head_of(b'{"id":1,"method":"session/list","params":{}}')) is None
