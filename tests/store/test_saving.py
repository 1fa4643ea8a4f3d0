"""Updates are saved before they are sent, in order, even when the disk is full."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest
from store.stored_agents import Disk, Filed, in_file, list_chunks, list_prompts, locked, texts
from support.link import until
from support.wire_client import ask, begin_session, hello, new_session, turn, wait_for_stop

import accord
from accord import Mode, RequestFailed, StoreFailed, Turn
from accord.agent.saving_transport import SavingTransport
from accord.connection.limits import Limits
from accord.store import worker
from accord.testing import ScriptedAgent, wire_client
from accord.transports.base import Receiver, Transport
from accord.transports.memory import pair

BIG = "x" * 5000
"""A text that needs a new page, so that it doesn't fit on a full disk."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


class Watched(Transport):
    """Looks into the file for everything that leaves, at the moment it does."""

    def __init__(self, inner: Transport, path: Path) -> None:
        self.inner = inner
        self.path = path
        self.left: list[str] = []
        self.missing: list[str] = []

    def send(self, data: bytes) -> Awaitable[None]:
        for line in data.splitlines():
            message = json.loads(line)
            update = message.get("params", {}).get("update", {})
            if update.get("sessionUpdate") == "agent_message_chunk":
                said = update["content"]["text"]
                if said not in texts(in_file(self.path, message["params"]["sessionId"])):
                    self.missing.append(said)
                self.left.append(said)
        return self.inner.send(data)

    def start(self, receiver: Receiver) -> None:
        self.inner.start(receiver)

    def flush(self) -> None:
        self.inner.flush()

    def pause(self) -> None:
        self.inner.pause()

    def resume(self) -> None:
        self.inner.resume()

    async def close(self) -> None:
        await self.inner.close()


async def test_no_piece_leaves_before_it_is_in_the_file(path: Path, version: int, monkeypatch: Any) -> None:
    watched: list[Watched] = []

    class Saving(SavingTransport):
        def __init__(self, inner: Transport, store: Any) -> None:
            watched.append(Watched(inner, path))
            super().__init__(watched[0], store)

    monkeypatch.setattr("accord.agent.saving_transport.SavingTransport", Saving)

    async def speak(turn: Turn) -> None:
        for number in range(60):
            turn.say(f"{number};") if number % 3 else await turn.say(f"{number};")
            if number % 20 == 0:
                await asyncio.sleep(0)
        async with turn.tool("Look"):
            await turn.say("60;")

    async with wire_client(Filed(path, [speak])) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "go")

    assert watched[0].missing == []
    assert watched[0].left == [f"{number};" for number in range(61)] == list_chunks(peer)


async def test_an_agent_without_a_file_sends_as_ever() -> None:
    left, _ = pair()
    from accord.agent.side import AgentSide

    side = AgentSide(ScriptedAgent(), left, limits=Limits())
    assert side.saving is None
    assert side.connection.transport is left


async def test_answers_and_requests_stay_behind_updates_that_wait_for_the_file(path: Path, version: int) -> None:
    async def speak(turn: Turn) -> None:
        with locked(path):
            for number in range(5):
                turn.say(str(number))
            asking = asyncio.ensure_future(turn.permit("May I?"))
            for _ in range(50):  # the loop keeps running while the file is locked
                await asyncio.sleep(0)
            during.append(list_chunks(peer))
        await asking
        await turn.say("5")

    during: list[Any] = []
    async with wire_client(Filed(path, [speak])) as peer:
        session = await begin_session(peer, version)
        prompt = await ask(peer, session, "go")
        request = await peer.next_call("session/request_permission")
        before = list_chunks(peer)
        await peer.reply(request, {"outcome": {"outcome": "selected", "optionId": "allow_once"}})
        reason = await wait_for_stop(peer, version, prompt)

    assert during == [[]]
    assert before == ["0", "1", "2", "3", "4"]
    assert list_chunks(peer)[5:] == ["5"]
    assert reason == "end_turn"
    assert texts(in_file(path, session)) == list_chunks(peer)


