"""Standard input and output as they are found: closed, full, broken, or in bytes that are no text."""

from __future__ import annotations

import os
import sys
from typing import Any

import click


def settle() -> None:
    """Puts nothing in the place of each standard stream that is closed.

    Otherwise the next file that is opened would be taken for it: the agent's pipe for our output, say."""
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDONLY if fd == 0 else os.O_WRONLY)
            if nothing != fd:
                os.dup2(nothing, fd)
                os.close(nothing)
            os.set_inheritable(fd, True)
            mode = "r" if fd == 0 else "w"
            setattr(sys, name, open(fd, mode, encoding="utf-8", errors="replace", closefd=False))  # noqa: SIM115


def give_up_output(stream: int = 1) -> None:
    """Nobody reads our output, or it cannot be written: what is still in our hands goes nowhere, without complaint.

    Otherwise Python would try again at the very end, and end with a status of its own."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def read_text(stream: Any) -> str:
    """Everything that a stream holds. Usage is wrong when that is no text."""
    try:
        # Where the locale says nothing, Python would let any byte through.
        data = stream.buffer.read() if hasattr(stream, "buffer") else stream.read()
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else str(data)
    except UnicodeDecodeError:
        raise click.UsageError("the prompt is no text in UTF-8") from None
    except OSError as error:  # a directory, say
        raise click.UsageError(f"the prompt cannot be read: {error.strerror}") from None
    return text.replace("\r\n", "\n")


def check_text(value: str, what: str) -> str:
    """A word of the command line that goes to the agent, which takes nothing but text."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise click.UsageError(f"{what} is no text in UTF-8") from None
    return value
