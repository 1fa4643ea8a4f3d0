"""Widgets as they look, kept as pictures under snapshots/: a change of one is seen in its diff.

`ACCORD_SNAPSHOTS=write` writes the pictures anew; see tests/snapshots.py."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable

import msgspec
import pytest
from chatting import Chat, Opened
from snapshots import FOLDER, compare, painted, plain
from textual.app import App
from textual.color import Color
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from accord.agent.turn import Turn
from accord.model.content import Image, TextContent
from accord.model.session import Notice, PlanEntry
from accord.model.tool import Diff, ExitStatus, FileChange, Location, TerminalRef, ToolCall
from accord.showcase.asking import FORM
from accord.testing import ScriptedAgent
from accord.transcript.transcript import Transcript
from accord.tui.colourless import Colourless
from accord.tui.conversation.block import Printed, Setting, Span
from accord.tui.conversation.layout import Layout
from accord.tui.conversation.tool import ToolBlock
from accord.tui.look import Look
from accord.tui.outside import Finding
from accord.tui.screens.picker import Picker, Row

MARKDOWN = """\
# A heading

Some *soft* and **loud** words, `code`, and [a link](https://example.com).

- one point
  - a point below it
- 日本語 and 🎉

> What others said.

```python
def greet(name: str) -> str:
    return f"Hello, {name}"
```

| what | how many |
|---|---:|
| apples | 3 |
| 梨 | 12 |
"""
OLD = "import os\n\n\ndef greet(name):\n    print('Helo ' + name)\n\n\ngreet('world')\n"
NEW = 'import os\n\n\ndef greet(name: str) -> None:\n    print("Hello " + name)\n\n\ngreet("world")\n'
PRINTED = (
    "\x1b[1mRunning\x1b[0m 3 tests\r\n\x1b[32mok\x1b[0m one\r\n\x1b[32mok\x1b[0m two\r\n\x1b[31;7mFAIL\x1b[0m three\r\n"
)


def look_of(theme: str) -> Look:
    """The colours of a theme."""
    app: App[None] = App()
    chosen = app.get_theme(theme)
    assert chosen is not None
    return Look(chosen.to_color_system().generate(), dark=chosen.dark)


def setting(look: Look, width: int = 76) -> Setting:
    return Setting(
        look,
        width=width,
        cwd="/project",
        spans={"slow": Span(0.0, 12.4), "runs": Span(0.0), "asked": Span(0.0, None, 3.0)},
        now=lambda: 75.0,
        terminal=lambda id: Printed(PRINTED, False, ExitStatus(code=1), "make test"),
    )


def conversation(look: Look, width: int = 76) -> list[Strip]:
    """Everything that is said, on one page."""
    transcript = Transcript("s")
    transcript.append_text("user", "u", "Please look at this,\nand then at that.")
    transcript.append_text("thought", "t", "The user wants two things. First this, then that.")
    transcript.append_text("agent", "a", MARKDOWN)
    transcript.add_notice(Notice(severity="warning", title="Refused: rm -rf /", description="a rule says so"))
    layout = Layout(setting(look, width))
    layout.rows = 60
    layout.show(transcript)
    layout.take(())
    return [line for line, _ in layout.picture]


CHANGED = ToolCall(
    id="slow",
    title="Change greet.py",
    kind="edit",
    status="completed",
    name="edit_file",
    locations=[Location(path="/project/greet.py", line=4)],
    content=[Diff(changes=[FileChange(operation="modify", path="/project/greet.py", old_text=OLD, new_text=NEW)])],
)
FOUND = ToolCall(
    id="slow",
    title="Search for “greet”",
    kind="search",
    status="completed",
    name="grep",
    raw_input={"pattern": "greet", "path": "src"},
    raw_output={"matches": 2},
    locations=[Location(path="/project/greet.py", line=4), Location(path="/elsewhere/notes.md")],
    content=[TextContent("`greet.py` has **two** of them."), Image(data="AAAA", mime_type="image/png")],
)
RAN = ToolCall(
    id="runs", title="make test", kind="execute", status="in_progress", content=[TerminalRef(terminal_id="t")]
)
CALLS = (
    FOUND,
    RAN,
    ToolCall(id="none", title="Fetch a page", kind="fetch", status="failed"),
    ToolCall(id="asked", title="Remove the old file", kind="delete", status="pending"),
    ToolCall(id="none", title="Think again", kind="think", status="cancelled"),
)


def calls(look: Look, width: int = 76, is_open: bool | None = None) -> list[Strip]:
    return [line for call in CALLS for line in ToolBlock(call, setting(look, width), is_open).lines]


def change(look: Look, width: int) -> list[Strip]:
    return ToolBlock(CHANGED, setting(look, width - 4), True).lines


def page(look: Look) -> list[Strip]:
    """What colours are for: something said, a change, and what a command printed."""
    ended = msgspec.structs.replace(RAN, status="failed")
    return [
        *conversation(look)[:14],
        *change(look, 76)[3:15],
        *ToolBlock(ended, setting(look), True).lines,
        *ToolBlock(CALLS[2], setting(look)).lines,
    ]


DRAWN: dict[str, Callable[[], list[str]]] = {
    "conversation": lambda: plain(conversation(look_of("textual-dark"))),
    "conversation-narrow": lambda: plain(conversation(look_of("textual-dark"), 36)),
    "calls-folded": lambda: plain(calls(look_of("textual-dark"))),
    "calls-open": lambda: plain(calls(look_of("textual-dark"), is_open=True)),
    "change-80": lambda: plain(change(look_of("textual-dark"), 80)),
    "change-120": lambda: plain(change(look_of("textual-dark"), 120)),
    "change-200": lambda: plain(change(look_of("textual-dark"), 200)),
    "painted-dark": lambda: painted(page(look_of("textual-dark"))),
    "painted-light": lambda: painted(page(look_of("textual-light"))),
    "painted-without-colours": lambda: painted(bare(page(look_of("textual-dark")))),
}


def bare(strips: list[Strip]) -> list[Strip]:
    """As with NO_COLOR."""
    ground = Color.parse("#121212")
    return [Strip(Colourless().apply(list(strip), ground)) for strip in strips]


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn_line_by_line_looks_as_it_did(name: str) -> None:
    compare(name, DRAWN[name]())


# -- widgets of the application


def seen(chat: Chat, kind: str, *, within: bool = False) -> list[str]:
    """The lines of a widget, with its frame."""
    widget: Widget = chat.app.screen.query_one(kind)
    at: Region = widget.content_region if within else widget.region
    strips = chat.app.screen._compositor.render_strips()[at.y : at.bottom]
    return [strip.crop(at.x, at.right).text.rstrip() for strip in strips]


async def works(turn: Turn) -> None:
    await turn.say("busy")
    await asyncio.Event().wait()


async def plans(turn: Turn) -> None:
    await turn.plan(
        [
            PlanEntry(content="Look around", priority="high", status="completed"),
            PlanEntry(content="Write it, and test what was written", priority="high", status="in_progress"),
            PlanEntry(content="Rest", priority="low", status="pending"),
        ]
    )
    await turn.usage(150_000, 200_000, cost=1.25)
    await turn.set_title("A day in the garden")
    await turn.say("planned")


async def side_panel(opened: Opened) -> list[str]:
    async with opened(ScriptedAgent([plans]), size=(110, 20)) as chat:
        await chat.send("go")
        await chat.until("150,000 of 200,000 tokens")
        await chat.until("A day in the garden")
        return seen(chat, "SidePanel")


async def queue(opened: Opened) -> list[str]:
    async with opened(ScriptedAgent([works]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("busy")
        for text in ("one\nof two lines", "日本語", "x" * 100):
            await chat.send(text)
        await chat.until("3 queued")
        folded = seen(chat, "QueuePanel")
        await chat.press("f6", "down")
        await chat.until("❯ 2.")
        return [*folded, *seen(chat, "QueuePanel")]


async def keys(opened: Opened) -> list[str]:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        await chat.press("f1")
        await chat.until("In the prompt")
        return seen(chat, "KeysScreen > VerticalScroll")


async def findings(opened: Opened) -> list[str]:
    found = [
        Finding(True, "command", "found at /usr/bin/agent"),
        Finding(False, "start", "it ended with status 3: No API key", "set EXAMPLE_KEY, or log in with agent login"),
    ]
    async with opened(ScriptedAgent(), findings=found, size=(80, 24)) as chat:
        await chat.press("alt+d")
        await chat.until("That was all")
        return seen(chat, "FindingsScreen > VerticalScroll")


async def completions(opened: Opened) -> list[str]:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        for name in ("apple.py", "apricot.py", "melon.md"):
            (chat.app.outside.cwd / name).write_text("")
        await chat.type("see @ap")
        await chat.until("❯ apple.py")
        await chat.gone("melon.md")
        return seen(chat, "PromptArea")


async def form(opened: Opened) -> list[str]:
    async def asks(turn: Turn) -> None:
        await turn.ask("Please fill in every kind of field.", FORM)

    async with opened(ScriptedAgent([asks]), size=(80, 52)) as chat:
        await chat.send("go")
        await chat.until("Tuesday")
        await chat.press("tab")
        await chat.type("not an address")
        await chat.press("ctrl+s")
        await chat.until("Please type an e-mail address")
        return seen(chat, "FormScreen > VerticalScroll")


async def picker(opened: Opened) -> list[str]:
    rows = [
        Row("a", "Apple", "red and round", "fruit"),
        Row("p", "Pear", "", "fruit"),
        Row("l", "Leek", "日本語", "vegetables"),
    ]
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        screen = Picker("What to eat", rows, about="Choose one.", keys={"f3": "asks the cook"}, chosen="p")
        answer = asyncio.ensure_future(chat.app.answer_of(screen))
        await chat.until("Leek")
        lines = seen(chat, "Picker > Vertical")
        await chat.type("ve")
        await chat.gone("Apple")
        await chat.press("escape")
        await answer
        return lines


async def log(opened: Opened) -> list[str]:
    async with opened(ScriptedAgent(), size=(80, 20)) as chat:
        await chat.send("hello")
        await chat.until("You said: hello")
        await chat.press("ctrl+l")
        await chat.until("session/prompt")
        await chat.type("method:initialize")
        await chat.gone("session/prompt")
        lines = seen(chat, "LogScreen > Vertical")
        return [re.sub(r"\d\d:\d\d:\d\d(\.\d+)?", _same_length("12:00:00.000"), line) for line in lines]


def _same_length(words: str) -> Callable[[re.Match[str]], str]:
    return lambda found: words[: len(found[0])]


SHOWN: dict[str, Callable[[Opened], Awaitable[list[str]]]] = {
    "side-panel": side_panel,
    "queue": queue,
    "keys": keys,
    "findings": findings,
    "completions": completions,
    "form": form,
    "picker": picker,
    "log": log,
}


@pytest.mark.parametrize("name", SHOWN)
async def test_what_the_application_shows_looks_as_it_did(name: str, opened: Opened) -> None:
    compare(name, await SHOWN[name](opened))


def test_no_picture_is_left_of_what_is_not_drawn_any_more() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted([*DRAWN, *SHOWN])
