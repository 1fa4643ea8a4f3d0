"""Handle standard streams that are closed, full, broken or not UTF-8."""

from __future__ import annotations

import os
import sys
from typing import Any

import click


def open_closed_streams() -> None:
    """Open the null device in place of each closed standard stream.

    Otherwise the next file to be opened would get its descriptor: our output could go to the agent's pipe."""
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDONLY if fd == 0 else os.O_WRONLY)
            if nothing != fd:
                os.dup2(nothing, fd)
                os.close(nothing)
            os.set_inheritable(fd, True)
            mode = "r" if fd == 0 else "w"
            setattr(sys, name, open(fd, mode, encoding="utf-8", errors="replace", closefd=False))  # noqa: SIM115


def discard_output(stream: int = 1) -> None:
    """Discard output that can't be written.

    Otherwise Python would try again at exit, and change the exit status."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def read_text(stream: Any) -> str:
    """Read a whole stream. Raises `UsageError` if it isn't UTF-8."""
    try:
        # In the C locale, Python would accept any byte.
        data = stream.buffer.read() if hasattr(stream, "buffer") else stream.read()
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else str(data)
    except UnicodeDecodeError:
        raise click.UsageError("the prompt isn't valid UTF-8") from None
    except OSError as error:  # such as a directory
        raise click.UsageError(f"can't read the prompt: {error.strerror}") from None
    return text.replace("\r\n", "\n")


def check_text(value: str, what: str) -> str:
    """Check that an argument can be sent to the agent: it must be valid Unicode."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise click.UsageError(f"{what} isn't valid UTF-8") from None
    return value
