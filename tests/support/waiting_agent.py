"""An agent whose turn lasts until the test lets it continue."""

from __future__ import annotations

import asyncio

from accord import Agent, Turn


class Waiting(Agent):
    """Says a word, waits until the test releases it, and says another one."""

    def __init__(self, go_on: asyncio.Event) -> None:
        super().__init__()
        self.go_on = go_on

    async def prompt(self, turn: Turn) -> None:
        await turn.say("one ")
        await self.go_on.wait()
        await turn.say("two")
