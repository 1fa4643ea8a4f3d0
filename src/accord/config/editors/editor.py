"""An editor, the agent to add to it, and the machine it runs on."""

from __future__ import annotations

import glob
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Launch(NamedTuple):
    """The command with which an editor starts an agent."""

    name: str
    """Its name in the editor."""
    command: str
    args: list[str]

    @property
    def id(self) -> str:
        """The name as an identifier: letters, digits and `_`."""
        words = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in self.name.lower())
        id = "_".join(words.split())
        return id if id and not id[0].isdigit() else f"agent_{id}".rstrip("_")


class JsonSettings(NamedTuple):
    """Settings in JSON, with one object that holds all agents by name."""

    file: Callable[[Machine], Path]
    key: str
    """The key of that object."""
    entry: Callable[[Launch], dict[str, Any]]
    new: dict[str, Any] = {}
    """Other content of a new file."""
    by_id: bool = False
    """Whether users type agent names, in which case a simple identifier is better."""

    def name(self, launch: Launch) -> str:
        """Return the agent's name in these settings."""
        return launch.id if self.by_id else launch.name


class Editor(NamedTuple):
    """An editor, or a plugin of one."""

    name: str
    title: str
    where: str
    """Where to put the printed settings, for users."""
    programs: tuple[str, ...]
    """The names of its executables."""
    traces: Callable[[Machine], list[Path]]
    """Paths of which any indicates that it's installed."""
    text: Callable[[Launch], str] | None = None
    """Renders settings that are code or a command: printed, never written."""
    json: JsonSettings | None = None
    full_path: bool = False
    """Whether it needs the full path of commands."""
    aliases: tuple[str, ...] = ()
    """Aliases; plugins of the same editor may share one."""

    def detect(self, machine: Machine) -> str | None:
        """Return the path that indicates that it's installed, if any."""
        for name in self.programs:
            if (program := machine.program(name)) is not None:
                return program
        return next((str(path) for path in self.traces(machine) if path.exists()), None)


class Machine(NamedTuple):
    """A platform (the value of `sys.platform`), a home directory and an environment."""

    platform: str
    home: Path
    env: dict[str, str]

    @classmethod
    def this(cls) -> Machine:
        return cls(sys.platform, Path.home(), dict(os.environ))

    @property
    def dot_config(self) -> Path:
        """The settings directory of Unix-style programs, on macOS too."""
        base = self.env.get("XDG_CONFIG_HOME", "")
        return Path(base) if os.path.isabs(base) else self.home / ".config"

    @property
    def app_settings(self) -> Path:
        """The settings directory of desktop programs."""
        match self.platform:
            case "darwin":
                return self.home / "Library" / "Application Support"
            case "win32":
                return Path(self.env.get("APPDATA") or self.home / "AppData" / "Roaming")
            case _:
                return self.dot_config

    @property
    def nvim_data(self) -> Path:
        """The directory where Neovim's plugin managers install plugins."""
        if self.platform == "win32":
            return Path(self.env.get("LOCALAPPDATA") or self.home / "AppData" / "Local") / "nvim-data"
        base = self.env.get("XDG_DATA_HOME", "")
        return (Path(base) if os.path.isabs(base) else self.home / ".local" / "share") / "nvim"

    def nvim_plugin(self, name: str) -> list[Path]:
        """Return the possible paths of a Neovim plugin."""
        lazy = self.nvim_data / "lazy" / name
        return [lazy, *self.find(self.nvim_data / "site" / "pack", "*", "*", name)]

    def application(self, name: str) -> list[Path]:
        """Return the possible paths of a macOS application."""
        if self.platform != "darwin":
            return []
        return [Path("/Applications", f"{name}.app"), self.home / "Applications" / f"{name}.app"]

    def find(self, base: Path, *pattern: str) -> list[Path]:
        """Return the paths below a directory that match a pattern."""
        return [Path(each) for each in sorted(glob.glob(os.path.join(glob.escape(str(base)), *pattern)))]

    def program(self, name: str) -> str | None:
        """Return the path of a program on the PATH, if any."""
        return shutil.which(name, path=self.env.get("PATH"))
