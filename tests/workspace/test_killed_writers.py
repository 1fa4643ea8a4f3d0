"""A writer that is killed leaves the old file or the new one, and nothing else for long."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from workspace import writer

from accord.workspace import atomic_write
from accord.workspace.directory import Directory
from accord.workspace.files import Files
from accord.workspace.roots import Roots


def start(folder: Path, step: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, writer.__file__, str(folder), str(step)], stdout=subprocess.PIPE)


def check(folder: Path, contents: list[str]) -> None:
    """The file is whole, and the next writer finds the directory as if nothing had happened."""
    assert (folder / "file.txt").read_text() in contents
    with Roots(str(folder)) as roots:
        Files(roots, sync=False).disk.write(str(folder / "other.txt"), "x")
    assert sorted(os.listdir(folder)) == ["file.txt", "other.txt"]


def test_a_writer_killed_at_any_moment_leaves_a_whole_file(tmp_path: Path) -> None:
    chance = random.Random(7)
    for _ in range(10):
        writing = start(tmp_path, -1)
        assert writing.stdout is not None
        for _ in range(chance.randrange(1, 8)):
            assert writing.stdout.read(1) == b"."
        writing.send_signal(signal.SIGKILL)
        writing.wait()
        writing.stdout.close()
        check(tmp_path, writer.CONTENTS)
        os.unlink(tmp_path / "other.txt")


@pytest.mark.parametrize("step", [0, 2, 3])
def test_leftovers_of_a_killed_writer_are_removed_by_the_next_one(tmp_path: Path, step: int) -> None:
    (tmp_path / "file.txt").write_text("old")
    writing = start(tmp_path, step)
    assert writing.stdout is not None
    assert writing.stdout.read() == b""
    assert writing.wait() == -signal.SIGKILL
    writing.stdout.close()

    left = [name for name in os.listdir(tmp_path) if atomic_write.TEMPORARY.fullmatch(name)]
    assert len(left) == 1
    assert os.stat(tmp_path / left[0]).st_size == min(step << 20, 3_000_001)
    check(tmp_path, ["old"])


def test_the_temporary_file_of_a_running_writer_is_not_swept(tmp_path: Path) -> None:
    with Directory.open(str(tmp_path)) as folder:
        name, fd = atomic_write._create_temporary(folder, 0o600)
        assert atomic_write.sweep(folder) == 0
        os.close(fd)
        (tmp_path / ".accord-nothing.tmp").touch()
        (tmp_path / "accord-0123456789abcdef.tmp").touch()
        assert atomic_write.sweep(folder) == 1
        assert not (tmp_path / name).exists()
        assert len(os.listdir(tmp_path)) == 2


def test_a_temporary_file_that_is_swept_before_it_is_locked_is_created_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = Directory.create
    made: list[str] = []

    def sweep_after_create(self: Directory, name: str, mode: int) -> int:
        fd = create(self, name, mode)
        made.append(name)
        if len(made) <= 2:
            assert atomic_write.sweep(self) == 1
        return fd

    monkeypatch.setattr(Directory, "create", sweep_after_create)
    with Directory.open(str(tmp_path)) as folder:
        atomic_write.replace(folder, "file.txt", b"content")
    assert len(made) == 3
    assert os.listdir(tmp_path) == ["file.txt"] and (tmp_path / "file.txt").read_text() == "content"
