"""Is the terminal's background dark or light? From an environment variable, or by asking the terminal (OSC 11).

The query is sent before the interface is imported and the reply read afterwards, so that startup doesn't wait for it.
A second query that every terminal answers (DA1) goes with it: after that reply, nothing more will come. Text typed in
the meantime is passed on. A slow terminal replies when the app already reads keys; `LateReply` recognizes that."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from textual.events import Key

TIMEOUT_SECONDS = 0.1
"""Seconds to wait for the reply after the interface was loaded."""
QUESTION = b"\x1b]11;?\x1b\\\x1b[c"
_GROUND = re.compile(
    rb"\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})[^\x07\x1b\\]*(?:\x07|\x1b?\\)"
)
_LAST = re.compile(rb"\x1b\[\?[\d;]*c")
_UNFINISHED = re.compile(rb"\x1b(?:\][^\x07\x1b]*\x1b?|\[[0-9;?<>]*)?\Z")
_REPORTS = re.compile(rb"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-9;?<>]*[A-Za-z~])")


class Answer(NamedTuple):
    """The terminal's reply."""

    is_dark: bool | None
    """None if it didn't reply."""
    typed: str = ""
    """Text the user typed in the meantime."""


def by_variable(env: Mapping[str, str] = os.environ) -> bool | None:
    """Read `COLORFGBG`, in which some terminals report their color numbers."""
    last = env.get("COLORFGBG", "").rpartition(";")[2]
    return int(last) in (*range(7), 8) if last.isdecimal() and int(last) < 16 else None


def can_be_queried(env: Mapping[str, str] = os.environ) -> bool:
    """Return whether the terminal is local and likely to reply in time."""
    far = any(env.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "STY"))
    return not far and not env.get("NO_COLOR") and env.get("TERM", "dumb") not in ("dumb", "linux")


def read(data: bytes) -> Answer:
    """Split input into the terminal's reply and typed text."""
    found = _GROUND.search(data)
    typed = _REPORTS.sub(b"", data).decode("utf-8", "ignore")
    return Answer(_is_dark(found) if found is not None else None, "".join(each for each in typed if each.isprintable()))


def _is_dark(found: re.Match[bytes]) -> bool:
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return bool(0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5)


class Asked:
    """A query sent to the terminal."""

    def __init__(self, source: int = 0, sink: int = 1) -> None:
        self._source = source
        self._before: list[Any] | None = None
        self._data = b""
        self.is_answered: bool = True
        """Whether the reply is complete."""
        self.rest: str = ""
        """The start of a reply whose end hasn't arrived yet."""
        if sys.platform == "win32":  # has no such thing: nothing is asked
            return
        with suppress(Exception):  # no terminal
            import termios

            before = termios.tcgetattr(source)
            quiet = termios.tcgetattr(source)
            quiet[3] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(source, termios.TCSANOW, quiet)
            self._before = before
            os.write(sink, QUESTION)
            self.is_answered = False

    def answer(self, within: float = TIMEOUT_SECONDS) -> Answer:
        """Read the reply, and restore the terminal settings."""
        if self._before is None:
            return Answer(None)
        end = time.monotonic() + within
        try:
            while _LAST.search(self._data) is None:
                ready, _, _ = select.select([self._source], [], [], max(end - time.monotonic(), 0))
                if not ready or not (more := os.read(self._source, 4096)):
                    break
                self._data += more
        except OSError:
            pass
        finally:
            self.close()
        self.is_answered = _LAST.search(self._data) is not None
        unfinished = _UNFINISHED.search(self._data)
        if unfinished is not None and not self.is_answered:
            self._data, self.rest = self._data[: unfinished.start()], unfinished[0].decode("ascii", "replace")
        return read(self._data)

    def close(self) -> None:
        """Restore the terminal settings."""
        before, self._before = self._before, None
        if sys.platform != "win32" and before is not None:
            with suppress(Exception):
                import termios

                termios.tcsetattr(self._source, termios.TCSANOW, before)


def ask() -> Asked | None:
    """Query the terminal, unless a theme is chosen or the background is known."""
    from accord.tui.preferences import load

    if load().theme or by_variable() is not None or not can_be_queried():
        return None
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()):
        return None
    return Asked(sys.stdin.fileno(), sys.stdout.fileno())


LATE_SECONDS = 30.0
"""Seconds in which a late reply may arrive."""
MOMENT = 0.3
"""Seconds after which a key that could start a reply counts as pressed by the user."""
# A reply starts with ESC; when Textual can't decode what follows, it reports `circumflex_accent` or nothing.
_MEANT = {"escape": "\x1b", "circumflex_accent": "\x1b", "ctrl+g": "\x07"}
_WHOLE = re.compile(r"\x1b?\]11;[\w:/]*(?:\x07|\x1b?\\)|\x1b?\[\?[\d;]*c")
_PART = re.compile(r"\x1b|\x1b?(?:\](?:1(?:1(?:;[\w:/]{0,40}\x1b?)?)?)?|\[(?:\?[\d;]{0,40})?)")
_LAST_CHARACTER = "c"


class LateReply:
    """Recognizes a late reply among key presses."""

    def __init__(self, begun: str = "") -> None:
        """`begun` is the part of a reply read before the app started."""
        self._text = begun
        self._held: list[Key] = []
        self._until = time.monotonic() + LATE_SECONDS
        self.is_dark: bool | None = None
        self.is_over: bool = False
        """Whether no reply is expected any more."""

    @property
    def holds(self) -> bool:
        return bool(self._held)

    def take(self, key: Key) -> list[Key]:
        """Take a key; return the keys known to be pressed by the user."""
        if time.monotonic() > self._until:
            self.is_over = True
            return [*self.release_held(), key]
        meant = _MEANT.get(key.key, key.character or "\0")
        before: list[Key] = []
        if _PART.fullmatch(self._text + meant) is None and _WHOLE.fullmatch(self._text + meant) is None:
            before = self.release_held()
        self._text += meant
        if _WHOLE.fullmatch(self._text) is not None:
            self.is_over = self._text.endswith(_LAST_CHARACTER)
            self.is_dark = read(self._text.encode()).is_dark if self.is_dark is None else self.is_dark
            self._text = ""
            self._held.clear()
            return before
        if _PART.fullmatch(self._text) is None:
            self._text = ""
            return [*before, key]
        self._held.append(key)
        return before

    def release_held(self) -> list[Key]:
        """Return the keys held back: they weren't a reply."""
        held, self._held, self._text = self._held, [], ""
        return held
