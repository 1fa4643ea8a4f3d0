"""An agent that challenges the terminal client. The first word of a prompt names the method to call."""

from __future__ import annotations

import asyncio
import os
import sys
import time

import accord
from accord.model.requests import PermissionOption


class Challenger(accord.Agent):
    async def prompt(self, turn: accord.Turn) -> None:
        word, _, rest = turn.text.partition(" ")
        await getattr(self, word, self.echo)(turn, rest)

    async def echo(self, turn: accord.Turn, _: str) -> None:
        await turn.say(f"You said: {turn.text}, with {', '.join(type(each).__name__ for each in turn.content)}.")

    async def several(self, turn: accord.Turn, _: str) -> None:
        """Send three permission requests at once."""

        async def one(number: int) -> str:
            answer = await turn.permit(f"Move stone {number}", kind="move")
            return f"stone {number}: {'yes' if answer else 'no'}"

        said = await asyncio.gather(*(one(number) for number in (1, 2, 3)))
        await turn.say("; ".join(said))

    async def works(self, turn: accord.Turn, _: str) -> None:
        """Work until cancelled, and echo prompts that arrive meanwhile."""
        await turn.say("Hard at work.")
        while True:
            for prompt in await turn.take_prompts():
                await turn.say(f"You said: {prompt.text}")
            await asyncio.sleep(0.02)

    async def hangs(self, turn: accord.Turn, _: str) -> None:
        """Send one message, then block the event loop."""
        await turn.say("I only have to think of something.")
        turn.session.flush()
        await asyncio.sleep(0.2)
        time.sleep(600)  # noqa: ASYNC251  # as careless authors do

    async def dies(self, turn: accord.Turn, _: str) -> None:
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(9)

    async def floods(self, turn: accord.Turn, seconds: str) -> None:
        """Send text as fast as possible until cancelled."""
        number = 0
        while True:
            for _ in range(100):
                number += 1
                await turn.say(f"word{number} **bold** `code`\n\n" if number % 20 == 0 else f"word{number} ")
            await asyncio.sleep(0.01)

    async def finds(self, turn: accord.Turn, _: str) -> None:
        """Return twenty megabytes from one tool call."""
        async with turn.tool("Print a great deal", kind="execute") as tool:
            await tool.show("a line of output that goes on and on\n" * 550_000)
        await turn.say("That was twenty megabytes.")

    async def shows(self, turn: accord.Turn, _: str) -> None:
        await turn.say("The grass is green.")

    async def prints(self, turn: accord.Turn, _: str) -> None:
        print("a needle on standard error", file=sys.stderr)
        print("and hay on standard error", file=sys.stderr, flush=True)
        await turn.say("Printed.")

    async def many(self, turn: accord.Turn, _: str) -> None:
        """Send a permission request with nine options."""
        kinds = ("allow_once", "reject_once", "allow_once")
        options = [
            PermissionOption(id=f"way-{number}", name=f"Way number {number}", kind=kinds[number % 3])
            for number in range(1, 10)
        ]
        answer = await turn.permit("Choose a way", options=options)
        await turn.say(f"You chose {answer.option.id if answer.option else 'nothing'}.")

    async def edits(self, turn: accord.Turn, _: str) -> None:
        """Report a tool call with a location in a file."""
        async with turn.tool("Look at a place", kind="read", locations=["garden.py:3"]) as tool:
            await tool.show("three flowers")
        await turn.say("Looked.")

    async def tells(self, turn: accord.Turn, count: str) -> None:
        """Send `count` separate messages."""
        for number in range(1, int(count) + 1):
            await turn.say(f"This is message {number}.", message_id=f"m{number}")
        await turn.say("Told.", message_id="last")

    async def counts(self, turn: accord.Turn, _: str) -> None:
        """Send one line after another until cancelled."""
        number = 0
        while True:
            number += 1
            await turn.say(f"Line {number} of a long story that is told in one piece and without a rest.\n\n")
            await asyncio.sleep(0.05)

    async def columns(self, turn: accord.Turn, _: str) -> None:
        """Send characters of every width in a table, a tool call and a title."""
        rows = ("plain", "日本語のテキスト", "👩\u200d🚀🎉", "e\u0301te\u0301", "한국어", "ｆｕｌｌ")
        await turn.say("| what | end |\n|---|---|\n" + "".join(f"| {row} | here |\n" for row in rows))
        async with turn.tool("読む 🎉 garden.py", kind="read") as tool:
            await tool.show("読んだ")
        await turn.say("Columns.")

    async def clears(self, turn: accord.Turn, _: str) -> None:
        """Send escape sequences that would change an unprotected terminal."""
        await turn.say("before \x1b[2J\x1b[31m\x1b]0;owned\x07\x9b2J after")


if __name__ == "__main__":
    accord.run(Challenger())
