"""Messages and thoughts: streamed, in Markdown, in every script, and very long."""

from __future__ import annotations

import asyncio

from accord.agent.agent import command
from accord.agent.turn import Turn
from accord.showcase.topic import Topic

MAX_KILOBYTES = 65536
MAX_SECONDS = 3600


class Messages(Topic):
    """Messages and thoughts."""

    title = "Messages"

    @command("thoughts", "Thoughts between messages, each with its own message id")
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

    @command("markdown", "All of Markdown, streamed in chunks that split its markup")
    async def show_markdown(self, turn: Turn) -> None:
        for start in range(0, len(MARKDOWN), 17):
            await turn.say(MARKDOWN[start : start + 17])
            await self.pause(0.2)

    @command("unicode", "Scripts, emoji, right-to-left, combining and invisible characters, long lines")
    async def show_unicode(self, turn: Turn) -> None:
        for name, sample in UNICODE.items():
            await turn.say(f"{name}: {sample}\n\n")
            await self.pause(0.5)
        # One grapheme in several chunks: a client must join the text before it renders it.
        for piece in ("In pieces: e", "\u0301 ", "\U0001f469", "\u200d", "\U0001f680", "\n"):
            await turn.say(piece)

    @command("slow", "Streams slowly and can be cancelled", hint="seconds (default 10)")
    async def show_slow(self, turn: Turn) -> None:
        seconds = await self.number(turn, "seconds", 10, MAX_SECONDS)
        steps = max(2, min(int(seconds * 5), 200))
        try:
            for step in range(1, steps + 1):
                await turn.say(f"{step} of {steps}… ")
                await asyncio.sleep(seconds / steps)
        except asyncio.CancelledError:
            await turn.say("stopped. This was still sent in the cancelled turn.")
            raise
        await turn.say("done.")

    @command("big", "One message of many kilobytes in a single update", hint="kilobytes (default 256)")
    async def show_big(self, turn: Turn) -> None:
        kilobytes = int(await self.number(turn, "kilobytes", 256, MAX_KILOBYTES)) or 1
        line = "All work and no play makes a client fast, if it draws only what can be seen."
        lines = kilobytes * 1024 // (len(line) + 1)
        text = f"{line}\n" * lines
        await turn.say(text + "." * (kilobytes * 1024 - len(text)))

    @command("v2-message", "A whole thought and a whole message at once, each then replaced (version 1: two chunks)")
    async def show_message(self, turn: Turn) -> None:
        thought = turn.session.set_message("A first thought.", role="thought")
        await self.pause(5)
        turn.session.set_message("The thought that stays.", role="thought", message_id=thought)
        id = turn.session.set_message(["A draft that will be replaced. ", "It has two pieces."])
        await self.pause(5)
        turn.session.set_message("The message that stays.", message_id=id)


MARKDOWN = """\
# A heading

Some *emphasis*, some **strength**, some ~~regret~~, `code`, and a [link](https://example.com/).

## Lists

- a point
  - a point below it
    1. counted
    2. and counted on
- [ ] a task to do
- [x] a task that is done

> A quotation,
> > and one inside it.

| left | middle | right |
|:-----|:------:|------:|
| a    | b      | 1     |
| `|`  | **d**  | 1000  |

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"  # not **bold**
```

````markdown
```
a fence inside a fence
```
````

A formula, $e^{i\\pi} + 1 = 0$; a footnote[^1]; <b>HTML that should not run</b><script>alert(1)</script>.

[^1]: Which says nothing.

---

An unclosed *star, an unclosed `tick, and the end.
"""

UNICODE = {
    "Chinese, Japanese, Korean": "漢字かな交じり文、全角ＡＢＣ、한국어 문장",
    "Right to left": "שלום עולם, مرحبا بالعالم, and back (with brackets) 123",
    "Bidirectional marks": "\u202eoverride\u202c \u2067isolated\u2069 \u200fmark\u200e",
    "Combining": "e\u0301 a\u0308 Z̷̡a̸͎l̵̗g̶̳o̷ क्षि ก็ g̈ 각",
    "Emoji": "😀 👍🏽 👩‍👩‍👧‍👦 🏴‍☠️ 🇪🇺 ❤️ ☎︎ 1️⃣",
    "Zero width": "a\u200bb\u200cc\u200dd\ufeffe\u2060f (six letters)",
    "Odd spaces": "a\u00a0b\u2003c\u3000d\u202fe",
    "Beyond the basic plane": "𝔄𝕔𝓬𝟘 𐍈 🀄 \U0010ffff",
    "Controls": "a\tb\x07c\x1b[31mred or not\x1b[0m\x7fd \x85 \u2028 \u2029 end",
    "Normal forms": "é (one) e\u0301 (two) ﬁ Å Å",
    "A long line": "unbroken" * 120,
    "A long word with soft hyphens": "Donau\u00addampf\u00adschiff\u00adfahrts\u00adgesell\u00adschaft" * 8,
}
"""Samples by description. All of them are valid Unicode; none should break a line, a layout or a terminal."""
