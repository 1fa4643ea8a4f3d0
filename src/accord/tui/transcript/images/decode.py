"""Decode images: to lines of half blocks (two pixels per character), or to a PNG for the terminal.

Runs in a thread. Pillow is imported only here, when the first image is shown."""

from __future__ import annotations

import base64
import io
from contextlib import suppress
from typing import TYPE_CHECKING

from rich.color import Color, ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from accord.tui.transcript.images.header import is_too_big

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
MAX_SENT = 400_000
"""Bytes of a PNG to send unchanged; a larger one is reduced to fewer colors."""
_COLORS = 256
_PIECE = 400_000  # a multiple of four
_STRIP = 500_000
"""Pixels of a large image to scale down at a time."""

Ink = tuple[int, int, int]


def as_blocks(data: str, columns: int, rows: int, ground: Ink, base: Style, *, few_colors: bool = False) -> list[Strip]:
    """Render an image into `columns` × `rows` characters on a background color."""
    picture = _decode(data, columns, rows * 2)
    from PIL import Image

    whole = Image.new("RGB", (columns, rows * 2), ground)
    whole.paste(picture, (0, 0), picture.getchannel("A"))
    whole = whole.quantize(_COLORS, dither=Image.Dither.NONE).convert("RGB")
    system = ColorSystem.EIGHT_BIT if few_colors else ColorSystem.TRUECOLOR  # converted in this thread
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
    """Encode an image as a PNG of at most `width` × `height` pixels."""
    from PIL import Image

    picture = _decode(data, width, height)
    written = _encode_png(picture)
    if len(written) > MAX_SENT:
        written = _encode_png(picture.quantize(_COLORS, method=Image.Quantize.FASTOCTREE))
    return written


def _encode_png(picture: Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def _bytes(data: str) -> bytes:
    """Decode base64 in pieces, so that other threads get a turn in between."""
    if any(mark in data[:200] for mark in "\r\n "):
        data = "".join(data.split())
    return b"".join(base64.b64decode(data[at : at + _PIECE]) for at in range(0, len(data), _PIECE))


def _decode(data: str, width: int, height: int) -> Image:
    """Decode the first frame of an image: rotated upright, with transparency, scaled to fit."""
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(_bytes(data)), formats=FORMATS) as file:
        if is_too_big(str(file.format).lower(), file.width, file.height):
            raise ValueError("more pixels than the header says")
        file.draft("RGB", (2 * width, 2 * height))
        picture = _reduce(file, 2 * max(width, height))
    with suppress(Exception):  # cameras write invalid EXIF data
        picture = ImageOps.exif_transpose(picture)
    scale = min(1.0, width / picture.width, height / picture.height)
    size = (max(1, min(width, round(picture.width * scale))), max(1, min(height, round(picture.height * scale))))
    return picture if size == picture.size else picture.resize(size, Image.Resampling.LANCZOS, reducing_gap=2.0)


def _reduce(file: Image, most: int) -> Image:
    """Convert an image to RGBA; a large one is scaled down strip by strip, so that its full size is in memory only
    once, in the file's own format."""
    from PIL import Image

    times = max(file.width, file.height) // most
    if times < 2:
        return _in_colors(file.copy())
    whole = Image.new("RGBA", (-(-file.width // times), -(-file.height // times)))
    rows = times * max(_STRIP // (file.width * times), 1)
    for top in range(0, file.height, rows):
        strip = _in_colors(file.crop((0, top, file.width, min(top + rows, file.height))))
        whole.paste(strip.reduce(times), (0, top // times))
    whole.info = dict(file.info)  # the EXIF orientation
    return whole


def _in_colors(picture: Image) -> Image:
    if picture.mode.startswith("I"):  # 16-bit or 32-bit gray
        picture = picture.convert("I").point(lambda gray: gray * (1 / 256)).convert("L")
    return picture.convert("RGBA")
