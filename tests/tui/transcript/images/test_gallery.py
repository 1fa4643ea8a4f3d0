"""Images in the transcript: drawn below their names if the terminal can, once, and sent in order."""

from __future__ import annotations

import asyncio
import base64
import io
import re
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image as Pillow
from support.images import bomb, encode_image
from support.theme import COLORS
from support.tui_driver import TIMEOUT_SECONDS, Opened
from textual.strip import Strip

from accord.agent.turn import Turn
from accord.model.content import Image
from accord.testing import ScriptedAgent
from accord.transcript.transcript import Transcript
from accord.tui.theme import TextStyles
from accord.tui.transcript.blocks.base import BlockContext
from accord.tui.transcript.images import decode, gallery
from accord.tui.transcript.images.gallery import Gallery
from accord.tui.transcript.images.support import BLOCKS, OFF, ImageSupport
from accord.tui.transcript.images.upload import ImageUploader
from accord.tui.transcript.layout import Layout

# -- in the conversation


class Wall:
    """A transcript with images, laid out without an application."""

    def __init__(self, found: ImageSupport = BLOCKS, uploader: ImageUploader | None = None) -> None:
        self.written: list[str] = []
        self.uploader = uploader or ImageUploader(self.written.append)
        self.gallery = Gallery(lambda: found, self.uploader, self._drawn)
        self.transcript = Transcript("s")
        self.layout = Layout(BlockContext(TextStyles(COLORS, dark=True), width=40, gallery=self.gallery))
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
        self.layout.update([("agent", "a")])

    @property
    def lines(self) -> list[str]:
        return [line.text.rstrip() for line, _ in self.layout.visible_lines]

    async def until(self, wanted: Callable[[], Any]) -> None:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            while not wanted():  # noqa: ASYNC110  # poll, as a user looks at a screen
                await asyncio.sleep(0.005)


async def test_an_image_is_drawn_between_its_name_and_the_following_text() -> None:
    wall = Wall()
    wall.say("Look:", Image(encode_image(size=(8, 4)), "image/png"), "That was it.")
    await wall.until(lambda: "▀" in "".join(wall.lines))
    assert wall.lines[1] == "  Look:"
    assert wall.lines[2].startswith("  ▣ image  image/png")
    assert wall.lines[3:6] == ["  ▀▀▀▀▀▀▀▀", "  ▀▀▀▀▀▀▀▀", "  That was it."]


async def test_the_users_images_are_drawn() -> None:
    wall = Wall()
    wall.transcript.append_text("user", "u", "What is this?")
    wall.transcript.append("user", "u", Image(encode_image(), "image/png"))
    wall.layout.update([("user", "u")])
    await wall.until(lambda: "".join(wall.lines).count("▀") == 32)
    assert wall.lines[1].startswith("▌ What is this?") and wall.lines[3].startswith("▌ ▀▀▀▀▀▀▀▀")


async def test_the_area_of_an_image_is_reserved_while_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Wall()
    wall.say(Image(encode_image(), "image/png"), "one")
    await wall.until(lambda: "▀" in "".join(wall.lines))
    wall.say(Image(encode_image(color="blue"), "image/png"), "two")
    before = wall.lines.index("  two")
    assert wall.lines[before - 4 : before] == [""] * 4
    await wall.until(lambda: "".join(wall.lines).count("▀") == 64)
    assert wall.lines.index("  two") == before


