"""Sessions closed and deleted."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from support.link import Link, script_agent
from support.stored_sessions import Kept
from support.wire_client import ask, begin_session, hello, new_session, states, turn

from accord import (
    AgentSession,
    NotFound,
    Turn,
)
from accord.testing import ScriptedAgent, wire_client


@pytest.mark.req("V1-CLOSE-02", "V1-CLOSE-03", "V2-CLOSE-02", "V2-CLOSE-11")
async def test_closing_a_session_cancels_its_work_first(version: int) -> None:
    closed: list[str] = []

    class Closing(ScriptedAgent):
        async def close_session(self, session: AgentSession) -> None:
            closed.append(session.id)

    async def wait(turn: Turn) -> None:
        await turn.permit("Go on?")

    async with wire_client(Closing([wait])) as peer:
        session = await begin_session(peer, version)
        id = await ask(peer, session, "a")
        await peer.next_call("session/request_permission")
        close = await peer.ask("session/close", {"sessionId": session})
        answers = [await peer.answer_to(id)] if version == 1 else []
        answers.append(await peer.answer_to(close))
        await peer.quiet()
        prompted = await peer.call("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]})

    assert closed == [session]
    assert answers[-1]["result"] == {}
    assert any(message.get("method") == "$/cancel_request" for message in peer.received)
    assert prompted["error"]["code"] == -32002
    if version == 1:
        assert answers[0]["result"] == {"stopReason": "cancelled"}
    else:
        assert states(peer.updates)[-1] == "idle"
        assert peer.updates[-1]["stopReason"] == "cancelled"
        told = [message.get("params", {}).get("update", {}).get("state") for message in peer.received]
        assert told.index("idle") < peer.received.index(answers[-1]), "the end of the turn comes before the answer"


@pytest.mark.req("V2-CLOSE-01")
async def test_closing_a_session_ends_its_work_in_the_background(version: int, tmp_path: Path) -> None:
    commands: list[Any] = []

    async def begin(turn: Turn) -> None:
        tool = turn.tool("Serve", kind="execute", background=True)
        await tool.start()
        command = await turn.session.local.run("sleep", ["1000"], str(tmp_path), {}, None)
        await tool.show(command)
        commands.append(command)

    async with wire_client(ScriptedAgent([begin])) as peer:
        await hello(peer, version)
        session = await new_session(peer, str(tmp_path))
        await turn(peer, version, session, "go")
        listed = [update for update in peer.updates if update.get("state") == "idle"]
        waiting = asyncio.ensure_future(commands[0].wait())
        closed = await peer.call("session/close", {"sessionId": session})
        told = [update["status"] for update in peer.updates if update.get("status")]
        ended = await waiting

    assert closed["result"] == {}
    assert told[-1] == ("failed" if version == 1 else "cancelled")
    assert ended.signal is not None
    if version == 2:
        assert listed[0]["background"] == [{"type": "terminal", "terminalId": commands[0].id}]


async def test_a_session_is_closed_though_its_author_fails_to_tidy_up(version: int) -> None:
    class Failing(ScriptedAgent):
        async def close_session(self, session: AgentSession) -> None:
            raise OSError("the directory is not empty")

    async with wire_client(Failing([])) as peer:
        session = await begin_session(peer, version)
        closed = await peer.call("session/close", {"sessionId": session})
        prompted = await peer.call("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}]})

    assert (closed["result"], prompted["error"]["code"]) == ({}, -32002)


@pytest.mark.req("V2-CLOSE-04")
async def test_a_closed_session_says_nothing_more(version: int) -> None:
    sessions: list[AgentSession] = []
    errors: list[Exception] = []

    async def remember(turn: Turn) -> None:
        sessions.append(turn.session)

    async with wire_client(ScriptedAgent([remember])) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "a")
        await peer.call("session/close", {"sessionId": session})
        before = len(peer.received)
        await sessions[0].say("a ghost")
        await sessions[0].usage(1, 2)
        asking: list[Callable[[], Awaitable[Any]]] = [
            lambda: sessions[0].permit("May I?"),
            lambda: sessions[0].files.read("x"),
            lambda: sessions[0].terminals.create("x"),
        ]
        for each in asking:
            with pytest.raises(Exception, match=r"closed|offer") as caught:
                await each()
            errors.append(caught.value)
        await peer.quiet()

    assert len(peer.received) == before + 1  # the answer to the last question of this test
    assert len(errors) == 3


@pytest.mark.req("V1-CLOSE-04", "V2-CLOSE-05")
async def test_closing_what_is_not_open_succeeds(version: int) -> None:
    async with wire_client(script_agent()) as peer:
        session = await begin_session(peer, version)
        assert (await peer.call("session/close", {"sessionId": session}))["result"] == {}
        assert (await peer.call("session/close", {"sessionId": session}))["result"] == {}
        assert (await peer.call("session/close", {"sessionId": "never"}))["result"] == {}


@pytest.mark.req("V2-CLOSE-03", "V2-CANCEL-13")
async def test_in_version_2_a_prompt_that_waits_when_the_session_is_closed_is_cancelled() -> None:
    async def wait(turn: Turn) -> None:
        await asyncio.Event().wait()

    async with wire_client(script_agent(wait)) as peer:
        session = await begin_session(peer, 2)
        first = await ask(peer, session, "a")
        second = await ask(peer, session, "b")
        inserted = await peer.answer_to(first)
        await peer.ask("session/close", {"sessionId": session})
        held = await peer.answer_to(second)

    assert "messageId" in inserted["result"]
    assert held["error"]["code"] == -32800


@pytest.mark.feature("listing, closing, deleting", "agent", "client")
@pytest.mark.req("V1-CLOSE-06", "V1-CLOSE-07", "V2-CLOSE-08", "V2-CLOSE-09")
async def test_a_deleted_session_is_gone_and_deleting_it_again_succeeds(link: Link) -> None:
    deleted: list[str] = []

    class Author(Kept):
        async def delete_session(self, session_id: str) -> None:
            deleted.append(session_id)

    async with link(Author(["one"])) as client:
        session = await client.new_session()
        await session.prompt("a")
        await client.delete_session(session.id)
        await client.delete_session(session.id)
        await client.delete_session("never")
        listed = [info async for info in client.list_sessions()]
        with pytest.raises(NotFound):
            await client.load_session(session.id)

    assert listed == []
    assert deleted == [session.id, session.id, "never"]
    assert session.closed


async def test_commands_that_cannot_be_ended_do_not_keep_the_author_from_tidying_up(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    freed: list[str] = []

    class Tidy(ScriptedAgent):
        async def close_session(self, session: AgentSession) -> None:
            freed.append(session.id)

    async def fail(session: AgentSession) -> None:
        raise OSError("stuck in the kernel")

    monkeypatch.setattr(AgentSession, "stop_commands", fail)
    async with wire_client(Tidy()) as peer:
        session = await begin_session(peer, 1)
    assert freed == [session]
    assert "couldn't stop the commands" in caplog.text
