"""Restoring the terminal when an orderly exit fails, even after `kill -9`.

Signals are handled by plain handlers, because an app that writes to a terminal which is gone may hang in the middle of
a write, where no event loop runs. Programs started by agents end with this process in any case.

For `kill -9`, a standby process outlives this one: a shell blocked in `read`, which starts in a millisecond and becomes
a Python process only when the pipe to us closes without a line. If the user's shell has set the terminal by then, it is
left alone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

TIMEOUT_SECONDS = 6.0
"""Seconds that an orderly exit may take."""
_GONE_SECONDS = 1.5
"""The same when the terminal is gone, so that agents end soon."""
_JOIN_SECONDS = 0.5
# Leaves the alternate screen, shows the cursor, and turns off mouse, focus and paste reports and the key protocol;
# before that, the title of the window is what it was.
_RESTORE = (
    b"\x1b[23;2t\x1b[<u\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1049l\x1b[?25h\x1b[0m"
)


class TerminalRestorer:
    """Remembers the terminal settings and restores them, whatever happens."""

    def __init__(self) -> None:
        self._attributes: list[Any] | None = None
        self._timer: threading.Timer | None = None
        self._standby: Standby | None = None
        self._before: dict[int, Any] = {}  # the previous signal handlers
        self._handler: Callable[[int, FrameType | None], None] | None = None
        if sys.platform != "win32":
            with suppress(Exception):  # not a terminal
                import termios

                self._attributes = termios.tcgetattr(0)

    def watch(self, leave: Callable[[int], object]) -> None:
        """Call `leave` with the exit status on a terminating signal, and force the exit if that takes too long."""

        def handle(number: int, frame: FrameType | None) -> None:
            status = 128 + number
            self.force_exit_later(status, TIMEOUT_SECONDS if self._has_terminal() else _GONE_SECONDS)
            leave(status)

        self._handler = handle
        for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
            number = getattr(signal, name, None)
            if number is not None and threading.current_thread() is threading.main_thread():
                self._before[number] = signal.signal(number, handle)
        if self._attributes is not None:
            threading.Thread(target=self._wait_for_hangup, name="accord-hangup", daemon=True).start()

    def unwatch(self) -> None:
        """Restore the previous signal handlers, unless they were replaced since."""
        for number, before in self._before.items():
            if signal.getsignal(number) is self._handler:
                signal.signal(number, signal.SIG_DFL if before is None else before)
        self._before, self._handler = {}, None

    def start_standby(self) -> None:
        """Start the standby process. Call it after the first frame."""
        if self._attributes is not None and self._standby is None:
            self._standby = Standby(self._attributes, _RESTORE)

    def force_exit_later(self, status: int, within: float = TIMEOUT_SECONDS) -> None:
        """Force the exit after `within` seconds."""
        if self._timer is None:
            self._timer = threading.Timer(within, self._exit_now, [status])
            self._timer.daemon = True
            self._timer.start()

    def finish(self, status: int) -> None:
        """After the app has exited: end the process at once if the terminal is gone or threads still read it.

        Python would wait for the threads, fail to flush its streams, and exit with another status."""
        if self._timer is not None:
            self._timer.cancel()
        if self._standby is not None:
            self._standby.dismiss()
        others = [each for each in threading.enumerate() if each is not threading.main_thread() and not each.daemon]
        for thread in others:
            thread.join(_JOIN_SECONDS)
        if any(thread.is_alive() for thread in others) or not self._has_terminal():
            self._exit_now(status)

    def _exit_now(self, status: int) -> None:
        self.restore()
        if self._standby is not None:
            self._standby.dismiss()
        os._exit(status)

    def _wait_for_hangup(self) -> None:
        """Exit when the terminal is gone.

        A client that isn't in the terminal's session gets no SIGHUP. Textual's writer thread then ends with an error,
        the next write waits for it forever, and its input thread reads the end of the input in a busy loop."""
        if sys.platform == "win32":
            return
        import select

        poll = select.poll()
        poll.register(0, 0)  # no events asked for: only a hangup or an error ends the wait
        is_hung_up = any(event & select.POLLHUP for _, event in poll.poll())
        if is_hung_up and self._handler is not None:
            self._handler(signal.SIGHUP, None)

    def _has_terminal(self) -> bool:
        """Return whether the terminal still exists."""
        if sys.platform == "win32" or self._attributes is None:
            return True
        try:
            import termios

            termios.tcgetattr(0)
        except Exception:
            return False
        return True

    def restore(self) -> None:
        """Restore the terminal, using nothing that may hang."""
        for stream in (sys.__stdout__, sys.__stderr__):
            with suppress(Exception):
                assert stream is not None
                fd = stream.fileno()
                if os.isatty(fd):
                    if sys.platform == "win32":
                        os.write(fd, _RESTORE)
                        break
                    os.set_blocking(fd, False)
                    os.write(fd, _RESTORE)
                    os.set_blocking(fd, True)
                    break
        if sys.platform == "win32":
            return
        with suppress(Exception):
            import termios

            if self._attributes is not None:
                termios.tcsetattr(0, termios.TCSANOW, self._attributes)


_SHELL = "/bin/sh"
_WAIT = "trap '' INT TERM HUP QUIT; read -r nothing || exec \"$@\""
_RESTORE_CODE = """\
import ast, os, sys, termios
fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
before, ours = ast.literal_eval(sys.argv[2]), ast.literal_eval(sys.argv[3])
os.write(fd, bytes.fromhex(sys.argv[4]) + b"\\r\\nAccord was killed; your drafts are saved.\\r\\n")
if termios.tcgetattr(fd) == ours:
    termios.tcsetattr(fd, termios.TCSANOW, before)
"""


class Standby:
    """The process that restores the terminal after we were killed."""

    def __init__(self, before: list[Any], restore: bytes) -> None:
        """`before` are the original settings; `restore` is written to the terminal. The app must be running by now."""
        self._pipe: int | None = None
        if sys.platform == "win32":
            return
        if not (os.path.exists(_SHELL) and sys.executable) or getattr(sys, "frozen", False):
            return
        with suppress(Exception):  # without it everything works but this
            import termios

            code = [sys.executable, "-I", "-S", "-c", _RESTORE_CODE, os.ttyname(0)]
            code += [repr(before), repr(termios.tcgetattr(0)), restore.hex()]
            theirs, self._pipe = os.pipe()
            try:
                waiting = subprocess.Popen(
                    [_SHELL, "-c", _WAIT, "accord-standby", *code],
                    stdin=theirs,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    start_new_session=True,
                )
            finally:
                os.close(theirs)
            waiting.returncode = 0  # it may outlive us on purpose: no complaint when this object is collected

    def dismiss(self) -> None:
        """End the standby process: the terminal was restored."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            with suppress(OSError):
                os.write(pipe, b"\n")
                os.close(pipe)