async def test_a_full_disk_ends_the_turn_with_an_error_and_nothing_unsaved_is_sent(path: Path, version: int) -> None:
    async def speak(turn: Turn) -> None:
        await turn.say("kept")
        await asyncio.sleep(0)
        Disk(agent.store).fill()
        for number in range(200):
            await turn.say(f"{number}{BIG}")
            await asyncio.sleep(0)

    agent = Filed(path, [speak], ["more"])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        prompt = await ask(peer, session, "go")
        error = await _error(peer, version, prompt)
        told = list_chunks(peer)
        stored = texts(in_file(path, session))
        refused = await _refusal(peer, session)

        Disk(agent.store).free()
        await until(lambda: not agent.store.unsaved)
        reason = await turn(peer, version, session, "again")
        kept = in_file(path, session)

    assert f"can't save sessions in {path}: the disk is full; free some space" in error["message"]
    assert error["code"] == -32603
    assert told == stored == ["kept"]
    assert "the disk is full" in refused["error"]["message"]
    assert reason == "end_turn"
    assert list_chunks(peer) == texts(kept)
    assert len(list_chunks(peer)) > 2 and list_chunks(peer)[-1] == "more"
    assert list_prompts(kept) == ["go", "again"]


async def _refusal(peer: Any, session: str) -> Any:
    """A prompt while the disk is full: refused before it becomes part of the conversation."""
    return await peer.answer_to(await ask(peer, session, "while it is full"))


async def _error(peer: Any, version: int, prompt: int) -> Any:
    if version == 1:
        return (await peer.answer_to(prompt))["error"]
    while True:
        for update in peer.updates:
            if update.get("state") == "idle" and update.get("stopReason") == "error":
                return update["error"]
        await peer.receive()


async def test_a_turn_that_only_ends_when_the_disk_is_full_does_not_end_well(path: Path) -> None:
    async def speak(turn: Turn) -> None:
        Disk(agent.store).fill()
        turn.say(BIG)

    agent = Filed(path, [speak])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 1)
        answer = await peer.answer_to(await ask(peer, session, "go"))
        assert "the disk is full" in answer["error"]["message"]
        assert list_chunks(peer) == []
        Disk(agent.store).free()
        await until(lambda: list_chunks(peer) == [BIG])
        assert texts(in_file(path, session)) == [BIG]


async def test_a_question_is_rejected_while_updates_before_it_cannot_be_saved(path: Path, version: int) -> None:
    async def speak(turn: Turn) -> None:
        Disk(agent.store).fill()
        turn.say(BIG)
        answers.append(bool(await turn.session.permit("May I?")))

    answers: list[Any] = []
    agent = Filed(path, [speak])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, version)
        error = await _error(peer, version, await ask(peer, session, "go"))

    assert "the disk is full" in error["message"]
    assert answers == []
    assert [message for message in peer.received if message.get("method") == "session/request_permission"] == []


async def test_a_file_that_stays_locked_is_an_error_and_the_rest_follows_when_it_is_free(
    path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(worker, "LOCK_TIMEOUT_SECONDS", 0.05)

    async def speak(turn: Turn) -> None:
        await turn.say("while it was locked")
        await turn.say("not reached")

    agent = Filed(path, [speak], ["then"])
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 1)
        with locked(path):
            answer = await peer.answer_to(await ask(peer, session, "go"))
            during = list_chunks(peer)
        await until(lambda: list_chunks(peer))
        await turn(peer, 1, session, "again")

    assert "another program has locked it" in answer["error"]["message"]
    assert during == []
    assert list_chunks(peer) == ["while it was locked", "then"]
    assert texts(in_file(path, session)) == list_chunks(peer)


async def test_a_change_that_cannot_be_saved_is_not_reported_as_done(path: Path) -> None:
    class Modal(Filed):
        modes = (Mode(id="ask", name="Ask"), Mode(id="code", name="Code"))

    agent = Modal(path)
    async with wire_client(agent) as peer:
        session = await begin_session(peer, 1)
        agent.store.append(session, _large())
        Disk(agent.store).fill()
        refused = await peer.call("session/set_mode", {"sessionId": session, "modeId": "code"})
        unborn = await peer.call("session/new", {"cwd": "/p", "mcpServers": []})
        batch = {"jsonrpc": "2.0", "id": "one", "method": "session/list", "params": {}}
        await peer.send(json.dumps([batch]).encode())
        await peer.send(b"nonsense")
        meanwhile = [await peer.receive(), await peer.receive()]
        Disk(agent.store).free()
        await until(lambda: not agent.store.unsaved)
        page = await peer.call("session/list", {})

    assert sorted(type(answer).__name__ for answer in meanwhile) == ["dict", "list"]
    (listed,) = next(answer for answer in meanwhile if isinstance(answer, list))
    assert len(listed["result"]["sessions"]) == 1, "what is kept can be read"
    for answer in (refused, unborn):
        assert "the disk is full" in answer["error"]["message"], answer
    assert [entry["sessionId"] for entry in page["result"]["sessions"]] == [session]


