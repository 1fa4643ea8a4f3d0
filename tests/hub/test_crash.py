"""`kill -9` of the server: whatever a client had received is in the log, and the session continues."""

from __future__ import annotations

import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from support.hub_client import HubClient

from accord.hub.event_log import Event
from accord.hub.sqlite_log import SqliteEventLog
from accord.transports.subprocess import SubprocessTransport

SERVER = Path(__file__).parents[1] / "agents" / "hub_server.py"


async def start_server(tmp_path: Path, version: int) -> tuple[HubClient, SubprocessTransport]:
    """Start a server process and connect to it."""
    argv = [sys.executable, "-P", str(SERVER), str(tmp_path), str(tmp_path / "log.db")]
    transport = await SubprocessTransport.launch(argv)
    client = HubClient(None, name="c", version=version, transport=transport)
    await client.initialize()
    return client, transport


def updates_of(messages: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    """Return the cursor and the update of each message."""
    return [
        (each["params"]["_meta"]["accord/cursor"], each["params"]["update"])
        for each in messages
        if each.get("method") == "session/update"
    ]


async def test_everything_a_client_received_survives_kill_9_of_the_server(version: int, tmp_path: Path) -> None:
    chance = random.Random(version)
    client, transport = await start_server(tmp_path, version)
    session = await client.new_session(str(tmp_path), key="new")
    received: list[tuple[str, Any]] = []
    for round in range(2):
        key = f"prompt-{round}"
        client.prompt(session, "100000", key=key)
        wanted = len(client.messages) + chance.randint(1, 400)
        await client.wait_count(wanted)
        os.kill(transport.child.pid, signal.SIGKILL)
        await client.ended.wait()
        received += updates_of(client.messages)
        await transport.close()

        client, transport = await start_server(tmp_path, version)
        params: dict[str, Any] = {"sessionId": session, "cwd": str(tmp_path), "mcpServers": []}
        await client.call("session/resume", {**params, "_meta": {"accord/after": received[-1][0]}})
        assert await client.new_session(str(tmp_path), key="new") == session
        assert "_accord/snapshot" not in str(client.messages)
        if version == 1:
            answer = await client.response(client.prompt(session, "100000", key=key))
            assert "server restarted while this prompt was running" in answer["error"]["message"]
        else:
            ended = await client.wait(lambda m: "idle" in str(m))
            assert "server restarted" in ended["params"]["update"]["error"]["message"]
        received += updates_of(client.messages)
        client.messages.clear()

    await client.response(client.prompt(session, "2", key="last"))
    await client.wait(lambda m: "'text': '1'" in str(m))
    received += updates_of(client.messages)
    await transport.close()

    numbers = [int(cursor.split(".")[1]) for cursor, _ in received]
    assert numbers == sorted(set(numbers)), "in order, and each once"
    log = SqliteEventLog(tmp_path / "log.db")
    logged = {event.seq: event for event in log.events(session, 0, 1_000_000)}
    log.close()
    for number, (_, update) in zip(numbers, received, strict=True):
        assert read_update(logged[number]) == update
    missed = [event for seq, event in logged.items() if event.kind == "notification" and seq not in numbers]
    assert all(event.origin for event in missed if event.seq <= numbers[-1]), "only its own prompts were left out"


def read_update(event: Event) -> Any:
    import json

    return json.loads(event.params)["update"]


async def test_a_log_is_used_by_one_server_at_a_time(tmp_path: Path) -> None:
    from accord import StoreFailed

    log = SqliteEventLog(tmp_path / "log.db")
    with pytest.raises(StoreFailed, match="in use by another server"):
        SqliteEventLog(tmp_path / "log.db")
    log.close()
    SqliteEventLog(tmp_path / "log.db").close()
