"""Recorded conversations: what a client heard once, it hears again, without the agent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.link import script_agent

from accord import ConfigError, RequestFailed, Turn, connect
from accord.testing import Recorder, Recording, link, render_transcript


async def work(turn: Turn) -> None:
    await turn.plan(["read", "answer"])
    async with turn.tool("Read a.py", kind="read", locations=["/project/a.py:3"]) as tool:
        await tool.show("print(1)")
    if await turn.permit("Run a.py", kind="execute"):
        await turn.say("It prints 1.")


async def record(path: Path, version: int) -> str:
    """Record a turn with a permission request, and return its transcript."""
    with Recorder(path) as recorder:
        async with link(script_agent(work), version=version, permissions=lambda _: True, watch=recorder) as agent:
            session = await agent.new_session("/project")
            await session.prompt("What does it print?")
            return render_transcript(session)


async def test_a_recording_shows_the_client_the_same_again(tmp_path: Path, version: int) -> None:
    path = tmp_path / "hello.jsonl"
    before = await record(path, version)

    recording = Recording.read(path)
    async with connect(recording.agent, permissions=lambda _: True, versions={recording.version}) as agent:
        session = await agent.new_session("/project")
        turn = await session.prompt("What does it print?")

    assert (turn.text, turn.stop_reason) == ("It prints 1.", "end_turn")
    assert render_transcript(session) == before
    assert recording.mismatches == []
    assert recording.version == version


async def test_a_recording_can_be_played_more_than_once(tmp_path: Path) -> None:
    path = tmp_path / "hello.jsonl"
    await record(path, 1)
    recording = Recording.read(path)

    for _ in range(2):
        async with connect(recording.agent, permissions=lambda _: True) as agent:
            session = await agent.new_session("/project")
            assert (await session.prompt("What does it print?")).text == "It prints 1."


async def test_a_client_that_does_something_else_gets_an_error(tmp_path: Path) -> None:
    path = tmp_path / "hello.jsonl"
    await record(path, 1)
    recording = Recording.read(path)

    async with connect(recording.agent) as agent:
        with pytest.raises(RequestFailed, match="the recording has session/new here, not _example/ping"):
            await agent.request("_example/ping")

    assert recording.mismatches == ["the client sent _example/ping, but the recording has session/new here"]


async def test_nothing_comes_after_the_end_of_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "hello.jsonl"
    await record(path, 1)
    recording = Recording.read(path)

    async with connect(recording.agent, permissions=lambda _: True) as agent:
        session = await agent.new_session("/project")
        await session.prompt("What does it print?")
        with pytest.raises(RequestFailed, match="the recording has ended"):
            await session.prompt("And now?")


def test_a_line_that_is_not_a_message_is_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(json.dumps({"from": "agent", "message": {}}) + "\n{}\n")

    with pytest.raises(ConfigError, match="line 2 isn't a recorded message"):
        Recording.read(path)


async def test_stray_output_is_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "stray.jsonl"
    with Recorder(path) as recorder:
        recorder("in", b"hello from a library\n")
        recorder("in", b'{"jsonrpc":"2.0","method":"a"}\n')

    assert [message for _, message in Recording.read(path).messages] == [{"jsonrpc": "2.0", "method": "a"}]
