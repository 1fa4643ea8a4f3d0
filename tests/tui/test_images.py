"""Pictures in the conversation: drawn where the terminal can, once, within bounds; else named."""

from __future__ import annotations

import asyncio
import base64
import io
import math
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chatting import PATIENCE, Opened
from looks import COLOURS
from PIL import Image as Pillow
from rich.color import ColorSystem
from rich.style import Style
from textual.strip import Strip

from accord.agent.turn import Turn
from accord.model.content import Image
from accord.testing import ScriptedAgent
from accord.transcript.transcript import Transcript
from accord.tui.conversation import picture, picture_head, picture_kitty, picture_paint
from accord.tui.conversation.block import Setting
from accord.tui.conversation.layout import Layout
from accord.tui.conversation.picture import Gallery, fitted
from accord.tui.conversation.picture_head import Head, head_of
from accord.tui.conversation.picture_sending import Sender
from accord.tui.conversation.picture_way import BLOCKS, OFF, Way, way
from accord.tui.look import Look

GROUND = Style(color="#e0e0e0", bgcolor="#101010")


def encoded(kind: str = "PNG", size: tuple[int, int] = (8, 8), colour: Any = "red", **how: Any) -> str:
    file = io.BytesIO()
    Pillow.new("RGBA" if isinstance(colour, tuple) and len(colour) == 4 else "RGB", size, colour).save(
        file, kind, **how
    )
    return base64.b64encode(file.getvalue()).decode()


def inks(strip: Strip) -> list[tuple[str, str, int]]:
    """The colours of a line of blocks, above and below, and how long they last."""
    found = []
    for text, style, _ in strip:
        assert style is not None and style.color is not None and style.bgcolor is not None
        found.append((style.color.get_truecolor().hex, style.bgcolor.get_truecolor().hex, len(text)))
    return found


# -- what a picture says of itself


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_the_size_of_a_picture_is_known_before_it_is_decoded(kind: str) -> None:
    assert head_of(encoded(kind, (37, 53))) == Head(kind.lower(), 37, 53)


def test_the_size_is_known_in_all_kinds_of_webp() -> None:
    assert head_of(encoded("WEBP", (37, 53), lossless=True)) == Head("webp", 37, 53)
    assert head_of(encoded("WEBP", (37, 53), (1, 2, 3, 4), exif=b"Exif\0\0")) == Head("webp", 37, 53)


def test_the_size_of_a_photograph_is_found_behind_what_the_camera_wrote() -> None:
    exif = Pillow.Exif()
    exif[0x010E] = "a long tale of where this was " * 1000
    assert head_of(encoded("JPEG", (640, 480), exif=exif)) == Head("jpeg", 640, 480)


@pytest.mark.parametrize(
    "data",
    ["", "AAAA", "not base64 at all!", "/9j/", base64.b64encode(b"<svg/>" * 20).decode(), encoded()[:20], "é" * 80],
)
def test_what_is_no_picture_has_no_size(data: str) -> None:
    assert head_of(data) is None


def test_a_picture_that_would_unpack_to_gigabytes_is_not_drawn() -> None:
    assert head_of(bomb(60_000, 60_000)) is None
    assert head_of(bomb(4000, 4000)) is not None and head_of(bomb(4000, 4001)) is None
    assert head_of(bomb(0, 10)) is None
    assert head_of("A" * 20_000_000) is None


def bomb(width: int, height: int) -> str:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(bytes(1000)))).decode()


# -- how big it is


def test_a_picture_is_never_bigger_than_its_place_or_its_pixels() -> None:
    assert fitted(Head("png", 800, 600), 60, (1.0, 2.0)) == (43, 16)
    assert fitted(Head("png", 6000, 60), 60, (1.0, 2.0)) == (60, 1)
    assert fitted(Head("png", 1, 3000), 60, (1.0, 2.0)) == (1, 16)
    assert fitted(Head("png", 16, 16), 60, (1.0, 2.0)) == (16, 8)
    assert fitted(Head("png", 16, 16), 60, (8.0, 16.0)) == (2, 1)


# -- blocks


def test_two_pixels_are_one_character() -> None:
    file = io.BytesIO()
    drawing = Pillow.new("RGB", (4, 4), "#ff0000")
    drawing.paste("#0000ff", (2, 0, 4, 4))
    drawing.paste("#00ff00", (0, 1, 2, 2))
    drawing.save(file, "PNG")
    lines = picture_paint.as_blocks(base64.b64encode(file.getvalue()).decode(), 4, 2, (0, 0, 0), GROUND)
    assert [line.text for line in lines] == ["▀▀▀▀", "▀▀▀▀"]
    assert inks(lines[0]) == [("#ff0000", "#00ff00", 2), ("#0000ff", "#0000ff", 2)]
    assert inks(lines[1]) == [("#ff0000", "#ff0000", 2), ("#0000ff", "#0000ff", 2)]


