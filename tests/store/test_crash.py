"""kill −9 at any instant: every update that a client had received is in the file, whole and in its order.

Two agents at a time share a file, so that they are killed while they wait for each other, too."""

from __future__ import annotations

import asyncio
import json
import random
import re
import sqlite3
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from process.processes import is_alive, until
from support.fork_server import ForkServer

import accord
from accord import SqliteStore
from accord.model.statement import MessageChunk, Statement, ToolPatch
from accord.transcript.message import Message

AGENT = Path(__file__).with_name("crash_agent.py")
AT_ONCE = 2
PER_FILE = 10
TIMEOUT_SECONDS = 300.0


@pytest.fixture(scope="module")
def agents() -> Iterator[ForkServer]:
    """Starts agents."""
    with ForkServer(AGENT) as server:
        yield server


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
async def test_every_update_that_a_client_had_received_survives_kill_9(
    tmp_path: Path, agents: ForkServer, part: int
) -> None:
    """Of 200 agents, 20 in each part."""
    await kill_writers(tmp_path, agents, range(20 * part, 20 * part + 20))


async def kill_writers(folder: Path, agents: ForkServer, seeds: range) -> None:
    updates = 0
    for first in seeds[::PER_FILE]:
        path = folder / f"{first}.db"
        received: dict[str, list[str]] = {}
        for start in range(first, first + PER_FILE, AT_ONCE):
            lives = (one_life(agents, path, number) for number in range(start, start + AT_ONCE))
            received.update(await asyncio.gather(*lives))
        stored = {id: await read_numbers(path, id) for id in received}
        for id, got in received.items():
            assert got == stored[id][: len(got)], f"{id}: what was received is not what is kept"
            updates += len(got)
        assert intact(path) == "ok"
        assert await told_again(path, *max(stored.items(), key=lambda kept: len(kept[1])))
    assert updates > len(seeds), "the agents were killed before they said anything"


async def one_life(agents: ForkServer, path: Path, seed: int) -> tuple[str, list[str]]:
    """Run an agent until it is killed at some instant. Return its session and the received updates."""
    chance = random.Random(seed)
    process = agents.start(str(path))
    stdout = asyncio.StreamReader(limit=2**24)
    reading, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stdout), process.stdout
    )
    version = 1 + seed % 2
    asked = {
        "initialize": {"protocolVersion": version, "capabilities": {}, "info": {"name": "t", "version": "0"}},
        "session/new": {"cwd": "/project", "mcpServers": []},
    }
    answer: Any = {}
    for id, (method, params) in enumerate(asked.items()):
        line = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
        process.stdin.write(json.dumps(line).encode() + b"\n")
        while answer.get("id") != id:
            answer = json.loads(await asyncio.wait_for(stdout.readline(), TIMEOUT_SECONDS))
    session: str = answer["result"]["sessionId"]
    prompt = {"sessionId": session, "prompt": [{"type": "text", "text": str(seed)}]}
    process.stdin.write(
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": prompt}).encode() + b"\n"
    )
    lines: list[bytes] = []
    try:
        if chance.random() < 0.5:
            lines += [await stdout.readline() for _ in range(chance.randrange(1, 400))]
        await asyncio.sleep(chance.random() ** 2 * 0.12)  # the instant is the subject
    finally:
        process.kill()
    # Read the rest of the pipe: everything the process has sent counts as received. The last line may be incomplete.
    lines += (await asyncio.wait_for(stdout.read(), TIMEOUT_SECONDS)).splitlines(keepends=True)
    reading.close()
    process.stdin.close()
    until(lambda: not is_alive(process.pid), "a killed agent is alive")
    updates = [json.loads(line)["params"]["update"] for line in lines if line.endswith(b"\n") and b'"params"' in line]
    return session, [text for update in updates for text in _numbered_update(update)]


def _numbered_update(update: dict[str, Any]) -> list[str]:
    match update:
        case {"sessionUpdate": "agent_message_chunk" | "agent_thought_chunk", "content": {"text": text}}:
            return [text]
        case {"sessionUpdate": "tool_call" | "tool_call_update", "title": title}:
            return [title]
        case _:
            return []


def _numbered_statement(statement: Statement) -> list[str]:
    match statement:
        case MessageChunk(role="agent" | "thought", content=content):
            return [content.text]  # type: ignore[union-attr]
        case ToolPatch(title=str(title)):
            return [title]
        case _:
            return []


async def read_numbers(path: Path, session: str) -> list[str]:
    """Read the saved texts of a session, and check that each number occurs once, in order, with its whole text."""
    async with SqliteStore(path) as store:
        found = [text async for statement in store.history(session) for text in _numbered_statement(statement)]
        assert store.skipped == {}
    for number, text in enumerate(found):
        said = re.fullmatch(r"(\d+):(\w{8}):(\d+)\n", text)
        assert said is not None, f"{text[:60]!r} is torn"
        assert int(said[1]) == number
        assert int(said[2], 16) == zlib.crc32(said[3].encode())
    return found


def intact(path: Path) -> str:
    connection = sqlite3.connect(path)
    try:
        return str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    finally:
        connection.close()


async def told_again(path: Path, session: str, stored: list[str]) -> bool:
    """Check that a new process replays the session to a client, and continues it."""
    command = [sys.executable, str(AGENT), str(path)]
    async with accord.connect(command) as agent:
        again = await agent.load_session(session, "/project")
        told = [
            text
            for item in again.transcript.timeline
            for text in (
                "".join(str(piece) for piece in item.pieces).splitlines(keepends=True)
                if isinstance(item, Message) and item.role != "user"
                else [item.title]
                if isinstance(item, accord.ToolCall)
                else []
            )
        ]
        assert told == stored
    return True
