"""Images as lines: headers, colored blocks, the terminal's own graphics, and limits."""

from __future__ import annotations

import base64
import io
import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow
from rich.color import ColorSystem
from rich.style import Style
from support.images import bomb, encode_image
from textual.strip import Strip

from accord.tui.transcript.images import decode, header, kitty
from accord.tui.transcript.images.gallery import fit_size
from accord.tui.transcript.images.header import Head, head_of
from accord.tui.transcript.images.support import detect_support

GROUND = Style(color="#e0e0e0", bgcolor="#101010")


def inks(strip: Strip) -> list[tuple[str, str, int]]:
    """Return the upper and lower colors of a line of blocks, with their lengths."""
    found = []
    for text, style, _ in strip:
        assert style is not None and style.color is not None and style.bgcolor is not None
        found.append((style.color.get_truecolor().hex, style.bgcolor.get_truecolor().hex, len(text)))
    return found


# -- headers


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_the_size_of_an_image_is_known_before_it_is_decoded(kind: str) -> None:
    assert head_of(encode_image(kind, (37, 53))) == Head(kind.lower(), 37, 53)


def test_the_size_is_known_in_all_kinds_of_webp() -> None:
    assert head_of(encode_image("WEBP", (37, 53), lossless=True)) == Head("webp", 37, 53)
    assert head_of(encode_image("WEBP", (37, 53), (1, 2, 3, 4), exif=b"Exif\0\0")) == Head("webp", 37, 53)


def test_the_size_of_a_photograph_is_found_after_its_metadata() -> None:
    exif = Pillow.Exif()
    exif[0x010E] = "a long tale of where this was " * 1000
    assert head_of(encode_image("JPEG", (640, 480), exif=exif)) == Head("jpeg", 640, 480)


@pytest.mark.parametrize(
    "data",
    [
        "",
        "AAAA",
        "not base64 at all!",
        "/9j/",
        base64.b64encode(b"<svg/>" * 20).decode(),
        encode_image()[:20],
        "é" * 80,
    ],
)
def test_data_that_is_not_an_image_has_no_size(data: str) -> None:
    assert head_of(data) is None


def test_an_image_that_would_take_gigabytes_is_not_drawn() -> None:
    assert head_of(bomb(60_000, 60_000)) is None
    assert head_of(bomb(4000, 4000)) is not None and head_of(bomb(4000, 4001)) is None
    assert head_of(bomb(0, 10)) is None
    assert head_of("A" * 20_000_000) is None


# -- how big it is


def test_an_image_is_never_larger_than_its_area_or_its_pixels() -> None:
    assert fit_size(Head("png", 800, 600), 60, (1.0, 2.0)) == (43, 16)
    assert fit_size(Head("png", 6000, 60), 60, (1.0, 2.0)) == (60, 1)
    assert fit_size(Head("png", 1, 3000), 60, (1.0, 2.0)) == (1, 16)
    assert fit_size(Head("png", 16, 16), 60, (1.0, 2.0)) == (16, 8)
    assert fit_size(Head("png", 16, 16), 60, (8.0, 16.0)) == (2, 1)


# -- blocks


def test_two_pixels_are_one_character() -> None:
    file = io.BytesIO()
    drawing = Pillow.new("RGB", (4, 4), "#ff0000")
    drawing.paste("#0000ff", (2, 0, 4, 4))
    drawing.paste("#00ff00", (0, 1, 2, 2))
    drawing.save(file, "PNG")
    lines = decode.as_blocks(base64.b64encode(file.getvalue()).decode(), 4, 2, (0, 0, 0), GROUND)
    assert [line.text for line in lines] == ["▀▀▀▀", "▀▀▀▀"]
    assert inks(lines[0]) == [("#ff0000", "#00ff00", 2), ("#0000ff", "#0000ff", 2)]
    assert inks(lines[1]) == [("#ff0000", "#ff0000", 2), ("#0000ff", "#0000ff", 2)]


def test_transparent_pixels_show_the_background() -> None:
    [line] = decode.as_blocks(encode_image(size=(3, 2), color=(255, 0, 0, 0)), 3, 1, (16, 17, 18), GROUND)
    assert inks(line) == [("#101112", "#101112", 3)]


def test_a_256_color_terminal_gets_256_colors() -> None:
    lines = decode.as_blocks(encode_image(color="#ff0000"), 8, 4, (0, 0, 0), GROUND, few_colors=True)
    [(_, style, _)] = lines[0]
    assert style is not None and style.color is not None and style.color.number == 196


def test_16_bit_greys_are_shown() -> None:
    file = io.BytesIO()
    Pillow.new("I;16", (4, 2), 0x8080).save(file, "PNG")
    [line] = decode.as_blocks(base64.b64encode(file.getvalue()).decode(), 4, 1, (0, 0, 0), GROUND)
    assert inks(line) == [("#808080", "#808080", 4)]


def test_base64_with_line_breaks_is_decoded() -> None:
    data = encode_image(size=(64, 64), color="#00ff00")
    broken = "\n".join(data[at : at + 20] for at in range(0, len(data), 20))
    assert head_of(broken) == Head("png", 64, 64)
    assert inks(decode.as_blocks(broken, 8, 4, (0, 0, 0), GROUND)[0]) == [("#00ff00", "#00ff00", 8)]


def test_the_first_frame_of_an_animated_image_is_drawn() -> None:
    file = io.BytesIO()
    frames = [Pillow.new("RGB", (4, 4), color) for color in ("#ff0000", "#00ff00")]
    frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
    lines = decode.as_blocks(base64.b64encode(file.getvalue()).decode(), 4, 2, (0, 0, 0), GROUND)
    assert inks(lines[0]) == [("#ff0000", "#ff0000", 4)]


