"""Admission of HTTP requests, without I/O."""

from __future__ import annotations

import pytest

from accord.transports.http.admission import (
    Post,
    Refusal,
    read_headers,
    read_post,
    refuse_get,
    refuse_origin,
    refuse_post_headers,
)

CONNECTION = {"acp-connection-id": "c"}
SESSION = {**CONNECTION, "acp-session-id": "s"}
PROMPT = b'{"id":1,"method":"session/prompt","params":{"sessionId":"s"}}'


def status(refusal: object) -> int:
    assert isinstance(refusal, Refusal)
    assert refusal.text, "a refusal says why"
    return refusal.status


@pytest.mark.req("V1-HTTP-12")
@pytest.mark.parametrize("kind", ["text/plain", "", "application/jsonp", "multipart/form-data; x=application/json"])
def test_only_json_is_posted(kind: str) -> None:
    assert status(refuse_post_headers({"content-type": kind}, 10)) == 415


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/JSON"])
def test_json_may_have_parameters(kind: str) -> None:
    assert refuse_post_headers({"content-type": kind}, 10) is None


def test_compressed_bodies_are_refused_before_they_can_grow() -> None:
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    assert status(refuse_post_headers(headers, 10)) == 415


def test_a_body_that_announces_too_much_is_refused_with_the_limit() -> None:
    refusal = refuse_post_headers({"content-type": "application/json", "content-length": "11"}, 10)
    assert status(refusal) == 413
    assert refusal is not None and "10 bytes" in refusal.text


@pytest.mark.req("V1-HTTP-13")
def test_a_post_needs_its_ids() -> None:
    assert status(read_post({}, PROMPT)) == 400
    assert status(read_post(CONNECTION, b'{"id":1,"method":"session/prompt","params":{}}')) == 400
    assert status(read_post(CONNECTION, b'{"method":"session/cancel","params":{}}')) == 400


def test_the_session_may_be_named_in_the_header_or_in_the_params() -> None:
    for headers, body in [(CONNECTION, PROMPT), (SESSION, PROMPT), (SESSION, b'{"id":1,"method":"session/prompt"}')]:
        post = read_post(headers, body)
        assert isinstance(post, Post)
        assert post.session == "s"


def test_an_answer_needs_no_session() -> None:
    post = read_post(CONNECTION, b'{"id":1,"result":{}}')
    assert isinstance(post, Post)
    assert post.session is None


@pytest.mark.req("V1-HTTP-14")
def test_contradictions_are_refused() -> None:
    assert status(read_post({**CONNECTION, "acp-session-id": "t"}, PROMPT)) == 400
    assert status(read_post(CONNECTION, b'{"id":1,"method":"initialize","params":{}}')) == 400
    assert status(read_post({}, b'{"method":"initialize","params":{}}')) == 400


@pytest.mark.req("V1-HTTP-14")
@pytest.mark.parametrize("body", [b"", b"no JSON", b"1", b'"text"', b"null", b'{"id":1', b'{"id":1} {"id":2}'])
def test_what_is_not_one_object_is_refused(body: bytes) -> None:
    assert status(read_post(CONNECTION, body)) == 400


@pytest.mark.req("V1-HTTP-16")
@pytest.mark.parametrize("body", [b"[]", b" \n[" + PROMPT + b"]", b"[1]"])
def test_batches_are_not_implemented(body: bytes) -> None:
    assert status(read_post(CONNECTION, body)) == 501


def test_a_message_in_several_lines_becomes_one_line() -> None:
    post = read_post(CONNECTION, b'{\r\n  "id": 1,\n  "method": "session/list"\n}\n')
    assert isinstance(post, Post)
    assert post.message == b'{    "id": 1,   "method": "session/list" }'


@pytest.mark.req("V1-HTTP-25")
def test_a_dollar_message_has_no_session_even_if_a_header_names_one() -> None:
    post = read_post(SESSION, b'{"method":"$/cancel_request","params":{"requestId":1}}')
    assert isinstance(post, Post)
    assert post.session is None


@pytest.mark.req("V1-HTTP-12")
def test_a_get_must_accept_events() -> None:
    assert status(refuse_get({**CONNECTION, "accept": "application/json"})) == 406
    assert status(refuse_get(CONNECTION)) == 406
    assert status(refuse_get({"accept": "text/event-stream"})) == 400
    assert refuse_get({**CONNECTION, "accept": "application/json, text/event-stream;q=0.9"}) is None


@pytest.mark.req("V1-HTTP-24")
@pytest.mark.parametrize(
    "origin, allowed, is_refused",
    [
        (None, (), False),
        ("http://localhost:8000", (), False),
        ("https://evil.example", (), True),
        ("null", (), True),
        ("http://localhost:8001", (), True),
        ("https://app.example", ("https://app.example",), False),
        ("https://evil.example", ("*",), False),
    ],
)
def test_pages_of_other_origins_are_refused(origin: str | None, allowed: tuple[str, ...], is_refused: bool) -> None:
    headers = {"host": "localhost:8000"} | ({} if origin is None else {"origin": origin})
    refusal = refuse_origin(headers, frozenset(allowed))
    assert (refusal is not None and refusal.status == 403) is is_refused


def test_ambiguous_and_endless_headers_are_refused() -> None:
    assert status(read_headers([(b"acp-connection-id", b"a"), (b"Acp-Connection-Id", b"b")])) == 400
    assert status(read_headers([(b"acp-session-id", b"x" * 5000)])) == 400
    assert read_headers([(b"cookie", b"a=1"), (b"Cookie", b"b=2")]) == {"cookie": "a=1; b=2"}
