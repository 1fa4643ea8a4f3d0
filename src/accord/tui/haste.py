"""What the client takes of the whole process while it runs, so that no key waits; and gives back at its end.

A program may show more than one client, one after the other: what was set and kept for one must not outlast it, or
whatever it had loaded and drawn would stay for ever."""

from __future__ import annotations

import gc
import sys

SWITCH = 0.001
"""Seconds after which a thread lets others go on: keys come and lines go through threads, which must not wait for a
whole picture."""


class Haste:
    """The settings of the interpreter, taken and given back."""

    def __init__(self) -> None:
        self._before: tuple[bool, float] | None = None
        self._froze = False

    def begin(self) -> None:
        """Everything is loaded: it stays, and looking through it again and again would hold up keys."""
        if self._before is not None:
            return
        self._before = gc.isenabled(), sys.getswitchinterval()
        self._froze = gc.get_freeze_count() == 0  # what others keep from the collector is theirs to give back
        if self._froze:
            gc.freeze()
        gc.enable()
        sys.setswitchinterval(SWITCH)

    def end(self) -> None:
        """What was set is as it was, and what is not needed any more can be collected."""
        _forget_drawn()
        if self._before is None:
            return
        (was_enabled, interval), self._before = self._before, None
        if self._froze:
            gc.unfreeze()
        if not was_enabled:
            gc.disable()
        sys.setswitchinterval(interval)


def _forget_drawn() -> None:
    """Textual remembers a thousand widgets of the process with all their lines, for the colours of their edges."""
    from textual._styles_cache import StylesCache

    clear = getattr(StylesCache.get_inner_outer, "cache_clear", None)
    if clear is not None:
        clear()
