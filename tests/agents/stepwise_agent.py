"""An agent that reads files and runs commands in steps. The prompt names the method to call.

Each step waits for a file in the working directory, so that tests control the pace."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import accord
from accord.model.session import PlanEntry

PRINTS = (
    "import pathlib, time\n"
    "for step in ('one', 'two', 'three'):\n"
    "    print('\\x1b[32mstep', step, '\\x1b[0m', flush=True)\n"
    "    while not pathlib.Path(f'go-{step}').exists(): time.sleep(0.02)\n"
)
WAITS = "import time; print('waiting to be stopped', flush=True); time.sleep(600)"


class Stepwise(accord.Agent):
    async def prompt(self, turn: accord.Turn) -> None:
        await getattr(self, turn.text)(turn)

    async def walks(self, turn: accord.Turn) -> None:
        """Report one location, then another, then one in a missing file."""
        async with turn.tool("Walk through the files", kind="read", locations=["one.py:40"]) as tool:
            await until(turn, "go-on")
            await tool.update(locations=["one.py:40", "two.py:7"])
            await until(turn, "go-away")
            await tool.update(locations=["one.py:40", "two.py:7", "missing.py"])
        await turn.say("Walked.")

    async def forgets(self, turn: accord.Turn) -> None:
        """Start a tool call and never report its result."""
        begun = {"sessionUpdate": "tool_call", "toolCallId": "dig", "title": "Dig a hole", "status": "in_progress"}
        await turn.session.update(1, begun)
        await until(turn, "go-on")
        await turn.say("That was it.")

    async def remembers(self, turn: accord.Turn) -> None:
        """Report the result of the call that `forgets` started."""
        ended = {"sessionUpdate": "tool_call_update", "toolCallId": "dig", "status": "completed"}
        await turn.session.update(1, ended)
        await turn.say("It is dug.")

    async def talks(self, turn: accord.Turn) -> None:
        await turn.say("Before the editor. ")
        await until(turn, "go-on")
        await turn.say("Said while it was open.")
        await turn.files.read("go-on")  # the response proves that the client has received the text before
        Path(turn.session.absolute("spoken")).touch()  # noqa: ASYNC240

    async def hurries_slowly(self, turn: accord.Turn) -> None:
        await turn.set_title("Slow one")
        await turn.say("I begin. ")
        await until(turn, "go-on")
        await turn.say("I have done it.")
        Path(turn.session.absolute("spoken")).touch()  # noqa: ASYNC240

    async def prints(self, turn: accord.Turn) -> None:
        status = await self._run(turn, PRINTS)
        await turn.say(f"It ended with status {status.code}.")

    async def waits(self, turn: accord.Turn) -> None:
        status = await self._run(turn, WAITS)
        await turn.say(f"It ended by {status.signal}.")

    async def plans(self, turn: accord.Turn) -> None:
        await turn.plan([PlanEntry(content="Look around", status="completed"), PlanEntry(content="Write tests")])
        await turn.say("Planned.")

    async def _run(self, turn: accord.Turn, script: str) -> accord.ExitStatus:
        async with (
            turn.tool("Run a command", kind="execute") as tool,
            await turn.terminals.create(sys.executable, ["-I", "-S", "-c", script]) as terminal,
        ):
            await tool.show(terminal)
            return await terminal.wait()


async def until(turn: accord.Turn, name: str) -> None:
    """Wait until a file exists."""
    while not Path(turn.session.absolute(name)).exists():  # noqa: ASYNC110, ASYNC240  # the test creates it from outside
        await asyncio.sleep(0.02)


if __name__ == "__main__":
    accord.run(Stepwise())
