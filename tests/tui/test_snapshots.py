"""Snapshots of the widgets, in snapshots/: every visible change is a diff.

`ACCORD_SNAPSHOTS=write` writes them again; see tests/support/snapshots.py."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from support.snapshots import FOLDER, compare, paint
from support.transcript_fixtures import DRAWN, NEW, OLD
from support.tui_driver import Chat, Opened
from textual.geometry import Region
from textual.widget import Widget

from accord.agent.turn import Turn
from accord.model.session import PlanEntry
from accord.showcase.questions import FORM
from accord.testing import ScriptedAgent
from accord.tui.host import Finding
from accord.tui.screens.picker import Picker, Row


@pytest.mark.parametrize("name", DRAWN)
def test_rendered_lines_match_their_snapshot(name: str) -> None:
    compare(name, DRAWN[name]())


# -- widgets of the application


def render_widget(chat: Chat, kind: str, *, within: bool = False) -> list[str]:
    """Return the lines of a widget, with its border."""
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
        return render_widget(chat, "SidePanel")


async def queue(opened: Opened) -> list[str]:
    async with opened(ScriptedAgent([works]), size=(80, 24)) as chat:
        await chat.send("go")
        await chat.until("busy")
        for text in ("one\nof two lines", "日本語", "x" * 100):
            await chat.send(text)
        await chat.until("3 queued")
        folded = render_widget(chat, "QueuePanel")
        await chat.press("f6", "down")
        await chat.until("❯ 2.")
        return [*folded, *render_widget(chat, "QueuePanel")]


async def keys(opened: Opened) -> list[str]:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        await chat.press("f1")
        await chat.until("In the prompt")
        return render_widget(chat, "KeysScreen > VerticalScroll")


async def findings(opened: Opened) -> list[str]:
    found = [
        Finding(True, "command", "found at /usr/bin/agent"),
        Finding(False, "start", "it exited with status 3: No API key", "set EXAMPLE_KEY, or run: accord login"),
    ]
    async with opened(ScriptedAgent(), findings=found, size=(80, 24)) as chat:
        await chat.press("alt+d")
        await chat.until("Done.")
        return render_widget(chat, "FindingsScreen > VerticalScroll")


async def completions(opened: Opened) -> list[str]:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        for name in ("apple.py", "apricot.py", "melon.md"):
            (chat.app.host.cwd / name).write_text("")
        await chat.type("see @ap")
        await chat.until("❯ apple.py")
        await chat.gone("melon.md")
        return render_widget(chat, "PromptArea")


PROMPT = """/review the **parser** in @src/parse.py:12-40
## What to check
- names, *especially* `snake_case` ones, see [the guide](docs/style.md)
2. and https://example.com/rules
```python
x = "**not bold**"
```
2 * 3 * 4 stays plain, as do me@example.com and __init__.py"""


async def prompt(opened: Opened) -> list[str]:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        chat.tab.editor.cursor_blink = False
        chat.tab.editor.set_text(PROMPT)
        await chat.until("stays plain")
        at = chat.tab.editor.content_region
        strips = chat.app.screen._compositor.render_strips()[at.y : at.bottom]
        return paint([strip.crop(at.x, at.right) for strip in strips])


async def form(opened: Opened) -> list[str]:
    async def asks(turn: Turn) -> None:
        await turn.ask("Please fill in every kind of field.", FORM)

    async with opened(ScriptedAgent([asks]), size=(80, 52)) as chat:
        await chat.send("go")
        await chat.until("Tuesday")
        await chat.until("ctrl+s send")
        await chat.press("tab")
        await chat.type("not an address")
        await chat.press("ctrl+s")
        await chat.until("Please type an e-mail address")
        return render_widget(chat, "FormScreen > VerticalScroll")


async def picker(opened: Opened) -> list[str]:
    rows = [
        Row("a", "Apple", "red and round", "fruit"),
        Row("p", "Pear", "", "fruit"),
        Row("l", "Leek", "日本語", "vegetables"),
    ]
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        screen = Picker("What to eat", rows, about="Choose one.", keys={"f3": "asks the cook"}, chosen="p")
        answer = asyncio.ensure_future(chat.app.dialogs.show(screen))
        await chat.until("Leek")
        lines = render_widget(chat, "Picker > Vertical")
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
        lines = render_widget(chat, "LogScreen > Vertical")
        return [re.sub(r"\d\d:\d\d:\d\d(\.\d+)?", _same_length("12:00:00.000"), line) for line in lines]


def _same_length(words: str) -> Callable[[re.Match[str]], str]:
    return lambda found: words[: len(found[0])]


async def question(opened: Opened) -> list[str]:
    async def asks(turn: Turn) -> None:
        async with turn.tool("Change greet.py", kind="edit", locations=["greet.py:4"]) as tool:
            await tool.diff("greet.py", OLD, NEW)
            await tool.permit(always=True)

    async with opened(ScriptedAgent([asks]), size=(100, 40)) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        await chat.until("number or")
        lines = render_widget(chat, "PermissionPanel")
        await chat.press("escape")
        return [re.sub("Why you are asked: .*", "Why you are asked: …", line) for line in lines]


async def states(opened: Opened) -> list[str]:
    """Return the status line in each state."""
    lines = []

    async def all_of_them(turn: Turn) -> None:
        await turn.usage(150_000, 200_000, cost=1.25)
        await turn.permit("Do something")
        await asyncio.Event().wait()

    async with opened(ScriptedAgent([all_of_them]), size=(99, 20)) as chat:
        lines += render_widget(chat, "StatusLine")
        await chat.send("go")
        await chat.until("Permission needed")
        await chat.until("75% of context")
        lines += render_widget(chat, "StatusLine")
        await chat.until("number or")
        await chat.press("y")
        await chat.until("working")
        await chat.send("later")
        await chat.until("1 queued")
        await chat.until(lambda: "working" in render_widget(chat, "StatusLine")[0])
        (line,) = render_widget(chat, "StatusLine")
        line = re.sub("[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] working [0-9.]+s", "⠋ working 0.0s", line)
        lines.append(re.sub(" {3,}", "   ", line))
        chat.tab.queue_view.take_back(-1, discard=True)
        chat.app.saved.save_drafts()  # or the next client would have it, if it was saved while it was queued
        await chat.press("escape")
    async with opened(ScriptedAgent(), size=(100, 20), fails="No API key", wait=False) as chat:
        await chat.until("Couldn't start")
        lines += render_widget(chat, "StatusLine")
    return lines


def configure(text: str) -> None:
    config = Path(os.environ["ACCORD_CONFIG_HOME"])
    config.mkdir(exist_ok=True)
    (config / "config.toml").write_text(text)


async def agents(opened: Opened) -> list[str]:
    async with opened(ScriptedAgent(), size=(80, 24)) as chat:
        configure('[agents.gardener]\ncommand = "gardener --acp"\n')
        await chat.press("ctrl+n")
        for part in ("❯ ✓ gardener", "not installed · Alibaba", "f7 check for updates"):
            await chat.until(part)
        lines = render_widget(chat, "Picker > Vertical")
        await chat.press("escape")
        return lines


SHOWN: dict[str, Callable[[Opened], Awaitable[list[str]]]] = {
    "side-panel": side_panel,
    "queue": queue,
    "keys": keys,
    "findings": findings,
    "completions": completions,
    "prompt": prompt,
    "form": form,
    "picker": picker,
    "log": log,
    "question": question,
    "states": states,
    "agents": agents,
}


@pytest.mark.parametrize("name", SHOWN)
async def test_widgets_match_their_snapshot(name: str, opened: Opened) -> None:
    compare(name, await SHOWN[name](opened))


def test_there_are_no_unused_snapshots() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted([*DRAWN, *SHOWN])
