"""Resolved paths: an open directory, a name in it, and the status of that name.

A `Call` compares the resolved path with the one that was approved, while the directory is held open."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from accord.errors import AccordError, InvalidParams, NotFound, RequestFailed
from accord.workspace.changes import Change
from accord.workspace.directory import Directory, Swapped
from accord.workspace.paths import quote_path

MAX_MOVES = 20
"""The number of new decisions if a path's target keeps changing after the decision."""


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """A directory that the agent may use, with everything in it."""

    path: str
    """The path as given."""
    real: str
    given: tuple[str, ...]
    names: tuple[str, ...]
    """The names in the resolved path."""
    directory: Directory


@dataclass(slots=True)
class Place:
    """A name in an open directory, reached from a root with every link checked. Close it, or use `with`."""

    root: Root
    directory: Directory
    parts: tuple[str, ...]
    """The names from the root, without links; the last one is `name`."""
    name: str
    """The name; empty if the place is the directory itself."""
    missing: tuple[str, ...]
    """Directories between `directory` and the name that don't exist yet."""
    status: os.stat_result | None
    is_dangling: bool = False
    """Whether it doesn't exist, and was reached through a link."""
    is_directory: bool = False
    """Whether the path ended like a directory."""

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        self.directory.close()

    @property
    def path(self) -> str:
        """The path without links below the root, which is spelled as given."""
        return os.path.join(self.root.path, *self.parts)

    @property
    def real(self) -> str:
        """The fully resolved path."""
        return os.path.join(self.root.real, *self.parts)

    @property
    def missing_paths(self) -> tuple[str, ...]:
        """The paths of directories that don't exist yet, outermost first."""
        first = len(self.parts) - 1 - len(self.missing)
        return tuple(os.path.join(self.root.path, *self.parts[:end]) for end in range(first + 1, len(self.parts)))

    @property
    def kind(self) -> str:
        """`absent`, `file`, `directory`, `link`, or another kind such as `FIFO`."""
        return "absent" if self.status is None else kind_of(self.status.st_mode)

    def require_file(self, *, or_nothing: bool = False, or_link: bool = False) -> None:
        """Raise an error that names the kind, unless it is a regular file."""
        kind = self.kind
        if kind == "absent" and not or_nothing:
            raise NotFound(f"{quote_path(self.path)} doesn't exist", data={"path": self.path})
        if self.is_directory and kind in ("absent", "file", "link"):
            raise InvalidParams(f"{quote_path(self.path)} ends like a directory; expected the path of a file")
        if kind not in ("absent", "file") and not (or_link and kind == "link"):
            raise InvalidParams(f"{quote_path(self.path)} is a {kind}, not a file")
        if self.is_dangling:
            raise InvalidParams(
                f"{quote_path(self.path)} doesn't exist, and a link points to it; write to the path itself"
            )

    def open(self) -> int:
        """Open the file for reading, and return the descriptor."""
        if self.missing:
            raise Swapped
        return self.directory.read(self.name)

    @contextmanager
    def parents_created(self) -> Iterator[Directory]:
        """Create missing parents, and yield the directory of the name. If the body fails, they are removed again."""
        made: list[tuple[Directory, str]] = []
        directory = self.directory.copy()
        opened = [directory]
        try:
            for name in self.missing:
                if directory.make_directory(name):
                    made.append((directory, name))
                inner = directory.child(name)
                if inner is None:
                    raise Swapped  # replaced by a link in the meantime: resolve the path again
                opened.append(inner)
                directory = inner
            yield directory
        except BaseException:
            for parent, name in reversed(made):
                with suppress(OSError):  # already used by another process
                    parent.remove_directory(name)
            raise
        finally:
            for each in opened:
                each.close()


class Moved(AccordError):
    """The path no longer points to the approved file, but to `real`.

    Not a `RequestFailed`, because handlers of failed requests must not catch this: the caller has to decide again."""

    def __init__(self, path: str, real: str) -> None:
        super().__init__(f"{quote_path(path)} now points to another file; try again")
        self.real = real


class Call:
    """The context of one call: whether it was cancelled, the listener for its change, and the expected path.

    `at` is the resolved path that was approved. It is compared with the place that was actually reached, while its
    directory is held open. If a link is replaced between the decision and the call, `Moved` is raised and nothing is
    opened, so the check and the use apply to the same file."""

    def __init__(self, tell: Callable[[Change], None] | None = None, at: str | None = None) -> None:
        self.tell = tell
        self.at = at
        self.is_wanted = True

    def check_place(self, path: str, place: Place) -> None:
        """Raise `Moved` unless the path led to the expected place."""
        if self.at is not None and place.real != self.at:
            raise Moved(path, place.real)

    def check_wanted(self) -> None:
        """Raise if the call was cancelled."""
        if not self.is_wanted:
            raise RequestFailed("the call was cancelled; nothing was changed")


QUIET = Call()
"""A call without cancellation and listener."""


def kind_of(mode: int) -> str:
    """Return the kind of a file by its mode."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    if stat.S_ISLNK(mode):
        return "link"
    kinds = {stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}
    return kinds.get(stat.S_IFMT(mode), "special entry")


def request_error(error: OSError, path: str) -> RequestFailed:
    """Convert an `OSError` to an error for the agent."""
    name = quote_path(path)
    match error.errno:
        case errno.ENOENT:
            return NotFound(f"{name} doesn't exist", data={"path": path})
        case errno.ENOTDIR:
            return NotFound(f"{name} doesn't exist: a part of this path isn't a directory", data={"path": path})
        case errno.EISDIR:
            return InvalidParams(f"{name} is a directory, not a file")
        case errno.ENAMETOOLONG:
            return InvalidParams(f"{name}: a name in this path is too long for the file system")
        case errno.ELOOP:
            return InvalidParams(f"{name}: this path has a loop of links, or too many links")
        case errno.EILSEQ | errno.EINVAL:
            return InvalidParams(f"{name}: the file system doesn't support this name")
        case errno.EACCES | errno.EPERM:
            return RequestFailed(f"{name}: permission denied")
        case errno.EROFS:
            return RequestFailed(f"{name} is on a read-only file system")
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return RequestFailed(f"{name} wasn't changed: no space ({os.strerror(error.errno)})")
        case errno.EMFILE | errno.ENFILE:
            return RequestFailed(f"{name}: too many open files; try again")
        case _:
            return RequestFailed(f"{name}: {error.strerror or error}")
