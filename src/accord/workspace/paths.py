"""Reading the paths that agents write: text only, the file system is not asked.

Names are taken as they are spelled. On a file system that does not tell `README` from `readme` (macOS and Windows, as
they come) the two are one file to the system and two paths here: nothing can escape by it, since what is allowed never
depends on a name below the root; but a root must be spelled as it was given (macOS), and what is on screen is found
under the spelling it was shown with."""

from __future__ import annotations

import os
from pathlib import PureWindowsPath
from typing import NamedTuple

from accord.errors import InvalidParams

MAX_PATH_BYTES = 4096

_RESERVED = {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"} | {
    f"{port}{digit}" for port in ("COM", "LPT") for digit in "0123456789¹²³"
}


class Parts(NamedTuple):
    """A path in pieces. `..` is kept: what it means depends on the links before it."""

    names: tuple[str, ...]
    is_folder: bool = False
    """Whether it is spelled as a directory: `a/`, `a/.` or `a/..`."""


def shown(path: str) -> str:
    """A path for an error message: quoted, and no longer than one can read."""
    return repr(path if len(path) <= 200 else f"{path[:120]}…{path[-60:]}")


def split(path: str) -> Parts:
    """An absolute path in pieces; `InvalidParams` for anything else."""
    if not path:
        raise InvalidParams("the path is empty; an absolute path is needed")
    if "\0" in path:
        raise InvalidParams(f"the path {shown(path)} has a zero byte in it")
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        raise InvalidParams(f"the path {shown(path)} is no valid Unicode, so it names no file here") from None
    if size > MAX_PATH_BYTES:
        raise InvalidParams(f"the path {shown(path)} has {size} bytes; {MAX_PATH_BYTES} is the most")
    if not is_absolute(path):
        raise InvalidParams(f"the path {shown(path)} is relative; an absolute path is needed")
    return pieces(path)


def is_absolute(path: str) -> bool:
    return PureWindowsPath(path).is_absolute() if os.name == "nt" else path.startswith("/")


def pieces(path: str) -> Parts:
    """The names in a path or in what a link says; a relative one simply begins with its first name."""
    if os.name == "nt":
        return windows_pieces(path)
    names = path.split("/")
    return Parts(tuple(name for name in names if name not in ("", ".")), names[-1] in ("", ".", ".."))


def windows_pieces(path: str) -> Parts:
    """The drive or share comes first. Names that mean a device or a stream are refused, wherever they stand."""
    plain = path.removeprefix("\\\\?\\") if not path.startswith("\\\\?\\UNC\\") else "\\\\" + path[8:]
    pure = PureWindowsPath(plain)
    names = pure.parts[1:] if pure.anchor else pure.parts
    for name in names:
        if (
            ":" in name
            or (name != ".." and name != name.rstrip(" ."))
            or name.split(".")[0].strip().upper() in _RESERVED
        ):
            raise InvalidParams(f"the path {shown(path)} names a device or a stream, or ends in a dot or space")
    anchor = (pure.anchor.upper().rstrip("\\"),) if pure.anchor else ()
    return Parts((*anchor, *names), plain.replace("\\", "/").split("/")[-1] in ("", ".", ".."))


def folded(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names as they are compared with a root's: on Windows without regard to case."""
    return tuple(map(os.path.normcase, names))
