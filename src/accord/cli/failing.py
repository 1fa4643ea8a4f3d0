"""How a command says that it failed."""

from __future__ import annotations

import os


class Failure(Exception):
    """Ends a command with a message and a status. What it was made from is its cause."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def is_debugging() -> bool:
    """Whether the user wants to see where in the code a fault was."""
    return os.environ.get("ACCORD_DEBUG", "") not in ("", "0")


def settle_log() -> None:
    """What the library logs is for those who look for a fault; everybody else is told in other ways."""
    import logging

    if is_debugging():
        logging.basicConfig(level=logging.DEBUG)
    else:
        logging.getLogger("accord").addHandler(logging.NullHandler())