async def test_a_growing_message_does_not_decode_its_images_again(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = []
    really = decode.as_blocks

    def count(*words: Any, **more: Any) -> list[Strip]:
        decoded.append(words)
        return really(*words, **more)

    monkeypatch.setattr(decode, "as_blocks", count)
    wall = Wall()
    wall.say(Image(encode_image(), "image/png"))
    await wall.until(lambda: "▀" in "".join(wall.lines))
    for number in range(50):
        wall.say(f"word {number} ")
    assert "word 49" in "".join(wall.lines) and "▀" in "".join(wall.lines)
    assert len(decoded) == 1


@pytest.mark.parametrize(
    "data", [encode_image()[:-40], encode_image("JPEG", (64, 64))[:400], bomb(30, 30), bomb(60_000, 60_000)]
)
async def test_only_the_name_of_a_broken_image_is_shown(data: str) -> None:
    wall = Wall()
    wall.say("one", Image(data, "image/png"), "two")
    await wall.until(lambda: wall.gallery._support is not None and not wall.gallery._tasks)
    assert wall.lines[1] == "  one" and "▣ image" in wall.lines[2] and wall.lines[3] == "  two"
    assert len(wall.lines) == 4


async def test_nothing_is_drawn_if_images_are_off() -> None:
    wall = Wall(OFF)
    wall.say(Image(encode_image(), "image/png"), "two")
    await wall.until(lambda: wall.gallery._support is not None)
    assert "▣ image" in wall.lines[1] and wall.lines[2] == "  two"


async def test_an_image_is_sent_once_and_deleted_on_exit() -> None:
    wall = Wall(ImageSupport("graphics", cell=(8.0, 16.0)))
    wall.say(Image(encode_image(size=(80, 64)), "image/png"), "two")
    await wall.until(lambda: "\U0010eeee" in "".join(wall.lines))
    wall.say("three")
    assert len(wall.written) == 1
    number = re.search(r"i=(\d+),c=10,r=4,", wall.written[0])
    assert number is not None
    assert len([line for line in wall.lines if "\U0010eeee" in line]) == 4
    wall.gallery.close()
    assert wall.written[1:] == [f"\x1b_Ga=d,d=I,i={number[1]},q=2;\x1b\\"]
    wall.say(Image(encode_image(size=(16, 16)), "image/png"))
    assert len(wall.written) == 2


def noise() -> Image:
    """An image that is sent in many pieces."""
    file = io.BytesIO()
    Pillow.effect_noise((200, 200), 90).convert("RGB").save(file, "PNG")
    return Image(base64.b64encode(file.getvalue()).decode(), "image/png")


async def test_a_slow_terminal_gets_an_image_in_parts() -> None:
    wall = Wall(ImageSupport("graphics", cell=(8.0, 16.0)))
    looks: list[bool] = []
    slow = True

    def is_busy() -> bool:
        looks.append(slow and bool(wall.written))
        return looks[-1]

    wall.uploader.is_busy = is_busy
    wall.say(noise())
    await wall.until(lambda: len(looks) > 3)
    assert len(wall.written) == 1 and "m=1;" in wall.written[0], "the rest waits"
    slow = False
    await wall.until(lambda: "\U0010eeee" in "".join(wall.lines))
    assert len(wall.written) > 3 and "m=0;" in wall.written[-1]


def list_commands(written: list[str]) -> list[str]:
    """Return the graphics commands: an image that was started, continued, finished or deleted. Between the start and
    the end of one, no other command may come."""
    commands = []
    in_the_middle = False
    for control in re.findall("\x1b_G([^;]*);", "".join(written)):
        words = dict(word.split("=") for word in control.split(","))
        assert in_the_middle == ("a" not in words), f"{control} after {commands}"
        if words.get("a") == "d":
            commands.append(f"forget {words['i']}")
        else:
            if not in_the_middle:
                commands.append(f"begin {words['i']}")
            in_the_middle = words["m"] == "1"
            if not in_the_middle:
                commands.append("end")
    assert not in_the_middle, f"what comes next is taken for more of it: {commands}"
    return commands


async def test_the_images_of_two_tabs_are_sent_one_after_the_other() -> None:
    first = Wall(ImageSupport("graphics", cell=(8.0, 16.0)))
    second = Wall(ImageSupport("graphics", cell=(8.0, 16.0)), first.uploader)
    for wall in (first, second):
        wall.say(noise())
    for wall in (first, second):
        await wall.until(lambda wall=wall: "\U0010eeee" in "".join(wall.lines))  # type: ignore[misc]
    assert [each.split()[0] for each in list_commands(first.written)] == ["begin", "end", "begin", "end"]


async def test_an_image_that_is_deleted_while_it_is_sent_is_finished_first() -> None:
    wall = Wall(ImageSupport("graphics", cell=(8.0, 16.0)))
    wall.say(noise())
    await wall.until(lambda: wall.written)
    wall.gallery.close()
    await wall.until(lambda: not wall.gallery._tasks)
    number = list_commands(wall.written)[0].split()[1]
    assert list_commands(wall.written) == [f"begin {number}", "end", f"forget {number}"]


async def test_an_image_is_not_deleted_while_another_is_sent() -> None:
    first = Wall(ImageSupport("graphics", cell=(8.0, 16.0)))
    second = Wall(ImageSupport("graphics", cell=(8.0, 16.0)), first.uploader)
    first.say(Image(encode_image(size=(80, 64)), "image/png"))
    await first.until(lambda: "\U0010eeee" in "".join(first.lines))
    before = len(first.written)
    second.say(noise())
    await first.until(lambda: len(first.written) > before)
    first.gallery.close()
    assert "a=d" not in "".join(first.written), "it waits"
    await second.until(lambda: "\U0010eeee" in "".join(second.lines))
    commands = list_commands(first.written)
    assert [each.split()[0] for each in commands] == ["begin", "end", "begin", "end", "forget"]
    assert commands[-1].split()[1] == commands[0].split()[1]


async def test_an_image_that_is_no_longer_needed_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "KEPT_LINES", 1)
    wall = Wall(ImageSupport("graphics", cell=(8.0, 16.0)))
    wall.gallery._support = ImageSupport("graphics", cell=(8.0, 16.0))
    async with wall.uploader.one_by_one:
        for color in ("red", "green", "blue"):
            wall.transcript.append("agent", color, Image(encode_image(size=(80, 16), color=color), "image/png"))
        wall.layout.update(())
        assert wall.lines and len(wall.gallery._tasks) > len(wall.gallery._kept)
        wall.layout.jump(0)
        wall.layout.rows = 1
    await wall.until(lambda: not wall.gallery._tasks)
    assert len(list_commands(wall.written)) <= 2 * len(wall.gallery._kept)


