"""run_command: seen while it runs, bounded, ended when it must be."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from linked import until

from accord.client.workspace import TerminalState
from accord.coder.tools import running
from accord.model.requests import PermissionRequest
from accord.model.tool import TerminalRef
from accord.policy.rule import Rule
from accord.testing import ScriptedClient
from accord.workspace.command import shell

from .conftest import Bench, Benches, is_alive

SHELL = shell(os.environ)


def pid_in(desk: Bench, name: str) -> int | None:
    path = desk.project / name
    text = path.read_text() if path.exists() else ""
    return int(text) if text.endswith("\n") else None


async def test_a_command_is_run_and_its_output_shown(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        told = await desk.told("run_command", command="echo out; echo err >&2; pwd")
        assert told == f"[exit 0]\nout\nerr\n{desk.project}\n"
        shown = desk.shown
        assert (shown.title, shown.kind, shown.status) == ("Run echo out; echo err >&2; pwd", "execute", "completed")
        assert shown.raw_output == {
            "exitCode": 0,
            "signal": None,
            "timedOut": False,
            "output": f"out\nerr\n{desk.project}\n",
        }
        assert "out" in desk.shown_text or any(isinstance(item, TerminalRef) for item in shown.content)


async def test_a_command_that_fails_did_run(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        assert await desk.told("run_command", command="echo no; exit 3") == "[exit 3]\nno\n"
        assert await desk.told("run_command", command="true") == "[exit 0]\n[nothing was printed]"


async def test_a_command_that_somebody_ended_is_no_success(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        assert "[ended by SIGKILL]" in await desk.fault("run_command", command="kill -9 $$")


async def test_it_runs_where_it_is_told_to(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        desk.write("src/deep/a.txt", "")
        assert await desk.told("run_command", command="ls", cwd="src/deep") == "[exit 0; in src/deep]\na.txt\n"
        assert "there is no file nowhere" in await desk.fault("run_command", command="ls", cwd="nowhere")
        assert "no directory" in await desk.fault("run_command", command="ls", cwd="src/deep/a.txt")


async def test_it_starts_inside_the_project_only(bench: Benches, lent: dict[str, Any], project: Path) -> None:
    async with bench(**lent) as desk:
        (project / "out").symlink_to(project.parent / "other")
        for cwd in ("..", "/", "out", "../other"):
            assert "leads out of the project" in await desk.fault("run_command", command="touch here", cwd=cwd)
        assert not (project.parent / "other" / "here").exists()


async def test_being_cancelled_ends_the_command_at_once(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        desk.start_of("run_command", {"command": "sleep 1000 & echo $! > pid; wait", "timeout": 600})
        turn = desk.session.prompt("go")
        running = asyncio.ensure_future(_whole(turn))
        await until(lambda: pid_in(desk, "pid") is not None)
        pid = pid_in(desk, "pid")
        assert pid is not None and is_alive(pid)
        await desk.session.cancel()
        assert await running == "cancelled"
        await until(lambda: not is_alive(pid))
        assert desk.shown.status in ("cancelled", "failed")
        assert await desk.told("run_command", command="echo again") == "[exit 0]\nagain\n"


async def _whole(turn: Any) -> Any:
    return (await turn).stop_reason


async def test_long_output_is_told_by_its_beginning_and_its_end(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        told = await desk.told("run_command", command="seq 1 20000")
        assert told.startswith("[exit 0]\n1\n2\n3\n")
        assert told.endswith("\n19999\n20000\n")
        assert "lines" in told and "left out" in told
        assert len(told) < 31_000


async def test_very_long_output_is_told_to_lack_its_beginning(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        told = await desk.told("run_command", command="yes 0123456789 | head -c 1500000; echo end")
        assert told.startswith("[exit 0; the beginning of the output was not kept]\n")
        assert told.endswith("end\n")


async def test_colours_and_progress_bars_are_left_out(bench: Benches) -> None:
    async with bench() as desk:
        line = r"printf '\033[31mred\033[0m\r\n10%%\r50%%\r100%%\n\033]0;title\007x\n'"
        assert await desk.told("run_command", command=line) == "[exit 0]\nred\n100%\nx\n"


async def test_what_is_asked_about_is_what_runs(bench: Benches) -> None:
    asked: list[PermissionRequest] = []

    def permissions(request: PermissionRequest) -> bool:
        asked.append(request)
        return False

    async with bench(rules=(), permissions=permissions) as desk:
        assert "did not allow" in await desk.fault("run_command", command="touch a && touch b")
        assert list(desk.project.iterdir()) == []
    (request,) = asked
    assert request.tool_call is not None
    assert "touch a && touch b" in (request.command or request.tool_call.title)


async def test_rules_about_commands_hold_for_each_part_of_a_line(bench: Benches) -> None:
    rules = (Rule(effect="allow", command=("echo *",)), Rule(effect="deny", command=("rm *",)))
    async with bench(rules=rules) as desk:
        assert await desk.told("run_command", command="echo yes") == "[exit 0]\nyes\n"
        desk.write("a.txt", "")
        assert "not allowed" in await desk.fault("run_command", command="echo yes && rm a.txt")
        assert (desk.project / "a.txt").exists()


async def test_a_command_that_is_not_there_is_told(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        told = await desk.told("run_command", command="no-such-program")
        assert "exit 127" in told and "not found" in told
        assert "empty" in await desk.fault("run_command", command="  ")


async def test_a_directory_that_became_another_while_the_user_thought_is_not_used(
    bench: Benches, project: Path
) -> None:
    def permissions(request: PermissionRequest) -> bool:
        (project / "src").rename(project / "was")
        (project / "src").symlink_to(project / "was")
        return True

    async with bench(rules=(), permissions=permissions) as desk:
        desk.write("src/a.txt", "")
        await desk.fault("run_command", command="touch b", cwd="src")
        assert not (project / "was" / "b").exists()


async def test_a_long_line_makes_a_short_title(bench: Benches) -> None:
    async with bench() as desk:
        await desk.told("run_command", command="true " + "x" * 500)
        assert len(desk.shown.title) < 120
        await desk.told("run_command", command="true one\ntrue two")
        assert desk.shown.title == "Run true one …"


class TestInOneVersion:
    """What does not depend on the version, or is of version 1: the client's terminals."""

    @pytest.fixture
    def version(self) -> int:
        return 1

    async def test_one_that_takes_too_long_is_ended_with_what_it_printed(
        self, bench: Benches, lent: dict[str, Any]
    ) -> None:
        async with bench(**lent) as desk:
            line = "echo begun; sleep 1000 & echo $! > pid; wait"
            told = await desk.fault("run_command", command=line, timeout=1.5)
            assert told.startswith("[it had not ended after 1.5 s and was ended")
            assert told.endswith("begun\n")
            pid = pid_in(desk, "pid")
            assert pid is not None
            await until(lambda: not is_alive(pid))
            assert desk.shown.raw_output["timedOut"] is True

    async def test_the_client_is_given_a_shell_and_the_line_as_it_is(self, bench: Benches, project: Path) -> None:
        client = ScriptedClient(commands={f"{' '.join(SHELL)} pytest -q": ("3 passed\n", 0)})
        async with bench(client) as desk:
            assert await desk.told("run_command", command="pytest -q") == "[exit 0]\n3 passed\n"
            assert [client.started[0].command, *client.started[0].args] == [*SHELL, "pytest -q"]
            assert client.started[0].cwd == str(project)
            assert client.released == ["terminal-1"]
            assert desk.shown.content == [TerminalRef(terminal_id="terminal-1")]

    async def test_one_that_never_ends_is_killed_and_released(self, bench: Benches) -> None:
        client = ScriptedClient(commands={f"{' '.join(SHELL)} serve me": ("listening\n", None)})
        async with bench(client) as desk:
            told = await desk.fault("run_command", command="serve me", timeout=0.01)
            assert told.endswith("listening\n")
            assert client.released == ["terminal-1"]

    async def test_a_client_that_stops_answering_is_not_waited_for(
        self, bench: Benches, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(running, "PATIENCE", 0.05)
        client = Silent(
            commands={f"{' '.join(SHELL)} make it": ("done\n", 0), f"{' '.join(SHELL)} hang on": ("", None)}
        )
        async with bench(client) as desk:
            client.silent = {"release_terminal"}
            assert await desk.told("run_command", command="make it") == "[exit 0]\ndone\n"
            client.silent = {"terminal_output"}
            assert "does not answer" in await desk.fault("run_command", command="make it")
            client.silent = {"kill_terminal"}
            assert "does not answer" in await desk.fault("run_command", command="hang on", timeout=0.01)


class Silent(ScriptedClient):
    """A client that never answers some requests."""

    silent: set[str] = set()

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
            await asyncio.Event().wait()


class TestLive:
    """Version 2, in which an agent shows terminals of its own."""

    @pytest.fixture
    def version(self) -> int:
        return 2

    async def test_what_a_command_prints_is_seen_while_it_runs(self, bench: Benches, project: Path) -> None:
        os.mkfifo(project / "fifo")
        async with bench() as desk:
            desk.start_of("run_command", {"command": "echo first; cat fifo; echo last"})
            turn = asyncio.ensure_future(_whole(desk.session.prompt("go")))
            terminals = desk.session.transcript.terminals
            await until(lambda: any(terminal.text == "first\n" for terminal in terminals.values()))
            assert desk.shown.status == "in_progress"
            assert [item.terminal_id for item in desk.shown.content if isinstance(item, TerminalRef)] == list(terminals)
            await asyncio.to_thread((project / "fifo").write_text, "more\n")
            assert await turn == "end_turn"
            assert [terminal.text for terminal in terminals.values()] == ["first\nmore\nlast\n"]
