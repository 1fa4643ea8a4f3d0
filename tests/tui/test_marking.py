"""Marking text in the conversation with the mouse: dragging, words, paragraphs, and what is copied."""

from __future__ import annotations

import asyncio
import random

import pytest
from chatting import Chat, Opened
from looks import COLOURS
from textual import events
from textual.color import Color

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.transcript.transcript import Transcript
from accord.tui.conversation.block import Setting
from accord.tui.conversation.layout import Layout
from accord.tui.conversation.marking import RIGHT, Place, anchored, between, said, saying
from accord.tui.look import Look

WORDS = "The quick brown fox jumps over the lazy dog and then walks home along the river to sleep. "


async def mouse(chat: Chat, kind: type[events.MouseEvent], x: int, y: int, button: int = 1) -> None:
    """What a terminal tells of the mouse."""
    event = kind(None, x, y, 0, 0, button, False, False, False, screen_x=x, screen_y=y)
    chat.app.screen._forward_event(event) if kind is events.MouseMove else await chat.app.on_event(event)
    await chat.pilot.pause()


async def drag(chat: Chat, start: tuple[int, int], end: tuple[int, int]) -> None:
    await mouse(chat, events.MouseDown, *start)
    await mouse(chat, events.MouseMove, *end)
    await mouse(chat, events.MouseUp, *end)


def where(chat: Chat, words: str) -> tuple[int, int]:
    """Where something is on the screen."""
    for y, line in enumerate(chat.lines):
        if words in line:
            return line.index(words), y
    raise AssertionError(f"{words!r} is not on the screen:\n{chat.text}")


def highlighted(chat: Chat) -> str:
    """What is painted as marked."""
    ground = chat.pane.conversation.mark_style().bgcolor
    parts = []
    for strip in chat.app.screen._compositor.render_strips():
        words = "".join(text for text, style, _ in strip if style is not None and ground and style.bgcolor == ground)
        parts += [words] if words else []
    return "\n".join(parts)


async def copied(chat: Chat) -> str:
    await chat.press("ctrl+c")
    return chat.app.clipboard


@pytest.fixture(autouse=True)
def colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("TERM", "xterm-256color")


async def test_a_drag_marks_characters_and_ctrl_c_copies_them(opened: Opened) -> None:
    async with opened(ScriptedAgent(["Some plain words."])) as chat:
        await chat.send("go")
        await chat.until("Some plain words.")
        x, y = where(chat, "plain")
        await drag(chat, (x, y), (x + 4, y))
        assert highlighted(chat) == "plain"
        assert await copied(chat) == "plain"
        await chat.until(lambda: highlighted(chat) == "")
        assert chat.app.is_running


async def test_what_is_marked_can_be_read_in_every_theme(opened: Opened) -> None:
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
            base = chat.app.look.base.bgcolor
            assert base is not None
            assert marked.reverse or abs(ground.brightness - Color.from_rich_color(base).brightness) > 0.05, theme


async def test_what_is_marked_reaches_over_several_blocks_without_their_bars(opened: Opened) -> None:
    async with opened(ScriptedAgent(["```python\nx = 1\n\ny = 2\n```"])) as chat:
        await chat.send("write this")
        await chat.until("y = 2")
        await drag(chat, where(chat, "this"), where(chat, "y = 2"))
        assert await copied(chat) == "this\n\nx = 1\n\ny"


async def test_a_drag_upwards_marks_the_same(opened: Opened) -> None:
    async with opened(ScriptedAgent(["one two\n\nthree four"])) as chat:
        await chat.send("go")
        await chat.until("three four")
        (x, y), (a, b) = where(chat, "three"), where(chat, "two")
        await drag(chat, (x + 4, y), (a, b))
        assert await copied(chat) == "two\n\nthree"


async def test_lines_that_were_broken_to_fit_are_copied_whole(opened: Opened) -> None:
    text = f"**First** {WORDS * 3}\nA line that was meant.\n\n- {WORDS * 2}\n- short"
    async with opened(ScriptedAgent([text]), size=(60, 40)) as chat:
        await chat.send("go")
        await chat.until("short")
        await drag(chat, where(chat, "First"), where(chat, "short"))
        expected = f"First {WORDS * 3}".rstrip() + "\nA line that was meant.\n\n • " + (WORDS * 2).rstrip() + "\n • s"
        assert await copied(chat) == expected


