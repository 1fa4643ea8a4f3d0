"""An open directory, and operations on the names in it.

All operations use the directory's descriptor, one name at a time, and never follow symbolic links. Even if something is
renamed or swapped in the tree at the same time, they apply to the directory that was opened and checked: there is no
gap between check and use.

On Windows, Python has no such calls. There a directory is a path, and each step is checked before it is made, so a link
that another program creates in between may be followed. That protects against mistakes, but not against an attacker on
the same machine."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from types import TracebackType

BY_DESCRIPTOR = hasattr(os, "O_NOFOLLOW") and {os.open, os.stat, os.mkdir, os.unlink} <= os.supports_dir_fd
"""Whether the system can open names relative to an open directory."""

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)

# O_PATH needs no read permission, so directories that may be traversed but not listed work.
_PASS = getattr(os, "O_DIRECTORY", 0) | _NOFOLLOW | getattr(os, "O_PATH", 0)
_LIST = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)

# If a terminal or FIFO is swapped in after the check: O_NOCTTY keeps a terminal from becoming our controlling
# terminal, and O_NONBLOCK keeps a FIFO from blocking the open.
_READ = os.O_RDONLY | _NOFOLLOW | _BINARY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_CREATE = os.O_RDWR | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY

_NO_DIRECTORY = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EMLINK}
_REPARSE_POINT = 0x400


class Swapped(Exception):
    """Raised if a name changed between two steps. `Roots.at` catches it and starts again."""


class Directory:
    """An open directory. Names are single components, without separators, and never `..`."""

    __slots__ = ("_fd", "_path")

    def __init__(self, fd: int | None, path: str = "") -> None:
        self._fd = fd
        self._path = path  # only used without descriptors

    @classmethod
    def open(cls, path: str, *, by_descriptor: bool = BY_DESCRIPTOR) -> Directory:
        """Open a directory by path, following links; only for paths given by the user."""
        if by_descriptor:
            return cls(os.open(path, _PASS & ~_NOFOLLOW))
        if not stat.S_ISDIR(os.stat(path).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return cls(None, os.path.realpath(path))

    def copy(self) -> Directory:
        """Duplicate it; the copy must be closed separately."""
        return Directory(None if self._fd is None else os.dup(self._fd), self._path)

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> Directory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def renames_open_files(self) -> bool:
        """Whether open files can be renamed, replaced or removed. On Windows they can't."""
        return self._fd is not None

    def _at(self, name: str) -> str:
        return name if self._fd is not None else os.path.join(self._path, name)

    # -- Reading

    def status(self) -> os.stat_result:
        """Return the status of the directory itself."""
        return os.stat(self._path) if self._fd is None else os.fstat(self._fd)

    def status_of(self, name: str) -> os.stat_result | None:
        """Return the status of a name without following links; None if it doesn't exist."""
        try:
            status = os.stat(self._at(name), dir_fd=self._fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if getattr(status, "st_file_attributes", 0) & _REPARSE_POINT and not stat.S_ISLNK(status.st_mode):
            raise OSError(errno.EACCES, "a junction or mount point, which can't be checked", name)
        return status

    def link(self, name: str) -> str:
        """Read the target of a symbolic link."""
        try:
            return os.readlink(self._at(name), dir_fd=self._fd)
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):  # no longer a link
                raise Swapped from error
            raise

    def names(self) -> Iterator[os.DirEntry[str]]:
        """Iterate over its entries."""
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

    def child(self, name: str) -> Directory | None:
        """Open a subdirectory; None if the name isn't a directory (or is a link to one)."""
        if self._fd is None:
            status = self.status_of(name)
            is_directory = status is not None and stat.S_ISDIR(status.st_mode)
            return Directory(None, self._at(name)) if is_directory else None
        try:
            return Directory(os.open(name, _PASS, dir_fd=self._fd))
        except OSError as error:
            if error.errno in _NO_DIRECTORY:
                return None
            raise

    def read(self, name: str) -> int:
        """Open a regular file, and return a descriptor for reading. Raises `Swapped` if it is something else now."""
        try:
            fd = os.open(self._at(name), _READ, dir_fd=self._fd)
        except OSError as error:
            # Now a link, missing, or a socket or device without a driver: not the file that was checked.
            if error.errno in (errno.ELOOP, errno.EMLINK, errno.ENOENT, errno.ENXIO, errno.EISDIR):
                raise Swapped from error
            raise
        if stat.S_ISREG(os.fstat(fd).st_mode):
            return fd
        os.close(fd)
        raise Swapped

    def may_write(self, name: str) -> bool:
        """Return whether the permissions of a file allow writing. A rename over it wouldn't check them."""
        follow = os.access not in os.supports_follow_symlinks
        effective = os.access in os.supports_effective_ids
        return os.access(self._at(name), os.W_OK, dir_fd=self._fd, follow_symlinks=follow, effective_ids=effective)

    # -- Changing

    def create(self, name: str, mode: int) -> int:
        """Create a file, which must not exist, and return a descriptor for writing."""
        return os.open(self._at(name), _CREATE, mode, dir_fd=self._fd)

    def make_directory(self, name: str) -> bool:
        """Create a directory; return False if the name already exists."""
        try:
            os.mkdir(self._at(name), dir_fd=self._fd)
        except FileExistsError:
            return False
        return True

    def make_link(self, name: str, target: str) -> None:
        os.symlink(target, self._at(name), dir_fd=self._fd)

    def remove(self, name: str) -> None:
        """Remove a file or link. Other hard links and the target of a link are unaffected."""
        os.unlink(self._at(name), dir_fd=self._fd)

    def remove_directory(self, name: str) -> None:
        os.rmdir(self._at(name), dir_fd=self._fd)

    def make_writable(self) -> None:
        """Give its owner all rights to it."""
        path = self._path if self._fd is None else f"/proc/self/fd/{self._fd}"  # the descriptor itself can't be used
        os.chmod(path, stat.S_IMODE(self.status().st_mode) | stat.S_IRWXU)

    def rename(self, name: str, to: Directory, new_name: str) -> None:
        """Rename an entry, replacing the target."""
        os.replace(self._at(name), to._at(new_name), src_dir_fd=self._fd, dst_dir_fd=to._fd)

    def add_name(self, name: str, to: Directory, new_name: str) -> None:
        """Add a hard link, whose name must not exist."""
        os.link(self._at(name), to._at(new_name), src_dir_fd=self._fd, dst_dir_fd=to._fd, follow_symlinks=False)
