"""An agent for tests of the terminal client: what it is asked says how it tries the user and the client."""

from __future__ import annotations

import asyncio
import os
import sys
import time

import accord


class Trying(accord.Agent):
    async def prompt(self, turn: accord.Turn) -> None:
        word, _, rest = turn.text.partition(" ")
        await getattr(self, word, self.echo)(turn, rest)

    async def echo(self, turn: accord.Turn, _: str) -> None:
        await turn.say(f"You said: {turn.text}, with {', '.join(type(each).__name__ for each in turn.content)}.")

    async def several(self, turn: accord.Turn, _: str) -> None:
        """Asks three things at once."""

        async def one(number: int) -> str:
            answer = await turn.permit(f"Move stone {number}", kind="move")
            return f"stone {number}: {'yes' if answer else 'no'}"

        said = await asyncio.gather(*(one(number) for number in (1, 2, 3)))
        await turn.say("; ".join(said))

    async def works(self, turn: accord.Turn, _: str) -> None:
        """Works until it is stopped; what it is told meanwhile it repeats."""
        await turn.say("Hard at work.")
        while True:
            for prompt in await turn.inserted():
                await turn.say(f"You said: {prompt.text}")
            await asyncio.sleep(0.02)

    async def hangs(self, turn: accord.Turn, _: str) -> None:
        """Says something, and then neither reads nor writes."""
        await turn.say("I only have to think of something.")
        turn.session.flush()
        await asyncio.sleep(0.2)
        time.sleep(600)  # noqa: ASYNC251  # as careless authors do

    async def dies(self, turn: accord.Turn, _: str) -> None:
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(9)

    async def floods(self, turn: accord.Turn, seconds: str) -> None:
        """Says as much as it can, until it is stopped."""
        number = 0
        while True:
            for _ in range(100):
                number += 1
                await turn.say(f"word{number} **bold** `code`\n\n" if number % 20 == 0 else f"word{number} ")
            await asyncio.sleep(0.01)

    async def finds(self, turn: accord.Turn, _: str) -> None:
        """A tool that gives twenty megabytes."""
        async with turn.tool("Print a great deal", kind="execute") as tool:
            await tool.show("a line of output that goes on and on\n" * 550_000)
        await turn.say("That was twenty megabytes.")

    async def shows(self, turn: accord.Turn, _: str) -> None:
        await turn.say("The grass is green.")

    async def prints(self, turn: accord.Turn, _: str) -> None:
        print("a needle on standard error", file=sys.stderr)
        print("and hay on standard error", file=sys.stderr, flush=True)
        await turn.say("Printed.")


if __name__ == "__main__":
    accord.run(Trying())
