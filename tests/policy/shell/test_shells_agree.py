"""The parser finds every command that real shells run."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from policy.shell.command_lines import JUDGED

from accord.policy.shell.parser import parse_line
from accord.policy.shell.script import Word

SHELLS = [shell for shell in ("bash", "dash", "sh") if shutil.which(shell)]
if "dash" in SHELLS and os.path.realpath(shutil.which("sh") or "") == os.path.realpath(shutil.which("dash") or ""):
    SHELLS.remove("sh")  # the same under another name
# Programs outside of our folder, and a shell that sets its own PATH, are not ours to watch.
LINES = [case.line for case in JUDGED if "/bin/" not in case.line and "sudo" not in case.line]
PROGRAMS = "a b c d git rm make curl ls tee diff sort tar if".split()  # noqa: SIM905

PROGRAM = """#!/bin/sh
said="${{0##*/}}"
for word; do said="$said\1$word"; done
printf '%s\2' "$said" >> {log}
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs that record their words."""
    folder = tmp_path_factory.mktemp("programs")
    for name in PROGRAMS:
        program = folder / name
        program.write_text(PROGRAM.format(log=folder / "log"))
        program.chmod(0o755)
    for name in ("env", "nice", "nohup", "timeout", "xargs", "find", "cat", *SHELLS):
        real = shutil.which(name)
        if real:
            (folder / name).symlink_to(real)
    return folder


def becomes(words: Sequence[Word], argv: Sequence[str]) -> bool:
    """Return whether a shell may produce this from the words: what only it knows may become any number of words."""
    if not words:
        return not argv
    if not words[0].literal:
        return any(becomes(words[1:], argv[count:]) for count in range(len(argv) + 1))
    return bool(argv) and argv[0] == words[0].text and becomes(words[1:], argv[1:])


@pytest.mark.parametrize("shell", SHELLS)
def test_nothing_runs_and_nothing_is_written_that_was_not_found(shell: str, programs: Path, tmp_path: Path) -> None:
    ran = 0
    for number, line in enumerate(LINES):
        folder, log = tmp_path / str(number), programs / "log"
        folder.mkdir()
        log.write_bytes(b"")
        subprocess.run(
            [programs / shell, "-c", line],
            cwd=folder,
            env={"PATH": str(programs), "HOME": str(folder), "X": "rm x"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=300,
        )
        script = parse_line(line)
        for entry in filter(None, log.read_text().split("\2")):
            argv = entry.split("\1")
            ran += 1
            assert any(becomes(command.words, argv) for command in script.commands), (line, argv)
        opened = {Path(path).name for path in (*script.writes, *script.reads)}
        assert {path.name for path in folder.iterdir()} <= opened | {"nohup.out", "~"}, line
    assert ran > 40
