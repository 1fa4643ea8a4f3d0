"""Where a machine keeps things, by the rules of its platform."""

from __future__ import annotations

import glob
import os
import shutil
import sys
from pathlib import Path
from typing import NamedTuple


class Machine(NamedTuple):
    """A platform (as `sys.platform` spells it), a home and an environment."""

    platform: str
    home: Path
    env: dict[str, str]

    @classmethod
    def this(cls) -> Machine:
        return cls(sys.platform, Path.home(), dict(os.environ))

    @property
    def dot_config(self) -> Path:
        """Where programs of the Unix manner keep settings, on macOS too."""
        base = self.env.get("XDG_CONFIG_HOME", "")
        return Path(base) if os.path.isabs(base) else self.home / ".config"

    @property
    def app_settings(self) -> Path:
        """Where programs of the desktop's manner keep settings."""
        match self.platform:
            case "darwin":
                return self.home / "Library" / "Application Support"
            case "win32":
                return Path(self.env.get("APPDATA") or self.home / "AppData" / "Roaming")
            case _:
                return self.dot_config

    @property
    def nvim_data(self) -> Path:
        """Where Neovim's plugin managers put what they fetch."""
        if self.platform == "win32":
            return Path(self.env.get("LOCALAPPDATA") or self.home / "AppData" / "Local") / "nvim-data"
        base = self.env.get("XDG_DATA_HOME", "")
        return (Path(base) if os.path.isabs(base) else self.home / ".local" / "share") / "nvim"

    def nvim_plugin(self, name: str) -> list[Path]:
        """A plugin of Neovim's, by whichever manager it was fetched."""
        lazy = self.nvim_data / "lazy" / name
        return [lazy, *self.find(self.nvim_data / "site" / "pack", "*", "*", name)]

    def application(self, name: str) -> list[Path]:
        """A program of macOS."""
        if self.platform != "darwin":
            return []
        return [Path("/Applications", f"{name}.app"), self.home / "Applications" / f"{name}.app"]

    def find(self, base: Path, *pattern: str) -> list[Path]:
        """What is there of a pattern under a folder."""
        return [Path(each) for each in sorted(glob.glob(os.path.join(glob.escape(str(base)), *pattern)))]

    def program(self, name: str) -> str | None:
        """Where a program is, if it can be called by its name."""
        return shutil.which(name, path=self.env.get("PATH"))
