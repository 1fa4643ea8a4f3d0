"""Resuming: a conversation that is cut at any message is received whole, in order, and once."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import ALICE, TIMEOUT_SECONDS, InProcessSpawner, joined

from accord import Agent, Turn
from accord.hub.event_log import EventLog, MemoryEventLog
from accord.hub.hub import Hub
from accord.hub.principal import Principal
from accord.hub.sqlite_log import SqliteEventLog
from accord.transports.memory import pair

PROMPTS = ("one two three", "ask", "four five", "ask", "six")
PERMISSION = "session/request_permission"


class Worker(Agent):
    """Says the words of its prompt, one by one; `ask` asks for permission first."""

    async def prompt(self, turn: Turn) -> None:
        if turn.text == "ask":
            await turn.say("yes" if await turn.permit("Continue?") else "no")
        for word in turn.text.split():
            await turn.say(word)


class CutClient:
    """A resume-aware client whose connection is cut after some messages, over and over.

    It sends one prompt after another, allows what it is asked for, and records each update once."""

    def __init__(self, hub: Hub, cwd: Path, version: int, cuts: Callable[[], int]) -> None:
        self.updates: list[dict[str, Any]] = []
        self.duplicates = 0
        self.connections = 0
        self.asked: list[str] = []
        self.snapshots = 0
        self._hub = hub
        self._cwd = str(cwd)
        self._version = version
        self._cuts = cuts
        self._cursor = ""
        self._session = ""
        self._answers: dict[str, Any] = {}
        self._done: dict[str, Any] = {}
        self._idle = 0

    async def run(self, prompts: tuple[str, ...]) -> None:
        """Hold the whole conversation, over as many connections as it takes."""
        self._prompts = prompts
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not await self._connect():
                pass

    async def _connect(self) -> bool:
        """Continue on a new connection until it is cut. Returns whether the conversation is complete."""
        self.connections += 1
        link = _Link(self._hub, self._cuts())
        try:
            return await self._converse(link)
        except _Cut:
            return False
        finally:
            await link.close()

    async def _converse(self, link: _Link) -> bool:
        info = {"name": "test", "version": "1"}
        meta = {"accord/resume": {"client": "cut-client"}}
        names = {"clientInfo": info, "clientCapabilities": {}} if self._version == 1 else {"info": info}
        result = await self._call(link, "initialize", {"protocolVersion": self._version, **names, "_meta": meta})
        assert result["_meta"]["accord/resume"] == {}
        place = {"cwd": self._cwd, "mcpServers": []}
        if not self._session:
            result = await self._call(link, "session/new", place, "new")
            self._session, self._cursor = result["sessionId"], result["_meta"]["accord/cursor"]
        else:
            params: dict[str, Any] = {"sessionId": self._session, **place}
            if self._version == 1:
                params["_meta"] = {"accord/after": self._cursor}
            else:
                params["replayFrom"] = {"type": "_accord.event", "id": self._cursor}
            await self._call(link, "session/resume", params)
        for number, text in enumerate(self._prompts):
            if str(number) not in self._done:
                content = [{"type": "text", "text": text}]
                await self._call(link, "session/prompt", {"sessionId": self._session, "prompt": content}, str(number))
                self._done[str(number)] = True
            while self._version == 2 and self._idle <= number:
                self._take(link, await link.receive())
        return True

    async def _call(self, link: _Link, method: str, params: dict[str, Any], key: str = "") -> Any:
        if key:
            params = {**params, "_meta": {**params.get("_meta", {}), "accord/key": f"cut-client:{key}"}}
        id = link.ask(method, params)
        while True:
            message = await link.receive()
            if "method" in message:
                self._take(link, message)
            elif message["id"] == id:
                assert "result" in message, message
                return message["result"]

    def _take(self, link: _Link, message: dict[str, Any]) -> None:
        """Handle a notification or request, unless it was received before."""
        method, params = message["method"], message.get("params", {})
        if method == "_accord/snapshot":
            self.snapshots += 1
            return
        if method == "$/cancel_request":
            return
        meta = params["_meta"]
        if method == PERMISSION:
            if meta["accord/request"] not in self._answers:
                self.asked.append(meta["accord/request"])
                option = next(each for each in params["options"] if each["kind"] == "allow_once")
                self._answers[meta["accord/request"]] = {
                    "outcome": {"outcome": "selected", "optionId": option["optionId"]}
                }
            link.send({"id": message["id"], "result": self._answers[meta["accord/request"]]})
        epoch, _, seq = meta["accord/cursor"].rpartition(".")
        last_epoch, _, last = self._cursor.rpartition(".")
        assert epoch == last_epoch
        if int(seq) <= int(last):
            self.duplicates += method != PERMISSION
            return
        self._cursor = meta["accord/cursor"]
        if method == "session/update":
            self.updates.append(params["update"])
            self._idle += params["update"].get("state") == "idle"


class _Cut(Exception):
    pass


class _Link:
    """One connection, which is cut after this many messages."""

    def __init__(self, hub: Hub, messages: int) -> None:
        self._left = messages
        self._received: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._ids = itertools.count()
        self._transport, theirs = pair()
        self._serving = asyncio.ensure_future(hub.accept(theirs, ALICE))
        self._transport.start(self)

    def on_lines(self, block: bytes) -> None:
        for line in block.splitlines():
            self._received.put_nowait(json.loads(line))

    def on_oversized(self, head: bytes, size: int) -> None:
        raise AssertionError("an oversized message")

    def on_end(self, error: Exception | None) -> None:
        self._received.put_nowait(None)

    async def receive(self) -> dict[str, Any]:
        if self._left == 0:
            raise _Cut
        self._left -= 1
        message = await self._received.get()
        assert message is not None, "the hub closed the connection"
        return message

    def send(self, message: dict[str, Any]) -> None:
        self._transport.send(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def ask(self, method: str, params: dict[str, Any]) -> int:
        id = next(self._ids)
        self.send({"id": id, "method": method, "params": params})
        return id

    async def close(self) -> None:
        await self._transport.close()
        await self._serving


def normalize(updates: list[dict[str, Any]]) -> list[str]:
    """Describe updates without the ids that differ between sessions."""
    texts = [
        (
            each["sessionUpdate"],
            each.get("state"),
            (each.get("content") or {}).get("text") if isinstance(each.get("content"), dict) else None,
        )
        for each in updates
    ]
    return [str(each) for each in texts]


async def converse(log: EventLog, cwd: Path, version: int, cuts: Callable[[], int]) -> CutClient:
    async with Hub(InProcessSpawner(Worker), root=cwd, log=log) as hub:
        client = CutClient(hub, cwd, version, cuts)
        await client.run(PROMPTS)
        return client


async def test_a_conversation_that_is_cut_at_every_message_is_received_once_and_in_order(
    version: int, tmp_path: Path
) -> None:
    whole = await converse(MemoryEventLog(), tmp_path, version, lambda: 10_000)
    expected = normalize(whole.updates)
    total = len(expected) + len(PROMPTS) + 5
    assert len(expected) >= 10

    for cut in range(2, total):
        lengths = itertools.chain([cut], itertools.repeat(10_000))
        client = await converse(MemoryEventLog(), tmp_path, version, lambda lengths=lengths: next(lengths))
        assert normalize(client.updates) == expected, f"cut after {cut} messages"
        assert client.duplicates == client.snapshots == 0
        assert len(set(client.asked)) == 2


@pytest.mark.parametrize("seed", range(4))
async def test_a_conversation_that_is_cut_at_random_is_received_once_and_in_order(
    version: int, seed: int, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    expected = normalize((await converse(MemoryEventLog(), tmp_path, version, lambda: 10_000)).updates)

    for _ in range(5):
        # At least three messages: the responses to initialize and resume, and one that is new.
        log = SqliteEventLog(tmp_path / f"log-{chance.random()}.db")
        client = await converse(log, tmp_path, version, lambda: chance.randint(3, 7))
        assert normalize(client.updates) == expected
        assert client.duplicates == client.snapshots == 0
        assert len(set(client.asked)) == 2
        assert client.connections > 3


async def test_an_unknown_cursor_gets_a_snapshot_and_the_whole_history(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub:
        async with joined(hub, name="c", version=version) as first:
            session = await first.new_session(str(tmp_path))
            await first.response(first.prompt(session, "one two"))
            await first.wait(lambda m: "two" in str(m.get("params", {}).get("update")) and "agent_message" in str(m))
        for cursor in ("ffffffff.1", "nonsense", "", f"{'x' * 8}.0"):
            async with joined(hub, name="c", version=version) as again:
                params: dict[str, Any] = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
                params["_meta"] = {"accord/after": cursor}
                await again.call("session/resume", params)

                snapshot = await again.wait_for("_accord/snapshot")
                assert snapshot["params"]["sessionId"] == session
                assert again.texts() == ["one", "two"]
                replayed = await again.wait_for("session/update")
                assert replayed["params"]["_meta"]["accord/recordedAt"].endswith("Z")


async def test_the_key_of_another_principal_does_not_reveal_its_response(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Worker), root=tmp_path) as hub:
        async with joined(hub, name="c") as first:
            session = await first.new_session(str(tmp_path), key="1")
        async with joined(hub, Principal("mallory"), name="c") as other:
            assert await other.new_session(str(tmp_path), key="1") != session


async def test_a_client_that_returns_replaces_the_connection_it_left_behind(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Worker), root=tmp_path) as hub,
        joined(hub, name="c") as first,
        joined(hub, name="c"),
    ):
        await asyncio.wait_for(first.ended.wait(), TIMEOUT_SECONDS)
        assert hub.stats.clients == 1
