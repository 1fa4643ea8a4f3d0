"""Notifications and the window title, and whether the user is looking at the terminal.

Terminals report when their window gains and loses the focus; tmux only if configured to. Without any report, a user who
hasn't pressed a key for a while counts as away."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from accord.terminal_text import one_line

AWAY_SECONDS = 10.0
"""Seconds without a key after which the user counts as away, if the terminal doesn't report the focus."""
MARKS = {"running": "◐ ", "waiting": "? ", "gone": "✗ ", "starting": "◌ ", "opening": "◌ "}
_SAVE, _RESTORE = "\x1b[22;2t", "\x1b]2;\x1b\\\x1b[23;2t"


def wrap_for_multiplexer(sequence: str, env: Mapping[str, str]) -> str:
    """Wrap a sequence so that tmux or screen passes it through to the terminal."""
    if env.get("TMUX"):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if env.get("STY"):  # screen ends the sequence at the first string terminator, so the inner one uses BEL
        inner = sequence.replace("\x1b\\", "\a")
        return f"\x1bP{inner}\x1b\\"
    return sequence


class Attention:
    """Tracks whether the user is present, and writes notifications and the title."""

    def __init__(self, write: Callable[[str], None], env: Mapping[str, str] = os.environ) -> None:
        self._write = write
        self._env = env
        self._focus: bool | None = None  # not reported yet
        self._title: str | None = None
        self.last_key: float = 0.0

    def set_focus(self, has_focus: bool) -> None:
        """Take a focus report of the terminal."""
        self._focus = has_focus

    @property
    def is_here(self) -> bool:
        if self._focus is not None:
            return self._focus
        return time.monotonic() - self.last_key < AWAY_SECONDS

    def call(self, words: str, way: str) -> None:
        """Notify a user who is away: by the bell, and a notification if configured."""
        if way == "off":
            return
        if way == "notification":
            # Words first: what begins with a number is taken for a command by some terminals.
            self._write(wrap_for_multiplexer(f"\x1b]9;Accord: {_fit(words)}\x1b\\", self._env))
        self._write("\a")

    # -- the title of the window

    @property
    def _has_title(self) -> bool:
        return self._env.get("TERM") not in ("linux", "dumb")

    def set_title(self, state: str, title: str) -> None:
        """Show the session and its state in the window title."""
        words = f"{MARKS.get(state, '')}{_fit(title)} – accord"
        if words == self._title or not self._has_title:
            return
        if self._title is None:
            self._write(_SAVE)
        self._title = words
        self._write(f"\x1b]2;{words}\x1b\\")

    def restore_title(self) -> None:
        """Restore the original title."""
        if self._title is not None:
            self._title = None
            self._write(_RESTORE)


def _fit(words: str) -> str:
    """Return printable text on one line."""
    return "".join(each for each in one_line(words, 80) if each.isprintable())
