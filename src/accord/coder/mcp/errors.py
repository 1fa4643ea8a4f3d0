"""Errors of MCP servers. Messages name the server, the cause and a remedy."""

from __future__ import annotations

from accord.coder.tools.base import ToolError

MAX_STDERR_LINES = 8
MAX_STDERR_CHARACTERS = 1500


class McpServerError(ToolError):
    """A server can't be reached, or a request to it failed."""

    def __init__(self, server: str, why: str, *, lost: bool = False) -> None:
        super().__init__(f"MCP server {server}: {why}")
        self.server = server
        self.why = why
        self.lost = lost
        """Whether the connection is lost and must be opened again."""


def describe_stderr(text: str) -> str:
    """Return the last lines of standard error, for the end of a sentence."""
    last = "\n".join(text.splitlines()[-MAX_STDERR_LINES:])[-MAX_STDERR_CHARACTERS:].strip()
    return f"its last output: {last}" if last else "it wrote nothing to standard error"


def describe(error: BaseException) -> str:
    """Return the first line of an exception's message; of a group, that of its first exception."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = str(error).strip().splitlines()
    return text[0][:500] if text else type(error).__name__
