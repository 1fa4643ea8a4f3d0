"""Selecting text with the mouse: dragging, words, paragraphs, and the copied text."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from support.theme import COLORS
from support.tui_driver import Chat, Opened
from textual import events
from textual.color import Color

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.transcript.transcript import Transcript
from accord.tui.theme import TextStyles
from accord.tui.transcript.blocks.base import BlockContext
from accord.tui.transcript.layout import Layout
from accord.tui.transcript.text_selection import RIGHT, Position, line_text, reanchor, select_range, selected_text

WORDS = "The quick brown fox jumps over the lazy dog and then walks home along the river to sleep. "


async def mouse(chat: Chat, kind: type[events.MouseEvent], x: int, y: int, button: int = 1) -> None:
    """Return a mouse event as a terminal reports it."""
    event = kind(None, x, y, 0, 0, button, False, False, False, screen_x=x, screen_y=y)
    chat.app.screen._forward_event(event) if kind is events.MouseMove else await chat.app.on_event(event)
    await chat.pilot.pause()


async def click(chat: Chat, at: tuple[int, int], times: int = 1) -> None:
    view = chat.tab.transcript_view
    await chat.pilot.click(view, offset=(at[0], at[1] - view.region.y), times=times)


async def drag(chat: Chat, start: tuple[int, int], end: tuple[int, int]) -> None:
    await mouse(chat, events.MouseDown, *start)
    await mouse(chat, events.MouseMove, *end)
    await mouse(chat, events.MouseUp, *end)


def where(chat: Chat, words: str) -> tuple[int, int]:
    """Return the position of a text on the screen."""
    for y, line in enumerate(chat.lines):
        if words in line:
            return line.index(words), y
    raise AssertionError(f"{words!r} is not on the screen:\n{chat.text}")


def read_highlight(chat: Chat) -> str:
    """Return the highlighted text."""
    ground = chat.tab.transcript_view.mouse_selection.highlight_style().bgcolor
    parts = []
    for strip in chat.app.screen._compositor.render_strips():
        words = "".join(text for text, style, _ in strip if style is not None and ground and style.bgcolor == ground)
        parts += [words] if words else []
    return "\n".join(parts)


async def copy_selection(chat: Chat) -> str:
    await chat.press("ctrl+c")
    return chat.app.clipboard


@pytest.fixture(autouse=True)
def true_color(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The terminal shows the exact background of a selection; `folders` sets up one with 256 colors."""
    monkeypatch.setenv("COLORTERM", "truecolor")


async def test_a_drag_selects_characters_and_ctrl_c_copies_them(opened: Opened) -> None:
    async with opened(ScriptedAgent(["Some plain words."])) as chat:
        await chat.send("go")
        await chat.until("Some plain words.")
        x, y = where(chat, "plain")
        await drag(chat, (x, y), (x + 4, y))
        assert read_highlight(chat) == "plain"
        assert await copy_selection(chat) == "plain"
        await chat.until(lambda: read_highlight(chat) == "")
        assert chat.app.is_running


async def test_selected_text_is_readable_in_every_theme(opened: Opened) -> None:
    async with opened(ScriptedAgent(["Some plain words."])) as chat:
        await chat.send("go")
        await chat.until("Some plain words.")
        x, y = where(chat, "plain")
        await drag(chat, (x, y), (x + 4, y))
        for theme in sorted(chat.app.available_themes):
            chat.app.theme = theme
            await chat.pilot.pause()
            strip = chat.app.screen._compositor.render_strips()[y]
            [marked] = [style for text, style, _ in strip if text == "plain"]
            assert marked is not None and marked.color is not None and marked.bgcolor is not None
            ink, ground = (Color.from_rich_color(each) for each in (marked.color, marked.bgcolor))
            assert marked.reverse or abs(ink.brightness - ground.brightness) > 0.15, theme
            base = chat.app.text_styles.base.bgcolor
            assert base is not None
            assert marked.reverse or abs(ground.brightness - Color.from_rich_color(base).brightness) > 0.05, theme


async def test_a_selection_spans_several_blocks_without_their_bars(opened: Opened) -> None:
    async with opened(ScriptedAgent(["```python\nx = 1\n\ny = 2\n```"])) as chat:
        await chat.send("write this")
        await chat.until("y = 2")
        await drag(chat, where(chat, "this"), where(chat, "y = 2"))
        assert await copy_selection(chat) == "this\n\nx = 1\n\ny"


