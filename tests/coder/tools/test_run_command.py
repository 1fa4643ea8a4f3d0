"""run_command: live output, limits, timeouts and cancellation."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.link import until
from support.loop_clock import LoopClock

from accord.client.workspace import TerminalState
from accord.coder import saved_outputs
from accord.coder.tools import run_command
from accord.model.requests import PermissionRequest
from accord.model.tool import TerminalRef
from accord.policy.rule import Rule
from accord.testing import ScriptedClient
from accord.workspace.command import shell_command

from .conftest import Harness, ToolHarness, is_alive

SHELL = shell_command(os.environ)


def saved_output(told: str) -> Path:
    """Return the path of the file that a result names."""
    found = re.match(r"\[.*? is in (.*?\.txt)\]\n", told)
    assert found is not None, told[:200]
    return Path(found[1])


def pid_in(tools: ToolHarness, name: str) -> int | None:
    path = tools.project / name
    text = path.read_text() if path.exists() else ""
    return int(text) if text.endswith("\n") else None


async def test_a_command_is_run_and_its_output_shown(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        told = await tools.call("run_command", command="echo out; echo err >&2; pwd")
        assert told == f"[exit 0]\nout\nerr\n{tools.project}\n"
        shown = tools.shown
        assert (shown.title, shown.kind, shown.status) == ("Run echo out; echo err >&2; pwd", "execute", "completed")
        assert shown.raw_output == {
            "exitCode": 0,
            "signal": None,
            "timedOut": False,
            "output": f"out\nerr\n{tools.project}\n",
        }
        assert "out" in tools.shown_text or any(isinstance(item, TerminalRef) for item in shown.content)


async def test_a_failing_command_is_not_a_failed_call(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        assert await tools.call("run_command", command="echo no; exit 3") == "[exit 3]\nno\n"
        assert await tools.call("run_command", command="true") == "[exit 0]\n[nothing was printed]"


async def test_a_command_ended_by_a_signal_is_an_error(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        assert "[ended by SIGKILL]" in await tools.call_failing("run_command", command="kill -9 $$")


async def test_it_runs_in_the_given_directory(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.write("src/deep/a.txt", "")
        assert await tools.call("run_command", command="ls", cwd="src/deep") == "[exit 0; in src/deep]\na.txt\n"
        assert "there is no file nowhere" in await tools.call_failing("run_command", command="ls", cwd="nowhere")
        assert "not a directory" in await tools.call_failing("run_command", command="ls", cwd="src/deep/a.txt")


async def test_it_starts_inside_the_project_only(harness: Harness, lent: dict[str, Any], project: Path) -> None:
    async with harness(**lent) as tools:
        (project / "out").symlink_to(project.parent / "other")
        for cwd in ("..", "/", "out", "../other"):
            assert "is outside the project" in await tools.call_failing("run_command", command="touch here", cwd=cwd)
        assert not (project.parent / "other" / "here").exists()


async def test_cancelling_the_turn_ends_the_command_at_once(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        tools.start_of("run_command", {"command": "sleep 1000 & echo $! > pid; wait", "timeout": 600})
        turn = tools.session.prompt("go")
        running = asyncio.ensure_future(_whole(turn))
        await until(lambda: pid_in(tools, "pid") is not None)
        pid = pid_in(tools, "pid")
        assert pid is not None and is_alive(pid)
        await tools.session.cancel()
        assert await running == "cancelled"
        await until(lambda: not is_alive(pid))
        assert tools.shown.status in ("cancelled", "failed")
        assert await tools.call("run_command", command="echo again") == "[exit 0]\nagain\n"


async def _whole(turn: Any) -> Any:
    return (await turn).stop_reason


async def test_the_model_gets_the_beginning_and_the_end_of_long_output_and_a_file_with_all_of_it(
    harness: Harness, lent: dict[str, Any]
) -> None:
    async with harness(**lent) as tools:
        told = await tools.call("run_command", command="seq 1 20000")
        path = saved_output(told)
        assert told.startswith(f"[exit 0; all of the output is in {path}]\n1\n2\n3\n")
        assert told.endswith("\n19999\n20000\n")
        assert "lines" in told and "omitted" in told
        assert len(told) < 12_500
        assert path.read_text() == "".join(f"{number}\n" for number in range(1, 20_001))
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700


async def test_saved_output_can_be_read_and_searched_without_asking(harness: Harness) -> None:
    async with harness(rules=(Rule(effect="allow", command=("seq *",)),)) as tools:
        path = saved_output(await tools.call("run_command", command="seq 1 20000"))
        assert "12345\n" in await tools.call("read_file", path=str(path), line=12_345, limit=1)
        assert "12345: 12345" in await tools.call("search", pattern="12345", path=str(path))
        other = path.parent.parent / "other.txt"
        other.write_text("of another session\n")
        assert "didn't allow" in await tools.call_failing("read_file", path=str(other))
        path.unlink()
        path.symlink_to(other)
        assert "didn't allow" in await tools.call_failing("read_file", path=str(path))


async def test_output_is_not_saved_through_a_link(harness: Harness, project: Path) -> None:
    async with harness() as tools:
        directory = saved_output(await tools.call("run_command", command="seq 1 20000")).parent
        shutil.rmtree(directory)
        directory.symlink_to(project)
        assert "all of the output" not in await tools.call("run_command", command="seq 1 20000")
        assert list(tools.project.iterdir()) == []


async def test_the_oldest_output_is_removed_when_there_is_too_much(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_outputs, "MAX_TOTAL_BYTES", 250_000)
    async with harness() as tools:
        first, second, third = [saved_output(await tools.call("run_command", command="seq 1 20000")) for _ in range(3)]
        assert not first.exists() and second.exists() and third.exists()


async def test_output_of_old_sessions_is_removed(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    async with harness() as tools:
        first = saved_output(await tools.call("run_command", command="seq 1 20000"))
    os.utime(first.parent, (0, 0))
    async with harness() as tools:
        await tools.call("run_command", command="seq 1 20000")
        assert not first.parent.exists()


async def test_very_long_output_says_that_its_start_is_missing(
    harness: Harness, lent: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_command, "OUTPUT_BYTES", 100_000)
    async with harness(**lent) as tools:
        told = await tools.call("run_command", command="yes 0123456789 | head -c 150000; echo end")
        assert told.startswith("[exit 0; the start of the output was discarded; all of the rest is in ")
        assert told.endswith("end\n")


async def test_nothing_waits_for_a_pager_an_editor_or_a_password(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        line = "echo $PAGER $GIT_PAGER $EDITOR $GIT_EDITOR $GIT_TERMINAL_PROMPT $SSH_ASKPASS_REQUIRE $NO_COLOR"
        assert await tools.call("run_command", command=line) == "[exit 0]\ncat cat true true 0 never 1\n"


async def test_colors_and_progress_bars_are_left_out(harness: Harness) -> None:
    async with harness() as tools:
        line = r"printf '\033[31mred\033[0m\r\n10%%\r50%%\r100%%\n\033]0;title\007x\n'"
        assert await tools.call("run_command", command=line) == "[exit 0]\nred\n100%\nx\n"


async def test_exactly_the_approved_command_runs(harness: Harness) -> None:
    asked: list[PermissionRequest] = []

    def permissions(request: PermissionRequest) -> bool:
        asked.append(request)
        return False

    async with harness(rules=(), permissions=permissions) as tools:
        assert "didn't allow" in await tools.call_failing("run_command", command="touch a && touch b")
        assert list(tools.project.iterdir()) == []
    (request,) = asked
    assert request.tool_call is not None
    assert "touch a && touch b" in (request.command or request.tool_call.title)


async def test_rules_about_commands_apply_to_each_part_of_a_line(harness: Harness) -> None:
    rules = (Rule(effect="allow", command=("echo *",)), Rule(effect="deny", command=("rm *",)))
    async with harness(rules=rules) as tools:
        assert await tools.call("run_command", command="echo yes") == "[exit 0]\nyes\n"
        tools.write("a.txt", "")
        assert "not allowed" in await tools.call_failing("run_command", command="echo yes && rm a.txt")
        assert (tools.project / "a.txt").exists()


async def test_an_unknown_command_is_an_error(harness: Harness, lent: dict[str, Any]) -> None:
    async with harness(**lent) as tools:
        told = await tools.call("run_command", command="no-such-program")
        assert "exit 127" in told and "not found" in told
        assert "empty" in await tools.call_failing("run_command", command="  ")


async def test_a_directory_replaced_during_the_permission_request_is_not_used(harness: Harness, project: Path) -> None:
    def permissions(request: PermissionRequest) -> bool:
        (project / "src").rename(project / "was")
        (project / "src").symlink_to(project / "was")
        return True

    async with harness(rules=(), permissions=permissions) as tools:
        tools.write("src/a.txt", "")
        await tools.call_failing("run_command", command="touch b", cwd="src")
        assert not (project / "was" / "b").exists()


async def test_a_long_line_makes_a_short_title(harness: Harness) -> None:
    async with harness() as tools:
        await tools.call("run_command", command="true " + "x" * 500)
        assert len(tools.shown.title) < 120
        await tools.call("run_command", command="true one\ntrue two")
        assert tools.shown.title == "Run true one …"


class TestInOneVersion:
    """Behavior of both versions, and the client's terminals in version 1."""

    @pytest.fixture
    def version(self) -> int:
        return 1

    async def test_a_reduced_timeout_is_reported_to_the_model(self, harness: Harness, lent: dict[str, Any]) -> None:
        async with harness(**lent) as tools:
            told = await tools.call("run_command", command="echo hi", timeout=900)
            assert told == "[exit 0; the timeout was reduced to 600 s, the maximum]\nhi\n"

    async def test_a_command_that_times_out_is_ended_and_its_output_returned(
        self, harness: Harness, lent: dict[str, Any]
    ) -> None:
        async with harness(**lent) as tools:
            line = "echo begun; sleep 1000 & echo $! > pid; wait"
            for seconds in (0.5, 2, 8, 32):  # longer if this machine is too slow to start it
                told = await tools.call_failing("run_command", command=line, timeout=seconds)
                pid = pid_in(tools, "pid")
                if pid is not None:
                    break
            assert told.startswith(f"[timed out after {seconds:g} s and was killed")
            assert told.endswith("begun\n")
            assert pid is not None
            await until(lambda: not is_alive(pid))
            assert tools.shown.raw_output["timedOut"] is True

    async def test_the_client_is_given_a_shell_and_the_line_as_it_is(self, harness: Harness, project: Path) -> None:
        client = ScriptedClient(commands={f"{' '.join(SHELL)} pytest -q": ("3 passed\n", 0)})
        async with harness(client) as tools:
            assert await tools.call("run_command", command="pytest -q") == "[exit 0]\n3 passed\n"
            assert [client.started[0].command, *client.started[0].args] == [*SHELL, "pytest -q"]
            assert client.started[0].cwd == str(project)
            assert client.released == ["terminal-1"]
            assert tools.shown.content == [TerminalRef(terminal_id="terminal-1")]

    async def test_a_command_that_never_ends_is_killed_and_released(self, harness: Harness) -> None:
        client = ScriptedClient(commands={f"{' '.join(SHELL)} serve me": ("listening\n", None)})
        async with harness(client) as tools:
            told = await tools.call_failing("run_command", command="serve me", timeout=0.01)
            assert told.endswith("listening\n")
            assert client.released == ["terminal-1"]

    async def test_a_client_that_stops_responding_does_not_block_the_agent(
        self, harness: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        client = Silent(
            LoopClock(monkeypatch),
            commands={f"{' '.join(SHELL)} make it": ("done\n", 0), f"{' '.join(SHELL)} hang on": ("", None)},
        )
        async with harness(client) as tools:
            client.silent = {"release_terminal"}
            assert await tools.call("run_command", command="make it") == "[exit 0]\ndone\n"
            client.silent = {"terminal_output"}
            assert "doesn't respond" in await tools.call_failing("run_command", command="make it")
            client.silent = {"kill_terminal"}
            assert "doesn't respond" in await tools.call_failing("run_command", command="hang on", timeout=0.01)


class Silent(ScriptedClient):
    """A client that never answers some requests, however long one waits for it."""

    silent: set[str] = set()

    def __init__(self, clock: LoopClock, **scripted: Any) -> None:
        super().__init__(**scripted)
        self._clock = clock

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        await self._or_never("release_terminal")
        await super().release_terminal(session_id, terminal_id)

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        await self._or_never("kill_terminal")
        await super().kill_terminal(session_id, terminal_id)

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalState:
        await self._or_never("terminal_output")
        return await super().terminal_output(session_id, terminal_id)

    async def _or_never(self, name: str) -> None:
        if name in self.silent:
            self._clock.advance(run_command.TERMINAL_SECONDS)
            await asyncio.Event().wait()


class TestLive:
    """Version 2, where an agent shows its own terminals."""

    @pytest.fixture
    def version(self) -> int:
        return 2

    async def test_output_is_shown_while_the_command_runs(self, harness: Harness, project: Path) -> None:
        os.mkfifo(project / "fifo")
        async with harness() as tools:
            tools.start_of("run_command", {"command": "echo first; cat fifo; echo last"})
            turn = asyncio.ensure_future(_whole(tools.session.prompt("go")))
            terminals = tools.session.transcript.terminals
            await until(lambda: any(terminal.text == "first\n" for terminal in terminals.values()))
            assert tools.shown.status == "in_progress"
            assert [item.terminal_id for item in tools.shown.content if isinstance(item, TerminalRef)] == list(
                terminals
            )
            await asyncio.to_thread((project / "fifo").write_text, "more\n")
            assert await turn == "end_turn"
            assert [terminal.text for terminal in terminals.values()] == ["first\nmore\nlast\n"]
