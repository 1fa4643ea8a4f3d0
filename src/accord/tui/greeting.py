"""Text of an empty transcript: which agent is starting, or why it can't be used."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.errors import PeerDied
    from accord.tui.agent.process import AgentProcess

MISCONFIGURED = "The configuration is invalid"
FAILED = "✗ "
"""Begins the line that names a failure."""
_MAX_STDERR_LINES = 5


def describe_start(process: AgentProcess, cwd: Path) -> list[str]:
    """Say which agent is being started or installed."""
    if process.is_stopping:
        return ["", f"Stopping {process.title}…"]
    if process.progress:
        return ["", f"{process.title} isn't installed yet: {process.progress}…", "The first start takes a while."]
    return ["", f"Starting {process.title} in {_shorten(cwd)}…"]


def describe_slow_start(process: AgentProcess, cwd: Path, is_opening: bool, seconds: int) -> list[str]:
    """Say what a slow agent hasn't done yet, and what the user can do."""
    since = f" for {seconds} s" if seconds else " yet"
    what = "hasn't opened a session" if is_opening else "hasn't responded"
    return [
        "",
        f"Starting {process.title} in {_shorten(cwd)}…",
        f"It {what}{since}.",
        "",
        "esc or f12 cancel · ctrl+l log · alt+d diagnose",
        "Prompts you send meanwhile are queued.",
    ]


def describe_error(process: AgentProcess, why: str, *, has_keys: bool = False) -> list[str]:
    """Say why the agent can't be used, and what the user can do, unless the keys are on the screen (`has_keys`)."""
    if process.is_misconfigured:  # which affects every agent
        hints = ["alt+d diagnose · ctrl+r retry once you've fixed it"]
        title = f"{MISCONFIGURED}:"
    else:
        hints = [] if has_keys else ["ctrl+r retry · alt+d diagnose", "ctrl+l log · ctrl+n choose another agent"]
        title = f"Couldn't start {process.title}"
    return ["", f"{FAILED}{title}", "", *why.splitlines(), "", *hints]


def describe_early_exit(error: PeerDied) -> str:
    """Say how the agent exited before it could be used, and what it wrote to standard error."""
    from accord.process.child import describe_exit

    how = "closed its output" if error.status is None else describe_exit(error.status)
    said = error.stderr.strip().splitlines()[-_MAX_STDERR_LINES:]
    return "\n".join([f"It {how} during startup{':' if said else ', and wrote nothing to standard error.'}", *said])


def describe_missing_session(process: AgentProcess, why: str) -> list[str]:
    """Say why there is no session although the agent runs."""
    return [
        "",
        f"{FAILED}{process.title} is running, but the session couldn't be opened",
        "",
        *why.splitlines(),
        "",
        f"ctrl+r new session{' · ctrl+o sessions' if process.can_list_sessions else ''}",
    ]


def pending_notes(process: AgentProcess) -> list[str]:
    """Return the notices for the first session, to show them without one."""
    return [line for note in process.notes for line in ("", f"{note.title}: {note.description or ''}".rstrip(": "))]


def wrap_lines(lines: list[str], width: int) -> list[str]:
    return [row for line in lines for row in wrap(line, max(width, 20)) or [""]]


def _shorten(path: Path) -> str:
    """Abbreviate the home directory as a tilde."""
    try:
        inside = path.relative_to(Path.home())
        return f"~/{inside}" if inside.parts else "~"
    except (ValueError, RuntimeError):
        return str(path)