async def test_an_upward_drag_selects_the_same_text(opened: Opened) -> None:
    async with opened(ScriptedAgent(["one two\n\nthree four"])) as chat:
        await chat.send("go")
        await chat.until("three four")
        (x, y), (a, b) = where(chat, "three"), where(chat, "two")
        await drag(chat, (x + 4, y), (a, b))
        assert await copy_selection(chat) == "two\n\nthree"


async def test_wrapped_lines_are_copied_as_one(opened: Opened) -> None:
    text = f"**First** {WORDS * 3}\nA line that was meant.\n\n- {WORDS * 2}\n- short"
    async with opened(ScriptedAgent([text]), size=(60, 40)) as chat:
        await chat.send("go")
        await chat.until("short")
        await drag(chat, where(chat, "First"), where(chat, "short"))
        expected = f"First {WORDS * 3}".rstrip() + "\nA line that was meant.\n\n• " + (WORDS * 2).rstrip() + "\n• s"
        assert await copy_selection(chat) == expected


@pytest.mark.parametrize("word, expected", [("name = 2", "name = 2\nlast = 3"), ("name = 1", "name = 1\nlast = 3")])
async def test_the_side_of_a_diff_where_the_drag_began_is_copied(opened: Opened, word: str, expected: str) -> None:
    async def change(turn: Turn) -> None:
        async with turn.tool("change it", kind="edit") as call:
            await call.diff("/a.py", "name = 1\nlast = 3\n", "name = 2\nlast = 3\n")

    async with opened(ScriptedAgent([change]), size=(200, 30)) as chat:
        await chat.press("f2")
        await chat.send("go")
        await chat.until("name = 2")
        x, y = where(chat, word)
        await drag(chat, (x, y), (x + 7, y + 1))
        assert await copy_selection(chat) == expected


async def test_line_numbers_and_signs_of_a_diff_are_not_copied(opened: Opened) -> None:
    async def change(turn: Turn) -> None:
        async with turn.tool("change it", kind="edit") as call:
            await call.diff("/a.py", None, "name = 1\nlast = 3\n")

    async with opened(ScriptedAgent([change]), size=(80, 30)) as chat:
        await chat.send("go")
        await chat.until("last = 3")
        await drag(chat, where(chat, "name = 1"), (70, where(chat, "last = 3")[1]))
        assert await copy_selection(chat) == "name = 1\nlast = 3"


async def test_images_are_not_copied_as_text(opened: Opened) -> None:
    from accord.showcase.media import image

    async def show(turn: Turn) -> None:
        await turn.say("before")
        await turn.say(image(20, 8))
        await turn.say("after")

    async with opened(ScriptedAgent([show])) as chat:
        await chat.send("go")
        await chat.until("▀▀▀▀")
        (x, y), (a, b) = where(chat, "before"), where(chat, "after")
        await drag(chat, (x, y), (a + 4, b))
        lines = (await copy_selection(chat)).splitlines()
        assert (lines[0], lines[-1], len(lines)) == ("before", "after", 3) and "▣ image" in lines[1]


async def test_wide_characters_are_selected_as_a_whole(opened: Opened) -> None:
    async with opened(ScriptedAgent(["日本語 text"])) as chat:
        await chat.send("go")
        await chat.until("日本語 text")
        _, y = where(chat, "text")
        await drag(chat, (4, y), (7, y))
        assert read_highlight(chat) == "本語"
        assert await copy_selection(chat) == "本語"


async def test_a_double_click_selects_a_word_and_a_triple_click_a_paragraph(opened: Opened) -> None:
    async with opened(ScriptedAgent([f"See src/app.py: it is {WORDS * 2}"]), size=(60, 30)) as chat:
        await chat.send("go")
        await chat.until("src/app.py")
        x, y = where(chat, "app")
        await click(chat, (x, y), times=2)
        assert await copy_selection(chat) == "src/app.py"
        await click(chat, (x, y), times=3)
        assert await copy_selection(chat) == f"See src/app.py: it is {WORDS * 2}".rstrip()


async def test_a_click_opens_an_item_and_a_double_click_leaves_it_unchanged(opened: Opened) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("look around") as call:
            await call.show("what was seen")

    async with opened(ScriptedAgent([work])) as chat:
        await chat.send("go")
        await chat.until("✓ • look around")
        x, y = where(chat, "around")
        await click(chat, (x, y))
        await chat.until("what was seen")
        await click(chat, (2, y))
        await chat.gone("what was seen")
        await click(chat, (x, y), times=2)
        assert "what was seen" not in chat.text
        assert await copy_selection(chat) == "around"


