"""What there is to know of an editor, and of the agent that it is to start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from accord.config.editors.machine import Machine


class Launch(NamedTuple):
    """An agent as an editor starts it."""

    name: str
    """What it is called in the editor."""
    command: str
    args: list[str]

    @property
    def id(self) -> str:
        """The name where only letters, digits and `_` will do."""
        words = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in self.name.lower())
        id = "_".join(words.split())
        return id if id and not id[0].isdigit() else f"agent_{id}".rstrip("_")


class JsonSettings(NamedTuple):
    """Settings that are JSON: one object holds all agents, by name."""

    file: Callable[[Machine], Path]
    key: str
    """The key of that object."""
    entry: Callable[[Launch], dict[str, Any]]
    new: dict[str, Any] = {}
    """What a new file holds besides."""


class Editor(NamedTuple):
    """One editor, or one plugin of one."""

    name: str
    title: str
    where: str
    """Where what is printed belongs, in words."""
    programs: tuple[str, ...]
    """By which names it is started."""
    traces: Callable[[Machine], list[Path]]
    """Any of these says that it is here."""
    text: Callable[[Launch], str] | None = None
    """Settings that are a program: printed, never changed."""
    json: JsonSettings | None = None
    full_path: bool = False
    """Whether it looks for commands by their full path alone."""
    lacks: str = ""
    """Why it cannot be told to start an agent."""

    def found(self, machine: Machine) -> str | None:
        """A sign that it is on this machine."""
        for name in self.programs:
            if (program := machine.program(name)) is not None:
                return program
        return next((str(path) for path in self.traces(machine) if path.exists()), None)
