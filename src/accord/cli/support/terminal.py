"""Ask the user at a plain terminal, who answers with one key, a number or a word.

Questions go to the terminal itself and answers come from it, so that standard input and output stay free for pipes.
One question at a time; waiting for an answer can be cancelled at any time."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TextIO

from accord.client.form import pick
from accord.terminal_text import escape


class Terminal:
    """The terminal to ask questions on, if there is one."""

    def __init__(self, reading: int | None = None, writing: int | None = None) -> None:
        if reading is None:
            reading, writing = _devices()
        self._reading = reading
        self._writing = writing if writing is not None else reading
        self._buffer = b""
        self._turn = asyncio.Lock()

    @property
    def is_there(self) -> bool:
        """Whether there is a terminal to ask on."""
        return self._reading is not None

    @asynccontextmanager
    async def question(self) -> AsyncIterator[None]:
        """Hold the terminal for one question. Discards what was typed before it."""
        async with self._turn:
            self._buffer = b""
            if sys.platform != "win32":
                import termios

                with suppress(OSError, termios.error):  # not a terminal
                    termios.tcflush(self._reading or 0, termios.TCIFLUSH)
            self.say()
            yield

    def say(self, text: str = "", color: str = "") -> None:
        """Print a line. Colors are left out with NO_COLOR and on terminals without them."""
        safe = escape(text)
        if color and self._has_color:
            import click

            safe = click.style(safe, fg=color)
        self._write(f"{safe}\n")

    @property
    def _has_color(self) -> bool:
        return not os.environ.get("NO_COLOR") and os.environ.get("TERM", "dumb") != "dumb"

    def _write(self, text: str) -> None:
        assert self._writing is not None
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(self._writing, data) :]

    async def line(self, question: str) -> str | None:
        """Read one line; None at the end of input."""
        self._write(escape(question))
        while b"\n" not in self._buffer:
            got = await self._read()
            if not got:
                self._write("\n")
                return None
            self._buffer += got
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode("utf-8", "replace").strip()

    async def _read(self) -> bytes:
        """Wait for input; empty if the terminal is gone."""
        assert self._reading is not None
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._reading, _set, ready)
        try:
            await ready
        finally:
            loop.remove_reader(self._reading)
        try:
            return os.read(self._reading, 4096)
        except OSError:
            return b""

    async def key(self, question: str) -> str | None:
        """Read one key, or a line that arrives at once; None at the end of input. Enter and escape sequences are
        ignored, so that a key press from before the question answers nothing."""
        with _unbuffered(self._reading) as is_unbuffered:
            if not is_unbuffered:
                return await self.line(question)
            self._write(escape(question))
            while True:
                got = await self._read()
                said = got.decode("utf-8", "replace").strip("\r\n\t ")
                if not got or said.startswith("\x04"):
                    self._write("\n")
                    return None
                if said and not said.startswith("\x1b"):
                    self._write(f"{escape(said)}\n")
                    return said

    async def choose(
        self, question: str, names: Sequence[str], words: dict[str, int] | None = None, *, by_key: bool = False
    ) -> int | None:
        """Return the index of the choice, given by number, name or one of `words`; None at the end of input."""
        while True:
            said = await (self.key(question) if by_key else self.line(question))
            if said is None:
                return None
            # Words first: they are shown beside their choices, and `n` mustn't mean "Never".
            chosen = (words or {}).get(said.lower())
            if chosen is None:
                chosen = pick(said, names)
            if chosen is not None:
                return chosen
            self.say(f"Type a number from 1 to {len(names)}, or the start of a name.")


@contextmanager
def _unbuffered(device: int | None) -> Iterator[bool]:
    """Read a terminal key by key; yields whether that is possible. Ctrl-C still sends its signal."""
    if device is None or sys.platform == "win32":
        yield False
        return
    import termios
    import tty

    try:
        before = termios.tcgetattr(device)
        tty.setcbreak(device)
    except (OSError, termios.error):  # not a terminal
        yield False
        return
    try:
        yield True
    finally:
        with suppress(OSError, termios.error):
            termios.tcsetattr(device, termios.TCSADRAIN, before)


def _set(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)


def _devices() -> tuple[int | None, int | None]:
    """Find the terminal behind standard input or standard error, opened for reading and writing."""
    found = [stream.fileno() for stream in (sys.stdin, sys.stderr) if stream is not None and _is_terminal(stream)]
    if not found:
        return None, None
    if sys.platform != "win32":
        with suppress(OSError):
            device = os.open(os.ttyname(found[0]), os.O_RDWR | os.O_NOCTTY)
            return device, device
    return found[0], found[-1]


def _is_terminal(stream: TextIO) -> bool:
    try:
        return os.isatty(stream.fileno())
    except (OSError, ValueError, AttributeError):
        return False
