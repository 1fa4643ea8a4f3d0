"""The terminal after kill −9: somebody stands by who outlives this process and puts the terminal back.

It is a shell in `read`, which takes a millisecond to start, and becomes a Python only when the pipe from us breaks
without a word, as `accord.process.guard` does for what agents left behind. A shell that has got the terminal back by
then has set it as it likes, and that is left alone."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

_SHELL = "/bin/sh"
_WAIT = "trap '' INT TERM HUP QUIT; read -r nothing || exec \"$@\""
_PUT_BACK = """\
import ast, os, sys, termios
fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
before, ours = ast.literal_eval(sys.argv[2]), ast.literal_eval(sys.argv[3])
os.write(fd, bytes.fromhex(sys.argv[4]) + b"\\r\\nAccord was killed; what you typed is kept.\\r\\n")
if termios.tcgetattr(fd) == ours:
    termios.tcsetattr(fd, termios.TCSANOW, before)
"""


class Standby:
    """Whoever puts the terminal back when we cannot."""

    def __init__(self, before: list[Any], restore: bytes) -> None:
        """`before` is how the terminal was; `restore` is what is written to it. The terminal is ours by now."""
        self._pipe: int | None = None
        if not (os.path.exists(_SHELL) and sys.executable) or getattr(sys, "frozen", False):
            return
        with suppress(Exception):  # without it everything works but this
            import termios

            code = [sys.executable, "-I", "-S", "-c", _PUT_BACK, os.ttyname(0)]
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
        """The terminal was put back in order."""
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            with suppress(OSError):
                os.write(pipe, b"\n")
                os.close(pipe)
