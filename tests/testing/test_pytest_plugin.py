"""The pytest plugin, used by a project in another directory as its author would."""

from __future__ import annotations

import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from support.author_project import run_pytest

from accord.testing.snapshot import SnapshotMismatch, TranscriptSnapshot

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "accord.testing.pytest_plugin"

CONFIG = """[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
"""

PROJECT = """
from accord import Agent, connect
from accord.testing import render_transcript


class Tidy(Agent):
    async def prompt(self, turn):
        text = await turn.files.read("notes.txt")
        output = await turn.terminals.run("wc", ["-l", "notes.txt"])
        if await turn.permit("Sort notes.txt", kind="edit", locations=["notes.txt"]):
            await turn.files.write("notes.txt", "".join(sorted(text.splitlines(keepends=True))))
        reply = await turn.ask("Who are you?", {"properties": {"name": {"type": "string"}}})
        await turn.say(f"{reply.content} {output.text.strip()}")


async def test_files_commands_and_answers_are_scripted(acp_agent, acp_client, acp_snapshot):
    acp_client.files["/project/notes.txt"] = "b\\na\\n"
    acp_client.commands["wc -l notes.txt"] = ("2 notes.txt\\n", 0)
    acp_client.answer(False, True)
    acp_client.reply({"name": "Ada"})
    async with acp_agent(Tidy(), cwd="/project") as agent:
        session = await agent.new_session()
        await session.prompt("sort")
        assert acp_client.files["/project/notes.txt"] == "b\\na\\n"
        turn = await session.prompt("sort")
    assert acp_client.files["/project/notes.txt"] == "a\\nb\\n"
    assert turn.text == "{'name': 'Ada'} 2 notes.txt"
    assert [command.command for command in acp_client.started] == ["wc", "wc"]
    acp_snapshot(turn.text, "answer")
    acp_snapshot(session)


async def test_a_recording_is_a_fixture(acp_recording):
    recording = acp_recording("hello.jsonl")
    async with connect(recording.agent, versions={recording.version}) as agent:
        turn = await (await agent.new_session("/")).prompt("hello")
    assert turn.text == "Hello."


async def test_wrong_call(acp_agent):
    async with acp_agent(42):
        pass
"""


RECORDED = """\
{"from": "client", "message": {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {}}}
{"from": "agent", "message": {"jsonrpc": "2.0", "id": 7, "result": {"protocolVersion": 1, "agentCapabilities": {}}}}
{"from": "client", "message": {"jsonrpc": "2.0", "id": 8, "method": "session/new", "params": {}}}
{"from": "agent", "message": {"jsonrpc": "2.0", "id": 8, "result": {"sessionId": "s"}}}
{"from": "client", "message": {"jsonrpc": "2.0", "id": 9, "method": "session/prompt", "params": {}}}
{"from": "agent", "message": {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": \
{"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Hello."}}}}}
{"from": "agent", "message": {"jsonrpc": "2.0", "id": 9, "result": {"stopReason": "end_turn"}}}
"""


def test_fixtures_snapshots_and_recordings_work_in_a_project(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text(CONFIG)
    (tmp_path / "test_tidy.py").write_text(PROJECT)
    (tmp_path / "hello.jsonl").write_text(RECORDED)

    updated = run_pytest(tmp_path, "-k", "not wrong", "--acp-update")
    second = run_pytest(tmp_path)

    assert "3 passed" in updated.stdout, updated.stdout
    assert "3 passed" in second.stdout and "2 failed" in second.stdout, second.stdout
    folder = tmp_path / "__snapshots__" / "test_tidy"
    snapshot = (folder / "test_files_commands_and_answers_are_scripted.txt").read_text()
    assert sorted(path.name for path in folder.iterdir()) == [
        "test_files_commands_and_answers_are_scripted.answer.txt",
        "test_files_commands_and_answers_are_scripted.txt",
    ]
    assert "✗ Sort notes.txt" in snapshot and "✓ Sort notes.txt" in snapshot, snapshot
    # The traceback of a wrong call ends in the project, not in Accord.
    assert "test_tidy.py:41: UsageError" in second.stdout, second.stdout


def test_a_missing_snapshot_names_the_option_that_writes_it(tmp_path: Path) -> None:
    with pytest.raises(SnapshotMismatch, match=r"there is no snapshot .*--acp-update"):
        TranscriptSnapshot(tmp_path / "a.txt", is_updating=False)("one\n")


def test_a_changed_transcript_is_shown_as_a_diff(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    TranscriptSnapshot(file, is_updating=True)("one\ntwo\n")
    compare = TranscriptSnapshot(file, is_updating=False)
    compare("one\ntwo\n")
    with pytest.raises(SnapshotMismatch, match=r"(?s)-two.*\+three"):
        compare("one\nthree\n")


def test_the_plugin_is_installed_with_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["entry-points"]["pytest11"] == {PLUGIN: PLUGIN}
    assert import_module(PLUGIN)
