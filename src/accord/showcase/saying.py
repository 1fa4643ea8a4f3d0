"""Words: streamed, thought, in Markdown, in every script, and too many of them."""

from __future__ import annotations

import asyncio

from accord.agent.agent import command
from accord.agent.turn import Turn
from accord.showcase.samples import MARKDOWN, UNICODE
from accord.showcase.stage import Stage

MOST_KILOBYTES = 65536
MOST_SECONDS = 3600


class Saying(Stage):
    """Messages and thoughts."""

    topic = "Words"

    @command("thoughts", "Thoughts between words, each a message of its own")
    async def show_thoughts(self, turn: Turn) -> None:
        for words in ("The user wants ", "to see ", "how thoughts look."):
            await turn.think(words)
            await self.pause()
        await turn.say("First I thought; ")
        await turn.say("now I speak.")
        await self.pause()
        await turn.think("Was that enough? One more thought, with *Markdown* and `code`.")
        await self.pause()
        await turn.say("That was a second thought and this is a second message.")

    @command("markdown", "Everything Markdown has, streamed in pieces that cut through its marks")
    async def show_markdown(self, turn: Turn) -> None:
        for start in range(0, len(MARKDOWN), 17):
            await turn.say(MARKDOWN[start : start + 17])
            await self.pause(0.2)

    @command("unicode", "Scripts, emoji, right-to-left, combining and invisible characters, long lines")
    async def show_unicode(self, turn: Turn) -> None:
        for name, sample in UNICODE.items():
            await turn.say(f"{name}: {sample}\n\n")
            await self.pause(0.5)
        # One grapheme in pieces: a client must join the text before it draws it.
        for piece in ("In pieces: e", "\u0301 ", "\U0001f469", "\u200d", "\U0001f680", "\n"):
            await turn.say(piece)

    @command("slow", "Streams slowly and can be cancelled", hint="seconds, 10 unless said")
    async def show_slow(self, turn: Turn) -> None:
        seconds = await self.number(turn, "seconds", 10, MOST_SECONDS)
        steps = max(2, min(int(seconds * 5), 200))
        try:
            for step in range(1, steps + 1):
                await turn.say(f"{step} of {steps}… ")
                await asyncio.sleep(seconds / steps)
        except asyncio.CancelledError:
            await turn.say("stopped, and this was still said in the turn that was cancelled.")
            raise
        await turn.say("done.")

    @command("big", "One message of many kilobytes in a single update", hint="kilobytes, 256 unless said")
    async def show_big(self, turn: Turn) -> None:
        kilobytes = int(await self.number(turn, "kilobytes", 256, MOST_KILOBYTES)) or 1
        line = "All work and no play makes a client fast, if it draws only what can be seen."
        lines = kilobytes * 1024 // (len(line) + 1)
        text = f"{line}\n" * lines
        await turn.say(text + "." * (kilobytes * 1024 - len(text)))

    @command("v2-message", "A whole message at once, then another in its place (version 1: two pieces)")
    async def show_message(self, turn: Turn) -> None:
        id = turn.session.set_message(["A draft that will be replaced. ", "It has two pieces."])
        await self.pause(5)
        turn.session.set_message("The message that stays.", message_id=id)
