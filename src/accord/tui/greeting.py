"""What stands in a conversation in which nothing was said yet: who is there, or why nobody is."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.tui.link import Link

MISCONFIGURED = "The configuration cannot be read"


def starting(link: Link, cwd: Path) -> list[str]:
    """Who is being started, or installed before that."""
    if link.is_stopping:
        return ["", f"Stopping {link.title} …"]
    if link.progress:
        return ["", f"{link.title} is installed first: {link.progress}", "esc stops it"]
    return ["", f"Starting {link.title} in {_short(cwd)} …"]


def slow(link: Link, cwd: Path, is_opening: bool, seconds: int) -> list[str]:
    """What an agent that takes long has not done yet, and what can be done."""
    since = f" for {seconds} s" if seconds else " yet"
    what = "has not opened a session" if is_opening else "has not answered"
    return [
        "",
        f"Starting {link.title} in {_short(cwd)} …",
        f"It {what}{since}.",
        "",
        "esc or f12 ends it · ctrl+l shows what it printed · alt+d asks the doctor why",
        "What you send meanwhile waits for it.",
    ]


def welcome(link: Link, cwd: Path) -> list[str]:
    """Who is there, and how to begin."""
    assert link.agent is not None
    info = link.agent.offers.info
    who = f"{link.title} {info.version if info is not None else ''}".strip()
    return [
        "",
        f"{who}, in {_short(cwd)}",
        "",
        "Type what you want and press enter.",
        "/ lists the agent's commands, @ names a file, ? shows the keys.",
    ]


def failed(link: Link, why: str) -> list[str]:
    """Why nobody is there, and what can be done."""
    if link.is_misconfigured:  # no other agent could be used either
        return [
            "",
            f"{MISCONFIGURED}:",
            "",
            *why.splitlines(),
            "",
            "alt+d asks the doctor what else is wrong · ctrl+r tries again, once it is mended",
        ]
    return [
        "",
        f"{link.title} could not be used:",
        "",
        *why.splitlines(),
        "",
        "alt+d asks the doctor why · ctrl+r tries again",
        "ctrl+l shows what it printed · ctrl+n chooses another agent",
    ]


def without_session(link: Link, why: str) -> list[str]:
    """Why there is no session, though the agent is there."""
    return [
        "",
        f"{link.title} is there, but the session could not be opened:",
        "",
        *why.splitlines(),
        "",
        f"ctrl+r begins a new one{' · ctrl+o shows those there are' if link.lists else ''}",
    ]


def untold(link: Link) -> list[str]:
    """What is to be said in the first session, for where there is none."""
    return [line for note in link.notes for line in ("", f"{note.title}: {note.description or ''}".rstrip(": "))]


def wrapped(lines: list[str], width: int) -> list[str]:
    return [row for line in lines for row in wrap(line, max(width, 20)) or [""]]


def _short(path: Path) -> str:
    """A path as people write it, the home directory as a tilde."""
    try:
        inside = path.relative_to(Path.home())
        return f"~/{inside}" if inside.parts else "~"
    except (ValueError, RuntimeError):
        return str(path)
