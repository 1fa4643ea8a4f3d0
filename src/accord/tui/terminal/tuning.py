"""Process-wide tuning (GC freeze, thread switch interval) while the TUI runs; restored on exit.

A program may run several clients one after the other: settings and cached widgets must not outlive the client."""

from __future__ import annotations

import gc
import sys

from accord.tui.terminal.textual_internals import clear_style_cache

SWITCH = 0.001
"""Thread switch interval: keys and output pass through threads, which must not wait for a whole frame."""


class ProcessTuning:
    """The interpreter settings, changed and restored."""

    def __init__(self) -> None:
        self._before: tuple[bool, float] | None = None
        self._froze = False

    def begin(self) -> None:
        """Freeze loaded objects: scanning them in every collection would delay keys."""
        if self._before is not None:
            return
        self._before = gc.isenabled(), sys.getswitchinterval()
        self._froze = gc.get_freeze_count() == 0  # objects frozen by other code stay frozen
        if self._froze:
            gc.freeze()
        gc.enable()
        sys.setswitchinterval(SWITCH)

    def end(self) -> None:
        """Restore the settings, and let unused objects be collected."""
        clear_style_cache()
        if self._before is None:
            return
        (was_enabled, interval), self._before = self._before, None
        if self._froze:
            gc.unfreeze()
        if not was_enabled:
            gc.disable()
        sys.setswitchinterval(interval)
