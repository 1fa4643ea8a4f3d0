"""/undo and the changes of commands."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from coder.scripted_model import coder
from coder.test_loop import call

from accord.client.local_workspace import LocalWorkspace
from accord.policy.engine import Policy
from accord.policy.sources import parse_flags
from accord.testing import link
from accord.workspace import checkpoints, shadow_repository, work_trees

Join = Callable[..., Any]


def run(command: str, id: str = "1") -> Any:
    return call("run_command", id, command=command)


def agent_for(*answers: Any) -> Any:
    agent, _ = coder(*answers, tools=None, rules=parse_flags(allow=["all"]))
    return agent


async def test_undo_restores_what_commands_changed_and_undo_back_reverts_it(joined: Join, project: Path) -> None:
    (project / "a.txt").write_text("old\n")
    (project / "gone.bin").write_bytes(b"\0\1")
    (project / "gone.bin").chmod(0o600)
    line = "echo new > a.txt; rm gone.bin; mkdir -p made/deep; echo x > made/deep/x"
    async with joined(agent_for([run(line)], ["done"])) as client:
        session = await client.new_session()
        await session.prompt("change it")
        assert not (project / "gone.bin").exists()
        answer = (await session.prompt("/undo")).text
        assert (project / "a.txt").read_text() == "old\n"
        assert (project / "gone.bin").read_bytes() == b"\0\1"
        assert (project / "gone.bin").stat().st_mode & 0o777 == 0o600
        assert not (project / "made").exists()
        assert "“change it”" in answer and "restored `" in answer
        assert "Not covered: ignored files and files above 5 MB." in answer
        await session.prompt("/undo back")
        assert (project / "a.txt").read_text() == "new\n"
        assert (project / "made" / "deep" / "x").read_text() == "x\n"
        assert not (project / "gone.bin").exists()


async def test_edits_and_commands_of_one_turn_are_undone_together(joined: Join, project: Path) -> None:
    for name in ("edited-first", "changed-first"):
        (project / name).write_text("old\n")
    agent = agent_for(
        [call("edit_file", file_path="edited-first", edits=[{"old_string": "old", "new_string": "edited"}])],
        [run("sed -i s/edited/changed/ edited-first; echo changed > changed-first")],
        [call("read_file", file_path="changed-first")],
        [call("edit_file", file_path="changed-first", edits=[{"old_string": "changed", "new_string": "edited"}])],
        [run("echo more >> changed-first")],
        ["done"],
    )
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("change both")
        assert (project / "edited-first").read_text() == "changed\n"
        assert (project / "changed-first").read_text() == "edited\nmore\n"
        await session.prompt("/undo")
        assert (project / "edited-first").read_text() == (project / "changed-first").read_text() == "old\n"


@pytest.mark.parametrize(
    "line",
    [
        "mv d kept && ln -s / d",
        "mv d kept && ln -s kept d",
        "mv d kept && echo x > d",
        "rm f && mkdir -p f/g && echo x > f/g/h",
    ],
)
async def test_undo_restores_what_commands_replaced_by_something_else(joined: Join, project: Path, line: str) -> None:
    (project / "d").mkdir()
    for name in ("d/a", "d/b", "f"):
        (project / name).write_text("old\n")
    edit = call("edit_file", "0", file_path="d/a", edits=[{"old_string": "old", "new_string": "edited"}])
    async with joined(agent_for([edit], [run(line)], ["done"])) as client:
        session = await client.new_session()
        await session.prompt("replace it")
        answer = (await session.prompt("/undo")).text
    assert "skipped" not in answer
    assert not (project / "d").is_symlink() and not (project / "kept").exists()
    assert {name: (project / name).read_text() for name in ("d/a", "d/b", "f")} == dict.fromkeys(
        ("d/a", "d/b", "f"), "old\n"
    )


async def test_undo_restores_binary_files_and_links_beside_an_editors_files(project: Path) -> None:
    (project / "a.bin").write_bytes(b"\0\xff")
    (project / "b.txt").write_text("old\n")
    (project / "link").symlink_to("/missing/place")
    agent = agent_for([run("rm a.bin link; echo new > b.txt")], ["done"])
    workspace = LocalWorkspace(project, policy=Policy(project, flags=parse_flags(allow=["all"])))
    async with link(agent, cwd=str(project), workspace=workspace, permissions=lambda request: True) as client:
        session = await client.new_session()
        await session.prompt("change them")
        await session.prompt("/undo")
    assert (project / "a.bin").read_bytes() == b"\0\xff" and (project / "b.txt").read_text() == "old\n"
    assert os.readlink(project / "link") == "/missing/place"


async def test_what_the_user_changed_after_the_turn_is_left_alone_and_named(joined: Join, project: Path) -> None:
    for name in ("a", "b"):
        (project / name).write_text("old\n")
    async with joined(agent_for([run("echo new | tee a b > new")], ["done"])) as client:
        session = await client.new_session()
        await session.prompt("change it")
        (project / "a").write_text("mine\n")
        answer = (await session.prompt("/undo")).text
        assert (project / "a").read_text() == "mine\n" and "changed since" in answer
        assert (project / "b").read_text() == "old\n" and not (project / "new").exists()


async def test_what_the_user_changed_between_commands_is_left_alone(
    joined: Join, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_trees, "CLOCK_SECONDS", 0.05)
    for name in ("mine", "both"):
        (project / name).write_text("old\n")

    def pass_time() -> None:
        """Wait until the clock of the file system has advanced."""
        clock, started = tmp_path / "clock", time.time_ns()
        clock.touch()
        while clock.stat().st_ctime_ns < started + 200_000_000:
            clock.touch()

    def edit() -> Iterator[Any]:
        """Edit the files while the model thinks."""
        pass_time()
        for name in ("mine", "both"):
            (project / name).write_text("the user's\n")
        pass_time()
        yield run("echo more >> made", "2")

    agent = agent_for([run("echo new | tee both > made")], edit(), ["done"])
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("change it")
        answer = (await session.prompt("/undo")).text
    assert (project / "mine").read_text() == (project / "both").read_text() == "the user's\n"
    assert not (project / "made").exists()
    assert "no command was running when they were last changed" in answer and "both" in answer


async def test_what_the_user_changed_between_turns_is_not_taken_for_the_agents(joined: Join, project: Path) -> None:
    (project / "mine").write_text("one\n")
    async with joined(agent_for([run("echo 1 > a")], ["done"], [run("echo 2 > b")], ["done"])) as client:
        session = await client.new_session()
        await session.prompt("first")
        (project / "mine").write_text("two\n")
        await session.prompt("second")
        await session.prompt("/undo")
        assert (project / "mine").read_text() == "two\n"
        assert (project / "a").exists() and not (project / "b").exists()


async def test_without_git_undo_says_that_commands_are_not_covered(
    joined: Join, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shadow_repository, "find_program", lambda *_, **__: None)
    agent = agent_for([call("write_file", file_path="a", content="a\n")], [run("echo b > b")], ["done"])
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("write them")
        answer = (await session.prompt("/undo")).text
        assert not (project / "a").exists() and (project / "b").exists()
        assert "Changes made by commands are not undone: Git isn't installed." in answer


async def test_checkpoints_unused_for_a_month_are_removed(joined: Join, home: Path) -> None:
    agent = agent_for([run("echo 1 > a")], ["done"], [run("echo 2 > b")], ["done"])
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt("first")
        (parent,) = (home / "data" / "accord" / "checkpoints").iterdir()
        (old,) = (each for each in parent.iterdir() if each.name != "shadow")
        (shadow,) = (parent / "shadow").iterdir()
        os.utime(old, (0, 0))
        checkpoints.remove_old(str(home / "data" / "accord"))
        assert not old.exists() and shadow.exists()
        os.utime(shadow, (0, 0))
        checkpoints.remove_old(str(home / "data" / "accord"))
        assert not parent.exists()
