"""A client's answers to an agent's forms and pages."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from support.link import until
from support.wire_agent import Played

from accord import Elicitation, Reply
from accord.testing import wire_agent

FORM = {
    "mode": "form",
    "message": "Who?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
}
PAGE = {"mode": "url", "message": "Log in", "url": "https://example.com", "elicitationId": "e1"}


async def ask(version: int, elicitation: Any, params: dict[str, Any]) -> dict[str, Any]:
    async with wire_agent(version, elicitation=elicitation) as (peer, client):
        await Played(peer, client, version).begin()
        return await peer.call("elicitation/create", params)


@pytest.mark.req("V1-ELIC-16", "V1-ELIC-17", "V1-ELIC-18", "V2-ELIC-01", "V2-ELIC-08")
@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ({"name": "Ada"}, {"action": "accept", "content": {"name": "Ada"}}),
        (Reply(action="accept", content={"n": [1.5, True]}), {"action": "accept", "content": {"n": [1.5, True]}}),
        (Reply(action="accept"), {"action": "accept"}),
        (Reply(action="decline", content={"name": "x"}), {"action": "decline"}),
        (Reply(action="cancel"), {"action": "cancel"}),
        (None, {"action": "cancel"}),
    ],
)
async def test_a_handler_answers_with_what_was_filled_in_or_with_a_whole_reply(
    version: int, reply: Any, answer: dict[str, Any]
) -> None:
    async def later(question: Elicitation) -> Any:
        return reply

    for handler in (lambda question: reply, later):
        given = await ask(version, handler, {**FORM, "sessionId": "s"})
        assert given["result"] == answer


@pytest.mark.req("V1-ELIC-18")
async def test_what_was_typed_on_a_page_is_not_sent_to_the_agent(version: int) -> None:
    for reply in ({"token": "hunter2"}, Reply(action="accept", content={"token": "hunter2"})):
        given = await ask(version, lambda question, reply=reply: reply, {**PAGE, "sessionId": "s"})
        assert given["result"] == {"action": "accept"}


REQUIRED = {**FORM["requestedSchema"], "required": ["name", "age"]}  # type: ignore[dict-item]


@pytest.mark.req("V1-ELIC-11")
@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ({}, "left out 'name', 'age', which the form requires"),
        ({"name": "Ada"}, "left out 'age', which the form requires"),
        (Reply(action="accept"), "left out 'name', 'age'"),
        ({"name": 5, "age": 5}, "a value for 'name' that doesn't fit the form"),
        ("Ada", "returned 'Ada'; it must return a dict, a Reply or None"),
        (True, "returned True; it must return a dict, a Reply or None"),
    ],
)
async def test_what_does_not_fit_the_form_is_never_sent_as_accepted(version: int, reply: Any, why: str) -> None:
    answer = await ask(version, lambda question: reply, {**FORM, "requestedSchema": REQUIRED, "sessionId": "s"})

    assert answer["error"]["code"] == -32603
    assert why in answer["error"]["message"]


@pytest.mark.req("V1-INIT-24", "V1-ELIC-03")
@pytest.mark.parametrize("mode", ["form", "url"])
async def test_a_client_may_offer_one_kind_of_question_only(version: int, mode: str) -> None:
    questions = {"form": FORM, "url": PAGE}
    offered: list[Any] = []

    def watch(direction: str, line: bytes) -> None:
        if b'"initialize"' in line:
            params = json.loads(line)["params"]
            offered.append(params["clientCapabilities" if version == 1 else "capabilities"]["elicitation"])

    how: dict[str, Any] = {"elicitation": lambda question: {}, "elicitation_modes": [mode], "watch": watch}
    async with wire_agent(version, **how) as (peer, client):
        await Played(peer, client, version).begin()
        answers = {
            each: await peer.call("elicitation/create", {**params, "sessionId": "s"})
            for each, params in questions.items()
        }

    assert offered == [{mode: {}}]
    assert answers.pop(mode)["result"]["action"] == "accept"
    assert [(answer["error"]["code"], mode in answer["error"]["message"]) for answer in answers.values()] == [
        (-32602, True)
    ]


@pytest.mark.req("V1-ELIC-03", "V1-INIT-24")
@pytest.mark.parametrize("mode", ["form", "url", "_vr"])
async def test_a_mode_that_was_not_offered_is_refused(version: int, mode: str) -> None:
    params = {**FORM, **PAGE, "mode": mode, "sessionId": "s"}
    without = await ask(version, None, params)
    unknown = await ask(version, lambda question: {}, {**params, "mode": "_vr"})

    assert without["error"]["code"] == unknown["error"]["code"] == -32602


@pytest.mark.req("V1-ELIC-05", "V2-ELIC-03")
@pytest.mark.parametrize("scope", [{}, {"sessionId": "s", "requestId": 1}])
async def test_a_question_names_exactly_one_scope(version: int, scope: dict[str, Any]) -> None:
    refused = await ask(version, lambda question: {}, {**FORM, **scope})

    assert refused["error"]["code"] == -32602


async def test_a_question_about_an_unknown_session_is_refused(version: int) -> None:
    refused = await ask(version, lambda question: {}, {**FORM, "sessionId": "unknown"})

    assert refused["error"]["code"] == -32002


@pytest.mark.req("V1-ELIC-06", "V2-ELIC-02", "V2-ELIC-04")
async def test_a_form_without_its_type_is_read_in_version_1_and_refused_in_version_2(version: int) -> None:
    params = {**FORM, "sessionId": "s", "requestedSchema": {"properties": {}}}
    answer = await ask(version, lambda question: {"type": question.schema["type"]}, params)

    if version == 1:
        assert answer["result"]["content"] == {"type": "object"}
    else:
        assert answer["error"]["code"] == -32602


@pytest.mark.req("V1-ELIC-07", "V1-ELIC-08", "V1-ELIC-15", "V2-ELIC-05")
async def test_fields_of_every_kind_reach_the_handler_as_they_are(version: int) -> None:
    fields = {
        "name": {"type": "string", "minLength": 1, "pattern": "^(a+)+$", "format": "email", "default": "a@b"},
        "color": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}]},
        "age": {"type": "integer", "minimum": 0, "default": 3},
        "size": {"type": "number", "maximum": 2.5},
        "sure": {"type": "boolean", "default": True},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "maxItems": 2},
        "odd": {"type": "_slider", "steps": [1, 2]},
    }
    seen: list[Elicitation] = []

    def look(question: Elicitation) -> None:
        seen.append(question)

    schema = {"type": "object", "properties": fields, "required": ["name"]}
    await ask(version, look, {**FORM, "requestedSchema": schema, "sessionId": "s", "_meta": {"a": 1}})

    (question,) = seen
    assert question.schema == schema
    assert (question.message, question.session_id, question.meta) == ("Who?", "s", {"a": 1})


async def test_a_question_about_a_request_needs_no_session(version: int) -> None:
    seen: list[Elicitation] = []

    def look(question: Elicitation) -> dict[str, Any]:
        seen.append(question)
        return {"name": "Ada"}

    async with wire_agent(version, elicitation=look) as (peer, client):
        making = asyncio.ensure_future(client.new_session("/project"))
        request = await peer.next_call("session/new")
        answer = await peer.call("elicitation/create", {**FORM, "requestId": request["id"]})
        await peer.reply(request, {"sessionId": "s"})
        await making

    assert answer["result"]["action"] == "accept"
    assert (seen[0].request_id, seen[0].session_id) == (request["id"], None)


@pytest.mark.req("V1-ELIC-20", "V1-ELIC-21", "V1-ELIC-23", "V2-ELIC-09")
async def test_completion_is_reported_once_and_only_for_opened_pages(version: int) -> None:
    done: list[Any] = []
    answers: list[Any] = [Reply(action="accept"), Reply(action="decline")]
    options = {"elicitation": lambda question: answers.pop(0), "extensions": {"elicitation/complete": done.append}}
    async with wire_agent(version, **options) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        await peer.call("elicitation/create", {**PAGE, "sessionId": "s"})
        await peer.call("elicitation/create", {**PAGE, "sessionId": "s", "elicitationId": "e2"})
        for id in ("e1", "e1", "e2", "never"):
            await peer.tell("elicitation/complete", {"elicitationId": id})
        await peer.call("_quiet")
        state = session.transcript.state

    assert done == [{"elicitationId": "e1"}]
    assert state == "idle"


@pytest.mark.req("V1-CANCEL-13", "V1-CANCEL-03")
async def test_a_question_is_void_when_the_agent_withdraws_it_or_the_turn_is_cancelled(version: int) -> None:
    questions: list[str] = []

    async def wait_forever(question: Elicitation) -> None:
        questions.append(question.message)
        await asyncio.Event().wait()

    async with wire_agent(version, elicitation=wait_forever) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        first = await peer.ask("elicitation/create", {**FORM, "sessionId": "s"})
        await until(lambda: len(questions) == 1)
        await peer.tell("$/cancel_request", {"requestId": first})
        withdrawn = await peer.answer_to(first)
        second = await peer.ask("elicitation/create", {**FORM, "sessionId": "s"})
        await until(lambda: len(questions) == 2)
        await turn.cancel()
        cancelled = await peer.answer_to(second)
        await played.end(session, request, "cancelled")
        await turn

    assert withdrawn["result"] == cancelled["result"] == {"action": "cancel"}
