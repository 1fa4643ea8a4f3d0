"""Tools of MCP servers in rules: `server/tool`, with stars in either; a server alone means all of its tools.

The server's name is the one under which the user's client passed it to the session, and the tool's is the one that will
be called. Both are facts to whoever calls the tool, so a rule may allow by them. What a server says of its tools (that
one only reads, say) is no fact and plays no part here."""

from __future__ import annotations

from accord.errors import RuleError
from accord.policy import commands, glob


def read(pattern: str) -> tuple[str, str]:
    """The server and the tool that a pattern is about."""
    server, slash, tool = pattern.strip().partition("/")
    if not server or (slash and not tool):
        raise RuleError(f"{pattern!r} names no tool of an MCP server; expected server/tool, or a server")
    return server, tool or "*"


def is_exact(pattern: str) -> bool:
    """Whether it means one tool."""
    return "*" not in "".join(read(pattern))


def covers(pattern: str, name: str) -> bool:
    """Whether a pattern means this `server/tool`, to the letter."""
    return _fits(pattern, name)


def catches(pattern: str, name: str) -> bool:
    """Whether a pattern may mean it: upper and lower case are one."""
    return _fits(glob.fold(pattern), glob.fold(name))


def exact(name: str) -> str | None:
    """The pattern for this very tool; None when there is none."""
    return name if "*" not in name and name.strip() == name and "/" in name.strip("/") else None


def _fits(pattern: str, name: str) -> bool:
    # Part by part: a star never reaches from a server's name into that of its tool.
    given = name.partition("/")[::2]
    return all(commands.fits(tuple(one.split("*")), two) for one, two in zip(read(pattern), given, strict=True))
