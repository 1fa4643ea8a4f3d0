"""Save a picture of each step of the first hour: `python tests/first_hour/screenshots.py DIRECTORY`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from first_hour.steps import STEPS
from first_hour.terminal import FakeModel, NewUser
from PIL import Image, ImageDraw, ImageFont
from rich.color import Color
from rich.console import Console
from rich.segment import Segment
from rich.terminal_theme import MONOKAI
from rich.text import Text

FONTS = Path("/usr/share/fonts/truetype/dejavu")
FONT_SIZE = 15
BACKGROUND, FOREGROUND = (18, 18, 24), (222, 222, 222)


def draw(screen: str, columns: int, path: Path) -> None:
    """Draw a screen with escape sequences as a PNG."""
    plain, bold = (ImageFont.truetype(str(FONTS / f"DejaVuSansMono{each}.ttf"), FONT_SIZE) for each in ("", "-Bold"))
    width, height = round(plain.getlength("M")), FONT_SIZE + 5
    console = Console(width=columns, force_terminal=True, color_system="truecolor", file=open(os.devnull, "w"))  # noqa: SIM115
    rows = [console.render_lines(Text.from_ansi(line), pad=False)[0] for line in screen.rstrip("\n").split("\n")]
    image = Image.new("RGB", (columns * width + 16, len(rows) * height + 16), BACKGROUND)
    canvas = ImageDraw.Draw(image)
    for number, row in enumerate(rows):
        x, y = 8, 8 + number * height
        for segment in row:
            x = _draw_segment(canvas, segment, x, y, width, height, plain, bold)
    image.save(path)


def _draw_segment(
    canvas: ImageDraw.ImageDraw,
    segment: Segment,
    x: int,
    y: int,
    width: int,
    height: int,
    plain: ImageFont.FreeTypeFont,
    bold: ImageFont.FreeTypeFont,
) -> int:
    style = segment.style
    ink, paper = _rgb(style.color if style else None, FOREGROUND), _rgb(style.bgcolor if style else None, BACKGROUND)
    if style is not None and style.reverse:
        ink, paper = paper, ink
    if style is not None and style.dim:
        ink = tuple((each + other) // 2 for each, other in zip(ink, paper, strict=True))  # type: ignore[assignment]
    font = bold if style is not None and style.bold else plain
    from rich.cells import cell_len

    for letter in segment.text.rstrip("\n"):
        cells = max(cell_len(letter), 1)
        canvas.rectangle((x, y, x + cells * width, y + height), fill=paper)
        canvas.text((x, y + 1), letter, font=font, fill=ink)
        x += cells * width
    return x


def _rgb(color: Color | None, default: tuple[int, int, int]) -> tuple[int, int, int]:
    if color is None or color.is_default:
        return default
    red, green, blue = color.get_truecolor(MONOKAI)
    return red, green, blue


def main(directory: Path) -> None:
    """Run all steps, and save their last screens."""
    directory.mkdir(parents=True, exist_ok=True)
    for number, step in enumerate(STEPS, 1):
        with tempfile.TemporaryDirectory() as folder, FakeModel() as model:
            user = NewUser(Path(folder), f"shots-{os.getpid()}", model if step.has_key else None)
            try:
                user.open()
                step.run(user, model)
                path = directory / f"{number:02}-{step.name.replace(' ', '-')}.png"
                draw(user.colored, 100, path)
                print(path)
            finally:
                user.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
