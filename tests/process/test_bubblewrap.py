"""Command lines for bubblewrap, and finding out whether it works; these tests run without it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accord.process import bubblewrap
from accord.process.bubblewrap import Mount


def fake(directory: Path, script: str) -> str:
    """Write a program in place of bwrap."""
    path = directory / "bwrap"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_the_innermost_mount_comes_last_and_so_decides() -> None:
    words = bubblewrap.mount_words(
        [
            Mount("/home/u/app/.git", "read"),
            Mount("/home/u/app", "write"),
            Mount("/home/u", "hide"),
            Mount("/home/u/app/.env", "hide", is_file=True),
            Mount("/tmp", "write", "/tmp/private"),
        ]
    )
    assert words[:5] == ["--ro-bind", "/", "/", "--dev", "/dev"]
    own = words[words.index("--bind") :]
    assert own == [
        *("--bind", "/tmp/private", "/tmp"),
        *("--tmpfs", "/home/u"),
        *("--bind", "/home/u/app", "/home/u/app"),
        *("--ro-bind", os.devnull, "/home/u/app/.env"),
        *("--ro-bind", "/home/u/app/.git", "/home/u/app/.git"),
    ]


def test_of_two_mounts_of_one_path_the_stricter_one_decides() -> None:
    words = bubblewrap.mount_words([Mount("/a", "hide"), Mount("/a", "write"), Mount("/a", "read")])
    assert words[-8:] == ["--bind", "/a", "/a", "--ro-bind", "/a", "/a", "--tmpfs", "/a"]


def test_the_network_is_separate_unless_allowed() -> None:
    assert "--unshare-net" in bubblewrap.strict_isolation(network=False)
    assert "--unshare-net" not in bubblewrap.strict_isolation(network=True)
    for word in ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session"):
        assert word in bubblewrap.strict_isolation(network=True)


@pytest.mark.skipif(not os.path.isdir("/proc/sys"), reason="needs Linux's /proc")
def test_the_settings_of_the_kernel_are_read_only() -> None:
    words = bubblewrap.proc_words()
    assert words[:2] == ["--proc", "/proc"]
    assert words[words.index("/proc/sys") - 1] == "--ro-bind"


def test_whether_it_works_is_found_out_by_trying(tmp_path: Path) -> None:
    assert bubblewrap.probe(fake(tmp_path, "exit 0"), []) == ""
    problem = bubblewrap.probe(fake(tmp_path, "echo 'setting up uid map: Permission denied' >&2; exit 1"), [])
    assert "uid map: Permission denied" in problem and "user namespaces" in problem
    assert "can't be started" in bubblewrap.probe(str(tmp_path / "missing"), [])
