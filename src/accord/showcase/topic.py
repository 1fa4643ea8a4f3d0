"""The base of all topics: the pace of a demonstration, and lenient parsing of command arguments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

from accord.agent.agent import CommandHandler, commands_of
from accord.agent.turn import Turn
from accord.model.session import Command


class Topic:
    """Slash commands for related features of the protocol, under a common heading."""

    title: ClassVar[str]

    def __init__(self, *, pace: float = 0.0, client_timeout: float = 15.0) -> None:
        self.pace = pace
        """Seconds between two steps, for users to watch; 0 for programs."""
        self.client_timeout = client_timeout
        """Seconds to wait for requests that need no user. Some clients never respond, and would block later prompts."""

    @property
    def commands(self) -> dict[str, tuple[Command, CommandHandler]]:
        """The slash commands of this topic, by name."""
        return commands_of(self)

    async def pause(self, steps: float = 1.0) -> None:
        """Wait for some steps. Lets other tasks run even if the pace is 0."""
        await asyncio.sleep(self.pace * steps)

    @asynccontextmanager
    async def in_time(self, turn: Turn, what: str) -> AsyncIterator[None]:
        """Stop waiting for the client after `client_timeout`, and report it."""
        try:
            async with asyncio.timeout(self.client_timeout):
                yield
        except TimeoutError:
            await turn.say(f"{what}: no answer from the client within {self.client_timeout:g} s.\n")

    async def number(self, turn: Turn, what: str, default: float, maximum: float) -> float:
        """Parse the number after a command. If it's invalid or out of range, mention that and return the default."""
        if not turn.argument.strip():
            return default
        try:
            value = float(turn.argument)
        except ValueError:
            value = -1.0
        if 0 < value <= maximum:
            return value
        await turn.say(f"Expected a number of {what} above 0 and up to {maximum:g}; using {default:g}.\n\n")
        return default

    async def parts(self, turn: Turn, *known: str) -> tuple[str, ...]:
        """Return the part of a command that its argument names, or all parts if it names none of them."""
        name = turn.argument.strip()
        if name in known:
            return (name,)
        if name:
            await turn.say(f"The parts are {', '.join(known)}; showing all of them.\n\n")
        return known

    def uri(self, turn: Turn, path: str) -> str:
        """Return the URI of a file in the session's working directory."""
        return Path(turn.session.absolute(path)).as_uri()
