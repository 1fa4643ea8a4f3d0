"""Helpers for tests of terminals: wait for output, and small commands."""

from __future__ import annotations

import sys

from accord.workspace.terminals import Terminals


async def until_printed(terminals: Terminals, id: str, text: str) -> str:
    """Waits until a terminal has printed this, and gives all that it printed."""
    printed = ""
    async for piece in terminals.subscribe(id).texts():
        printed += piece
        if text in printed:
            return printed
    raise AssertionError(f"ended without {text!r}: {printed!r}")


def python(code: str, *args: str) -> tuple[str, list[str]]:
    """A command and its arguments: a bare interpreter that runs this."""
    return sys.executable, ["-I", "-S", "-c", code, *args]
