"""Patterns for MCP tools: `server/tool`, with stars in either name; a server alone means all its tools.

The server's name is the one that the user's client gave it, and the tool's name is the one that is called. Both are
known to the caller, so rules may allow tools by them. Claims of the server about its tools (such as "read-only") are
ignored."""

from __future__ import annotations

from accord.errors import RuleError
from accord.policy.patterns import commands, glob


def read(pattern: str) -> tuple[str, str]:
    """Parse a pattern into server and tool, or raise `RuleError`."""
    server, slash, tool = pattern.strip().partition("/")
    if not server or (slash and not tool):
        raise RuleError(f"{pattern!r} isn't an MCP tool; expected server/tool, or a server")
    return server, tool or "*"


def is_exact(pattern: str) -> bool:
    """Return whether a pattern matches exactly one tool."""
    return "*" not in "".join(read(pattern))


def covers(pattern: str, name: str) -> bool:
    """Return whether a pattern matches `server/tool` exactly."""
    return _fits(pattern, name)


def catches(pattern: str, name: str) -> bool:
    """Return whether a pattern matches, ignoring case."""
    return _fits(glob.fold(pattern), glob.fold(name))


def exact_pattern(name: str) -> str | None:
    """Return the pattern for exactly this tool, or None if it can't be expressed."""
    return name if "*" not in name and name.strip() == name and "/" in name.strip("/") else None


def _fits(pattern: str, name: str) -> bool:
    # Match the names separately, so that a star in the server's name can't extend into the tool's.
    given = name.partition("/")[::2]
    return all(commands.fits(tuple(one.split("*")), two) for one, two in zip(read(pattern), given, strict=True))