async def test_a_drag_neither_opens_nor_folds(opened: Opened) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("look around") as call:
            await call.show("what was seen")

    async with opened(ScriptedAgent([work])) as chat:
        await chat.send("go")
        await chat.until("✓ • look around")
        x, y = where(chat, "look")
        await drag(chat, (x, y), (x + 3, y))
        assert "what was seen" not in chat.text and read_highlight(chat) == "look"


async def test_a_click_elsewhere_or_escape_clears_the_selection(opened: Opened) -> None:
    async with opened(ScriptedAgent(["Some plain words."])) as chat:
        await chat.send("go")
        await chat.until("Some plain words.")
        x, y = where(chat, "plain")
        await drag(chat, (x, y), (x + 4, y))
        await click(chat, (40, y + 5))
        await chat.until(lambda: read_highlight(chat) == "")
        await drag(chat, (x, y), (x + 4, y))
        await chat.press("escape")
        await chat.until(lambda: read_highlight(chat) == "")


async def test_new_output_does_not_change_the_selected_text(opened: Opened) -> None:
    more, done = asyncio.Event(), asyncio.Event()

    async def stream(turn: Turn) -> None:
        await turn.say("alpha beta\n\n")
        await turn.say("gamma delta")
        await more.wait()
        for number in range(60):
            await turn.say(f" and more words {number}\n\n")
        await done.wait()

    async with opened(ScriptedAgent([stream])) as chat:
        await chat.send("go")
        await chat.until("gamma delta")
        (x, y), (a, b) = where(chat, "beta"), where(chat, "gamma")
        await drag(chat, (x, y), (a + 4, b))
        assert read_highlight(chat) == "beta\n \ngamma"
        more.set()
        await chat.until("and more words 59")
        assert "alpha" not in chat.text
        assert await copy_selection(chat) == "beta\n\ngamma"
        done.set()


async def test_the_view_does_not_scroll_while_text_is_being_selected(opened: Opened) -> None:
    more, said = asyncio.Event(), asyncio.Event()

    async def stream(turn: Turn) -> None:
        await turn.say("\n\n".join(f"line {number}" for number in range(40)))
        await more.wait()
        await turn.say("\n\n" + "\n\n".join(f"later {number}" for number in range(40)))
        said.set()

    async with opened(ScriptedAgent([stream])) as chat:
        await chat.send("go")
        await chat.until("line 39")
        x, y = where(chat, "line 35")
        before = chat.tab.transcript_view.timeline_layout.heights.total
        await mouse(chat, events.MouseDown, x, y)
        await mouse(chat, events.MouseMove, x + 3, y)
        more.set()
        await said.wait()
        await chat.until(lambda: chat.tab.transcript_view.timeline_layout.heights.total > before)
        assert where(chat, "line 35") == (x, y)
        await mouse(chat, events.MouseUp, x + 3, y)
        await chat.until("later 39")
        assert await copy_selection(chat) == "line"


async def test_selecting_scrolls_beyond_the_edges(opened: Opened) -> None:
    text = "\n\n".join(f"line {number}" for number in range(200))
    async with opened(ScriptedAgent([text])) as chat:
        await chat.send("go")
        await chat.until("line 199")
        x, y = where(chat, "line 190")
        await mouse(chat, events.MouseDown, x + 7, y)
        await mouse(chat, events.MouseMove, x, y - 1)  # from now on, the view gets the mouse
        await mouse(chat, events.MouseMove, x, 0)
        await chat.until("line 100")
        await mouse(chat, events.MouseMove, x, 15)  # back inside, where it stays
        top = next(line.split("│")[0].strip() for line in chat.lines[10:] if "line" in line)
        await mouse(chat, events.MouseMove, *where(chat, top))
        await mouse(chat, events.MouseUp, *where(chat, top))
        lines = (await copy_selection(chat)).split("\n\n")
        assert lines == [f"line {number}" for number in range(int(top.split()[1]), 191)]


async def test_the_selection_scrolls_with_the_wheel(opened: Opened) -> None:
    text = "\n\n".join(f"line {number}" for number in range(60))
    async with opened(ScriptedAgent([text])) as chat:
        await chat.send("go")
        await chat.until("line 59")
        x, y = where(chat, "line 55")
        await mouse(chat, events.MouseDown, x + 6, y)
        await mouse(chat, events.MouseMove, x, y - 2)
        for _ in range(4):
            await mouse(chat, events.MouseScrollUp, x, y - 2)
        await mouse(chat, events.MouseUp, x, y - 2)
        lines = (await copy_selection(chat)).split("\n\n")
        assert lines == [f"line {number}" for number in range(48, 56)]


