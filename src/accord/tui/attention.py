"""The terminal around the client: who looks at it, what its title says, and how somebody who is elsewhere is called.

Terminals tell when their window gets and loses the focus; tmux does so only if it was told to. Where nothing was ever
heard of it, somebody who has not touched a key for a while counts as being elsewhere."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping

from accord.tui.plain import one_line

AWAY = 10.0
"""Seconds without a key after which nobody seems to be there, where the terminal does not tell."""
MARKS = {"running": "◐ ", "waiting": "? ", "gone": "✗ ", "starting": "◌ ", "opening": "◌ "}
WAYS = ("off", "bell", "notification")
_SAVE, _RESTORE = "\x1b[22;2t", "\x1b]2;\x1b\\\x1b[23;2t"


def passed_on(sequence: str, env: Mapping[str, str]) -> str:
    """A sequence for the terminal itself, from within a multiplexer, which is asked to pass it on."""
    if env.get("TMUX"):
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\"
    if env.get("STY"):  # what is passed on ends at the first end that is in it, so it must have another
        inner = sequence.replace("\x1b\\", "\a")
        return f"\x1bP{inner}\x1b\\"
    return sequence


class Attention:
    """Knows whether the user is there, and writes to the terminal what is no picture."""

    def __init__(self, write: Callable[[str], None], env: Mapping[str, str] = os.environ) -> None:
        self._write = write
        self._env = env
        self._focus: bool | None = None  # nothing was heard of it yet
        self._title: str | None = None
        self.last_key = 0.0

    def focused(self, is_so: bool) -> None:
        """The terminal tells that its window has the focus, or lost it."""
        self._focus = is_so

    @property
    def is_here(self) -> bool:
        if self._focus is not None:
            return self._focus
        return time.monotonic() - self.last_key < AWAY

    def call(self, words: str, way: str) -> None:
        """Calls somebody who is elsewhere: by the bell, and by a notification where that is wanted."""
        if way == "off":
            return
        if way == "notification":
            # Words first: what begins with a number is taken for a command by some terminals.
            self._write(passed_on(f"\x1b]9;Accord: {_fit(words)}\x1b\\", self._env))
        self._write("\a")

    # -- the title of the window

    @property
    def _has_title(self) -> bool:
        return self._env.get("TERM") not in ("linux", "dumb")

    def entitle(self, state: str, title: str) -> None:
        """Says in the title of the window what the session is, and its state."""
        words = f"{MARKS.get(state, '')}{_fit(title)} – accord"
        if words == self._title or not self._has_title:
            return
        if self._title is None:
            self._write(_SAVE)
        self._title = words
        self._write(f"\x1b]2;{words}\x1b\\")

    def give_back(self) -> None:
        """The title is again what it was before."""
        if self._title is not None:
            self._title = None
            self._write(_RESTORE)


def _fit(words: str) -> str:
    """Words that a terminal shows and does not obey."""
    return "".join(each for each in one_line(words, 80) if each.isprintable())
