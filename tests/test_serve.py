"""`python -m accord.serve module:Agent`: an agent whose modules may print as they please."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from accord import connect

NOISY = """
import os, subprocess, sys
print("loading…")
os.write(1, b"straight to the descriptor\\n")
from accord import Agent

class Noisy(Agent):
    async def prompt(self, turn):
        print("in the handler")
        os.write(1, b"again\\n")
        subprocess.run([sys.executable, "-c", "print('a child')"])
        sys.stdout.write("unflushed")
        await turn.say(turn.text)

made = Noisy()
def make():
    return Noisy()
other = 7
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "noisy.py").write_text(NOISY)
    return tmp_path


@pytest.mark.parametrize("name", ["Noisy", "made", "make"])
async def test_nothing_that_is_printed_gets_onto_the_wire(project: Path, name: str) -> None:
    async with connect([sys.executable, "-m", "accord.serve", f"noisy:{name}"], cwd=project) as agent:
        turn = await (await agent.new_session()).prompt("clean")
        troubles = dict(agent.connection.problems)
        words = agent.connection.transport.stderr_tail()

    assert turn.text == "clean"
    assert troubles == {}
    for line in ("loading…", "straight to the descriptor", "in the handler", "a child"):
        assert line in words


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ([], "usage:"),
        (["noisy"], "usage:"),
        (["absent:Agent"], "No module named 'absent'"),
        (["noisy:Absent"], "module noisy has no Absent"),
        (["noisy:other"], "is neither an Agent"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_line(project: Path, words: list[str], complaint: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "accord.serve", *words],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