def test_what_is_transparent_shows_the_ground() -> None:
    [line] = picture_paint.as_blocks(encoded(size=(3, 2), colour=(255, 0, 0, 0)), 3, 1, (16, 17, 18), GROUND)
    assert inks(line) == [("#101112", "#101112", 3)]


def test_with_256_colours_a_picture_has_those() -> None:
    lines = picture_paint.as_blocks(encoded(colour="#ff0000"), 8, 4, (0, 0, 0), GROUND, few_colours=True)
    [(_, style, _)] = lines[0]
    assert style is not None and style.color is not None and style.color.number == 196


def test_greys_finer_than_a_screen_shows_are_shown() -> None:
    file = io.BytesIO()
    Pillow.new("I;16", (4, 2), 0x8080).save(file, "PNG")
    [line] = picture_paint.as_blocks(base64.b64encode(file.getvalue()).decode(), 4, 1, (0, 0, 0), GROUND)
    assert inks(line) == [("#808080", "#808080", 4)]


def test_data_in_lines_is_read_too() -> None:
    data = encoded(size=(64, 64), colour="#00ff00")
    broken = "\n".join(data[at : at + 20] for at in range(0, len(data), 20))
    assert head_of(broken) == Head("png", 64, 64)
    assert inks(picture_paint.as_blocks(broken, 8, 4, (0, 0, 0), GROUND)[0]) == [("#00ff00", "#00ff00", 8)]


def test_of_a_picture_that_moves_the_first_frame_is_drawn() -> None:
    file = io.BytesIO()
    frames = [Pillow.new("RGB", (4, 4), colour) for colour in ("#ff0000", "#00ff00")]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    lines = picture_paint.as_blocks(base64.b64encode(file.getvalue()).decode(), 4, 2, (0, 0, 0), GROUND)
    assert inks(lines[0]) == [("#ff0000", "#ff0000", 4)]


def test_a_photograph_is_the_right_way_up() -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    lines = picture_paint.as_blocks(encoded("JPEG", (40, 20), "#ff0000", exif=exif), 40, 10, (0, 0, 0), GROUND)
    above, _, wide = inks(lines[0])[0]
    assert wide == 10 and above.startswith("#f")


@pytest.mark.parametrize(
    "mode, colour, seen",
    [
        ("RGB", "#ff0000", "#ff0000"),
        ("RGBA", (255, 0, 0, 0), "#000000"),
        ("P", 9, None),
        ("I;16", 0x8080, "#808080"),
        ("LA", (128, 255), "#808080"),
        ("1", 1, "#ffffff"),
    ],
)
def test_a_picture_far_bigger_than_its_place_keeps_its_colours(mode: str, colour: Any, seen: str | None) -> None:
    drawing = Pillow.new(mode, (501, 301), colour)
    if mode == "P":
        drawing.putpalette([number for entry in range(256) for number in (entry, 2 * entry % 256, 3)])
        seen = "#091203"
    file = io.BytesIO()
    drawing.save(file, "PNG")
    lines = picture_paint.as_blocks(base64.b64encode(file.getvalue()).decode(), 10, 3, (0, 0, 0), GROUND)
    assert {(above, below) for line in lines for above, below, _ in inks(line)} == {(seen, seen)}


def test_a_big_photograph_is_the_right_way_up() -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    drawing = Pillow.new("RGB", (1200, 600), "#ff0000")
    drawing.paste("#0000ff", (600, 0, 1200, 600))
    file = io.BytesIO()
    drawing.save(file, "PNG", exif=exif)
    lines = picture_paint.as_blocks(base64.b64encode(file.getvalue()).decode(), 10, 10, (0, 0, 0), GROUND)
    assert inks(lines[0])[0] == ("#ff0000", "#ff0000", 10)
    assert inks(lines[-1])[0] == ("#0000ff", "#0000ff", 10)


