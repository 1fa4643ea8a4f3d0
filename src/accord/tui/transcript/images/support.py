"""Image support of the terminal: graphics protocol, colored blocks, or none.

The terminal isn't queried, because its reply would arrive as key presses. Images are placed by placeholder characters,
which few terminals support; those identify themselves in the environment, and tmux knows the terminal it runs in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

from accord.process.programs import find_program

_CELL = (10.0, 20.0)
_TIMEOUT_SECONDS = 2.0
_ABLE = ("kitty", "ghostty")


class ImageSupport(NamedTuple):
    """The image support of a terminal."""

    kind: str
    """`graphics`, `blocks` or `off`."""
    in_tmux: bool = False
    cell: tuple[float, float] = (1.0, 2.0)
    """Maximum pixels of an image per character."""
    few_colors: bool = False
    """Whether the terminal is limited to 256 colors."""


OFF = ImageSupport("off")
BLOCKS = ImageSupport("blocks")


def detect_support(
    choice: str,
    colors: str | None,
    environment: Mapping[str, str] | None = None,
    ask_tmux: Callable[[], str] | None = None,
) -> ImageSupport:
    """Choose by the user's setting and the color system (Rich's name). May run tmux, so don't call it on the event
    loop."""
    seen = os.environ if environment is None else environment
    if choice == "off" or colors not in ("truecolor", "256") or seen.get("NO_COLOR"):
        return OFF
    few = colors != "truecolor"
    in_tmux = bool(seen.get("TMUX"))
    can = choice == "auto" and (_tmux_can(ask_tmux or _ask_tmux) if in_tmux else _can(seen))
    if can or choice == "graphics":
        return ImageSupport("graphics", in_tmux, _cell(), few)
    return BLOCKS._replace(few_colors=few)


def _can(environment: Mapping[str, str]) -> bool:
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if term.startswith(("screen", "tmux")):
        return False  # a multiplexer on another machine
    if any(name in each for name in _ABLE for each in (term, program)):
        return True
    return not program and "KITTY_WINDOW_ID" in environment


def _tmux_can(ask: Callable[[], str]) -> bool:
    """Return whether tmux allows passthrough, keeps exact colors, and runs in a terminal that supports graphics."""
    name, features, passes = [*ask().strip().split("|"), "", "", ""][:3]
    return any(each in name for each in _ABLE) and "RGB" in features and passes not in ("", "0", "off")


def _ask_tmux() -> str:
    tmux = find_program("tmux")
    if tmux is None:
        return ""
    pane = os.environ.get("TMUX_PANE", "")
    question = "#{client_termname}|#{client_termfeatures}|#{allow-passthrough}"
    command = [tmux, "display-message", "-p", *(["-t", pane] if pane else []), question]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def _cell() -> tuple[float, float]:
    """Return the pixels per character, if the terminal reports them."""
    if sys.platform != "win32":
        import fcntl
        import struct
        import termios

        with suppress(OSError):
            answer = fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8)
            rows, columns, width, height = struct.unpack("HHHH", answer)
            if rows and columns and width and height:
                return width / columns, height / rows
    return _CELL
