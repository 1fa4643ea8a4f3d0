"""Selecting an item of the transcript: the current one while following, otherwise one in view."""

from __future__ import annotations

import asyncio

from support.tui_driver import Chat, Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.testing import ScriptedAgent


def read_selection(chat: Chat) -> str:
    """Return the selected item, as marked on the screen."""
    view = chat.tab.transcript_view
    rows = chat.lines[view.region.y : view.region.bottom]
    return "\n".join(row[1 : view.region.right - 1].strip() for row in rows if row.startswith("▐")).strip()


async def three(turn: Turn) -> None:
    for name in ("One", "Two", "Three"):
        async with turn.tool(f"{name} step", kind="think"):
            pass


async def test_tab_selects_the_newest_item_though_an_older_one_was_selected_and_is_in_view(opened: Opened) -> None:
    class Stepping(Agent):
        async def prompt(self, turn: Turn) -> None:
            await three(turn)

    async with opened(Stepping()) as chat:
        await chat.send("go")
        await chat.until("Three step")
        await chat.press("tab", "up", "up")
        await chat.until(lambda: "One step" in read_selection(chat))
        await chat.press("tab")
        await chat.send("again")
        await chat.until(lambda: chat.text.count("Three step") == 2)
        await chat.press("tab")
        await chat.until(lambda: "Three step" in read_selection(chat))
        assert chat.tab.transcript_view.cursor == len(chat.tab.transcript_view.timeline_layout.timeline) - 1


async def test_end_and_f_select_the_last_item_and_home_the_first(opened: Opened) -> None:
    async with opened(ScriptedAgent([three])) as chat:
        await chat.send("go")
        await chat.until("Three step")
        await chat.press("tab")
        for key in ("end", "f"):
            await chat.press("home")
            await chat.until(lambda: read_selection(chat).endswith("go"))
            await chat.press(key)
            await chat.until(lambda: "Three step" in read_selection(chat))


async def test_arrows_start_from_the_visible_items_when_the_selection_is_not_visible(opened: Opened) -> None:
    async def long(turn: Turn) -> None:
        await turn.say("\n\n".join(f"Paragraph {number}." for number in range(100)))
        await three(turn)

    async with opened(ScriptedAgent([long]), size=(80, 20)) as chat:
        await chat.send("go")
        await chat.until("Three step")
        await chat.press("tab", "pageup", "pageup")
        await chat.gone("Three step")
        await chat.press("up")
        await chat.until(lambda: "Paragraph" in read_selection(chat))
        assert "Three step" not in chat.text


async def test_x_shows_a_message_when_nothing_can_be_stopped(opened: Opened) -> None:
    async def asks(turn: Turn) -> None:
        async with turn.tool("Think hard", kind="think") as tool:
            await tool.permit()
            await asyncio.Event().wait()

    async with opened(ScriptedAgent([asks])) as chat:
        told: list[str] = []
        chat.app.notify = lambda words, **how: told.append(words)  # type: ignore[method-assign, assignment]
        chat.tab.transcript_view.focus()
        await chat.press("x")
        await chat.until(lambda: told == ["There is nothing to stop here."])
        await chat.press("tab")
        await chat.send("go")
        await chat.until("number or")
        chat.tab.transcript_view.focus()
        await chat.until(lambda: "Think hard" in read_selection(chat))
        await chat.press("x")
        await chat.until(lambda: told[1:] == ["This can't be stopped by itself; Esc stops the whole turn."])


class Printing(Agent):
    """An agent that prints many lines in one tool call, and some in others."""

    async def prompt(self, turn: Turn) -> None:
        count = int(turn.text)
        for number in range(30):
            async with turn.tool(f"Step {number}", kind="read") as tool:
                lines = count if number == 28 else 3
                await tool.show("\n\n".join(f"{number}: line {line} of {lines}" for line in range(1, lines + 1)))
        await turn.say("All done.")


async def test_an_item_opened_at_the_bottom_scrolls_into_view(opened: Opened) -> None:
    async with opened(Printing(), size=(100, 24)) as chat:
        await chat.send("5")
        await chat.until("All done.")
        await chat.press("tab", "up", "up")
        await chat.until(lambda: "Step 28" in read_selection(chat))
        await chat.press("enter")
        await chat.until("28: line 5 of 5")
        assert "Step 28" in read_selection(chat)
        assert "Step 20" in chat.text  # it moved no further than it had to
        await chat.press("enter")
        await chat.gone("28: line 5 of 5")
        assert "Step 28" in read_selection(chat)


async def test_a_tall_item_is_shown_from_its_start_and_folding_it_shows_it_again(
    opened: Opened,
) -> None:
    async with opened(Printing(), size=(100, 24)) as chat:
        await chat.send("50")
        await chat.until("All done.")
        await chat.press("tab", "up", "up", "enter")
        await chat.until("28: line 1 of 50")
        assert "Step 28" in chat.lines[chat.tab.transcript_view.region.y]
        await chat.press("pagedown")
        await chat.gone("28: line 1 of 50")
        await chat.press("enter")
        await chat.until(lambda: "Step 28" in read_selection(chat))


async def test_opening_and_folding_everything_keeps_the_selected_item_in_place(opened: Opened) -> None:
    async with opened(Printing(), size=(100, 24)) as chat:
        await chat.send("3")
        await chat.until("All done.")
        await chat.press("tab", *["up"] * 6)
        await chat.until(lambda: "Step 24" in read_selection(chat))
        row = next(row for row, line in enumerate(chat.lines) if "Step 24" in line)
        for _ in range(2):
            await chat.press("o")
            await chat.until("24: line 3 of 3")
            assert "Step 24" in chat.lines[row]
            await chat.press("o")
            await chat.gone("24: line 3 of 3")
            assert "Step 24" in chat.lines[row]


async def test_folding_everything_again_leaves_the_end_of_output_in_view(opened: Opened) -> None:
    async def prints(turn: Turn) -> None:
        async with turn.tool("Run make", kind="execute") as tool:
            await tool.show("\n".join(f"line {number} of 9" for number in range(1, 10)))

    async with opened(ScriptedAgent([prints])) as chat:
        await chat.send("go")
        await chat.until("line 9 of 9")
        assert "line 1 of 9" not in chat.text
        await chat.press("f3")
        await chat.until("line 1 of 9")
        await chat.press("f3")
        await chat.gone("line 1 of 9")
        assert "line 9 of 9" in chat.text


async def test_the_status_line_shows_how_to_return_after_scrolling_up(opened: Opened) -> None:
    async with opened(Printing(), size=(100, 24)) as chat:
        await chat.send("3")
        await chat.until("All done.")
        assert "more below" not in chat.text
        await chat.press("pageup")
        await chat.until("↓ more below (ctrl+end)")
        await chat.press("tab", "ctrl+end")
        await chat.gone("more below")
        assert "All done." in chat.text
        await chat.press("tab", "shift+up")
        await chat.until("↓ more below (ctrl+end)")
        await chat.press("ctrl+end")
        await chat.gone("more below")
