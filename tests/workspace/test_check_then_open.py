"""The approved file is the one that is opened: swapping a link after the decision can't bypass a rule."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from workspace.test_races import at_step

from accord.client.local_workspace import LocalWorkspace, Refused
from accord.client.workspace import TerminalCommand
from accord.errors import RequestFailed
from accord.policy.action import Action
from accord.policy.decision import Decision
from accord.policy.engine import Policy
from accord.policy.question import Question, Reply
from accord.policy.rule import parse_rule
from accord.workspace.files import Files
from accord.workspace.place import Moved
from accord.workspace.roots import Roots
from accord.workspace.terminal import Terminal

SECRET, CONFIG = "KEY=secret\n", "[core]\n"


class Linked:
    """A project whose `link` takes turns between `ok.txt` and a file that rules guard."""

    def __init__(self, folder: Path, target: str) -> None:
        self.directory, self.target = folder, target
        (folder / ".git").mkdir()
        (folder / ".env").write_text(SECRET)
        (folder / ".git/config").write_text(CONFIG)
        (folder / "ok.txt").write_text("ok")
        (folder / "link").symlink_to("ok.txt")

    @property
    def path(self) -> str:
        return str(self.directory / "link")

    def lead_to(self, target: str) -> None:
        spare = self.directory / ".spare"
        spare.symlink_to(target)
        os.replace(spare, self.path)

    def real(self, name: str) -> str:
        return os.path.realpath(self.directory / name)

    def check(self) -> None:
        """Assert that the protected file is unchanged."""
        assert (self.directory / ".env").read_text() == SECRET
        assert (self.directory / ".git/config").read_text() == CONFIG


class FolderLinked(Linked):
    """The same with a directory on the way: `link/config` is in `safe` or in `.git`."""

    def __init__(self, folder: Path, target: str) -> None:
        super().__init__(folder, target)
        (folder / "safe").mkdir()
        (folder / "safe/config").write_text("ok")
        (folder / "link").unlink()
        (folder / "link").symlink_to("safe")

    @property
    def path(self) -> str:
        return str(self.directory / "link/config")

    def lead_to(self, target: str) -> None:
        spare = self.directory / ".spare"
        spare.symlink_to({"ok.txt": "safe"}.get(target, target))
        os.replace(spare, self.directory / "link")


CASES = [(Linked, ".env"), (Linked, ".git/config"), (FolderLinked, ".git")]


@asynccontextmanager
async def workspace(folder: Path, asked: list[str]) -> AsyncIterator[LocalWorkspace]:
    """Everything may be read and written, but what is denied or protected; nobody allows more than that."""

    async def ask(question: Question) -> Reply:
        asked.append(question.why)
        return False

    rules = [parse_rule("allow write:**"), parse_rule("deny path:**/.env"), parse_rule("deny read:.git/**")]
    local = LocalWorkspace(folder, policy=Policy(folder, user=rules), ask=ask)
    async with local:
        yield local


@pytest.mark.parametrize("linked, target", CASES)
@pytest.mark.parametrize("step", range(12))
async def test_a_link_swapped_at_any_step_of_a_call_leads_around_no_rule(
    linked: type[Linked], target: str, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    project = linked(tmp_path, target)
    async with workspace(tmp_path, asked) as local:
        for is_write in (False, True):
            project.lead_to("ok.txt")
            with at_step(step, lambda: project.lead_to(target), monkeypatch), suppress(RequestFailed):
                if is_write:
                    await local.write("s", project.path, "written")
                else:
                    assert await local.read("s", project.path, None, None) in ("ok", "written")
            project.check()


@pytest.mark.parametrize("linked, target", CASES)
async def test_a_link_swapped_after_the_decision_is_decided_about_again(
    linked: type[Linked], target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    project = linked(tmp_path, target)
    async with workspace(tmp_path, asked) as local:
        decide = local.policy.answer

        async def then_swapped(*args: object, **more: object) -> object:
            decision = await decide(*args, **more)  # type: ignore[arg-type]
            project.lead_to(target)
            return decision

        monkeypatch.setattr(local.policy, "answer", then_swapped)
        for call in (local.read("s", project.path, None, None), local.write("s", project.path, "written")):
            project.lead_to("ok.txt")
            with pytest.raises(Refused):
                await call
        project.check()
    if target != ".env":
        assert asked and ".git always needs approval" in asked[0]


@pytest.mark.parametrize("target", [".env", ".git/config"])
async def test_a_link_that_is_swapped_all_the_time_gives_up_nothing(target: str, tmp_path: Path) -> None:
    await _attack(Linked(tmp_path, target), rounds=150)


@pytest.mark.slow
@pytest.mark.parametrize("linked, target", CASES)
async def test_ten_thousand_calls_under_constant_swapping_give_up_nothing(
    linked: type[Linked], target: str, tmp_path: Path
) -> None:
    await _attack(linked(tmp_path, target), rounds=1667)


async def _attack(project: Linked, rounds: int) -> None:
    asked: list[str] = []
    with swapping(project):
        async with workspace(project.directory, asked) as local:
            local.files.disk.sync = False
            for _ in range(rounds):
                with suppress(RequestFailed):
                    assert await local.read("s", project.path, None, None) in ("ok", "written")
                with suppress(RequestFailed):
                    await local.write("s", project.path, "written")
                project.check()


@contextmanager
def swapping(project: Linked) -> Iterator[None]:
    """Another process that does nothing but swap the link."""
    context = multiprocessing.get_context("fork")
    began = context.Event()
    swapper = context.Process(target=_swap, args=(project, began), daemon=True)
    swapper.start()
    try:
        assert began.wait(60)
        yield
    finally:
        swapper.kill()
        swapper.join()


def _swap(project: Linked, began: threading.Event) -> None:
    while os.getppid() != 1:
        project.lead_to(project.target)
        project.lead_to("ok.txt")
        began.set()


@pytest.mark.skipif(sys.platform != "linux", reason="a working directory is held on Linux only")
@pytest.mark.parametrize("pty", [False, True])
async def test_a_command_starts_in_the_directory_that_was_decided_about(
    pty: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where = tmp_path / "work"
    where.mkdir()
    (tmp_path / "other").mkdir()
    start = Terminal.start.__func__  # type: ignore[attr-defined]

    async def swap_then_call(*args: object, **how: object) -> object:
        where.rename(tmp_path / "aside")
        where.symlink_to("other")
        return await start(*args, **how)

    monkeypatch.setattr(Terminal, "start", classmethod(swap_then_call))
    async with LocalWorkspace(
        tmp_path, policy=Policy(tmp_path, user=[parse_rule("allow command:pwd *")]), pty=pty
    ) as local:
        id = await local.create_terminal("s", TerminalCommand(command="pwd -P", args=[], env={}, cwd=str(where)))
        assert (await local.wait_for_exit("s", id)).code == 0
        assert (await local.terminal_output("s", id)).output.split() == [str(tmp_path / "aside")]
        assert local.terminals.terminal(id).cwd == str(where)


async def test_a_working_directory_swapped_after_the_decision_is_decided_about_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = FolderLinked(tmp_path, ".git")
    seen: list[str | None] = []
    async with LocalWorkspace(tmp_path, policy=Policy(tmp_path, user=[parse_rule("allow command:pwd *")])) as local:
        decide = local.policy.answer

        async def then_swapped(action: Action, **more: Any) -> Decision:
            seen.append(action.cwd)
            if len(seen) == 1:
                os.rename(tmp_path / "safe", tmp_path / "aside")
                (tmp_path / "safe").symlink_to(".git")
            return await decide(action, **more)

        monkeypatch.setattr(local.policy, "answer", then_swapped)
        where = os.path.dirname(project.path)
        id = await local.create_terminal("s", TerminalCommand(command="pwd -P", args=[], env={}, cwd=where))
        await local.wait_for_exit("s", id)
        assert (await local.terminal_output("s", id)).output.strip() == project.real(".git")
    assert seen == [str(tmp_path / "safe"), project.real(".git")]


async def test_a_path_that_leads_elsewhere_than_was_decided_is_not_opened(tmp_path: Path) -> None:
    project = Linked(tmp_path, ".env")
    ok = project.real("ok.txt")
    with Roots(str(tmp_path)) as roots:
        files = Files(roots, sync=False)
        for call in (files.read(project.path, at=str(tmp_path / ".env")), files.write(project.path, "x", at="/")):
            with pytest.raises(Moved) as moved:
                await call
            assert moved.value.real == ok
        assert await files.read(project.path, at=ok) == "ok"


async def test_slow_reads_of_one_session_do_not_hold_up_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow").write_text("slow")
    (tmp_path / "quick").write_text("quick")
    released, begun = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(max_workers=4))
    async with LocalWorkspace(tmp_path) as local:
        plain: Callable[..., str] = local.files.disk.read

        def read(path: str, *args: object) -> str:
            if path.endswith("slow"):
                loop.call_soon_threadsafe(begun.set)
                released.wait(60)
            return plain(path, *args)

        monkeypatch.setattr(local.files.disk, "read", read)
        slow = [asyncio.create_task(local.read("a", str(tmp_path / "slow"), None, None)) for _ in range(8)]
        try:
            await begun.wait()
            async with asyncio.timeout(300):
                assert await local.read("b", str(tmp_path / "quick"), None, None) == "quick"
            assert not any(task.done() for task in slow)
        finally:
            released.set()
        assert await asyncio.gather(*slow) == ["slow"] * 8


async def test_a_line_that_is_beyond_reach_is_not_looked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.workspace.disk.MAX_SCAN_BYTES", 1 << 20)
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 24)
    (tmp_path / "lines").write_bytes(b"x\n" * 1000)
    async with LocalWorkspace(tmp_path) as local:
        with pytest.raises(RequestFailed, match=r"line 1000000000 of .*sparse' isn't in the first 1\.0 MiB"):
            await local.read("s", str(tmp_path / "sparse"), 1_000_000_000, 1)
        assert await local.read("s", str(tmp_path / "lines"), 1000, 1) == "x\n"
        assert await local.read("s", str(tmp_path / "lines"), 2000, 1) == ""
