"""The event loop of our programs."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from accord.transports.event_loop import run

AGENT = """
import asyncio, sys
from accord import Agent, run

class Loop(Agent):
    async def prompt(self, turn):
        await turn.say(type(asyncio.get_running_loop()).__module__)

if "without" in sys.argv:
    sys.modules["uvloop"] = None
run(Loop())
"""


async def loop_module() -> str:
    return type(asyncio.get_running_loop()).__module__


def test_programs_run_on_uvloop_where_it_is_installed() -> None:
    pytest.importorskip("uvloop")
    assert run(loop_module()).startswith("uvloop")


def test_programs_run_on_asyncio_where_uvloop_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert run(loop_module()).startswith("asyncio")


@pytest.mark.parametrize("how", ["with", "without"])
def test_an_agent_on_either_loop_answers_and_ends(how: str) -> None:
    from accord.sync import ask

    if how == "with":
        pytest.importorskip("uvloop")
    answer = ask([sys.executable, "-c", AGENT, how], "which loop?")
    assert answer.text.startswith("uvloop" if how == "with" else "asyncio")


def test_importing_an_agent_does_not_load_uvloop() -> None:
    code = "import sys, accord.agent.run; print('uvloop' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