async def test_y_prefers_selected_text_to_the_selected_item(opened: Opened) -> None:
    async with opened(ScriptedAgent(["Some plain words."])) as chat:
        await chat.send("go")
        await chat.until("Some plain words.")
        x, y = where(chat, "plain")
        await drag(chat, (x, y), (x + 4, y))
        await chat.press("tab", "y")
        assert chat.app.clipboard == "plain"
        await chat.press("y")
        assert chat.app.clipboard == "Some plain words."


async def test_random_mouse_input_while_the_agent_writes_breaks_nothing(opened: Opened) -> None:
    go_on = True

    async def stream(turn: Turn) -> None:
        number = 0
        while go_on:
            number += 1
            await asyncio.sleep(0.02)
            await turn.say(f"Words {number} and *more* of them, `code` too. ")
            if number % 5 == 0:
                await turn.say("\n\n- an item\n- 日本語\n\n```python\nx = 1\n```\n\n")
            if number % 20 == 0:
                async with turn.tool(f"look {number}") as call:
                    await call.show(f"what was seen {number}")

    async with opened(ScriptedAgent([stream]), size=(90, 24)) as chat:
        chance = random.Random(11)
        await chat.send("go")
        await chat.until("Words 1")
        kinds = [events.MouseDown, events.MouseMove, events.MouseMove, events.MouseMove, events.MouseUp]
        for step in range(60):
            x, y = chance.randrange(90), chance.randrange(20)
            await mouse(chat, chance.choice(kinds), x, y, button=chance.choice([1, 1, 1, 0, 3]))
            if step % 7 == 0:
                await chat.pilot.click(chat.tab.transcript_view, offset=(x % 60, y % 15), times=chance.randint(1, 3))
            if step % 11 == 0:
                chat.tab.transcript_view.scroll_rows(chance.randint(-40, 40))
            if step % 20 == 0:
                await chat.pilot.resize_terminal(chance.randint(50, 120), 24)
            chat.app.screen.get_selected_text()
        await mouse(chat, events.MouseUp, 0, 0)
        go_on = False
        await chat.until("● ready")
        assert chat.app.is_running


# -- what moves


def long_message() -> Layout:
    transcript = Transcript("s")
    for number in range(1500):
        transcript.append_text("agent", "a", f"Paragraph {number} has *some* words.\n\n")
    layout = Layout(BlockContext(TextStyles(COLORS, dark=True), width=60))
    layout.rows = 20
    layout.show(transcript)
    while layout.is_behind:
        layout.update(())
    return layout


def place_of(layout: Layout, words: str) -> Position:
    lines = layout.blocks.lines(0)
    row = next(at for at, line in enumerate(lines) if words in line.text)
    return Position(0, row, line_text(lines[row], RIGHT).index(words))


def test_a_selection_moves_with_its_line_when_the_skipped_part_is_rendered() -> None:
    layout = long_message()
    first, last = place_of(layout, "1490"), place_of(layout, "1495")
    marked = select_range(layout, first, last._replace(at=last.at + 3))
    for _ in range(30):
        layout.scroll(-10)
    moved = reanchor(layout, marked)
    assert moved is not None and moved.first.place.row > first.row
    words = selected_text(layout, moved)
    assert words.startswith("1490 has some words.\n\nParagraph 1491") and words.endswith("Paragraph 1495")


def test_a_selection_is_dropped_with_its_text() -> None:
    layout = long_message()
    place = place_of(layout, "1490")
    marked = select_range(layout, place, place)
    layout.timeline[0].pieces[:] = ["Something else is said now."]  # type: ignore[union-attr]
    layout.blocks.get(0)._begin()  # type: ignore[attr-defined]
    layout.update([("agent", "a")])
    assert reanchor(layout, marked) is None


def test_a_selection_keeps_its_text_when_the_width_changes_or_is_dropped() -> None:
    layout = long_message()
    place = place_of(layout, "1490")
    marked = select_range(layout, place, place._replace(at=place.at + 3))
    layout.context.width = 30
    layout.invalidate()
    layout.compose()
    moved = reanchor(layout, marked)
    assert moved is None or selected_text(layout, moved) == "1490"
