"""An agent that can be started, and the plainest way to name one: by its command line. Loads next to nothing."""

from __future__ import annotations

import os
import shlex
import sys
from typing import NamedTuple

from accord.config.environment import Source
from accord.errors import LaunchError

BUILT_IN = "built-in"
"""What the agent that comes with us is called, where an agent is named."""
URLS = ("http://", "https://", "ws://", "wss://")


class Resolved(NamedTuple):
    """An agent that can be started."""

    name: str
    argv: list[str]
    env: dict[str, str]
    environment: Source
    how: str
    """Where it was found, in words."""


def built_in() -> Resolved:
    """The agent that comes with us."""
    return Resolved("accord", [sys.executable, "-m", "accord", "agent"], {}, "inherit", "the built-in agent")


def is_command_line(target: str) -> bool:
    """Whether a target can be nothing else: a name has neither spaces nor slashes."""
    return any(mark in target.strip() for mark in " \t\n/\\") and not target.strip().startswith(URLS)


def command_line(target: str) -> Resolved:
    """The command that a line of words means."""
    try:
        words = shlex.split(target)
    except ValueError as error:
        raise LaunchError(f"{target!r} is no command line: {error}", command=target, stage="resolve") from None
    if not words:
        raise LaunchError(f"{target!r} names no program", command=target, stage="resolve")
    return Resolved(os.path.basename(words[0]), words, {}, "inherit", "a command line")
