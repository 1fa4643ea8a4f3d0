"""Unknown values from an agent reach the user; invalid ones are dropped and counted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.wire_agent import Played, chunk, tell

from accord import Media, PermissionOption, PermissionRequest, ToolCall
from accord.model.content import UnknownContent
from accord.testing import wire_agent


async def test_a_turn_that_ends_for_an_unknown_reason_has_ended(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        await tell(peer, session.id, chunk("done", "m"))
        await played.end(session, request, "bored")
        await turn

    assert (turn.stop_reason, turn.text) == ("bored", "done")


@pytest.mark.feature("unknown updates and content", "client")
async def test_content_of_an_unknown_type_reaches_the_user_whole(version: int) -> None:
    smell = {"type": "smell", "of": ["roses"]}
    call = {"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "T"}
    async with wire_agent(version) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        await tell(peer, session.id, {**chunk("", "m"), "content": smell})
        await tell(peer, session.id, {**call, "content": [{"type": "content", "content": smell}]})
        await played.end(session, request)
        media = [event.content async for event in turn if isinstance(event, Media)]

    assert media == [UnknownContent(type="smell", data=smell)]
    assert session.transcript.tool_calls["t"].content == media


async def test_an_option_of_an_unknown_kind_does_not_cost_the_question(version: int) -> None:
    asked: list[PermissionRequest] = []

    def decide(request: PermissionRequest) -> PermissionOption:
        asked.append(request)
        return request.options[1]

    options = [
        {"optionId": "a", "name": "Allow", "kind": "allow_once"},
        {"optionId": "b", "name": "Allow for an hour", "kind": "allow_for_a_while"},
    ]
    params = {"sessionId": "s", "toolCall": {"toolCallId": "t", "title": "T"}, "title": "T", "options": options}
    async with wire_agent(version, permissions=decide) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        turn, request = await played.start_turn(session, "go")
        answer = await peer.call("session/request_permission", params)
        await played.end(session, request)
        await turn

    assert [(option.kind, option.allows) for option in asked[0].options] == [
        ("allow_once", True),
        ("allow_for_a_while", False),
    ]
    assert answer["result"]["outcome"] == {"outcome": "selected", "optionId": "b"}


async def test_output_that_is_not_base64_is_dropped_and_counted() -> None:
    def output(data: Any) -> dict[str, Any]:
        return {"sessionUpdate": "terminal_output_chunk", "terminalId": "t", "data": data}

    async with wire_agent(2) as (peer, client):
        session = await Played(peer, client, 2).begin()
        async with session.events() as events:
            await tell(peer, session.id, output("YQ=="), output("!"), output("Yg=="))
            seen = [(await asyncio.wait_for(anext(events), 300)).data for _ in range(2)]

    assert seen == [b"a", b"b"]
    assert session.transcript.terminals["t"].output == b"ab"
    assert client.connection.problems == {"dropped": 1}


@pytest.mark.parametrize("announces", [True, False])
async def test_a_call_that_reuses_an_id_of_an_earlier_turn_is_a_separate_call(version: int, announces: bool) -> None:
    """Ids are unique by the specification, but some agents count from 1 in every turn."""
    begin = {"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "pending"}
    if version == 1 and announces:
        begin = {"sessionUpdate": "tool_call", "toolCallId": "1"}
    end = {"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"}
    late = {"sessionUpdate": "tool_call_update", "toolCallId": "2", "rawOutput": "late"}
    async with wire_agent(version) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        seen = []
        for title in ("One", "Two"):
            turn, request = await played.start_turn(session, title)
            await tell(peer, session.id, {**begin, "title": title}, end)
            await tell(peer, session.id, *([late] if title == "Two" else [{**end, "toolCallId": "2"}]))
            await played.end(session, request)
            seen.append([(call.id, call.title, call.status) async for call in turn if isinstance(call, ToolCall)])

    assert seen == [
        [("1", "One", "pending"), ("1", "One", "completed"), ("2", "", "completed")],
        [("1", "Two", "pending"), ("1", "Two", "completed")],
    ]
    calls = [item for item in session.transcript.timeline if isinstance(item, ToolCall)]
    assert [(call.id, call.title) for call in calls] == [("1", "One"), ("2", ""), ("1", "Two")]
