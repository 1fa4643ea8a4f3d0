"""Uploads images to the terminal, one at a time for all tabs.

The pieces of an image don't carry its id: any other graphics command between them would be taken for a part of it. So
there is one sender per terminal. An upload that was started is either completed, or ended and deleted."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable

_AT_ONCE, _PACE = 8_000, 0.005
"""Characters to write at a time, and seconds between writes, so that key presses are shown in between."""


class ImageUploader:
    """Sends images to one terminal, and deletes them."""

    def __init__(self, write: Callable[[str], None], is_busy: Callable[[], bool] = lambda: False) -> None:
        """`write` sends escape sequences to the terminal; `is_busy` tells whether it is behind with output."""
        self._write = write
        self.is_busy = is_busy
        self.one_by_one: asyncio.Lock = asyncio.Lock()
        """Held while decoding and sending, so that several tabs don't need the memory at the same time."""
        self._numbers: set[int] = set()
        self._current: tuple[int, bool] | None = None
        self._deletions: list[str] = []

    def number(self, few_colors: bool) -> int:
        """Return an image id, which is also encoded as a color. Random: other programs use the same ids."""
        numbers = range(16, 256) if few_colors else range(0x10000, 0x1000000)
        if len(self._numbers) >= len(numbers) // 2:
            raise OverflowError("too many images")
        while (number := random.choice(numbers)) in self._numbers:
            pass
        self._numbers.add(number)
        return number

    async def send(self, number: int, png: bytes, columns: int, rows: int, *, in_tmux: bool) -> bool:
        """Send an image while `one_by_one` is held. Return whether the terminal has it: it may be deleted during the
        upload."""
        from accord.tui.transcript.images.kitty import encode_upload

        current = (number, in_tmux)
        try:
            for some in _join_pieces(encode_upload(number, png, columns, rows, in_tmux=in_tmux), _AT_ONCE):
                while self.is_busy():  # noqa: ASYNC110  # there is no event for an empty output queue
                    await asyncio.sleep(_PACE)
                if number not in self._numbers:
                    return False
                self._current = current
                self._write(some)
                await asyncio.sleep(_PACE)
            if self._current != current:
                return False
            self._current = None
            self._write_deletions()
            return True
        finally:
            if self._current == current:  # cancelled
                self.forget(number, in_tmux=in_tmux)

    def forget(self, number: int, *, in_tmux: bool) -> None:
        """Delete an image, even during its upload; but not in the middle of another upload."""
        from accord.tui.transcript.images.kitty import encode_deletion, encode_end

        self._numbers.discard(number)
        if self._current == (number, in_tmux):
            self._current = None
            self._write(encode_end(in_tmux=in_tmux))
        self._deletions.append(encode_deletion(number, in_tmux=in_tmux))
        self._write_deletions()

    def _write_deletions(self) -> None:
        if self._current is None and self._deletions:
            self._write("".join(self._deletions))
            self._deletions.clear()


def _join_pieces(pieces: Iterable[str], most: int) -> Iterable[str]:
    """Join pieces into chunks of about `most` characters."""
    held: list[str] = []
    for piece in pieces:
        held.append(piece)
        if sum(map(len, held)) >= most:
            yield "".join(held)
            held = []
    if held:
        yield "".join(held)
