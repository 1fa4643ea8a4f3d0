"""What goes wrong with a server, in words that say which server, what, and what to do."""

from __future__ import annotations

from accord.coder.tools.base import ToolFault

LAST_LINES = 8
LAST_CHARACTERS = 1500


class ServerFault(ToolFault):
    """A server could not be reached, or did not do what it was asked."""

    def __init__(self, server: str, why: str, *, lost: bool = False) -> None:
        super().__init__(f"MCP server {server}: {why}")
        self.server = server
        self.why = why
        self.lost = lost
        """Whether the connection is over, so that it has to be made again."""


def last_words(text: str) -> str:
    """The last lines of what a program complained, for the end of a sentence."""
    last = "\n".join(text.splitlines()[-LAST_LINES:])[-LAST_CHARACTERS:].strip()
    return f"its last words: {last}" if last else "it said nothing on standard error"


def plain(error: BaseException) -> str:
    """An exception in words. Of a group, the first that is to blame."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = str(error).strip().splitlines()
    return text[0][:500] if text else type(error).__name__