@pytest.mark.parametrize("word, expected", [("name = 2", "name = 2\nlast = 3"), ("name = 1", "name = 1\nlast = 3")])
async def test_of_a_change_the_side_is_copied_where_the_drag_began(opened: Opened, word: str, expected: str) -> None:
    async def change(turn: Turn) -> None:
        async with turn.tool("change it", kind="edit") as call:
            await call.diff("/a.py", "name = 1\nlast = 3\n", "name = 2\nlast = 3\n")

    async with opened(ScriptedAgent([change]), size=(200, 30)) as chat:
        await chat.press("f2")
        await chat.send("go")
        await chat.until("name = 2")
        x, y = where(chat, word)
        await drag(chat, (x, y), (x + 7, y + 1))
        assert await copied(chat) == expected


async def test_numbers_and_signs_of_a_change_are_not_copied(opened: Opened) -> None:
    async def change(turn: Turn) -> None:
        async with turn.tool("change it", kind="edit") as call:
            await call.diff("/a.py", None, "name = 1\nlast = 3\n")

    async with opened(ScriptedAgent([change]), size=(80, 30)) as chat:
        await chat.send("go")
        await chat.until("last = 3")
        await drag(chat, where(chat, "name = 1"), (70, where(chat, "last = 3")[1]))
        assert await copied(chat) == "name = 1\nlast = 3"


async def test_pictures_are_no_text(opened: Opened) -> None:
    from accord.showcase.specimens import picture

    async def show(turn: Turn) -> None:
        await turn.say("before")
        await turn.say(picture(20, 8))
        await turn.say("after")

    async with opened(ScriptedAgent([show])) as chat:
        await chat.send("go")
        await chat.until("▀▀▀▀")
        (x, y), (a, b) = where(chat, "before"), where(chat, "after")
        await drag(chat, (x, y), (a + 4, b))
        lines = (await copied(chat)).splitlines()
        assert (lines[0], lines[-1], len(lines)) == ("before", "after", 3) and "▣ image" in lines[1]


async def test_wide_letters_are_marked_whole(opened: Opened) -> None:
    async with opened(ScriptedAgent(["日本語 text"])) as chat:
        await chat.send("go")
        await chat.until("日本語 text")
        _, y = where(chat, "text")
        await drag(chat, (4, y), (7, y))
        assert highlighted(chat) == "本語"
        assert await copied(chat) == "本語"


async def test_two_clicks_mark_a_word_and_three_a_paragraph(opened: Opened) -> None:
    async with opened(ScriptedAgent([f"See src/app.py: it is {WORDS * 2}"]), size=(60, 30)) as chat:
        await chat.send("go")
        await chat.until("src/app.py")
        x, y = where(chat, "app")
        await chat.pilot.click(chat.pane.conversation, offset=(x, y), times=2)
        assert await copied(chat) == "src/app.py"
        await chat.pilot.click(chat.pane.conversation, offset=(x, y), times=3)
        assert await copied(chat) == f"See src/app.py: it is {WORDS * 2}".rstrip()


async def test_one_click_opens_and_two_leave_it_as_it_was(opened: Opened) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("look around") as call:
            await call.show("what was seen")

    async with opened(ScriptedAgent([work])) as chat:
        await chat.send("go")
        await chat.until("✓ • look around")
        x, y = where(chat, "around")
        await chat.pilot.click(chat.pane.conversation, offset=(x, y))
        await chat.until("what was seen")
        await chat.pilot.click(chat.pane.conversation, offset=(2, y))
        await chat.gone("what was seen")
        await chat.pilot.click(chat.pane.conversation, offset=(x, y), times=2)
        assert "what was seen" not in chat.text
        assert await copied(chat) == "around"


async def test_a_drag_neither_opens_nor_folds(opened: Opened) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("look around") as call:
            await call.show("what was seen")

    async with opened(ScriptedAgent([work])) as chat:
        await chat.send("go")
        await chat.until("✓ • look around")
        x, y = where(chat, "look")
        await drag(chat, (x, y), (x + 3, y))
        assert "what was seen" not in chat.text and highlighted(chat) == "look"


async def test_a_click_elsewhere_and_escape_take_the_mark_away(opened: Opened) -> None:
    async with opened(ScriptedAgent(["Some plain words."])) as chat:
        await chat.send("go")
        await chat.until("Some plain words.")
        x, y = where(chat, "plain")
        await drag(chat, (x, y), (x + 4, y))
        await chat.pilot.click(chat.pane.conversation, offset=(40, y + 5))
        await chat.until(lambda: highlighted(chat) == "")
        await drag(chat, (x, y), (x + 4, y))
        await chat.press("escape")
        await chat.until(lambda: highlighted(chat) == "")


