"""A conversation with known events, which counts the events that a cut loses, repeats or reorders."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, NamedTuple

import accord
from accord import Agent, Turn
from accord.client.agent import ConnectedAgent
from accord.remote.resuming_transport import Retry

AT_ONCE = Retry(back_off_seconds=(0.0, 0.0, 0.01, 0.02, 0.05), give_up_seconds=120.0)
"""Reconnects without delay: the tests wait for nothing."""
BOUND = 300.0


class Shape(NamedTuple):
    """The length of a conversation."""

    sessions: int = 2
    turns: int = 2
    words: int = 4
    """In each half of a turn; the permission request is in the middle."""


class Talker(Agent):
    """Says numbered words, asks for permission in a tool call, and says more."""

    def __init__(self, words: int = 4, heard: list[str] | None = None) -> None:
        super().__init__()
        self.words = words
        self.heard: list[str] = [] if heard is None else heard
        """The prompts that were executed."""

    async def prompt(self, turn: Turn) -> None:
        self.heard.append(turn.text)
        for number in range(self.words):
            await turn.say(f"{turn.text}.{number} ")
        async with turn.tool(f"Tool of {turn.text}", kind="execute") as tool:
            allowed = await tool.permit()
        await turn.say(f"{turn.text}.{'allowed' if allowed else 'refused'} ")
        for number in range(self.words, 2 * self.words):
            await turn.say(f"{turn.text}.{number} ")


class Tally(NamedTuple):
    """The errors in a conversation."""

    lost: int = 0
    duplicated: int = 0
    reordered: int = 0
    interruptions: int = 0

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.duplicated or self.reordered)

    def __add__(self, other: Any) -> Tally:
        return Tally(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))


def compare(expected: list[str], found: list[str]) -> Tally:
    """Count the differences between two lists."""
    wanted, got = Counter(expected), Counter(found)
    lost, extra = sum((wanted - got).values()), sum((got - wanted).values())
    return Tally(lost, extra, int(not lost and not extra and expected != found))


class Conversation:
    """The client's part, and everything it received."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.permissions: list[str] = []
        self.results: list[tuple[str, str | None]] = []
        self.texts: dict[str, list[str]] = {}
        self.interruptions = 0
        self.resumed = 0

    def permit(self, request: accord.PermissionRequest) -> bool:
        self.permissions.append(request.title)
        return True

    async def run(self, agent: ConnectedAgent, cwd: str) -> None:
        """Prompt in all sessions at once, turn by turn."""
        async with asyncio.timeout(BOUND):
            names = [f"s{number}" for number in range(self.shape.sessions)]
            await asyncio.gather(*(self._use_session(agent, cwd, name) for name in names))

    async def _use_session(self, agent: ConnectedAgent, cwd: str, name: str) -> None:
        session = await agent.new_session(cwd)
        texts = self.texts[name] = []
        listener = session.events()
        listening = asyncio.ensure_future(self._listen(listener, texts))
        for number in range(self.shape.turns):
            turn = await session.prompt(f"{name}t{number}")
            self.results.append((turn.text, turn.stop_reason))
        await session.close()
        listener.close()
        await listening

    async def _listen(self, listener: Any, texts: list[str]) -> None:
        async for event in listener:
            match event:
                case accord.Text(text=text):
                    texts.append(text)
                case accord.Disconnected():
                    self.interruptions += 1
                case accord.Resumed():
                    self.resumed += 1

    def check(self, heard: list[str]) -> Tally:
        """Compare with what should have happened. `heard` are the prompts that the agent executed."""
        prompts = [f"s{s}t{t}" for s in range(self.shape.sessions) for t in range(self.shape.turns)]
        total = compare(sorted(prompts), sorted(heard))
        total += compare(sorted(f"Tool of {prompt}" for prompt in prompts), sorted(self.permissions))
        answers = [("".join(self._words(prompt)), "end_turn") for prompt in prompts]
        total += compare(sorted(map(str, answers)), sorted(map(str, self.results)))
        for number in range(self.shape.sessions):
            name = f"s{number}"
            words = [word for prompt in prompts if prompt.startswith(name) for word in self._words(prompt)]
            total += compare(words, self.texts.get(name, []))
        return total._replace(interruptions=self.interruptions)

    def _words(self, prompt: str) -> list[str]:
        half, count = self.shape.words, 2 * self.shape.words
        return [
            *(f"{prompt}.{number} " for number in range(half)),
            f"{prompt}.allowed ",
            *(f"{prompt}.{number} " for number in range(half, count)),
        ]
