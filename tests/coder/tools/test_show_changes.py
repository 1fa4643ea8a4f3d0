"""show_changes: Git's view of the working tree, without running anything that the repository configures."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from accord.coder.tools import show_changes
from accord.policy.rule import Rule

from .conftest import ALLOWED, Harness, ToolHarness

pytestmark = pytest.mark.usefixtures("no_git_configuration")


@pytest.fixture
def no_git_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ignore the user's Git configuration."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, check=True)


def repository(tools: ToolHarness) -> None:
    git(tools.project, "init", "-q")
    tools.write("a.txt", "one\ntwo\n")
    tools.write("src/b.txt", "b\n")
    git(tools.project, "add", ".")
    git(tools.project, "commit", "-q", "-m", "first")


async def test_changes_are_returned_and_shown(harness: Harness) -> None:
    async with harness() as tools:
        repository(tools)
        tools.write("a.txt", "one\n2\n")
        tools.write("staged.txt", "s\n")
        git(tools.project, "add", "staged.txt")
        tools.write("new file.txt", "n\n")
        (tools.project / "src/b.txt").unlink()
        told = await tools.call("show_changes")
        assert told.startswith("On main.\n M a.txt\n D src/b.txt\nA  staged.txt\n?? new file.txt\n")
        assert "-two\n+2\n" in told and "+s" in told and "-b\n" in told
        assert "diff --git a/a.txt b/a.txt" in told
        assert tools.shown_text.startswith("```diff\n")
        assert (tools.shown.title, tools.shown.kind) == ("Show changes", "read")
        new = {"status": "??", "path": str(tools.project / "new file.txt"), "name": "new file.txt"}
        assert new in tools.shown.raw_output["files"]


async def test_one_path_can_be_asked_for(harness: Harness) -> None:
    async with harness() as tools:
        repository(tools)
        tools.write("a.txt", "changed\n")
        tools.write("src/b.txt", "changed too\n")
        assert "changed too" not in await tools.call("show_changes", path="a.txt")
        told = await tools.call("show_changes", path="src")
        assert "changed too" in told and " M src/b.txt" in told and "a.txt" not in told
        (tools.project / "src/b.txt").unlink()
        (tools.project / "src").rmdir()
        assert " D src/b.txt" in await tools.call("show_changes", path="src/b.txt")


async def test_patterns_in_a_path_are_literal(harness: Harness) -> None:
    async with harness() as tools:
        repository(tools)
        tools.write("a.txt", "changed\n")
        tools.write("[a].txt", "x")
        assert "a.txt" not in (await tools.call("show_changes", path="[a].txt")).replace("[a].txt", "")


async def test_results_without_changes_commits_or_a_repository(harness: Harness) -> None:
    async with harness() as tools:
        assert "not a Git repository" in await tools.call_failing("show_changes")
        git(tools.project, "init", "-q", "-b", "main")
        tools.write("a.txt", "x\n")
        git(tools.project, "add", ".")
        told = await tools.call("show_changes")
        assert "On main (no commits yet)." in told and "A  a.txt" in told and "+x" in told
        git(tools.project, "commit", "-q", "-m", "first")
        assert "Nothing has changed" in await tools.call("show_changes")


async def test_a_renamed_file_is_one_change(harness: Harness) -> None:
    async with harness() as tools:
        repository(tools)
        git(tools.project, "mv", "a.txt", "c.txt")
        assert "R  c.txt" in await tools.call("show_changes")


async def test_a_directory_of_a_repository_shows_what_is_in_it_only(harness: Harness, project: Path) -> None:
    async with harness() as tools:
        git(project.parent, "init", "-q")
        tools.write("a.txt", "ours\n")
        told = await tools.call("show_changes")
        assert "?? a.txt" in told
        git(project, "add", "a.txt")
        assert "diff --git a/a.txt b/a.txt" in await tools.call("show_changes")
        assert "secret" not in told


async def test_protected_files_are_left_out(harness: Harness) -> None:
    async with harness(rules=(Rule(effect="deny", path=("**/.env",)), *ALLOWED)) as tools:
        repository(tools)
        tools.write("src/.env", "KEY=1\n")
        git(tools.project, "add", ".")
        tools.write("a.txt", "changed\n")
        told = await tools.call("show_changes")
        assert "changed" in told
        assert "KEY" not in told and ".env" not in told
        assert "[1 file omitted: protected by the user's rules]" in told
        assert "KEY" not in str(tools.shown)


async def test_a_long_diff_is_truncated(harness: Harness) -> None:
    async with harness() as tools:
        repository(tools)
        tools.write("a.txt", "".join(f"{number}\n" for number in range(5_000)))
        told = await tools.call("show_changes")
        assert told.endswith("[the diff is longer; ask for one path at a time]")
        assert len(told) < 62_000


async def test_the_number_of_files_is_limited(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    async with harness() as tools:
        repository(tools)
        for number in range(250):
            tools.write(f"new/{number:03}.txt", "")
        told = await tools.call("show_changes")
        assert "?? new/199.txt" in told and "new/200.txt" not in told
        assert "[and 50 more files]" in told
        monkeypatch.setattr(show_changes, "MAX_CHECKED", 1)
        tools.write("a.txt", "changed\n")
        tools.write("src/b.txt", "changed\n")
        told = await tools.call("show_changes")
        assert "too many files have changed for a diff" in told and "+changed" not in told


async def test_nothing_that_a_repository_configures_is_run(harness: Harness, project: Path, tmp_path: Path) -> None:
    """Covers every setting by which a repository could make Git run a program."""
    trap = tmp_path / "trap.sh"
    caught = tmp_path / "caught"
    trap.write_text(f'#!/bin/sh\necho "$0 $@" >> {caught}\ncat\n')
    trap.chmod(0o755)
    async with harness() as tools:
        repository(tools)
        for name in (
            "core.fsmonitor",
            "core.pager",
            "pager.diff",
            "pager.status",
            "diff.external",
            "diff.evil.command",
            "diff.evil.textconv",
            "filter.evil.clean",
            "filter.evil.smudge",
            "filter.evil.process",
            "filter.a=b.clean",
            "core.sshCommand",
            "core.editor",
            "core.askPass",
            "credential.helper",
            "gpg.program",
            "remote.origin.uploadpack",
            "uploadpack.packObjectsHook",
        ):
            git(project, "config", name, str(trap))
        git(project, "config", "filter.evil.required", "true")
        git(project, "config", "remote.origin.url", str(tmp_path))
        git(project, "config", "remote.origin.promisor", "true")
        git(project, "config", "core.hooksPath", str(tmp_path))
        (tmp_path / "post-index-change").symlink_to(trap)
        tools.write(".gitattributes", "a.txt filter=evil diff=evil\nb.txt filter=a=b\n")
        tools.write("a.txt", "changed\n")
        os.utime(project / "src/b.txt", (1, 1))  # so that Git must look at its content
        told = await tools.call("show_changes")
        assert "+changed" in told
        assert not caught.exists(), caught.read_text()
        with suppress(subprocess.CalledProcessError):
            git(project, "status")
        assert caught.exists(), "the trap does not work"


async def test_a_work_tree_that_lies_elsewhere_is_not_looked_at(harness: Harness, project: Path) -> None:
    async with harness() as tools:
        repository(tools)
        git(project, "config", "core.worktree", str(project.parent))
        result = await tools.use("show_changes")
        assert "secret" not in result.text


async def test_the_environment_does_not_lead_git_elsewhere(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with harness() as tools:
        repository(tools)
        tools.write("a.txt", "changed\n")
        monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
        monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
        assert "+changed" in await tools.call("show_changes")


async def test_a_repository_does_not_show_files_of_another_directory(harness: Harness, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.txt").write_text("secret\n")
    async with harness() as tools:
        repository(tools)
        git(tools.project, "config", "core.worktree", str(elsewhere))
        result = await tools.use("show_changes")
        assert result.failed and "core.worktree" in result.text
        assert "secret" not in result.text


@pytest.mark.parametrize("entry", [".", "", "bin"])
async def test_programs_of_the_project_are_not_run_even_if_they_are_on_the_path(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    async with harness() as tools:
        repository(tools)
        for name in ("git", "rg"):
            tools.write(f"{entry or '.'}/{name}", f"#!/bin/sh\ntouch {tools.project}/RAN\n")
            (tools.project / entry / name).chmod(0o755)
        monkeypatch.chdir(tools.project)
        monkeypatch.setenv("PATH", f"{entry}{os.pathsep}{os.environ['PATH']}")
        assert (await tools.call("show_changes")).startswith("On main.")
        assert "src/b.txt" in await tools.call("search", pattern="b", path="src")
        assert not (tools.project / "RAN").exists()