async def test_a_failed_detection_disables_images() -> None:
    wall = Wall()

    def fail() -> ImageSupport:
        raise RuntimeError("what terminal?")

    wall.gallery._detect = fail
    wall.say(Image(encode_image(), "image/png"), "two")
    await wall.until(lambda: wall.gallery._support is OFF)
    assert "▣ image" in wall.lines[1] and wall.lines[2] == "  two"


async def test_images_are_sent_again_after_another_program_had_the_terminal() -> None:
    wall = Wall(ImageSupport("graphics", cell=(8.0, 16.0)))
    wall.say(Image(encode_image(size=(80, 64)), "image/png"), "two")
    await wall.until(lambda: "\U0010eeee" in "".join(wall.lines))
    wall.gallery.forget()
    assert "\U0010eeee" not in "".join(wall.lines)
    await wall.until(lambda: "\U0010eeee" in "".join(wall.lines))
    assert [("a=T" in each, "a=d" in each) for each in wall.written] == [(True, False), (False, True), (True, False)]


async def test_the_number_of_kept_images_is_limited_and_visible_ones_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "KEPT_LINES", 2)
    wall = Wall(ImageSupport("graphics", cell=(8.0, 16.0)))
    for color in ("red", "green", "blue"):
        wall.transcript.append("agent", color, Image(encode_image(size=(80, 16), color=color), "image/png"))
    wall.layout.rows = 4
    wall.layout.update(())
    wall.layout.jump(0)
    await wall.until(lambda: "\U0010eeee" in "".join(wall.lines))
    wall.layout.jump(None)
    await wall.until(lambda: "\U0010eeee" in "".join(wall.lines))
    await wall.until(lambda: not wall.gallery._tasks)
    assert len(wall.gallery._kept) <= 2


# -- on the screen


async def test_images_of_the_agent_and_its_tools_follow_the_setting(opened: Opened, no_tmux: None) -> None:
    image = Image(encode_image(size=(20, 8)), "image/png")

    async def show(turn: Turn) -> None:
        async with turn.tool("take a picture", kind="other") as call:
            await call.show(image)
        await turn.say(image)

    async with opened(ScriptedAgent([show])) as chat:
        await chat.send("go")
        await chat.until(lambda: chat.text.count("▀" * 20) == 8)
        await chat.press("f10")
        for before, after in (("auto", "graphics"), ("graphics", "blocks"), ("blocks", "off")):
            await chat.until(f"Images: {before}")
            await chat.type("Images")
            await chat.press("enter")
            await chat.until("how images are shown")
            await chat.type(after)
            await chat.press("enter")
            await chat.until(f"Images: {after}")
        await chat.press("escape")
        await chat.until(lambda: "Images" not in chat.text and "▀" not in chat.text)


async def test_screen_readers_get_the_names_of_images(
    opened: Opened, no_tmux: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCORD_SCREEN_READER", "1")

    async def show(turn: Turn) -> None:
        await turn.say(Image(encode_image(size=(20, 8)), "image/png"))
        await turn.say("That was it.")

    async with opened(ScriptedAgent([show])) as chat:
        await chat.send("go")
        await chat.until("That was it.")
        await chat.until(lambda: chat.tab.transcript_view.images._support is OFF)
        assert "image/png" in chat.text and "▀" not in chat.text


@pytest.fixture
def no_tmux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLORTERM", "truecolor")


async def test_an_image_below_a_skipped_part_stays_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    held = asyncio.Event()
    really = decode.as_blocks
    loop = asyncio.get_running_loop()

    def late(*words: Any, **more: Any) -> list[Strip]:
        asyncio.run_coroutine_threadsafe(held.wait(), loop).result(TIMEOUT_SECONDS)
        return really(*words, **more)

    monkeypatch.setattr(decode, "as_blocks", late)
    wall = Wall()
    wall.gallery._support = BLOCKS
    wall.say("\n\n".join(f"Paragraph {number} of many." for number in range(3000)))
    assert wall.layout.blocks.get(0).skipped_part is not None
    wall.say(Image(encode_image(), "image/png"), "The end.")
    while "The end." not in "".join(wall.lines):
        wall.layout.update(())
    for _ in range(20):
        wall.layout.scroll(-20)
    held.set()
    await wall.until(lambda: not wall.gallery._tasks)
    wall.layout.jump(None)
    end = next(at for at, line in enumerate(wall.lines) if "The end." in line)
    assert [line.strip() for line in wall.lines[end - 4 : end]] == ["▀" * 8] * 4
    assert "▣ image" in wall.lines[end - 5] and "Paragraph 2999" in "".join(wall.lines[: end - 5])
