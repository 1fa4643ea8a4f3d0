"""Agents given as command lines, and the built-in agent. Imports little, because every `connect()` uses it."""

from __future__ import annotations

import os
import shlex
from typing import NamedTuple

from accord.config.environment import Source
from accord.errors import LaunchError
from accord.process.python import python

BUILT_IN = "built-in"
"""The name of the built-in agent."""
URLS = ("http://", "https://", "ws://", "wss://")
REMOTE = "a remote agent"
"""The description of an agent that was given by a URL."""


class Resolved(NamedTuple):
    """An agent that can be started."""

    name: str
    argv: list[str]
    env: dict[str, str]
    environment: Source
    how: str
    """The place where it was found, for messages."""

    @property
    def is_remote(self) -> bool:
        """Whether it runs elsewhere. Then `argv` is the program that connects to it."""
        return self.how == REMOTE


def built_in() -> Resolved:
    """Return the built-in agent."""
    return Resolved("accord", python("-m", "accord", "agent"), {}, "inherit", "the built-in agent")


def remote(url: str) -> Resolved:
    """Return the agent at a URL: a program that connects to it, and reconnects when the connection is lost."""
    from urllib.parse import urlsplit

    try:
        name = urlsplit(url).hostname or url
    except ValueError as error:
        raise LaunchError(f"{url!r} isn't a valid URL: {error}", stage="resolve") from None
    return Resolved(name, python("-m", "accord", "connect", "--report-interruptions", url), {}, "inherit", REMOTE)


def is_command_line(target: str) -> bool:
    """Return whether a target can only be a command line: names have neither spaces nor slashes."""
    return any(mark in target.strip() for mark in " \t\n/\\") and not target.strip().startswith(URLS)


def command_line(target: str) -> Resolved:
    """Parse a command line."""
    try:
        words = shlex.split(target)
    except ValueError as error:
        raise LaunchError(f"{target!r} isn't a valid command line: {error}", command=target, stage="resolve") from None
    if not words:
        raise LaunchError(f"{target!r} doesn't name a program", command=target, stage="resolve")
    return Resolved(os.path.basename(words[0]), words, {}, "inherit", "a command line")
