"""Why a program could not be started, in words that say what to do."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from accord.errors import LaunchError
from accord.process.launch import explain, launch


def script(path: Path, text: str, mode: int = 0o755) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


CASES: dict[str, tuple[Callable[[Path], tuple[list[str], str | None]], str]] = {
    "nothing": (lambda p: ([], None), "the command is empty; give a program"),
    "unknown": (lambda p: (["no-such-program"], None), "no command 'no-such-program' on the PATH; install it, or"),
    "no file": (lambda p: ([f"{p}/absent", "-x"], None), "there is no file {p}/absent; check the path"),
    "relative": (lambda p: (["./absent"], str(p)), "there is no file {p}/./absent; check the path"),
    "no directory": (lambda p: (["true"], f"{p}/absent"), "the working directory {p}/absent does not exist; create it"),
    "not a directory": (
        lambda p: (["true"], script(p / "file", "")),
        "the working directory {p}/file is not a directory",
    ),
    "not executable": (
        lambda p: ([script(p / "agent", "#!/bin/sh\n", 0o644)], None),
        "{p}/agent is not executable; run chmod",
    ),
    "a directory": (lambda p: ([str(p)], None), "{p} is a directory; name the program in it"),
    "no interpreter": (
        lambda p: ([script(p / "agent", "#!/no/such/node -x\n")], None),
        "but /no/such/node that it names",
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
        launch(argv, cwd=cwd, env=dict(os.environ))

    assert words.replace("{p}", str(tmp_path)) in str(caught.value)
    assert caught.value.stage == "spawn"


def test_a_folder_of_the_path_that_may_not_be_looked_into_is_not_taken_for_the_command() -> None:
    said = explain(PermissionError(errno.EACCES, "Permission denied"), "no-such-agent", None, {"PATH": "/nowhere"})
    assert (
        said == "there is no command 'no-such-agent' on the PATH that you may start; install it, or give its full path"
    )
