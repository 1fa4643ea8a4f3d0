"""Commands start with Git told to ignore bare repositories that somebody may have written."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from pathlib import Path

import pytest

from accord.workspace.command import harden_git
from accord.workspace.terminals import Terminals


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("pty", [False, True])
async def test_git_status_runs_nothing_of_a_bare_repository_that_was_written(tmp_path: Path, pty: bool) -> None:
    hostile = tmp_path / "src" / "sub"
    for name in ("objects", "refs"):
        (hostile / name).mkdir(parents=True)
    (hostile / "HEAD").write_text("ref: refs/heads/main\n")
    program = f"touch {tmp_path / 'ran'};:"
    setting = f'[core]\n\trepositoryformatversion = 0\n\tworktree = {tmp_path}\n\tfsmonitor = "{program}"\n'
    (hostile / "config").write_text(setting)
    await asyncio.to_thread(subprocess.run, ["git", "status"], cwd=hostile, capture_output=True, check=False)
    assert (tmp_path / "ran").exists(), "without the setting it runs, or this proves nothing"
    (tmp_path / "ran").unlink()
    terminals = Terminals()
    id = await terminals.create("s", "git", ["status"], cwd=str(hostile), pty=pty)
    await terminals.wait_for_exit(id)
    await terminals.close()

    assert not (tmp_path / "ran").exists()


async def test_git_runs_no_file_system_monitor_of_a_repository_behind_a_git_file(tmp_path: Path) -> None:
    hidden, work = tmp_path / "hidden", tmp_path / "work"
    await asyncio.to_thread(subprocess.run, ["git", "init", "-q", str(hidden)], check=True)
    with (hidden / ".git" / "config").open("a") as file:
        file.write(f'[core]\n\tfsmonitor = "touch {tmp_path}/ran;:"\n')
    work.mkdir()
    (work / ".git").write_text(f"gitdir: {hidden}/.git\n")
    await asyncio.to_thread(subprocess.run, ["git", "status"], cwd=work, capture_output=True, check=False)
    assert (tmp_path / "ran").exists(), "without the setting it runs, or this proves nothing"
    (tmp_path / "ran").unlink()
    terminals = Terminals()
    await terminals.wait_for_exit(await terminals.create("s", "git", ["status"], cwd=str(work)))
    await terminals.close()

    assert not (tmp_path / "ran").exists()


def test_settings_that_the_user_has_stay() -> None:
    mine = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "Ada"}
    assert harden_git(mine) == {
        **mine,
        "GIT_CONFIG_COUNT": "3",
        "GIT_CONFIG_KEY_1": "safe.bareRepository",
        "GIT_CONFIG_VALUE_1": "explicit",
        "GIT_CONFIG_KEY_2": "core.fsmonitor",
        "GIT_CONFIG_VALUE_2": "false",
    }
    assert harden_git({"GIT_CONFIG_COUNT": "x"}) == {"GIT_CONFIG_COUNT": "x"}
