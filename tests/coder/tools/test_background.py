"""Background commands: they outlive their call, are read piece by piece, and end with the session."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest
from support.link import until

from accord.coder import background_commands
from accord.coder.tools import run_command
from accord.model.tool import TerminalRef
from accord.policy.rule import Rule

from .conftest import Harness, ToolHarness, is_alive
from .test_run_command import pid_in, saved_output

SERVER = "exec 3<>fifo; echo $$ > pid; echo ready; while read line <&3; do echo got $line; done"
"""A server that prints what is written into a FIFO."""


def id_in(text: str) -> str:
    found = re.search(r"cmd-[0-9a-f]{4}", text)
    assert found is not None, text
    return found[0]


async def start(tools: ToolHarness, command: str = SERVER) -> str:
    """Start a background command and return its id."""
    if not (tools.project / "fifo").exists():
        os.mkfifo(tools.project / "fifo")
    return id_in(await tools.call("run_command", command=command, background=True))


async def written_pid(tools: ToolHarness, name: str) -> int:
    """Wait until a command has written its process id into a file."""
    await until(lambda: pid_in(tools, name) is not None)
    pid = pid_in(tools, name)
    assert pid is not None
    return pid


async def send(tools: ToolHarness, line: str) -> None:
    await asyncio.to_thread((tools.project / "fifo").write_text, f"{line}\n")


async def test_it_outlives_its_turn_and_each_read_returns_what_is_new(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        id = await start(tools)
        call = tools.shown
        assert call.status == "in_progress"
        assert any(isinstance(item, TerminalRef) for item in call.content) or "ready" in tools.shown_text
        pid = await written_pid(tools, "pid")
        assert is_alive(pid)
        await tools.call("read_output", id=id)
        await send(tools, "one")
        assert await tools.call("read_output", id=id, wait_for="one", wait_seconds=300) == "[running]\ngot one\n"
        await send(tools, "two")
        assert await tools.call("read_output", id=id, wait_for="two", wait_seconds=300) == "[running]\ngot two\n"
        assert call.status == "in_progress"


async def test_the_exit_is_awaited_and_the_call_gets_its_final_state(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        id = await start(tools, "read line < fifo; echo bye $line; exit 3")
        call = tools.shown
        await send(tools, "now")
        assert await tools.call("read_output", id=id, wait_seconds=300) == "[exit 3]\nbye now\n"
        await until(lambda: call.status == "completed")
        assert call.raw_output["exitCode"] == 3 and "bye now" in call.raw_output["output"]
        assert await tools.call("read_output", id=id) == "[exit 3]\n[nothing new was printed]"


async def test_one_that_exits_at_once_needs_no_second_call(
    harness: Harness, lent: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_command, "FIRST_OUTPUT_SECONDS", 300.0)
    async with harness(**lent) as tools:
        result = await tools.call("run_command", command="exit 1", background=True)
        assert result == "[exit 1]\n[nothing was printed]"


async def test_stopping_ends_all_its_processes(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        id = await start(tools, "sleep 1000 & echo $! > child; echo $$ > pid; echo up; wait")
        call = tools.shown
        pids = [await written_pid(tools, "pid"), await written_pid(tools, "child")]
        assert "[stopped]" in await tools.call("stop_command", id=id)
        await until(lambda: not any(is_alive(pid) for pid in pids))
        await until(lambda: call.status in ("cancelled", "failed"))
        assert "[stopped]" in await tools.call("stop_command", id=id), "stopping twice is harmless"


async def test_it_ends_with_its_session(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        await start(tools)
        pid = await written_pid(tools, "pid")
        assert is_alive(pid)
        await tools.session.close()
        await until(lambda: not is_alive(pid))


async def test_it_ends_with_the_connection(harness: Harness, project: Path) -> None:
    async with harness() as tools:
        await start(tools)
        pid = await written_pid(tools, "pid")
    await until(lambda: not is_alive(pid))


async def test_a_timeout_can_move_it_to_the_background(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        os.mkfifo(tools.project / "fifo")
        answer = await tools.call("run_command", command=SERVER, timeout=0.2, on_timeout="background")
        assert answer.startswith("[still running after 0.2 s, in the background as cmd-")
        id = id_in(answer)
        await send(tools, "one")
        assert "got one\n" in await tools.call("read_output", id=id, wait_for="one", wait_seconds=300)
        assert tools.shown.status == "completed"
        assert "[stopped]" in await tools.call("stop_command", id=id)


async def test_a_text_that_does_not_appear_is_reported(harness: Harness) -> None:
    async with harness() as tools:
        id = await start(tools)
        answer = await tools.call("read_output", id=id, wait_for="never", wait_seconds=0.1)
        assert answer.startswith("[running; the text 'never' didn't appear in 0.1 s]\n")
        await tools.call("stop_command", id=id)
        assert "didn't appear]" in await tools.call("read_output", id=id, wait_for="never")


async def test_the_number_of_running_commands_is_limited(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_commands, "MAX_RUNNING", 2)
    async with harness() as tools:
        first, _ = await start(tools), await start(tools)
        assert "the maximum" in await tools.call_failing("run_command", command="sleep 1", background=True)
        assert await tools.call("run_command", command="echo yes") == "[exit 0]\nyes\n"
        await tools.call("stop_command", id=first)
        await start(tools)


async def test_an_unknown_id_is_an_error_with_the_known_ones(harness: Harness) -> None:
    async with harness() as tools:
        assert "There are: none" in await tools.call_failing("read_output", id="cmd-0")
        id = await start(tools)
        assert id in await tools.call_failing("stop_command", id="7")


async def test_long_output_is_saved(harness: Harness) -> None:
    async with harness() as tools:
        id = await start(tools, "read line < fifo; seq 1 20000")
        await send(tools, "go")
        answer = await tools.call("read_output", id=id, wait_seconds=300)
        assert answer.startswith("[exit 0; all of this output is in ") and len(answer) < 12_500
        assert saved_output(answer).read_text().endswith("\n20000\n")


async def test_discarded_output_does_not_hide_what_is_new(harness: Harness, lent: dict[str, Any]) -> None:
    from accord.coder.tools import run_command

    async with harness(**lent) as tools:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run_command, "OUTPUT_BYTES", 10_000)
            id = await start(
                tools,
                "exec 3<>fifo; read line <&3; seq 1 9000; echo first; read line <&3; seq 1 1000; echo second; cat <&3",
            )
        await send(tools, "go")
        await tools.call("read_output", id=id, wait_for="first", wait_seconds=300)
        await send(tools, "go")
        answer = await tools.call("read_output", id=id, wait_for="second", wait_seconds=300)
        assert answer.startswith("[running]\n1\n2\n") and answer.endswith("1000\nsecond\n") and "first" not in answer


async def test_starting_one_needs_the_permission_of_a_command_and_reading_none(harness: Harness) -> None:
    async with harness(rules=(Rule(effect="allow", command=("cat *",)),), permissions=lambda request: False) as tools:
        assert "didn't allow" in await tools.call_failing("run_command", command="sleep 1", background=True)
        id = await start(tools, "cat fifo")
        assert "running" in await tools.call("read_output", id=id)
        assert "[stopped]" in await tools.call("stop_command", id=id)


class TestListed:
    """Version 2 lists background work."""

    @pytest.fixture
    def version(self) -> int:
        return 2

    async def test_the_client_lists_it_while_it_runs(self, harness: Harness, lent: dict[str, Any]) -> None:
        async with harness(**lent) as tools:
            id = await start(tools)
            transcript = tools.session.transcript
            await until(lambda: len(transcript.background) == 1)
            await tools.call("stop_command", id=id)
            await until(lambda: not transcript.background)
