"""Where a path leads: a directory held open, a name in it, and what the name stood for when it was looked at."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from accord.errors import InvalidParams, NotFound, RequestFailed
from accord.workspace.folder import Folder, Swapped
from accord.workspace.paths import shown


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """A directory that may be used with all that is in it."""

    path: str
    """As it was given."""
    real: str
    given: tuple[str, ...]
    names: tuple[str, ...]
    """The real path in pieces, free of links."""
    folder: Folder


@dataclass(slots=True)
class Place:
    """A name in a directory, reached from a root without trusting a link. Close it, or use `with`."""

    root: Root
    folder: Folder
    parts: tuple[str, ...]
    """The way from the root, free of links; the name is the last of them."""
    name: str
    """Empty when the place is the folder itself."""
    missing: tuple[str, ...]
    """Directories between the folder and the name that do not exist yet."""
    status: os.stat_result | None
    is_dangling: bool = False
    """Nothing is there, and a link led to it."""
    is_folder: bool = False
    """The path was spelled as a directory's."""

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        self.folder.close()

    @property
    def path(self) -> str:
        """The path free of links below the root, which is spelled as it was given."""
        return os.path.join(self.root.path, *self.parts)

    @property
    def real(self) -> str:
        """The path free of links altogether."""
        return os.path.join(self.root.real, *self.parts)

    @property
    def missing_paths(self) -> tuple[str, ...]:
        """The directories that do not exist yet, outermost first."""
        first = len(self.parts) - 1 - len(self.missing)
        return tuple(os.path.join(self.root.path, *self.parts[:end]) for end in range(first + 1, len(self.parts)))

    @property
    def kind(self) -> str:
        """absent, file, directory, link, or what else it is in words."""
        return "absent" if self.status is None else kind_of(self.status.st_mode)

    def need_file(self, *, or_nothing: bool = False, or_link: bool = False) -> None:
        """Refuses everything but a regular file, in words that say what was found."""
        kind = self.kind
        if kind == "absent" and not or_nothing:
            raise NotFound(f"there is no file {shown(self.path)}", data={"path": self.path})
        if self.is_folder and kind in ("absent", "file", "link"):
            raise InvalidParams(f"{shown(self.path)} is spelled as a directory's path; a file's is needed")
        if kind not in ("absent", "file") and not (or_link and kind == "link"):
            raise InvalidParams(f"{shown(self.path)} is a {kind}, not a file")
        if self.is_dangling:
            raise InvalidParams(f"{shown(self.path)} does not exist and a link leads to it; write to the path itself")

    def open(self) -> int:
        """A descriptor to read the file with."""
        if self.missing:
            raise Swapped
        return self.folder.read(self.name)

    @contextmanager
    def folders_made(self) -> Iterator[Folder]:
        """The folder of the name, its missing parents made. When the body fails they are unmade."""
        made: list[tuple[Folder, str]] = []
        folder = self.folder.copy()
        kept = [folder]
        try:
            for name in self.missing:
                if folder.make_folder(name):
                    made.append((folder, name))
                inner = folder.child(name)
                if inner is None:
                    raise Swapped  # a link was put there: find out where the path leads now
                kept.append(inner)
                folder = inner
            yield folder
        except BaseException:
            for parent, name in reversed(made):
                with suppress(OSError):  # somebody uses it already
                    parent.remove_folder(name)
            raise
        finally:
            for each in kept:
                each.close()


def kind_of(mode: int) -> str:
    """What a mode stands for, in words."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "directory"
    if stat.S_ISLNK(mode):
        return "link"
    kinds = {stat.S_IFIFO: "FIFO", stat.S_IFSOCK: "socket", stat.S_IFCHR: "device", stat.S_IFBLK: "device"}
    return kinds.get(stat.S_IFMT(mode), "special entry")


def failure(error: OSError, path: str) -> RequestFailed:
    """The answer to a request that the system refused, in words that say what to do."""
    name = shown(path)
    match error.errno:
        case errno.ENOENT:
            return NotFound(f"there is no file {name}", data={"path": path})
        case errno.ENOTDIR:
            return NotFound(f"there is no file {name}: a part of this path is no directory", data={"path": path})
        case errno.EISDIR:
            return InvalidParams(f"{name} is a directory, not a file")
        case errno.ENAMETOOLONG:
            return InvalidParams(f"{name}: a name in this path is longer than the file system takes")
        case errno.ELOOP:
            return InvalidParams(f"{name}: the links in this path lead in a circle, or there are too many")
        case errno.EILSEQ | errno.EINVAL:
            return InvalidParams(f"{name}: the file system takes no such name")
        case errno.EACCES | errno.EPERM:
            return RequestFailed(f"{name}: permission denied; the user that runs this may not do it")
        case errno.EROFS:
            return RequestFailed(f"{name} is on a read-only file system")
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return RequestFailed(f"{name} was left as it was: no space ({os.strerror(error.errno)})")
        case errno.EMFILE | errno.ENFILE:
            return RequestFailed(f"{name}: too many files are open; ask again")
        case _:
            return RequestFailed(f"{name}: {error.strerror or error}")