def _large() -> Any:
    from accord.testing.stores import say

    return say(BIG * 3)


async def test_the_last_update_is_saved_when_the_client_is_gone(path: Path) -> None:
    async def speak(turn: Turn) -> None:
        turn.say("last words")
        gone.set()
        await asyncio.sleep(60)

    gone = asyncio.Event()
    async with wire_client(Filed(path, [speak])) as peer:
        session = await begin_session(peer, 1)
        await ask(peer, session, "go")
        await gone.wait()

    assert texts(in_file(path, session)) == ["last words"]


async def test_half_a_character_is_replaced_on_the_wire_and_in_the_file(path: Path) -> None:
    async def speak(turn: Turn) -> None:
        turn.say("before")
        turn.say("\ud800")
        await turn.say("after")

    async with wire_client(Filed(path, [speak])) as peer:
        session = await begin_session(peer, 1)
        await turn(peer, 1, session, "go")

    assert list_chunks(peer) == texts(in_file(path, session)) == ["before", "\ufffd", "after"]


async def test_many_clients_of_one_agent_share_one_file(path: Path) -> None:
    async def speak(turn: Turn) -> None:
        for number in range(20):
            await turn.say(f"{turn.text}{number}")
            await asyncio.sleep(0)

    agent = Filed(path, *[[speak]] * 3)

    async def talk(name: str) -> tuple[str, list[str]]:
        async with wire_client(agent) as peer:
            session = await begin_session(peer, 1)
            await turn(peer, 1, session, name)
            return session, list_chunks(peer)

    for session, words in await asyncio.gather(*map(talk, "abc")):
        assert words == texts(in_file(path, session))
        assert len(words) == 20


async def test_nothing_of_the_file_is_touched_before_a_session_is_wanted(path: Path) -> None:
    async with wire_client(Filed(path)) as peer:
        await hello(peer, 1)
        assert not is_there(path)
        await new_session(peer)
        assert is_there(path)


def is_there(path: Path) -> bool:
    return path.exists()


async def test_a_failed_store_raises_its_own_error_with_the_path(tmp_path: Path) -> None:
    with pytest.raises(StoreFailed) as failed:
        await Filed(tmp_path).store.list()  # a directory, not a file
    assert str(tmp_path) in failed.value.message and failed.value.data == {"path": str(tmp_path)}


AGENT = """
import os, sys
from accord import Agent, SqliteStore, Turn, run

class Big(Agent):
    store = SqliteStore(sys.argv[1])
    async def prompt(self, turn):
        await turn.say(str(os.getpid()) if turn.text == "pid" else turn.text * 3000)

run(Big())
"""


async def test_a_file_size_limit_is_reported_and_saving_resumes_when_it_is_raised(path: Path) -> None:
    """The operating system itself refuses to write."""
    import resource

    async with accord.connect([sys.executable, "-c", AGENT, str(path)]) as agent:
        session = await agent.new_session()
        pid = int((await session.prompt("pid")).text)
        had = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, had[1]))
        with pytest.raises(RequestFailed, match=r"can't save sessions in .*sessions.db: .*disk .*; "):
            await session.prompt("held ")
        assert session.transcript.text == ""
        resource.prlimit(pid, resource.RLIMIT_FSIZE, had)
        async with session.events() as events:
            async for event in events:  # what was held back comes by itself
                if isinstance(event, accord.Text):
                    break
        assert (await session.prompt("more ")).text == "more " * 3000
        id = session.id
    assert texts(in_file(path, id)) == [str(pid), "held " * 3000, "more " * 3000]
