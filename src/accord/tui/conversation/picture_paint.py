"""Pictures decoded: as lines of blocks, two pixels to a character, or as a PNG that a terminal takes.

Called in a thread, and here alone: what decodes pictures is loaded when there is one."""

from __future__ import annotations

import base64
import io
from contextlib import suppress
from typing import TYPE_CHECKING

from rich.color import Color, ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from accord.tui.conversation.picture_head import is_too_big

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
MOST_SENT = 400_000
"""Bytes that are sent of one picture as it is; a bigger one is sent with fewer colours."""
_COLOURS = 256
_PIECE = 400_000  # a multiple of four
_STRIP = 500_000
"""Pixels of a big picture that are made smaller at once."""

Ink = tuple[int, int, int]


def as_blocks(
    data: str, columns: int, rows: int, ground: Ink, base: Style, *, few_colours: bool = False
) -> list[Strip]:
    """The picture inside so many columns and rows, on a ground."""
    picture = _decoded(data, columns, rows * 2)
    from PIL import Image

    whole = Image.new("RGB", (columns, rows * 2), ground)
    whole.paste(picture, (0, 0), picture.getchannel("A"))
    whole = whole.quantize(_COLOURS, dither=Image.Dither.NONE).convert("RGB")
    system = ColorSystem.EIGHT_BIT if few_colours else ColorSystem.TRUECOLOR  # found here, and not when it is painted
    pixels = whole.tobytes()
    styles: dict[bytes, Style] = {}
    lines = []
    for row in range(rows):
        segments: list[Segment] = []
        run, length = b"", 0
        for column in range(columns):
            above, below = (3 * ((2 * row + half) * columns + column) for half in (0, 1))
            inks = pixels[above : above + 3] + pixels[below : below + 3]
            if inks != run and length:
                segments.append(Segment("▀" * length, styles[run]))
                length = 0
            run, length = inks, length + 1
            if inks not in styles:
                above_ink, below_ink = (Color.from_rgb(*ink).downgrade(system) for ink in (inks[:3], inks[3:]))
                styles[inks] = base + Style(color=above_ink, bgcolor=below_ink)
        segments.append(Segment("▀" * length, styles[run]))
        lines.append(Strip(segments, columns))
    return lines


def as_png(data: str, width: int, height: int) -> bytes:
    """The picture as a PNG of at most so many pixels."""
    from PIL import Image

    picture = _decoded(data, width, height)
    written = _written(picture)
    if len(written) > MOST_SENT:
        written = _written(picture.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE))
    return written


def _written(picture: Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _bytes(data: str) -> bytes:
    """What base64 says, piece by piece: others get their turn in between."""
    if any(mark in data[:200] for mark in "\r\n "):
        data = "".join(data.split())
    return b"".join(base64.b64decode(data[at : at + _PIECE]) for at in range(0, len(data), _PIECE))


def _decoded(data: str, width: int, height: int) -> Image:
    """The first frame of the picture, the right way up, with its transparency, made to fit."""
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(_bytes(data)), formats=FORMATS) as file:
        if is_too_big(str(file.format).lower(), file.width, file.height):
            raise ValueError("there are more pixels than its head said")
        file.draft("RGB", (2 * width, 2 * height))
        picture = _reduced(file, 2 * max(width, height))
    with suppress(Exception):  # a camera may write anything
        picture = ImageOps.exif_transpose(picture)
    scale = min(1.0, width / picture.width, height / picture.height)
    size = (max(1, min(width, round(picture.width * scale))), max(1, min(height, round(picture.height * scale))))
    return picture if size == picture.size else picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def _reduced(file: Image, most: int) -> Image:
    """The picture with its transparency; of a big one, every so many pixels are made one, until it has about so many in
    a row. Bit by bit: the whole is there once alone, as the file has it."""
    from PIL import Image

    times = max(file.width, file.height) // most
    if times < 2:
        return _in_colours(file.copy())
    whole = Image.new("RGBA", (-(-file.width // times), -(-file.height // times)))
    rows = times * max(_STRIP // (file.width * times), 1)
    for top in range(0, file.height, rows):
        strip = _in_colours(file.crop((0, top, file.width, min(top + rows, file.height))))
        whole.paste(strip.reduce(times), (0, top // times))
    whole.info = dict(file.info)  # which way is up
    return whole


def _in_colours(picture: Image) -> Image:
    if picture.mode.startswith("I"):  # greys finer than a screen shows
        picture = picture.convert("I").point(lambda grey: grey * (1 / 256)).convert("L")
    return picture.convert("RGBA")
