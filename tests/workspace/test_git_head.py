"""The branch of a repository, read from its files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accord.workspace.git_head import read_branch


def test_the_branch_is_found_from_a_directory_inside_the_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/fix/the-bug\n")
    (tmp_path / "src").mkdir()
    assert read_branch(tmp_path / "src") == "fix/the-bug"


def test_a_worktree_names_the_directory_with_its_head(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "HEAD").write_text("ref: refs/heads/other\n")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text("gitdir: ../repository\n")
    assert read_branch(tmp_path / "tree") == "other"


def test_a_detached_head_is_the_start_of_its_commit(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("0123456789abcdef0123456789abcdef01234567\n")
    assert read_branch(tmp_path) == "0123456"


@pytest.mark.parametrize("head", ["", "root:x:0:0", "ref: refs/heads/a b", "ref: refs/tags/a"])
def test_other_files_are_not_shown(tmp_path: Path, head: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(head)
    assert read_branch(tmp_path) == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_a_hostile_repository_does_not_block(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    assert read_branch(tmp_path) == ""


def test_control_characters_of_a_branch_are_not_passed_on(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/a\x1b[31mb\n")
    assert "\x1b" not in read_branch(tmp_path)


@pytest.mark.parametrize("name", ["a\x9b31mb", "a\u202eb", "a\u2028b", "a\x1bb"])
def test_a_branch_that_a_terminal_would_obey_is_not_named(tmp_path: Path, name: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(f"ref: refs/heads/{name}\n", encoding="utf-8")
    assert read_branch(tmp_path) == ""


def test_a_long_branch_is_truncated(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text(f"ref: refs/heads/{'x' * 2000}\n")
    assert read_branch(tmp_path) == "x" * 99 + "…"
