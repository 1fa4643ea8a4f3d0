"""The kitty graphics protocol: send, place and delete images.

An image is sent once, under an id. Placeholder characters on the screen encode the row and column of the image, and
their color encodes the id, so it scrolls and is clipped like any text. The terminal is asked not to reply."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

_CHUNK = 4096
_PLACEHOLDER = "\U0010eeee"
# Combining characters that encode row and column numbers, as defined by the protocol.
_CODES = (
    "0305 030D 030E 0310 0312 033D 033E 033F 0346 034A 034B 034C 0350 0351 0352 0357 "
    "035B 0363 0364 0365 0366 0367 0368 0369 036A 036B 036C 036D 036E 036F 0483 0484 "
    "0485 0486 0487 0592 0593 0594 0595 0597 0598 0599 059C 059D 059E 059F 05A0 05A1 "
    "05A8 05A9 05AB 05AC 05AF 05C4 0610 0611 0612 0613 0614 0615 0616 0617 0657 0658"
)
_COUNT = "".join(chr(int(code, 16)) for code in _CODES.split())


def encode_upload(number: int, png: bytes, columns: int, rows: int, *, in_tmux: bool) -> Iterator[str]:
    """Return the commands that send an image, fitted into `columns` × `rows`; each piece must be written as a whole."""
    data = base64.b64encode(png).decode("ascii")
    pieces = [data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK)] or [""]
    for place, piece in enumerate(pieces):
        first = f"a=T,U=1,f=100,t=d,i={number},c={columns},r={rows}," if place == 0 else ""
        yield _command(f"{first}q=2,m={int(place < len(pieces) - 1)};{piece}", in_tmux)


def encode_deletion(number: int, *, in_tmux: bool) -> str:
    """Return the command that deletes an image."""
    return _command(f"a=d,d=I,i={number},q=2;", in_tmux)


def encode_end(*, in_tmux: bool) -> str:
    """Return the command that ends an incomplete transmission."""
    return _command("q=2,m=0;", in_tmux)


def _command(words: str, in_tmux: bool) -> str:
    command = f"\x1b_G{words}\x1b\\"
    if in_tmux:
        command = "\x1bPtmux;" + command.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    return command


def placeholder_lines(number: int, columns: int, rows: int, base: Style) -> list[Strip]:
    """Return the placeholder lines in whose place the terminal shows the image."""
    red, green, blue = number >> 16 & 255, number >> 8 & 255, number & 255
    style = base + Style(color=Color.from_ansi(number) if number < 256 else Color.from_rgb(red, green, blue))
    return [
        Strip(
            [Segment("".join(f"{_PLACEHOLDER}{_COUNT[row]}{_COUNT[column]}" for column in range(columns)), style)],
            columns,
        )
        for row in range(rows)
    ]


def is_placeholder(character: str) -> bool:
    return character == _PLACEHOLDER
