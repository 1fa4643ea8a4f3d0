"""Launch errors say what is wrong and what to do."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from accord.errors import LaunchError
from accord.process.launch import explain_launch_error, start


def script(path: Path, text: str, mode: int = 0o755) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


CASES: dict[str, tuple[Callable[[Path], tuple[list[str], str | None]], str]] = {
    "nothing": (lambda p: ([], None), "the command is empty; give a program"),
    "unknown": (lambda p: (["no-such-program"], None), "'no-such-program' isn't on the PATH; install it, or"),
    "no file": (lambda p: ([f"{p}/absent", "-x"], None), "{p}/absent doesn't exist; check the path"),
    "relative": (lambda p: (["./absent"], str(p)), "{p}/./absent doesn't exist; check the path"),
    "no directory": (lambda p: (["true"], f"{p}/absent"), "the working directory {p}/absent does not exist; create it"),
    "not a directory": (
        lambda p: (["true"], script(p / "file", "")),
        "the working directory {p}/file is not a directory",
    ),
    "not executable": (
        lambda p: ([script(p / "agent", "#!/bin/sh\n", 0o644)], None),
        "{p}/agent isn't executable; run chmod",
    ),
    "a directory": (lambda p: ([str(p)], None), "{p} is a directory; give the program in it"),
    "no interpreter": (
        lambda p: ([script(p / "agent", "#!/no/such/node -x\n")], None),
        "but its interpreter /no/such/node doesn't",
    ),
    "no shebang": (
        lambda p: ([script(p / "agent", "echo hello\n")], None),
        "neither a program nor a script with a #! line",
    ),
    "a zero byte": (lambda p: (["true", "a\0b"], None), "embedded null byte; check the command"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_error_says_what_is_wrong_and_what_to_do(case: str, tmp_path: Path) -> None:
    make, words = CASES[case]
    argv, cwd = make(tmp_path)
    with pytest.raises(LaunchError) as caught:
        start(argv, cwd=cwd, env=dict(os.environ))

    assert words.replace("{p}", str(tmp_path)) in str(caught.value)
    assert caught.value.stage == "spawn"


def test_permission_denied_in_path_does_not_hide_a_missing_command() -> None:
    said = explain_launch_error(
        PermissionError(errno.EACCES, "Permission denied"), "no-such-agent", None, {"PATH": "/nowhere"}
    )
    assert said == "'no-such-agent' isn't on the PATH, or you may not run it; install it, or give its full path"
