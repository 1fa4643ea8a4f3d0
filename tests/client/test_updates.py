"""Updates: before the answer that makes their session known, between turns, and after the end of one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.link import until
from support.wire_agent import Played, chunk, tell

from accord import NotFound, Text, UserText
from accord.client.early_updates import MAX_EARLY_BYTES
from accord.testing import wire_agent


@pytest.mark.req("V2-SETUP-04", "V1-UPD-14")
async def test_what_comes_before_the_session_is_known_is_kept_for_it(version: int) -> None:
    commands = {"sessionUpdate": "available_commands_update", "availableCommands": []}
    async with wire_agent(version) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin(early=(chunk("Wel", "m"), chunk("come", "m"), commands))

    assert session.transcript.text == "Welcome"


@pytest.mark.req("V2-SETUP-04")
async def test_in_version_2_a_state_sent_before_the_response_is_kept() -> None:
    async with wire_agent(2) as (peer, client):
        played = Played(peer, client, 2)
        state = {"sessionUpdate": "state_update", "state": "running"}
        session = await played.begin(early=(state,))
        quiet = await played.begin(id="t")

        assert session.transcript.state == "running"
        assert quiet.transcript.state == "idle"


async def test_the_answer_counts_over_what_came_before_it() -> None:
    def mode(value: str) -> dict[str, Any]:
        return {"id": "m", "name": "M", "type": "boolean", "currentValue": value == "on"}

    async with wire_agent(1) as (peer, client):
        played = Played(peer, client, 1)
        early = {"sessionUpdate": "config_option_update", "configOptions": [mode("off")]}
        session = await played.begin(early=(early,), configOptions=[mode("on")])

    assert [option.value for option in session.options] == [True]


@pytest.mark.req("V1-UPD-14", "V1-UPD-13")
async def test_updates_of_an_unknown_session_are_ignored(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        played = Played(peer, client, version)
        await tell(peer, "nobody", chunk("hello?", "m"))
        await peer.tell("session/update", {"sessionId": "nobody"})
        await peer.tell("session/update", {"nonsense": True})
        session = await played.begin("nobody")
        await tell(peer, "nobody", chunk("now you know me", "n"))
        await until(lambda: session.transcript.text)

    assert session.transcript.text == "now you know me"
    assert all("method" in message for message in peer.received)


async def test_what_is_kept_for_an_unknown_session_has_a_bound() -> None:
    async with wire_agent(1) as (peer, client):
        played = Played(peer, client, 1)
        big = chunk("x" * (MAX_EARLY_BYTES // 8), "m")
        session = await played.begin(early=(big,) * 10)
        kept = len(session.transcript.text)
        await tell(peer, "s", chunk("more", "n"))
        await until(lambda: "more" in session.transcript.text)

    assert MAX_EARLY_BYTES // 2 < kept <= MAX_EARLY_BYTES


@pytest.mark.req("V1-PROMPT-19", "V2-STATE-08", "V1-TOOL-12")
async def test_late_words_go_to_the_session_and_not_into_the_next_turn(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        events = session.events()
        first, request = await played.start_turn(session, "one")
        call = {"toolCallId": "c", "title": "Slow", "status": "in_progress"}
        kind = "tool_call" if version == 1 else "tool_call_update"
        await tell(peer, "s", chunk("first", "m1"), {"sessionUpdate": kind, **call})
        await played.end(session, request)
        await first
        await tell(peer, "s", chunk(" and late", "m1"), {"sessionUpdate": "tool_call_update", "toolCallId": "b"})
        await until(lambda: "b" in session.transcript.tool_calls)

        second, request = await played.start_turn(session, "two")
        late = {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"}
        orphan = {"sessionUpdate": "tool_call_update", "toolCallId": "b", "status": "failed"}
        await tell(peer, "s", chunk(", very late", "m1"), late, orphan, chunk("second", "m2"))
        await played.end(session, request)
        got = [event async for event in second]

    assert first.text == "first"
    assert second.text == "second"
    assert second.tool_calls == []
    assert [event.text for event in got if isinstance(event, Text)] == ["second"]
    assert session.transcript.tool_calls["c"].status == "completed"
    events.close()
    said = [item.text for item in session.transcript.timeline if getattr(item, "role", "") == "agent"]
    assert said == ["first and late, very late", "second"]


@pytest.mark.req("V1-UPD-08")
async def test_in_version_1_words_without_a_name_belong_to_the_turn_they_come_in() -> None:
    async with wire_agent(1) as (peer, client):
        played = Played(peer, client, 1)
        session = await played.begin()
        first, request = await played.start_turn(session, "one")
        await tell(peer, "s", chunk("fir"), chunk("st"))
        await played.end(session, request)
        await first
        await tell(peer, "s", chunk(" late"))
        await until(lambda: session.transcript.text == "first late")
        second, request = await played.start_turn(session, "two")
        await tell(peer, "s", chunk("second"))
        await played.end(session, request)
        await second

    assert (first.text, second.text) == ("first", "second")


@pytest.mark.req("V1-UPD-12", "V2-EXT-05")
async def test_an_update_that_cannot_be_read_is_dropped_alone_and_reported(version: int) -> None:
    problems: list[str] = []
    async with wire_agent(version) as (peer, client):
        client.on_problem(lambda trouble: problems.append(trouble.kind))
        played = Played(peer, client, version)
        session = await played.begin()
        broken = {"sessionUpdate": "agent_message_chunk", "messageId": "m"}
        await tell(peer, "s", broken, {"sessionUpdate": "_new", "x": 1}, chunk("fine", "m"))
        await until(lambda: session.transcript.text)

    assert session.transcript.text == "fine"
    assert problems == ["dropped"]
    assert [unknown.data for unknown in session.transcript.unknown] == [{"sessionUpdate": "_new", "x": 1}]


@pytest.mark.req("V1-PROMPT-18", "V1-LOAD-05", "V1-LOAD-11", "V1-LOAD-02")
async def test_in_version_1_a_null_for_an_answer_is_an_empty_one() -> None:
    async with wire_agent(1) as (peer, client):
        loading = asyncio.ensure_future(client.load_session("old", "/project"))
        request = await peer.next_call("session/load")
        await tell(peer, "old", chunk("then", "m", "user_message_chunk"), chunk("and", "n"))
        await peer.reply(request, None)
        session = await loading

    assert request["params"]["cwd"] == "/project"
    assert request["params"]["mcpServers"] == []
    assert [(item.role, item.text, item.replayed) for item in session.transcript.timeline] == [
        ("user", "then", True),
        ("agent", "and", True),
    ]
    assert session.options == []


async def test_a_session_that_could_not_be_opened_is_forgotten(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        loading = asyncio.ensure_future(client.load_session("old", "/project"))
        request = await peer.next_call("session/load" if version == 1 else "session/resume")
        await peer.refuse(request, -32002)
        with pytest.raises(NotFound):
            await loading
        assert client.sessions == {}


@pytest.mark.req("V1-LIST-14", "V1-LIST-08", "V2-LIST-05", "V2-LIST-08", "V1-LIST-07")
async def test_a_list_is_read_page_by_page_with_the_cursor_as_it_came(version: int) -> None:
    async def list_sessions(client: Any) -> list[Any]:
        return [info async for info in client.list_sessions("/project")]

    async with wire_agent(version) as (peer, client):
        listing = asyncio.ensure_future(list_sessions(client))
        first = await peer.next_call("session/list")
        info = {"sessionId": "1", "cwd": "/project", "additionalDirectories": ["/lib"], "title": None}
        await peer.reply(first, {"sessions": [info, {"broken": 1}], "nextCursor": ""})
        second = await peer.next_call("session/list")
        await peer.reply(second, {"sessions": [{"sessionId": "1", "cwd": "/project"}], "nextCursor": None})
        sessions = await listing

    assert first["params"] == {"cwd": "/project"}
    assert second["params"] == {"cwd": "/project", "cursor": ""}
    assert [info.additional_directories for info in sessions] == [["/lib"], []]


async def test_everything_is_heard_between_turns_too(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        played = Played(peer, client, version)
        session = await played.begin()
        heard: list[str] = []
        async with session.events() as events:
            await tell(peer, "s", chunk("by", "m"), chunk(" the way", "m"), chunk("user", "u", "user_message_chunk"))
            async for event in events:
                if isinstance(event, (Text, UserText)):
                    heard.append(event.text)
                if len(heard) == 3:
                    break

    assert heard == ["by", " the way", "user"]