async def test_what_comes_while_something_is_marked_does_not_change_what_it_is(opened: Opened) -> None:
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
        assert highlighted(chat) == "beta\n \ngamma"
        more.set()
        await chat.until("and more words 59")
        assert "alpha" not in chat.text
        assert await copied(chat) == "beta\n\ngamma"
        done.set()


async def test_the_view_stands_while_something_is_being_marked(opened: Opened) -> None:
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
        before = chat.pane.conversation.layout_of.heights.total
        await mouse(chat, events.MouseDown, x, y)
        await mouse(chat, events.MouseMove, x + 3, y)
        more.set()
        await said.wait()
        await chat.until(lambda: chat.pane.conversation.layout_of.heights.total > before)
        assert where(chat, "line 35") == (x, y)
        await mouse(chat, events.MouseUp, x + 3, y)
        await chat.until("later 39")
        assert await copied(chat) == "line"


async def test_marking_goes_on_beyond_the_edges(opened: Opened) -> None:
    text = "\n\n".join(f"line {number}" for number in range(200))
    async with opened(ScriptedAgent([text])) as chat:
        await chat.send("go")
        await chat.until("line 199")
        x, y = where(chat, "line 190")
        await mouse(chat, events.MouseDown, x + 7, y)
        await mouse(chat, events.MouseMove, x, 0)
        await chat.until("line 100")
        await mouse(chat, events.MouseMove, x, 15)  # back inside, where it stands still
        top = next(line.split("│")[0].strip() for line in chat.lines[10:] if "line" in line)
        await mouse(chat, events.MouseMove, *where(chat, top))
        await mouse(chat, events.MouseUp, *where(chat, top))
        lines = (await copied(chat)).split("\n\n")
        assert lines == [f"line {number}" for number in range(int(top.split()[1]), 191)]


async def test_the_wheel_takes_the_mark_along(opened: Opened) -> None:
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
        lines = (await copied(chat)).split("\n\n")
        assert lines == [f"line {number}" for number in range(48, 56)]


async def test_y_copies_what_is_marked_before_what_is_selected(opened: Opened) -> None:
    async with opened(ScriptedAgent(["Some plain words."])) as chat:
        await chat.send("go")
        await chat.until("Some plain words.")
        x, y = where(chat, "plain")
        await drag(chat, (x, y), (x + 4, y))
        await chat.press("tab", "y")
        assert chat.app.clipboard == "plain"
        await chat.press("y")
        assert chat.app.clipboard == "Some plain words."


async def test_whatever_the_mouse_does_while_the_agent_writes_nothing_breaks(opened: Opened) -> None:
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
                await chat.pilot.click(chat.pane.conversation, offset=(x % 60, y % 15), times=chance.randint(1, 3))
            if step % 11 == 0:
                chat.pane.conversation.scroll_rows(chance.randint(-40, 40))
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
    layout = Layout(Setting(Look(COLOURS, dark=True), width=60))
    layout.rows = 20
    layout.show(transcript)
    while layout.is_behind:
        layout.take(())
    return layout


def place_of(layout: Layout, words: str) -> Place:
    lines = layout.lines(0)
    row = next(at for at, line in enumerate(lines) if words in line.text)
    return Place(0, row, saying(lines[row], RIGHT).index(words))


def test_a_mark_goes_with_its_line_when_what_was_passed_over_is_drawn() -> None:
    layout = long_message()
    first, last = place_of(layout, "1490"), place_of(layout, "1495")
    marked = between(layout, first, last._replace(at=last.at + 3))
    for _ in range(30):
        layout.move(-10)
    moved = anchored(layout, marked)
    assert moved is not None and moved.first.place.row > first.row
    words = said(layout, moved)
    assert words.startswith("1490 has some words.\n\nParagraph 1491") and words.endswith("Paragraph 1495")


def test_a_mark_goes_away_with_what_was_marked() -> None:
    layout = long_message()
    place = place_of(layout, "1490")
    marked = between(layout, place, place)
    layout.timeline[0].pieces[:] = ["Something else is said now."]  # type: ignore[union-attr]
    layout.block(0)._begin()  # type: ignore[attr-defined]
    layout.take([("agent", "a")])
    assert anchored(layout, marked) is None


def test_the_mark_stays_when_the_window_gets_another_width_or_goes() -> None:
    layout = long_message()
    place = place_of(layout, "1490")
    marked = between(layout, place, place._replace(at=place.at + 3))
    layout.setting.width = 30
    layout.forget_drawn()
    layout.compose()
    moved = anchored(layout, marked)
    assert moved is None or said(layout, moved) == "1490"
