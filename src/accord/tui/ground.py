"""Whether the terminal's ground is dark or light: told by a variable, or asked of the terminal.

It is asked before the interface is loaded and its answer is read after that, so that nobody waits for it. A question
that every terminal answers goes with it: when that answer is there, there is nothing more to come. What was typed
meanwhile is handed on. What comes later than that comes as keys: see late.py."""

from __future__ import annotations

import os
import re
import select
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

PATIENCE = 0.1
"""Seconds to wait for the answer after the interface was loaded."""
QUESTION = b"\x1b]11;?\x1b\\\x1b[c"
_GROUND = re.compile(
    rb"\]11;rgba?:([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})/([0-9a-fA-F]{1,4})[^\x07\x1b\\]*(?:\x07|\x1b?\\)"
)
_LAST = re.compile(rb"\x1b\[\?[\d;]*c")
_UNFINISHED = re.compile(rb"\x1b(?:\][^\x07\x1b]*\x1b?|\[[0-9;?<>]*)?\Z")
_REPORTS = re.compile(rb"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-9;?<>]*[A-Za-z~])")


class Answer(NamedTuple):
    """What the terminal said."""

    is_dark: bool | None
    """None when it said nothing."""
    typed: str = ""
    """What the user typed while it was asked."""


def by_variable(env: Mapping[str, str] = os.environ) -> bool | None:
    """What some terminals say in the environment: the colours of letters and ground, by their numbers."""
    last = env.get("COLORFGBG", "").rpartition(";")[2]
    return int(last) in (*range(7), 8) if last.isdecimal() and int(last) < 16 else None


def can_be_asked(env: Mapping[str, str] = os.environ) -> bool:
    """Whether the terminal is near enough to answer in time, and of a kind that does."""
    far = any(env.get(name) for name in ("SSH_CONNECTION", "SSH_TTY", "STY"))
    return not far and not env.get("NO_COLOR") and env.get("TERM", "dumb") not in ("dumb", "linux")


def read(data: bytes) -> Answer:
    """The answer in what came from the terminal; the rest was typed."""
    found = _GROUND.search(data)
    typed = _REPORTS.sub(b"", data).decode("utf-8", "ignore")
    return Answer(_is_dark(found) if found is not None else None, "".join(each for each in typed if each.isprintable()))


def _is_dark(found: re.Match[bytes]) -> bool:
    red, green, blue = (int(part, 16) / (16 ** len(part) - 1) for part in found.groups())
    return bool(0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.5)


class Asked:
    """A question to the terminal that was put and is not answered yet."""

    def __init__(self, source: int = 0, sink: int = 1) -> None:
        self._source = source
        self._before: list[Any] | None = None
        self._data = b""
        self.is_answered = True
        """Whether nothing more will come."""
        self.rest = ""
        """What was said of an answer whose end is still to come."""
        with suppress(Exception):  # no terminal, or a system that has no such thing: then nothing is asked
            import termios

            before = termios.tcgetattr(source)
            quiet = termios.tcgetattr(source)
            quiet[3] &= ~(termios.ICANON | termios.ECHO)
            termios.tcsetattr(source, termios.TCSANOW, quiet)
            self._before = before
            os.write(sink, QUESTION)
            self.is_answered = False

    def answer(self, within: float = PATIENCE) -> Answer:
        """Reads what the terminal said, and leaves it as it was."""
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
        """Leaves the terminal as it was."""
        before, self._before = self._before, None
        if before is not None:
            with suppress(Exception):
                import termios

                termios.tcsetattr(self._source, termios.TCSANOW, before)


def ask() -> Asked | None:
    """Asks the terminal, if it is worth while: a theme was not chosen, and nothing else tells."""
    from accord.tui.preferences import load

    if load().theme or by_variable() is not None or not can_be_asked():
        return None
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stdout is not None and sys.stdout.isatty()):
        return None
    return Asked(sys.stdin.fileno(), sys.stdout.fileno())
