"""Pictures in the conversation: drawn below their names where the terminal can, once, and sent in order."""

from __future__ import annotations

import asyncio
import base64
import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from chatting import PATIENCE, Opened
from looks import COLOURS
from PIL import Image as Pillow
from pixels import bomb, encoded
from textual.strip import Strip

from accord.agent.turn import Turn
from accord.model.content import Image
from accord.testing import ScriptedAgent
from accord.transcript.transcript import Transcript
from accord.tui.conversation import picture, picture_paint
from accord.tui.conversation.block import Setting
from accord.tui.conversation.layout import Layout
from accord.tui.conversation.picture import Gallery
from accord.tui.conversation.picture_sending import Sender
from accord.tui.conversation.picture_way import BLOCKS, OFF, Way
from accord.tui.look import Look

# -- in the conversation


class Wall:
    """A transcript laid out with pictures, without a window."""

    def __init__(self, found: Way = BLOCKS, sender: Sender | None = None) -> None:
        self.written: list[str] = []
        self.sender = sender or Sender(self.written.append)
        self.gallery = Gallery(lambda: found, self.sender, self._drawn)
        self.transcript = Transcript("s")
        self.layout = Layout(Setting(Look(COLOURS, dark=True), width=40, pictures=self.gallery))
        self.layout.rows = 30
        self.layout.show(self.transcript)

    def _drawn(self, blocks: set[Any]) -> None:
        self.layout.redraw(blocks)

    def say(self, *pieces: str | Image) -> None:
        for piece in pieces:
            if isinstance(piece, str):
                self.transcript.append_text("agent", "a", piece)
            else:
                self.transcript.append("agent", "a", piece)
        self.layout.take([("agent", "a")])

    @property
    def lines(self) -> list[str]:
        return [line.text.rstrip() for line, _ in self.layout.picture]

    async def until(self, wanted: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not wanted():  # noqa: ASYNC110  # as a person looks at a screen
                await asyncio.sleep(0.005)


async def test_a_picture_is_drawn_below_its_name_and_what_follows_stands_below_it() -> None:
    wall = Wall()
    wall.say("Look:", Image(encoded(size=(8, 4)), "image/png"), "That was it.")
    await wall.until(lambda: "▀" in "".join(wall.lines))
    assert wall.lines[1] == "  Look:"
    assert wall.lines[2].startswith("  ▣ image  image/png")
    assert wall.lines[3:6] == ["  ▀▀▀▀▀▀▀▀", "  ▀▀▀▀▀▀▀▀", "  That was it."]


async def test_the_pictures_of_the_user_are_drawn() -> None:
    wall = Wall()
    wall.transcript.append_text("user", "u", "What is this?")
    wall.transcript.append("user", "u", Image(encoded(), "image/png"))
    wall.layout.take([("user", "u")])
    await wall.until(lambda: "".join(wall.lines).count("▀") == 32)
    assert wall.lines[1].startswith("▌ What is this?") and wall.lines[3].startswith("▌ ▀▀▀▀▀▀▀▀")


async def test_the_place_of_a_picture_is_kept_while_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Wall()
    wall.say(Image(encoded(), "image/png"), "one")
    await wall.until(lambda: "▀" in "".join(wall.lines))
    wall.say(Image(encoded(colour="blue"), "image/png"), "two")
    before = wall.lines.index("  two")
    assert wall.lines[before - 4 : before] == [""] * 4
    await wall.until(lambda: "".join(wall.lines).count("▀") == 64)
    assert wall.lines.index("  two") == before


async def test_a_message_that_grows_does_not_decode_its_pictures_again(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    really = picture_paint.as_blocks

    def counted(*words: Any, **more: Any) -> list[Strip]:
        decoded.append(words)
        return really(*words, **more)

    monkeypatch.setattr(picture_paint, "as_blocks", counted)
    wall = Wall()
    wall.say(Image(encoded(), "image/png"))
    await wall.until(lambda: "▀" in "".join(wall.lines))
    for number in range(50):
        wall.say(f"word {number} ")
    assert "word 49" in "".join(wall.lines) and "▀" in "".join(wall.lines)
    assert len(decoded) == 1


@pytest.mark.parametrize("data", [encoded()[:-40], encoded("JPEG", (64, 64))[:400], bomb(30, 30), bomb(60_000, 60_000)])
async def test_a_picture_that_is_broken_is_named_alone(data: str) -> None:
    wall = Wall()
    wall.say("one", Image(data, "image/png"), "two")
    await wall.until(lambda: wall.gallery._way is not None and not wall.gallery._tasks)
    assert wall.lines[1] == "  one" and "▣ image" in wall.lines[2] and wall.lines[3] == "  two"
    assert len(wall.lines) == 4


async def test_nothing_is_drawn_where_pictures_are_off() -> None:
    wall = Wall(OFF)
    wall.say(Image(encoded(), "image/png"), "two")
    await wall.until(lambda: wall.gallery._way is not None)
    assert "▣ image" in wall.lines[1] and wall.lines[2] == "  two"


async def test_the_terminal_gets_a_picture_once_and_forgets_it_at_the_end() -> None:
    wall = Wall(Way("graphics", cell=(8.0, 16.0)))
    wall.say(Image(encoded(size=(80, 64)), "image/png"), "two")
    await wall.until(lambda: "\U0010eeee" in "".join(wall.lines))
    wall.say("three")
    assert len(wall.written) == 1
    number = re.search(r"i=(\d+),c=10,r=4,", wall.written[0])
    assert number is not None
    assert len([line for line in wall.lines if "\U0010eeee" in line]) == 4
    wall.gallery.close()
    assert wall.written[1:] == [f"\x1b_Ga=d,d=I,i={number[1]},q=2;\x1b\\"]
    wall.say(Image(encoded(size=(16, 16)), "image/png"))
    assert len(wall.written) == 2


def noise() -> Image:
    """A picture that is sent in many pieces."""
    file = io.BytesIO()
    Pillow.effect_noise((200, 200), 90).convert("RGB").save(file, "PNG")
    return Image(base64.b64encode(file.getvalue()).decode(), "image/png")


async def test_a_slow_terminal_gets_a_picture_bit_by_bit() -> None:
    wall = Wall(Way("graphics", cell=(8.0, 16.0)))
    looks: list[bool] = []
    slow = True

    def is_busy() -> bool:
        looks.append(slow and bool(wall.written))
        return looks[-1]

    wall.sender.is_busy = is_busy
    wall.say(noise())
    await wall.until(lambda: len(looks) > 3)
    assert len(wall.written) == 1 and "m=1;" in wall.written[0], "the rest waits"
    slow = False
    await wall.until(lambda: "\U0010eeee" in "".join(wall.lines))
    assert len(wall.written) > 3 and "m=0;" in wall.written[-1]


def heard(written: list[str]) -> list[str]:
    """What the terminal is told about pictures: one that began, goes on, ended; was forgotten. In the middle of one,
    nothing but the rest of it can be said."""
    told = []
    in_the_middle = False
    for control in re.findall("\x1b_G([^;]*);", "".join(written)):
        words = dict(word.split("=") for word in control.split(","))
        assert in_the_middle == ("a" not in words), f"{control} after {told}"
        if words.get("a") == "d":
            told.append(f"forget {words['i']}")
        else:
            if not in_the_middle:
                told.append(f"begin {words['i']}")
            in_the_middle = words["m"] == "1"
            if not in_the_middle:
                told.append("end")
    assert not in_the_middle, f"what comes next is taken for more of it: {told}"
    return told


async def test_the_pictures_of_two_tabs_are_sent_one_after_the_other() -> None:
    first = Wall(Way("graphics", cell=(8.0, 16.0)))
    second = Wall(Way("graphics", cell=(8.0, 16.0)), first.sender)
    for wall in (first, second):
        wall.say(noise())
    for wall in (first, second):
        await wall.until(lambda wall=wall: "\U0010eeee" in "".join(wall.lines))  # type: ignore[misc]
    assert [each.split()[0] for each in heard(first.written)] == ["begin", "end", "begin", "end"]


async def test_a_picture_that_is_forgotten_on_its_way_is_ended_and_taken_out() -> None:
    wall = Wall(Way("graphics", cell=(8.0, 16.0)))
    wall.say(noise())
    await wall.until(lambda: wall.written)
    wall.gallery.close()
    await wall.until(lambda: not wall.gallery._tasks)
    number = heard(wall.written)[0].split()[1]
    assert heard(wall.written) == [f"begin {number}", "end", f"forget {number}"]


async def test_a_picture_is_not_taken_out_in_the_middle_of_another() -> None:
    first = Wall(Way("graphics", cell=(8.0, 16.0)))
    second = Wall(Way("graphics", cell=(8.0, 16.0)), first.sender)
    first.say(Image(encoded(size=(80, 64)), "image/png"))
    await first.until(lambda: "\U0010eeee" in "".join(first.lines))
    before = len(first.written)
    second.say(noise())
    await first.until(lambda: len(first.written) > before)
    first.gallery.close()
    assert "a=d" not in "".join(first.written), "it waits"
    await second.until(lambda: "\U0010eeee" in "".join(second.lines))
    told = heard(first.written)
    assert [each.split()[0] for each in told] == ["begin", "end", "begin", "end", "forget"]
    assert told[-1].split()[1] == told[0].split()[1]


async def test_a_picture_that_nobody_waits_for_any_more_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "KEPT_LINES", 1)
    wall = Wall(Way("graphics", cell=(8.0, 16.0)))
    wall.gallery._way = Way("graphics", cell=(8.0, 16.0))
    async with wall.sender.one_by_one:
        for colour in ("red", "green", "blue"):
            wall.transcript.append("agent", colour, Image(encoded(size=(80, 16), colour=colour), "image/png"))
        wall.layout.take(())
        assert wall.lines and len(wall.gallery._tasks) > len(wall.gallery._kept)
        wall.layout.jump(0)
        wall.layout.rows = 1
    await wall.until(lambda: not wall.gallery._tasks)
    assert len(heard(wall.written)) <= 2 * len(wall.gallery._kept)


async def test_a_terminal_that_cannot_be_asked_gets_no_pictures() -> None:
    wall = Wall()

    def fail() -> Way:
        raise RuntimeError("what terminal?")

    wall.gallery._find_way = fail
    wall.say(Image(encoded(), "image/png"), "two")
    await wall.until(lambda: wall.gallery._way is OFF)
    assert "▣ image" in wall.lines[1] and wall.lines[2] == "  two"


async def test_a_picture_is_sent_again_when_somebody_else_had_the_terminal() -> None:
    wall = Wall(Way("graphics", cell=(8.0, 16.0)))
    wall.say(Image(encoded(size=(80, 64)), "image/png"), "two")
    await wall.until(lambda: "\U0010eeee" in "".join(wall.lines))
    wall.gallery.forget()
    assert "\U0010eeee" not in "".join(wall.lines)
    await wall.until(lambda: "\U0010eeee" in "".join(wall.lines))
    assert [("a=T" in each, "a=d" in each) for each in wall.written] == [(True, False), (False, True), (True, False)]


async def test_only_so_many_pictures_are_kept_and_those_that_are_seen_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "KEPT_LINES", 2)
    wall = Wall(Way("graphics", cell=(8.0, 16.0)))
    for colour in ("red", "green", "blue"):
        wall.transcript.append("agent", colour, Image(encoded(size=(80, 16), colour=colour), "image/png"))
    wall.layout.rows = 4
    wall.layout.take(())
    wall.layout.jump(0)
    await wall.until(lambda: "\U0010eeee" in "".join(wall.lines))
    wall.layout.jump(None)
    await wall.until(lambda: "\U0010eeee" in "".join(wall.lines))
    await wall.until(lambda: not wall.gallery._tasks)
    assert len(wall.gallery._kept) <= 2


