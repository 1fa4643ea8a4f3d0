"""A directory held open, and what is done to the names in it.

Everything goes through the directory's descriptor, one name at a time and never through a symbolic link: whatever is
renamed or swapped in the tree meanwhile, the directory that was opened is the one that is used.

Linux and macOS. Windows has no such calls in Python: there a folder is a path, every step is looked at before it is
taken, and a link that is swapped in between two calls by another program can still be followed. That is a best effort
against mistakes, not a wall against an attacker on the same machine."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from types import TracebackType

BY_DESCRIPTOR = hasattr(os, "O_NOFOLLOW") and {os.open, os.stat, os.mkdir, os.unlink} <= os.supports_dir_fd
"""Whether this system opens names relative to a directory that is held open."""

_CLOEXEC = getattr(os, "O_CLOEXEC", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)

# O_PATH asks for no permission to list, so folders that may only be passed through are passed through.
_PASS = getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | _CLOEXEC | getattr(os, "O_PATH", 0)
_LIST = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOEXEC

# A terminal must not become ours and a FIFO must not hold us, should one be swapped in after we looked.
_READ = os.O_RDONLY | _NOFOLLOW | _CLOEXEC | _BINARY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC | _BINARY

_NO_FOLDER = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EMLINK}
_REPARSE_POINT = 0x400


class Swapped(Exception):
    """What was looked at is not what was there a moment later. Whoever catches this looks again, from the start."""


class Folder:
    """One directory. Names are single components: no separator, not `..`."""

    __slots__ = ("_fd", "_path")

    def __init__(self, fd: int | None, path: str = "") -> None:
        self._fd = fd
        self._path = path  # used only where there are no descriptors

    @classmethod
    def open(cls, path: str, *, by_descriptor: bool = BY_DESCRIPTOR) -> Folder:
        """Opens a directory by its path, following links: for paths that the user gave."""
        if by_descriptor:
            return cls(os.open(path, _PASS & ~_NOFOLLOW))
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return cls(None, os.path.realpath(path))

    def copy(self) -> Folder:
        """The same directory, to be closed on its own."""
        return Folder(None if self._fd is None else os.dup(self._fd), self._path)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Folder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _at(self, name: str) -> str:
        return name if self._fd is not None else os.path.join(self._path, name)

    # -- looking

    def status(self) -> os.stat_result:
        """The directory itself."""
        return os.stat(self._path) if self._fd is None else os.fstat(self._fd)

    def look(self, name: str) -> os.stat_result | None:
        """What a name stands for, a link being a link; None when there is nothing."""
        try:
            status = os.stat(self._at(name), dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if getattr(status, "st_file_attributes", 0) & _REPARSE_POINT and not stat.S_ISLNK(status.st_mode):
            raise OSError(errno.EACCES, "a junction or mount point, which cannot be checked", name)
        return status

    def link(self, name: str) -> str:
        """Where a symbolic link points, as it is written."""
        try:
            return os.readlink(self._at(name), dir_fd=self._fd)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):  # no link any more
                raise Swapped from error
            raise

    def names(self) -> Iterator[os.DirEntry[str]]:
        """Everything in it."""
        if self._fd is None:
            with os.scandir(self._path) as entries:
                yield from entries
            return
        listing = os.open(".", _LIST, dir_fd=self._fd)
        try:
            with os.scandir(listing) as entries:
                yield from entries
        finally:
            os.close(listing)

    def child(self, name: str) -> Folder | None:
        """Opens a directory in it; None when there is no directory of this name (a link is none)."""
        if self._fd is None:
            status = self.look(name)
            is_folder = status is not None and stat.S_ISDIR(status.st_mode)
            return Folder(None, self._at(name)) if is_folder else None
        try:
            return Folder(os.open(name, _PASS, dir_fd=self._fd))
        except OSError as error:
            if error.errno in _NO_FOLDER:
                return None
            raise

    def read(self, name: str) -> int:
        """A descriptor to read a regular file with. Raises `Swapped` when it is anything else by now."""
        try:
            fd = os.open(self._at(name), _READ, dir_fd=self._fd)
        except OSError as error:
            # A link, nothing, or a socket or device without a driver: not the file that was seen.
            if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOENT, errno.ENXIO, errno.EISDIR):
                raise Swapped from error
            raise
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
        raise Swapped

    def may_write(self, name: str) -> bool:
        """Whether the file's own permissions let us write it (a rename over it would ask nobody)."""
        follow = os.access not in os.supports_follow_symlinks
        effective = os.access in os.supports_effective_ids
        return os.access(self._at(name), os.W_OK, dir_fd=self._fd, follow_symlinks=follow, effective_ids=effective)

    # -- changing

    def create(self, name: str, mode: int) -> int:
        """A new file of this name, which must not exist yet, as a descriptor to write with."""
        return os.open(self._at(name), _CREATE, mode, dir_fd=self._fd)

    def make_folder(self, name: str) -> bool:
        """Makes a directory; False when something is there already."""
        try:
            os.mkdir(self._at(name), dir_fd=self._fd)
        except FileExistsError:
            return False
        return True

    def make_link(self, name: str, target: str) -> None:
        os.symlink(target, self._at(name), dir_fd=self._fd)

    def remove(self, name: str) -> None:
        """Removes a name. What it stood for lives on under its other names, or where the link points."""
        os.unlink(self._at(name), dir_fd=self._fd)

    def remove_folder(self, name: str) -> None:
        os.rmdir(self._at(name), dir_fd=self._fd)

    def rename(self, name: str, to: Folder, new_name: str) -> None:
        """Gives an entry another name, in place of what had it."""
        os.replace(self._at(name), to._at(new_name), src_dir_fd=self._fd, dst_dir_fd=to._fd)

    def add_name(self, name: str, to: Folder, new_name: str) -> None:
        """Gives a file one more name, which must be free."""
        os.link(self._at(name), to._at(new_name), src_dir_fd=self._fd, dst_dir_fd=to._fd, follow_symlinks=False)
