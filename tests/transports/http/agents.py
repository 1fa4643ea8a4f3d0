"""Agents for tests of HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

from accord import Agent, Client, MemoryStore, Turn


class Worker(Agent):
    """Echoes words. `wait` works until it is cancelled, `many N` says N numbers, `ask` asks for permission."""

    store = None

    def __init__(self) -> None:
        self.cancelled = asyncio.Event()
        self.disconnected = asyncio.Event()
        self.waiting = asyncio.Event()

    async def prompt(self, turn: Turn) -> None:
        name, _, rest = turn.text.partition(" ")
        if name == "wait":
            await turn.say("waiting")
            self.waiting.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()
        elif name == "many":
            for number in range(int(rest)):
                await turn.say(f"{number} ")
        elif name == "ask":
            await turn.say("allowed" if await turn.permit("Delete the notes", kind="delete") else "denied")
        else:
            for word in turn.text.split():
                await turn.say(f"{word} ")

    async def extension_request(self, method: str, params: Any) -> Any:
        return (
            await asyncio.Event().wait() if method == "_test/hang" else await super().extension_request(method, params)
        )

    async def on_disconnect(self, client: Client) -> None:
        self.disconnected.set()


class Keeper(Worker):
    """A worker whose sessions can be loaded again."""

    def __init__(self) -> None:
        super().__init__()
        self.store = MemoryStore()
