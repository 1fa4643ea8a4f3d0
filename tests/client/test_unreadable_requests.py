"""An unreadable request to the user is rejected, and the user sees a notice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator
from typing import Any

import pytest
from support.wire_agent import Played

from accord import Notice
from accord.testing import wire_agent

TITLE = "The agent asked for permission with an invalid request, which was refused"
CALL = {"toolCallId": "c", "title": "Delete it", "kind": "delete", "status": "pending"}
YES = {"optionId": "y", "name": "Yes", "kind": "allow_once"}


def question(version: int, options: Any, **more: Any) -> dict[str, Any]:
    about = (
        {"toolCall": CALL}
        if version == 1
        else {"title": "Delete it", "subject": {"type": "tool_call", "toolCall": CALL}}
    )
    return {"sessionId": "s", **about, "options": options, **more}


async def send_requests(version: int, method: str, *questions: dict[str, Any]) -> tuple[list[Any], list[Notice]]:
    """The answers to questions during a turn, and what the user is told."""
    async with wire_agent(version, permissions=lambda request: True, elicitation=lambda form: {}) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        answers = [await peer.call(method, each) for each in questions]
        await played.end(session, request)
        await turn
    return answers, list(session.transcript.notices)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([{"name": "Yes", "kind": "allow_once"}], "options[0].optionId is missing"),
        ([YES, {**YES, "optionId": 7}], "options[1].optionId"),
        ("all of them", "options is"),
        (None, "options"),
    ],
)
async def test_an_unreadable_request_is_rejected_and_reported(version: int, options: Any, why: str) -> None:
    (answer,), notices = await send_requests(version, "session/request_permission", question(version, options))

    assert answer["error"]["code"] == -32602
    assert [(each.severity, each.title) for each in notices] == [("warning", TITLE)]
    assert why in str(notices[0].description)


@pytest.mark.req("V1-PERM-11", "V2-PERM-01")
async def test_a_request_without_options_is_reported(version: int) -> None:
    _, notices = await send_requests(version, "session/request_permission", question(version, []))

    assert [each.title for each in notices] == [TITLE]
    assert "options" in str(notices[0].description)


async def test_a_request_without_a_session_is_reported_in_every_busy_session(version: int) -> None:
    asked = question(version, [YES])
    del asked["sessionId"]
    _, notices = await send_requests(version, "session/request_permission", asked)

    assert [each.title for each in notices] == [TITLE]
    assert "sessionId is missing" in str(notices[0].description)


async def test_a_request_for_an_unknown_session_is_not_reported(version: int) -> None:
    (answer,), notices = await send_requests(
        version, "session/request_permission", question(version, 7, sessionId="other")
    )

    assert "error" in answer
    assert notices == []


async def test_an_unreadable_form_is_reported(version: int) -> None:
    asked = {"sessionId": "s", "mode": "form", "message": 7, "requestedSchema": "none"}
    (answer,), notices = await send_requests(version, "elicitation/create", asked)

    assert answer["error"]["code"] == -32602
    assert [each.title for each in notices] == [
        "The agent asked for a form or a page with an invalid request, which was refused"
    ]


async def test_an_agent_that_never_learns_does_not_fill_the_conversation(version: int) -> None:
    questions = [question(version, None)] * 30
    answers, notices = await send_requests(version, "session/request_permission", *questions)

    assert len(answers) == 30
    assert len(notices) == 20


async def test_unreadable_file_requests_are_rejected_without_a_notice(version: int) -> None:
    _, notices = await send_requests(version, "fs/read_text_file", {"sessionId": "s", "path": 7})

    assert notices == []


async def test_listeners_of_the_session_receive_the_notice(version: int) -> None:
    async with wire_agent(version, permissions=lambda request: True) as (peer, client):
        session = await Played(peer, client, version).begin()
        async with session.events() as listener, asyncio.timeout(300):
            await peer.call("session/request_permission", question(version, None))
            heard = [event async for event in until_notice(listener)]
    assert [event.title for event in heard if isinstance(event, Notice)] == [TITLE]


async def until_notice(listener: AsyncIterable[Any]) -> AsyncIterator[Any]:
    """Return the events up to the first notice."""
    async for event in listener:
        yield event
        if isinstance(event, Notice):
            return
