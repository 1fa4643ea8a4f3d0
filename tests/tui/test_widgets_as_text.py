"""Layout of the widgets as text, without colors."""

from __future__ import annotations

import asyncio

from support.tui_driver import Chat, Opened
from textual.widget import Widget

from accord.agent.turn import Turn
from accord.model.session import PlanEntry
from accord.testing import ScriptedAgent
from accord.tui.panels.permission import PermissionPanel
from accord.tui.panels.queue import QueuePanel
from accord.tui.panels.side import SidePanel
from accord.tui.prompt.completion import Completions
from accord.tui.screens.picker import Picker, Row


def inside(chat: Chat, kind: type[Widget]) -> list[str]:
    """Return the lines inside the border of the only widget of a kind."""
    at = chat.app.screen.query_one(kind).content_region
    strips = chat.app.screen._compositor.render_strips()[at.y : at.bottom]
    return [strip.crop(at.x, at.right).text.rstrip() for strip in strips]


async def test_layout_of_queued_prompts(opened: Opened) -> None:
    async def works(turn: Turn) -> None:
        await turn.say("busy")
        await asyncio.Event().wait()

    async with opened(ScriptedAgent([works])) as chat:
        await chat.send("go")
        await chat.until("busy")
        await chat.send("one\nof two lines")
        await chat.send("日本語")
        await chat.until("2. 日本語")
        assert inside(chat, QueuePanel) == ["  1. one of two lines", "  2. 日本語"]
        await chat.press("f6", "down")
        await chat.until("❯ 2.")
        assert inside(chat, QueuePanel) == ["  1. one of two lines", "❯ 2. 日本語"]


async def test_layout_of_a_plan_and_the_context(opened: Opened) -> None:
    async def plans(turn: Turn) -> None:
        await turn.plan(
            [
                PlanEntry(content="Look around", priority="high", status="completed"),
                PlanEntry(content="Write it, and test what was written", priority="low", status="in_progress"),
                PlanEntry(content="Rest", priority="low", status="pending"),
            ]
        )
        await turn.usage(50_000, 200_000)
        await turn.say("planned")

    async with opened(ScriptedAgent([plans])) as chat:
        await chat.send("go")
        await chat.until("50,000 of 200,000 tokens")
        lines = inside(chat, SidePanel)
        assert lines[: lines.index("50,000 of 200,000 tokens") + 1] == [
            "",
            "Plan 1/3",
            "✓ Look around",
            "◐ Write it, and test what was",
            "  written",
            "○ Rest",
            "",
            "Context",
            "━━━━━━───────────────────   25%",
            "50,000 of 200,000 tokens",
        ]


async def test_layout_of_a_permission_request(opened: Opened) -> None:
    async def asks(turn: Turn) -> None:
        answer = await turn.permit("Run the tests", command="make test", always=True)
        await turn.say(f"allowed: {bool(answer)}")

    async with opened(ScriptedAgent([asks])) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        lines = inside(chat, PermissionPanel)
        assert lines[0] == "Run the tests"
        assert lines[1] == "$ make test"
        numbered = [line for line in lines if line.lstrip("❯ ")[:2] in ("1.", "2.", "3.", "4.")]
        assert numbered[0].startswith("❯ 1. ")
        assert all(line.startswith("  ") for line in numbered[1:])
        assert any("(y)" in line for line in numbered) and any("(n)" in line for line in numbered)


async def test_layout_of_completions(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        for name in ("apple.py", "apricot.py", "melon.md"):
            (chat.app.host.cwd / name).write_text("")
        await chat.type("@ap")
        await chat.until("❯ apple.py")
        await chat.gone("melon.md")
        assert inside(chat, Completions) == ["❯ apple.py", "  apricot.py"]
        await chat.press("down", "tab")
        assert chat.tab.editor.text == "@apricot.py "


async def test_keys_pressed_while_a_list_opens_are_not_lost(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        answer = asyncio.ensure_future(chat.app.dialogs.show(Picker("Fruit", [Row("a", "apple"), Row("p", "pear")])))
        await chat.until("Fruit")
        await chat.press("p", "e", "a", "r")
        await chat.gone("apple")
        await chat.press("enter")
        assert (await answer).id == "p"


async def test_enter_applies_to_the_typed_text_and_not_to_an_outdated_list(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        (chat.app.host.cwd / "apple.py").write_text("")
        (chat.app.host.cwd / "pear.py").write_text("")
        await chat.type("@")
        await chat.until("❯ apple.py")
        chat.tab.editor.insert("pear")  # the list isn't updated yet
        chat.tab.area._complete("tab")
        await chat.until(lambda: chat.tab.editor.text == "@pear.py ")