@pytest.mark.parametrize("kind, pixels", [("PNG", picture_head.MOST_PIXELS), ("WEBP", picture_head.MOST_PIXELS // 2)])
def test_a_small_file_cannot_take_much_memory(tmp_path: Path, kind: str, pixels: int) -> None:
    side = math.isqrt(pixels)
    Pillow.new("RGBA", (side, side), (1, 2, 3, 4)).save(tmp_path / "file", kind)
    assert (tmp_path / "file").stat().st_size < 200_000
    draws = (
        "import base64, resource, sys\n"
        "from PIL import Image\n"
        "from accord.tui.conversation import picture_head, picture_paint\n"
        "Image.init()\n"
        "data = base64.b64encode(open(sys.argv[1], 'rb').read()).decode()\n"
        "assert picture_head.head_of(data)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "picture_paint.as_png(data, 600, 320)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    run = subprocess.run([sys.executable, "-c", draws, str(tmp_path / "file")], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) / (1024 if sys.platform == "linux" else 1024 * 1024) < 160, "megabytes"


def test_a_webp_of_many_pixels_is_not_drawn() -> None:
    file = io.BytesIO()
    Pillow.new("1", (4, 4)).convert("RGB").save(file, "WEBP", lossless=True)
    data = bytearray(file.getvalue())
    data[21:25] = (3999 | 3999 << 14 | 0).to_bytes(4, "little")
    assert head_of(base64.b64encode(data).decode()) is None


# -- the terminal's own graphics


def test_a_picture_is_sent_in_pieces_that_ask_for_no_answer() -> None:
    png = bytes(range(256)) * 40
    pieces = list(picture_kitty.sent(7, png, 30, 10, in_tmux=False))
    assert len(pieces) == 4
    found = [re.fullmatch("\x1b_G([^;]*);([A-Za-z0-9+/=]*)\x1b\\\\", piece) for piece in pieces]
    assert [each and each[1] for each in found] == [
        "a=T,U=1,f=100,t=d,i=7,c=30,r=10,q=2,m=1",
        "q=2,m=1",
        "q=2,m=1",
        "q=2,m=0",
    ]
    assert base64.b64decode("".join(each[2] for each in found if each)) == png


def test_tmux_hands_through_what_is_for_the_terminal() -> None:
    [piece] = picture_kitty.sent(7, b"x", 1, 1, in_tmux=True)
    assert piece.startswith("\x1bPtmux;\x1b\x1b_G") and piece.endswith("\x1b\x1b\\\x1b\\")


def test_a_picture_stands_in_the_text_as_places_that_can_be_cut() -> None:
    lines = picture_kitty.places(0x123456, 60, 16, GROUND)
    assert [line.cell_length for line in lines] == [60] * 16
    [(text, style, _)] = lines[2]
    assert style is not None and style.color is not None and style.color.get_truecolor().hex == "#123456"
    assert len(text) == 180 and len(set(zip(text[1::3], text[2::3], strict=True))) == 60
    assert lines[2].crop(10, 12).text == text[30:36]


def test_with_256_colours_a_picture_is_one_of_those() -> None:
    [(text, style, _)] = picture_kitty.places(200, 3, 1, GROUND)[0]
    assert len(text) == 9 and style is not None and style.color is not None and style.color.number == 200
    assert style.color.downgrade(ColorSystem.EIGHT_BIT) == style.color, "it is painted as it is"


@pytest.mark.parametrize(
    "choice, colours, environment, expected",
    [
        ("auto", "truecolor", {"TERM": "xterm-256color"}, "blocks"),
        ("auto", "truecolor", {"TERM": "xterm-kitty"}, "graphics"),
        ("auto", "truecolor", {"TERM": "xterm-ghostty"}, "graphics"),
        ("auto", "truecolor", {"TERM": "xterm-256color", "TERM_PROGRAM": "ghostty"}, "graphics"),
        ("auto", "truecolor", {"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1"}, "graphics"),
        ("auto", "truecolor", {"TERM": "xterm-256color", "KITTY_WINDOW_ID": "1", "TERM_PROGRAM": "vscode"}, "blocks"),
        ("auto", "truecolor", {"TERM": "tmux-256color", "KITTY_WINDOW_ID": "1"}, "blocks"),
        ("auto", "256", {"TERM": "xterm-kitty"}, "graphics"),
        ("auto", "256", {"TERM": "xterm-256color"}, "blocks"),
        ("auto", "standard", {"TERM": "xterm-kitty"}, "off"),
        ("auto", None, {"TERM": "dumb"}, "off"),
        ("auto", "truecolor", {"TERM": "xterm-kitty", "NO_COLOR": "1"}, "off"),
        ("blocks", "truecolor", {"TERM": "xterm-kitty"}, "blocks"),
        ("graphics", "truecolor", {"TERM": "xterm-256color"}, "graphics"),
        ("off", "truecolor", {"TERM": "xterm-kitty"}, "off"),
    ],
)
def test_how_pictures_are_shown(choice: str, colours: str | None, environment: dict[str, str], expected: str) -> None:
    assert way(choice, colours, environment).kind == expected


@pytest.mark.parametrize(
    "answer, expected",
    [
        ("xterm-kitty|bpaste,RGB,title|1\n", "graphics"),
        ("xterm-ghostty|RGB|on\n", "graphics"),
        ("xterm-kitty|bpaste,RGB,title|0\n", "blocks"),
        ("xterm-kitty|bpaste,title|1\n", "blocks"),
        ("xterm-256color|RGB|1\n", "blocks"),
        ("", "blocks"),
    ],
)
def test_in_tmux_it_is_what_tmux_is_shown_in_that_counts(answer: str, expected: str) -> None:
    environment = {"TERM": "tmux-256color", "TMUX": "/tmp/tmux,1,0", "KITTY_WINDOW_ID": "1"}
    found = way("auto", "truecolor", environment, lambda: answer)
    assert (found.kind, found.in_tmux) == (expected, expected == "graphics")


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