def test_a_photograph_is_the_right_way_up() -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    lines = decode.as_blocks(encode_image("JPEG", (40, 20), "#ff0000", exif=exif), 40, 10, (0, 0, 0), GROUND)
    above, _, wide = inks(lines[0])[0]
    assert wide == 10 and above.startswith("#f")


@pytest.mark.parametrize(
    "mode, color, seen",
    [
        ("RGB", "#ff0000", "#ff0000"),
        ("RGBA", (255, 0, 0, 0), "#000000"),
        ("P", 9, None),
        ("I;16", 0x8080, "#808080"),
        ("LA", (128, 255), "#808080"),
        ("1", 1, "#ffffff"),
    ],
)
def test_an_image_that_is_scaled_down_a_lot_keeps_its_colors(mode: str, color: Any, seen: str | None) -> None:
    drawing = Pillow.new(mode, (501, 301), color)
    if mode == "P":
        drawing.putpalette([number for entry in range(256) for number in (entry, 2 * entry % 256, 3)])
        seen = "#091203"
    file = io.BytesIO()
    drawing.save(file, "PNG")
    lines = decode.as_blocks(base64.b64encode(file.getvalue()).decode(), 10, 3, (0, 0, 0), GROUND)
    assert {(above, below) for line in lines for above, below, _ in inks(line)} == {(seen, seen)}


def test_a_big_photograph_is_the_right_way_up() -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    drawing = Pillow.new("RGB", (1200, 600), "#ff0000")
    drawing.paste("#0000ff", (600, 0, 1200, 600))
    file = io.BytesIO()
    drawing.save(file, "PNG", exif=exif)
    lines = decode.as_blocks(base64.b64encode(file.getvalue()).decode(), 10, 10, (0, 0, 0), GROUND)
    assert inks(lines[0])[0] == ("#ff0000", "#ff0000", 10)
    assert inks(lines[-1])[0] == ("#0000ff", "#0000ff", 10)


@pytest.mark.parametrize("kind, pixels", [("PNG", header.MAX_PIXELS), ("WEBP", header.MAX_PIXELS // 2)])
def test_a_small_file_cannot_take_much_memory(tmp_path: Path, kind: str, pixels: int) -> None:
    side = math.isqrt(pixels)
    Pillow.new("RGBA", (side, side), (1, 2, 3, 4)).save(tmp_path / "file", kind)
    assert (tmp_path / "file").stat().st_size < 200_000
    draws = (
        "import base64, resource, sys\n"
        "from PIL import Image\n"
        "from accord.tui.transcript.images import decode, header\n"
        "Image.init()\n"
        "data = base64.b64encode(open(sys.argv[1], 'rb').read()).decode()\n"
        "assert header.head_of(data)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "decode.as_png(data, 600, 320)\n"
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


def test_an_image_is_sent_in_pieces_that_request_no_reply() -> None:
    png = bytes(range(256)) * 40
    pieces = list(kitty.encode_upload(7, png, 30, 10, in_tmux=False))
    assert len(pieces) == 4
    found = [re.fullmatch("\x1b_G([^;]*);([A-Za-z0-9+/=]*)\x1b\\\\", piece) for piece in pieces]
    assert [each and each[1] for each in found] == [
        "a=T,U=1,f=100,t=d,i=7,c=30,r=10,q=2,m=1",
        "q=2,m=1",
        "q=2,m=1",
        "q=2,m=0",
    ]
    assert base64.b64decode("".join(each[2] for each in found if each)) == png


def test_commands_are_wrapped_for_tmux() -> None:
    [piece] = kitty.encode_upload(7, b"x", 1, 1, in_tmux=True)
    assert piece.startswith("\x1bPtmux;\x1b\x1b_G") and piece.endswith("\x1b\x1b\\\x1b\\")


def test_an_image_is_made_of_placeholder_characters_that_can_be_cropped() -> None:
    lines = kitty.placeholder_lines(0x123456, 60, 16, GROUND)
    assert [line.cell_length for line in lines] == [60] * 16
    [(text, style, _)] = lines[2]
    assert style is not None and style.color is not None and style.color.get_truecolor().hex == "#123456"
    assert len(text) == 180 and len(set(zip(text[1::3], text[2::3], strict=True))) == 60
    assert lines[2].crop(10, 12).text == text[30:36]


def test_a_placeholder_uses_one_of_256_colors() -> None:
    [(text, style, _)] = kitty.placeholder_lines(200, 3, 1, GROUND)[0]
    assert len(text) == 9 and style is not None and style.color is not None and style.color.number == 200
    assert style.color.downgrade(ColorSystem.EIGHT_BIT) == style.color, "it is painted as it is"


@pytest.mark.parametrize(
    "choice, colors, environment, expected",
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
def test_the_image_method_follows_the_setting_and_the_terminal(
    choice: str, colors: str | None, environment: dict[str, str], expected: str
) -> None:
    assert detect_support(choice, colors, environment).kind == expected


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
def test_in_tmux_the_outer_terminal_decides(answer: str, expected: str) -> None:
    environment = {"TERM": "tmux-256color", "TMUX": "/tmp/tmux,1,0", "KITTY_WINDOW_ID": "1"}
    found = detect_support("auto", "truecolor", environment, lambda: answer)
    assert (found.kind, found.in_tmux) == (expected, expected == "graphics")
