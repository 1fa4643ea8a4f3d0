"""Parse the paths that agents send, without access to the file system.

Names are compared as spelled. On a case-insensitive file system (the default on macOS and Windows), `README` and
`readme` are one file, but two paths here. That is safe, because access never depends on a name below the root. But on
macOS a root must be spelled as it was given, and an open buffer is found only under the spelling it was opened with."""

from __future__ import annotations

import os
from pathlib import PureWindowsPath
from typing import NamedTuple

from accord.errors import InvalidParams

MAX_PATH_BYTES = 4096

_RESERVED = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"} | {
    f"{port}{digit}" for port in ("COM", "LPT") for digit in "0123456789¹²³"
}


class PathParts(NamedTuple):
    """The names in a path. `..` is kept, because its meaning depends on the links before it."""

    names: tuple[str, ...]
    is_directory: bool = False
    """Whether it ends like a directory: `a/`, `a/.` or `a/..`."""


def quote_path(path: str) -> str:
    """Quote and truncate a path for an error message."""
    return repr(path if len(path) <= 200 else f"{path[:120]}…{path[-60:]}")


def parse_path(path: str) -> PathParts:
    """Split an absolute path into names; raise `InvalidParams` for anything else."""
    if not path:
        raise InvalidParams("the path is empty; expected an absolute path")
    if "\0" in path:
        raise InvalidParams(f"the path {quote_path(path)} contains a NUL character")
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise InvalidParams(f"the path {quote_path(path)} isn't valid Unicode") from None
    if size > MAX_PATH_BYTES:
        raise InvalidParams(f"the path {quote_path(path)} has {size} bytes; expected at most {MAX_PATH_BYTES}")
    if not is_absolute(path):
        raise InvalidParams(f"the path {quote_path(path)} is relative; expected an absolute path")
    return split_names(path)


def is_absolute(path: str) -> bool:
    return PureWindowsPath(path).is_absolute() if os.name == "nt" else path.startswith("/")


def split_names(path: str) -> PathParts:
    """Split a path or the target of a link into names; it may be relative."""
    if os.name == "nt":
        return split_windows_names(path)
    names = path.split("/")
    return PathParts(tuple(name for name in names if name not in ("", ".")), names[-1] in ("", ".", ".."))


def split_windows_names(path: str) -> PathParts:
    """Split a Windows path; the drive or share is the first name. Names of devices and streams are refused."""
    plain = path.removeprefix("\\\\?\\") if not path.startswith("\\\\?\\UNC\\") else "\\\\" + path[8:]
    pure = PureWindowsPath(plain)
    names = pure.parts[1:] if pure.anchor else pure.parts
    for name in names:
        if (
            ":" in name
            or (name != ".." and name != name.rstrip(" ."))
            or name.split(".")[0].strip().upper() in _RESERVED
        ):
            raise InvalidParams(f"the path {quote_path(path)} names a device or a stream, or ends in a dot or space")
    anchor = (pure.anchor.upper().rstrip("\\"),) if pure.anchor else ()
    return PathParts((*anchor, *names), plain.replace("\\", "/").split("/")[-1] in ("", ".", ".."))


def fold_case(names: tuple[str, ...]) -> tuple[str, ...]:
    """Normalize names for comparison with a root: on Windows, ignore case."""
    return tuple(map(os.path.normcase, names))
