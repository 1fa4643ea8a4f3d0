"""Where configuration, data and cached files live on this platform, and how the environment overrides it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from accord.errors import ConfigError


def config_folder() -> Path:
    """What the user writes: `config.toml`."""
    return _folder("ACCORD_CONFIG_HOME", "XDG_CONFIG_HOME", ".config", "Library/Application Support", "APPDATA")


def data_folder() -> Path:
    """What is kept for the user: remembered permissions, sessions, installed agents' pins."""
    return _folder("ACCORD_DATA_HOME", "XDG_DATA_HOME", ".local/share", "Library/Application Support", "LOCALAPPDATA")


def remembered_file() -> Path:
    """Where the policy keeps what was allowed and refused for good."""
    return data_folder() / "permissions.toml"


def cache_folder() -> Path:
    """What can be fetched again: installed agents."""
    return _folder("ACCORD_CACHE_HOME", "XDG_CACHE_HOME", ".cache", "Library/Caches", "LOCALAPPDATA")


def _folder(ours: str, xdg: str, linux: str, mac: str, windows: str) -> Path:
    if chosen := os.environ.get(ours):
        return Path(chosen)
    home = _home()
    if sys.platform == "darwin":
        return home / mac / "accord"
    if sys.platform == "win32":
        return Path(os.environ.get(windows) or home) / "accord"
    base = os.environ.get(xdg, "")
    return (Path(base) if os.path.isabs(base) else home / linux) / "accord"


def _home() -> Path:
    """The user's folder. A relative one would make whatever folder we are in the user's own."""
    try:
        home = Path.home()
    except RuntimeError:
        home = Path()
    if not home.is_absolute():
        names = "ACCORD_CONFIG_HOME, ACCORD_DATA_HOME and ACCORD_CACHE_HOME"
        raise ConfigError(f"your home folder is not known: set HOME, or {names}")
    return home