# -- on the screen


async def test_pictures_of_the_agent_and_its_tools_are_drawn_as_the_user_chooses(opened: Opened, no_tmux: None) -> None:
    image = Image(encoded(size=(20, 8)), "image/png")

    async def show(turn: Turn) -> None:
        async with turn.tool("take a picture", kind="other") as call:
            await call.show(image)
        await turn.say(image)

    async with opened(ScriptedAgent([show])) as chat:
        await chat.send("go")
        await chat.until(lambda: chat.text.count("▀" * 20) == 8)
        await chat.press("f10")
        for before, after in (("auto", "graphics"), ("graphics", "blocks"), ("blocks", "off")):
            await chat.until(f"Pictures: {before}")
            await chat.type("Pictures")
            await chat.press("enter")
            await chat.until("how they are shown")
            await chat.type(after)
            await chat.press("enter")
            await chat.until(f"Pictures: {after}")
        await chat.press("escape")
        await chat.until(lambda: "Pictures" not in chat.text and "▀" not in chat.text)


async def test_for_a_screen_reader_pictures_are_named(
    opened: Opened, no_tmux: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCORD_SCREEN_READER", "1")

    async def show(turn: Turn) -> None:
        await turn.say(Image(encoded(size=(20, 8)), "image/png"))
        await turn.say("That was it.")

    async with opened(ScriptedAgent([show])) as chat:
        await chat.send("go")
        await chat.until("That was it.")
        await chat.until(lambda: chat.pane.conversation.pictures._way is OFF)
        assert "image/png" in chat.text and "▀" not in chat.text


@pytest.fixture
def no_tmux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")


async def test_a_picture_below_what_was_passed_over_stays_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    held = asyncio.Event()
    really = picture_paint.as_blocks
    loop = asyncio.get_running_loop()

    def late(*words: Any, **more: Any) -> list[Strip]:
        asyncio.run_coroutine_threadsafe(held.wait(), loop).result(PATIENCE)
        return really(*words, **more)

    monkeypatch.setattr(picture_paint, "as_blocks", late)
    wall = Wall()
    wall.gallery._way = BLOCKS
    wall.say("\n\n".join(f"Paragraph {number} of many." for number in range(3000)))
    assert wall.layout.block(0).left_out is not None
    wall.say(Image(encoded(), "image/png"), "The end.")
    while "The end." not in "".join(wall.lines):
        wall.layout.take(())
    for _ in range(20):
        wall.layout.move(-20)
    held.set()
    await wall.until(lambda: not wall.gallery._tasks)
    wall.layout.jump(None)
    end = next(at for at, line in enumerate(wall.lines) if "The end." in line)
    assert [line.strip() for line in wall.lines[end - 4 : end]] == ["▀" * 8] * 4
    assert "▣ image" in wall.lines[end - 5] and "Paragraph 2999" in "".join(wall.lines[: end - 5])
