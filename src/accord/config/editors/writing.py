"""Changes an editor's settings file: the whole change or none, and what was there before kept beside it."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from accord.config.editors.editor import JsonSettings, Launch
from accord.config.editors.merging import merge
from accord.errors import ConfigError


class Written(NamedTuple):
    """What became of a file."""

    path: Path
    changed: bool
    backup: Path | None = None
    """Where what was there before is now."""
    replaced: Any | None = None
    """What stood under the same name before."""


def write(path: Path, settings: JsonSettings, launch: Launch) -> Written:
    """Puts an agent into a file. `ConfigError` says why that cannot be; then nothing has been changed."""
    try:
        # A link stays one: what it leads to is replaced.
        target = Path(os.path.realpath(path, strict=False))
        before = _read(path, target)
        merged = merge(_text(path, before or b""), settings.key, launch.name, settings.entry(launch), settings.new)
        after = merged.text.encode()
        if after == before:
            return Written(path, False)
        backup = _keep(target, before) if before is not None else None
        try:
            _replace(target, before, after)
        except BaseException:
            if backup is not None:
                backup.unlink(missing_ok=True)
            raise
    except OSError as error:
        why = error.strerror or str(error)
        raise ConfigError(f"{path}: cannot be written: {why}; nothing was changed") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}; nothing was changed") from None
    return Written(path, True, backup, merged.replaced)


def _read(path: Path, target: Path) -> bytes | None:
    """What is in the file; None when there is none."""
    try:
        kind = target.stat().st_mode
    except FileNotFoundError:
        if not target.parent.is_dir():
            raise ConfigError(f"there is no folder {target.parent}; start the editor once, or make it") from None
        return None
    if not stat.S_ISREG(kind):  # a pipe would never end, a device is nobody's settings
        raise ConfigError("it is no file")
    if not os.access(target, os.W_OK):  # it could be replaced all the same, but somebody does not want that
        raise ConfigError("it may only be read")
    return target.read_bytes()


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"it is not in UTF-8 (byte {error.start})") from None


def _keep(target: Path, data: bytes) -> Path:
    """Keeps what is there under a name that nothing has yet."""
    mode = stat.S_IMODE(target.stat().st_mode)
    number = 0
    while True:
        backup = target.with_name(f"{target.name}.before-accord{f'.{number}' if number else ''}")
        try:
            descriptor = os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            number += 1
            continue
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        return backup


def _replace(target: Path, before: bytes | None, after: bytes) -> None:
    """Puts the new file in the old one's place in one step, unless somebody else has changed it meanwhile."""
    mode = stat.S_IMODE(target.stat().st_mode) if before is not None else 0o644
    descriptor, new = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with open(descriptor, "wb") as file:  # closed before it takes its place: Windows moves no open files
            file.write(after)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(new, mode)
        now = target.read_bytes() if target.exists() else None
        if now != before:
            raise ConfigError("somebody else has just changed it; try again")
        os.replace(new, target)
    except BaseException:
        os.unlink(new)
        raise
