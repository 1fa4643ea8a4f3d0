"""The directories for configuration, data and cache on this platform, which environment variables override."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path

from accord.errors import ConfigError


def config_directory() -> Path:
    """Return the directory of `config.toml`."""
    return _directory("ACCORD_CONFIG_HOME", "XDG_CONFIG_HOME", ".config", "Library/Application Support", "APPDATA")


def data_directory() -> Path:
    """Return the directory for saved data: remembered rules and sessions."""
    return _directory(
        "ACCORD_DATA_HOME", "XDG_DATA_HOME", ".local/share", "Library/Application Support", "LOCALAPPDATA"
    )


def remembered_file() -> Path:
    """Return the file with the remembered rules."""
    return data_directory() / "permissions.toml"


def cache_directory() -> Path:
    """Return the directory for files that can be downloaded again, such as installed agents."""
    return _directory("ACCORD_CACHE_HOME", "XDG_CACHE_HOME", ".cache", "Library/Caches", "LOCALAPPDATA")


def _directory(ours: str, xdg: str, linux: str, mac: str, windows: str) -> Path:
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
    """Return the user's home directory. A relative one would depend on the working directory, so it's an error."""
    try:
        home = Path.home()
    except RuntimeError:
        home = Path()
    if not home.is_absolute():
        names = "ACCORD_CONFIG_HOME, ACCORD_DATA_HOME and ACCORD_CACHE_HOME"
        raise ConfigError(f"your home directory is unknown: set HOME, or {names}")
    return home


def why_not_writable(directory: Path) -> str | None:
    """Return why files can't be created in a directory, which needn't exist yet; None if they can. Creates nothing."""
    for path in (directory, *directory.parents):
        try:
            mode = os.stat(path).st_mode
        except FileNotFoundError:
            continue
        except OSError as error:
            return error.strerror or str(error)
        if not stat.S_ISDIR(mode):
            return os.strerror(errno.ENOTDIR)
        return None if os.access(path, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)
    return os.strerror(errno.ENOENT)
