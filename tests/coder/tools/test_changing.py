"""show_changes: Git's view of the working tree, and nothing that a repository would like to run meanwhile."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from accord.coder.tools import changing
from accord.policy.rule import Rule

from .conftest import ALLOWED, Bench, Benches

pytestmark = pytest.mark.usefixtures("nobody")


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings but the repository's own."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, check=True)


def repository(desk: Bench) -> None:
    git(desk.project, "init", "-q")
    desk.write("a.txt", "one\ntwo\n")
    desk.write("src/b.txt", "b\n")
    git(desk.project, "add", ".")
    git(desk.project, "commit", "-q", "-m", "first")


async def test_what_has_changed_is_told_and_shown(bench: Benches) -> None:
    async with bench() as desk:
        repository(desk)
        desk.write("a.txt", "one\n2\n")
        desk.write("staged.txt", "s\n")
        git(desk.project, "add", "staged.txt")
        desk.write("new file.txt", "n\n")
        (desk.project / "src/b.txt").unlink()
        told = await desk.told("show_changes")
        assert told.startswith("On main.\n M a.txt\n D src/b.txt\nA  staged.txt\n?? new file.txt\n")
        assert "-two\n+2\n" in told and "+s" in told and "-b\n" in told
        assert "diff --git a/a.txt b/a.txt" in told
        assert desk.shown_text.startswith("```diff\n")
        assert (desk.shown.title, desk.shown.kind) == ("Show changes", "read")
        assert {"status": "??", "path": str(desk.project / "new file.txt")} in desk.shown.raw_output["files"]


async def test_one_path_can_be_asked_for(bench: Benches) -> None:
    async with bench() as desk:
        repository(desk)
        desk.write("a.txt", "changed\n")
        desk.write("src/b.txt", "changed too\n")
        assert "changed too" not in await desk.told("show_changes", path="a.txt")
        told = await desk.told("show_changes", path="src")
        assert "changed too" in told and " M src/b.txt" in told and "a.txt" not in told
        (desk.project / "src/b.txt").unlink()
        (desk.project / "src").rmdir()
        assert " D src/b.txt" in await desk.told("show_changes", path="src/b.txt")


async def test_patterns_in_a_path_are_letters(bench: Benches) -> None:
    async with bench() as desk:
        repository(desk)
        desk.write("a.txt", "changed\n")
        desk.write("[a].txt", "x")
        assert "a.txt" not in (await desk.told("show_changes", path="[a].txt")).replace("[a].txt", "")


async def test_nothing_and_no_commits_and_no_repository_are_told(bench: Benches) -> None:
    async with bench() as desk:
        assert "no Git repository" in await desk.fault("show_changes")
        git(desk.project, "init", "-q", "-b", "main")
        desk.write("a.txt", "x\n")
        git(desk.project, "add", ".")
        told = await desk.told("show_changes")
        assert "On main (no commits yet)." in told and "A  a.txt" in told and "+x" in told
        git(desk.project, "commit", "-q", "-m", "first")
        assert "Nothing has changed" in await desk.told("show_changes")


async def test_a_renamed_file_is_one_change(bench: Benches) -> None:
    async with bench() as desk:
        repository(desk)
        git(desk.project, "mv", "a.txt", "c.txt")
        assert "R  c.txt" in await desk.told("show_changes")


async def test_a_directory_of_a_repository_shows_what_is_in_it_only(bench: Benches, project: Path) -> None:
    async with bench() as desk:
        git(project.parent, "init", "-q")
        desk.write("a.txt", "ours\n")
        told = await desk.told("show_changes")
        assert "?? a.txt" in told
        git(project, "add", "a.txt")
        assert "diff --git a/a.txt b/a.txt" in await desk.told("show_changes")
        assert "secret" not in told


async def test_what_the_rules_protect_is_not_told(bench: Benches) -> None:
    async with bench(rules=(Rule(effect="deny", path=("**/.env",)), *ALLOWED)) as desk:
        repository(desk)
        desk.write("src/.env", "KEY=1\n")
        git(desk.project, "add", ".")
        desk.write("a.txt", "changed\n")
        told = await desk.told("show_changes")
        assert "changed" in told
        assert "KEY" not in told and ".env" not in told
        assert "[1 file left out: the user's rules protect them]" in told
        assert "KEY" not in str(desk.shown)


async def test_a_long_diff_has_bounds(bench: Benches) -> None:
    async with bench() as desk:
        repository(desk)
        desk.write("a.txt", "".join(f"{number}\n" for number in range(5_000)))
        told = await desk.told("show_changes")
        assert told.endswith("[the diff is longer; ask for one path at a time]")
        assert len(told) < 62_000


async def test_many_files_have_bounds(bench: Benches, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench() as desk:
        repository(desk)
        for number in range(250):
            desk.write(f"new/{number:03}.txt", "")
        told = await desk.told("show_changes")
        assert "?? new/199.txt" in told and "new/200.txt" not in told
        assert "[and 50 more files]" in told
        monkeypatch.setattr(changing, "MOST_JUDGED", 1)
        desk.write("a.txt", "changed\n")
        desk.write("src/b.txt", "changed\n")
        told = await desk.told("show_changes")
        assert "too many files have changed for a diff" in told and "+changed" not in told


async def test_nothing_that_a_repository_names_is_run(bench: Benches, project: Path, tmp_path: Path) -> None:
    """Every setting by which looking at a repository could run a program of its choice."""
    trap = tmp_path / "trap.sh"
    caught = tmp_path / "caught"
    trap.write_text(f'#!/bin/sh\necho "$0 $@" >> {caught}\ncat\n')
    trap.chmod(0o755)
    async with bench() as desk:
        repository(desk)
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
        desk.write(".gitattributes", "a.txt filter=evil diff=evil\nb.txt filter=a=b\n")
        desk.write("a.txt", "changed\n")
        os.utime(project / "src/b.txt", (1, 1))  # so that Git must look at its content
        told = await desk.told("show_changes")
        assert "+changed" in told
        assert not caught.exists(), caught.read_text()
        with suppress(subprocess.CalledProcessError):
            git(project, "status")
        assert caught.exists(), "the trap does not work"


async def test_a_work_tree_that_lies_elsewhere_is_not_looked_at(bench: Benches, project: Path) -> None:
    async with bench() as desk:
        repository(desk)
        git(project, "config", "core.worktree", str(project.parent))
        result = await desk.use("show_changes")
        assert "secret" not in result.text


async def test_the_environment_does_not_lead_git_elsewhere(
    bench: Benches, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async with bench() as desk:
        repository(desk)
        desk.write("a.txt", "changed\n")
        monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
        monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
        assert "+changed" in await desk.told("show_changes")
