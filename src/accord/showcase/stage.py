"""What every topic of the showcase stands on: the pace at which things are shown, and arguments read kindly."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar

from accord.agent.agent import Agent
from accord.agent.turn import Turn


class Stage(Agent):
    """The base of all topics. A topic is a class with slash commands, and its `topic` is their heading."""

    topic: ClassVar[str] = ""

    def __init__(self, *, pace: float = 0.0) -> None:
        self.pace = pace
        """Seconds between two steps, so that a person can watch; none for programs."""

    async def pause(self, steps: float = 1.0) -> None:
        """Waits for a step or several. Others work meanwhile, even without a pace."""
        await asyncio.sleep(self.pace * steps)

    async def number(self, turn: Turn, what: str, usual: float, most: float) -> float:
        """The number that follows a command. What is no number, or out of bounds, is said and the usual one taken."""
        if not turn.argument.strip():
            return usual
        try:
            value = float(turn.argument)
        except ValueError:
            value = -1.0
        if 0 < value <= most:
            return value
        await turn.say(f"I need a number of {what} above 0 and up to {most:g}; I take {usual:g}.\n\n")
        return usual

    async def parts(self, turn: Turn, *there: str) -> tuple[str, ...]:
        """The parts of a command that are wanted: the one that was named, or all when none was, or none of them."""
        named = turn.argument.strip()
        if named in there:
            return (named,)
        if named:
            await turn.say(f"There is {', '.join(there)}; here is all of it.\n\n")
        return there

    def uri(self, turn: Turn, path: str) -> str:
        """A file of the session's working directory as a URI."""
        return Path(turn.session.absolute(path)).as_uri()
