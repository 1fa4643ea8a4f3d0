"""The last resort for the terminal: when an orderly end does not come about, everything is put back and we go.

Signals are taken by plain handlers, since an application that writes to a terminal which is gone may hang in the
middle of a write, where no event loop runs. What agents started ends with this process, whatever way that goes."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accord.tui.standby import Standby

PATIENCE = 6.0
"""Seconds that an orderly end may take."""
_GONE = 1.5
"""The same when the terminal is gone: nobody waits for anything to be put back, and agents wait for their end."""
_LEFT_BEHIND = 0.5
# Leaves the alternate screen, shows the cursor, and turns off mouse, focus and paste reports and the key protocol;
# before that, the title of the window is what it was.
_RESTORE = (
    b"\x1b[23;2t\x1b[<u\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1049l\x1b[?25h\x1b[0m"
)


class Rescue:
    """Remembers how the terminal was, and sees to it that it will be so again."""

    def __init__(self) -> None:
        self._attributes: list[Any] | None = None
        self._timer: threading.Timer | None = None
        self._standby: Standby | None = None
        self._before: dict[int, Any] = {}  # what was done about a signal before we watched
        self._told: Callable[[int, FrameType | None], None] | None = None
        with suppress(Exception):  # not a terminal, or a system that has no such thing
            import termios

            self._attributes = termios.tcgetattr(0)

    def watch(self, leave: Callable[[int], object]) -> None:
        """From now on, a signal that ends us calls `leave` with the status, and us to account if that does not end."""

        def told(number: int, frame: FrameType | None) -> None:
            status = 128 + number
            self.insist(status, PATIENCE if self._is_there() else _GONE)
            leave(status)

        self._told = told
        for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
            number = getattr(signal, name, None)
            if number is not None and threading.current_thread() is threading.main_thread():
                self._before[number] = signal.signal(number, told)

    def unwatch(self) -> None:
        """Signals do again what they did before, where nobody else has taken them since."""
        for number, before in self._before.items():
            if signal.getsignal(number) is self._told:
                signal.signal(number, signal.SIG_DFL if before is None else before)
        self._before, self._told = {}, None

    def stand_by(self) -> None:
        """From now on the terminal is put back even if we are killed. Call it when the first picture was drawn."""
        if self._attributes is not None and self._standby is None:
            from accord.tui.standby import Standby

            self._standby = Standby(self._attributes, _RESTORE)

    def insist(self, status: int, within: float = PATIENCE) -> None:
        """Ends the process after a while, if it has not ended by then."""
        if self._timer is None:
            self._timer = threading.Timer(within, self._go, [status])
            self._timer.daemon = True
            self._timer.start()

    def over(self, status: int) -> None:
        """The end came about. If it left threads behind, which read a terminal that is gone, we go without them."""
        if self._timer is not None:
            self._timer.cancel()
        if self._standby is not None:
            self._standby.dismiss()
        others = [each for each in threading.enumerate() if each is not threading.main_thread() and not each.daemon]
        for thread in others:
            thread.join(_LEFT_BEHIND)
        if any(thread.is_alive() for thread in others):
            self._go(status)

    def _go(self, status: int) -> None:
        self.restore()
        if self._standby is not None:
            self._standby.dismiss()
        os._exit(status)

    def _is_there(self) -> bool:
        """Whether there is still a terminal."""
        if self._attributes is None:
            return True
        try:
            import termios

            termios.tcgetattr(0)
        except Exception:
            return False
        return True

    def restore(self) -> None:
        """Puts the terminal back, without the help of anything that may hang."""
        for stream in (sys.__stdout__, sys.__stderr__):
            with suppress(Exception):
                assert stream is not None
                fd = stream.fileno()
                if os.isatty(fd):
                    os.set_blocking(fd, False)
                    os.write(fd, _RESTORE)
                    os.set_blocking(fd, True)
                    break
        with suppress(Exception):
            import termios

            if self._attributes is not None:
                termios.tcsetattr(0, termios.TCSANOW, self._attributes)
