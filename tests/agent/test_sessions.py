"""Sessions begin, each with its own place, and leave no trace when they are refused."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support.link import Link, script_agent
from support.stored_sessions import Kept, reopen
from support.wire_client import hello, kinds, new_session

from accord import (
    Agent,
    AgentSession,
    Command,
    RequestFailed,
    Turn,
)
from accord.testing import ScriptedAgent, wire_client


@pytest.mark.req("V1-SETUP-02", "V1-SETUP-05", "V2-SETUP-01", "V2-SETUP-02", "V2-SETUP-04")
async def test_every_session_has_its_own_id(link: Link) -> None:
    async with link(script_agent()) as client:
        sessions = [await client.new_session() for _ in range(100)]

    assert len({session.id for session in sessions}) == 100
    assert sessions[0].transcript.state == "idle"


@pytest.mark.req("V1-SETUP-03", "V2-SETUP-01", "V1-FORK-02")
async def test_a_relative_directory_is_refused(version: int) -> None:
    async with wire_client(script_agent()) as peer:
        await hello(peer, version)
        refused = await peer.call("session/new", {"cwd": ".", "mcpServers": []})

    assert (refused["error"]["code"], refused["error"]["data"]) == (-32602, {"path": "cwd"})


@pytest.mark.req("V1-SETUP-04", "V2-SETUP-01", "V1-MCP-04")
@pytest.mark.parametrize("params", [{}, {"mcpServers": None}, {"mcpServers": [], "additionalDirectories": None}])
async def test_what_is_missing_or_null_is_empty(version: int, params: dict[str, Any]) -> None:
    async with wire_client(script_agent()) as peer:
        await hello(peer, version)
        answer = await peer.call("session/new", {"cwd": "/project", **params})

    assert "sessionId" in answer["result"]


@pytest.mark.req("V1-SETUP-09", "V1-SETUP-10", "V1-SETUP-17", "V1-SETUP-20", "V2-SETUP-05")
async def test_a_session_works_in_its_own_directories_whatever_the_process_does(link: Link) -> None:
    seen: list[Any] = []

    class Rooted(Agent):
        additional_directories = True

        async def prompt(self, turn: Turn) -> None:
            seen.append((turn.session.roots, turn.session.absolute("a/../b"), turn.session.absolute("/etc")))

    async with link(Rooted()) as client:
        session = await client.new_session("/project", additional_directories=["/lib", "/other", "/lib"])
        await session.prompt("go")

    assert seen == [(["/project", "/lib", "/other"], "/project/b", "/etc")]


@pytest.mark.req("V1-SETUP-14", "V1-SETUP-15", "V1-SETUP-16", "V2-SETUP-08", "V1-SETUP-13", "V2-SETUP-07")
@pytest.mark.parametrize("roots", [["relative"], [""], [None], ["/fine", "not"]])
async def test_a_bad_root_refuses_the_whole_session(version: int, roots: list[Any]) -> None:
    class Rooted(ScriptedAgent):
        additional_directories = True

    async with wire_client(Rooted()) as peer:
        await hello(peer, version)
        refused = await peer.call("session/new", {"cwd": "/project", "mcpServers": [], "additionalDirectories": roots})

    assert refused["error"]["code"] == -32602
    assert refused["error"]["data"]["path"].startswith("additionalDirectories")


@pytest.mark.req("V1-SETUP-16", "V2-SETUP-08")
async def test_roots_that_the_agent_does_not_offer_are_refused_and_not_dropped(version: int) -> None:
    async with wire_client(script_agent()) as peer:
        await hello(peer, version)
        refused = await peer.call(
            "session/new", {"cwd": "/project", "mcpServers": [], "additionalDirectories": ["/lib"]}
        )

    assert refused["error"]["code"] == -32602


@pytest.mark.req("V1-SETUP-12", "V2-SETUP-09", "V1-LOAD-12")
async def test_an_unknown_session_is_not_found(version: int) -> None:
    async with wire_client(Kept()) as peer:
        await hello(peer, version)
        prompted = await peer.call("session/prompt", {"sessionId": "x", "prompt": [{"type": "text", "text": "hi"}]})
        loaded = await reopen(peer, version, "x", replay=True)
        resumed = await reopen(peer, version, "x", replay=False)
        option = {"sessionId": "x", "configId": "a", "value": "b", "type": "id"}
        set_up = await peer.call("session/set_config_option", option)
        await peer.tell("session/cancel", {"sessionId": "x"})
        await new_session(peer)

    for refused in (prompted, loaded, resumed, set_up):
        assert (refused["error"]["code"], refused["error"]["data"]) == (-32002, {"sessionId": "x"})


@pytest.mark.req("V1-CMD-01")
async def test_what_is_said_before_the_answer_leaves_after_it(version: int) -> None:
    class Eager(Agent):
        commands = (Command(name="plan", description="Plan"),)

        async def new_session(self, session: AgentSession) -> None:
            await session.say("Welcome.")
            await session.set_title("Fresh")

        async def prompt(self, turn: Turn) -> None: ...

    async with wire_client(Eager()) as peer:
        await hello(peer, version)
        id = await peer.ask("session/new", {"cwd": "/project", "mcpServers": []})
        answer = await peer.answer_to(id)
        await peer.quiet()

    first = next(i for i, m in enumerate(peer.received) if m.get("method") == "session/update")
    assert peer.received.index(answer) < first
    assert kinds(peer.updates) == ["agent_message_chunk", "session_info_update", "available_commands_update"]


async def test_a_session_that_the_author_refuses_leaves_no_trace(link: Link) -> None:
    class Wary(Kept):
        async def new_session(self, session: AgentSession) -> None:
            if session.cwd == "/forbidden":
                raise RequestFailed("not there", code=-31000)

    agent = Wary()
    async with link(agent) as client:
        with pytest.raises(RequestFailed, match="not there"):
            await client.new_session("/forbidden")
        session = await client.new_session("/fine")
        listed = [info.id async for info in client.list_sessions()]

    assert listed == [session.id]


async def test_a_session_whose_making_is_cancelled_leaves_no_trace(version: int) -> None:
    class Slow(Kept):
        async def new_session(self, session: AgentSession) -> None:
            await asyncio.Event().wait()

    async with wire_client(Slow()) as peer:
        await hello(peer, version)
        id = await peer.ask("session/new", {"cwd": "/project", "mcpServers": []})
        await peer.tell("$/cancel_request", {"requestId": id})
        cancelled = await peer.answer_to(id)
        listed = await peer.call("session/list", {})

    assert cancelled["error"]["code"] == -32800
    assert listed["result"]["sessions"] == []


async def test_an_author_whose_sessions_live_elsewhere_names_them_himself(link: Link) -> None:
    names = ["backend-1", "backend-2", "backend-1"]

    class Adapter(ScriptedAgent):
        async def new_session_id(self) -> str:
            return names.pop(0)

    async with link(Adapter()) as client:
        first, second = await client.new_session(), await client.new_session()
        with pytest.raises(RequestFailed, match="already open"):
            await client.new_session()
        turn = await first.prompt("still there?")

    assert (first.id, second.id) == ("backend-1", "backend-2")
    assert turn.text == "You said: still there?"
