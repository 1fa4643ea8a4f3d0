"""How this terminal can show pictures: by a graphics protocol, by blocks of colour, or not at all.

The terminal is not asked: its answer would come as keys. Pictures are placed by characters of text, which few terminals
can do, and those say who they are in the environment; tmux knows what it is shown in."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from typing import NamedTuple

CHOICES = ("auto", "graphics", "blocks", "off")
_CELL = (10.0, 20.0)
_PATIENCE = 2.0
_ABLE = ("kitty", "ghostty")


class Way(NamedTuple):
    """How pictures are shown."""

    kind: str
    """`graphics`, `blocks` or `off`."""
    in_tmux: bool = False
    cell: tuple[float, float] = (1.0, 2.0)
    """How many pixels of a picture go into one character at most."""
    few_colours: bool = False
    """Whether there are no more colours than 256."""


OFF = Way("off")
BLOCKS = Way("blocks")


def way(
    choice: str,
    colours: str | None,
    environment: Mapping[str, str] | None = None,
    ask_tmux: Callable[[], str] | None = None,
) -> Way:
    """The way for what the user chose and how many colours there are, in Rich's words. May ask tmux: not to be called
    where keys are waited for."""
    seen = os.environ if environment is None else environment
    if choice == "off" or colours not in ("truecolor", "256") or seen.get("NO_COLOR"):
        return OFF
    few = colours != "truecolor"
    in_tmux = bool(seen.get("TMUX"))
    can = choice == "auto" and (_tmux_can(ask_tmux or _ask_tmux) if in_tmux else _can(seen))
    if can or choice == "graphics":
        return Way("graphics", in_tmux, _cell(), few)
    return BLOCKS._replace(few_colours=few)


def _can(environment: Mapping[str, str]) -> bool:
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if term.startswith(("screen", "tmux")):
        return False  # of a multiplexer on another machine
    if any(name in each for name in _ABLE for each in (term, program)):
        return True
    return not program and "KITTY_WINDOW_ID" in environment


def _tmux_can(ask: Callable[[], str]) -> bool:
    """Whether tmux hands through what is not for it, keeps colours exact, and is shown in a terminal that can."""
    name, features, passes = [*ask().strip().split("|"), "", "", ""][:3]
    return any(each in name for each in _ABLE) and "RGB" in features and passes not in ("", "0", "off")


def _ask_tmux() -> str:
    pane = os.environ.get("TMUX_PANE", "")
    question = "#{client_termname}|#{client_termfeatures}|#{allow-passthrough}"
    command = ["tmux", "display-message", "-p", *(["-t", pane] if pane else []), question]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _cell() -> tuple[float, float]:
    """How many pixels a character has, where the terminal says so."""
    try:
        import fcntl
        import struct
        import termios

        answer = fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8)
        rows, columns, width, height = struct.unpack("HHHH", answer)
        if rows and columns and width and height:
            return width / columns, height / rows
    except (ImportError, OSError):
        pass
    return _CELL
