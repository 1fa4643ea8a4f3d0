"""Pictures on their way to the terminal: one after the other, whichever tab they are for.

The pieces of a picture do not say which one they belong to: whatever else is said about pictures between them, the
terminal would take for a part of it. So there is one of these for each terminal. A picture that was begun is either
sent to its end, or ended and taken out again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable

_AT_ONCE, _PACE = 8_000, 0.005
"""Characters that are sent to the terminal at once, and seconds until the next: keys are seen in between."""


class Sender:
    """Sends pictures to one terminal, and makes it forget them."""

    def __init__(self, write: Callable[[str], None], is_busy: Callable[[], bool] = lambda: False) -> None:
        """`write` gets what the terminal alone is to see, unless it has enough to do yet."""
        self._write = write
        self.is_busy = is_busy
        self.one_by_one = asyncio.Lock()
        """For whoever draws: what decoding takes is taken once, however many tabs there are."""
        self._taken: set[int] = set()
        self._begun: tuple[int, bool] | None = None
        self._later: list[str] = []

    def number(self, few_colours: bool) -> int:
        """A number for a picture, which is also a colour; any, since other programs in this terminal have numbers."""
        numbers = range(16, 256) if few_colours else range(0x10000, 0x1000000)
        if len(self._taken) >= len(numbers) // 2:
            raise OverflowError("there are as many pictures as there are numbers")
        while (number := random.choice(numbers)) in self._taken:
            pass
        self._taken.add(number)
        return number

    async def send(self, number: int, png: bytes, columns: int, rows: int, *, in_tmux: bool) -> bool:
        """Sends a picture, while `one_by_one` is held. Tells whether the terminal has it: it may be forgotten on its
        way."""
        from accord.tui.conversation.picture_kitty import sent

        begun = (number, in_tmux)
        try:
            for some in _together(sent(number, png, columns, rows, in_tmux=in_tmux), _AT_ONCE):
                while self.is_busy():  # noqa: ASYNC110  # nobody tells when it has taken it
                    await asyncio.sleep(_PACE)
                if number not in self._taken:
                    return False
                self._begun = begun
                self._write(some)
                await asyncio.sleep(_PACE)
            if self._begun != begun:
                return False
            self._begun = None
            self._go_on()
            return True
        finally:
            if self._begun == begun:  # somebody lost patience
                self.forget(number, in_tmux=in_tmux)

    def forget(self, number: int, *, in_tmux: bool) -> None:
        """Makes the terminal forget a picture, even one that is on its way; but not in the middle of another."""
        from accord.tui.conversation.picture_kitty import deleted, ended

        self._taken.discard(number)
        if self._begun == (number, in_tmux):
            self._begun = None
            self._write(ended(in_tmux=in_tmux))
        self._later.append(deleted(number, in_tmux=in_tmux))
        self._go_on()

    def _go_on(self) -> None:
        if self._begun is None and self._later:
            self._write("".join(self._later))
            self._later.clear()


def _together(pieces: Iterable[str], most: int) -> Iterable[str]:
    """The pieces, as many at a time as make up so many characters."""
    held: list[str] = []
    for piece in pieces:
        held.append(piece)
        if sum(map(len, held)) >= most:
            yield "".join(held)
            held = []
    if held:
        yield "".join(held)
