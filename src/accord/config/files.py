"""Replace a user's file atomically, and read JSON files."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from accord.errors import ConfigError


def replace(path: str | os.PathLike[str], text: str, *, mode: int | None = None) -> None:
    """Replace a file atomically, so that readers never see a part of it. A symbolic link is kept; its target is
    replaced.

    Without `mode`, the permissions stay as they are, and a new file is readable by its owner only."""
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if mode is None:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def read_object(path: str | os.PathLike[str], name: str = "") -> dict[str, Any]:
    """Read a JSON object, or raise `ConfigError`; `name` replaces the path in messages."""
    name = name or os.fspath(path)
    try:
        document = msgspec.json.decode(Path(path).read_bytes())
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise ConfigError(f"{name}: invalid JSON: {error}") from None
    except RecursionError:
        raise ConfigError(f"{name}: nested too deeply") from None
    if not isinstance(document, dict):
        raise ConfigError(f"{name}: expected a JSON object")
    return document
