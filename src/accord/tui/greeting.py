"""Text of an empty transcript: which agent is starting, or why it can't be used."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.tui.agent.process import AgentProcess

MISCONFIGURED = "The configuration is invalid"


def describe_start(process: AgentProcess, cwd: Path) -> list[str]:
    """Say which agent is being started or installed."""
    if process.is_stopping:
        return ["", f"Stopping {process.title}…"]
    if process.progress:
        return ["", f"Installing {process.title} first: {process.progress}", "esc cancel"]
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


def describe_error(process: AgentProcess, why: str) -> list[str]:
    """Say why the agent can't be used, and what the user can do."""
    if process.is_misconfigured:  # which affects every agent
        return [
            "",
            f"{MISCONFIGURED}:",
            "",
            *why.splitlines(),
            "",
            "alt+d diagnose · ctrl+r retry once you've fixed it",
        ]
    return [
        "",
        f"Couldn't start {process.title}:",
        "",
        *why.splitlines(),
        "",
        "alt+d diagnose · ctrl+r retry",
        "ctrl+l log · ctrl+n choose another agent",
    ]


def describe_missing_session(process: AgentProcess, why: str) -> list[str]:
    """Say why there is no session although the agent runs."""
    return [
        "",
        f"{process.title} is running, but the session couldn't be opened:",
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
