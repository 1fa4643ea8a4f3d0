"""Putting a file in the place of another, all at once or not at all.

The new content is written to a temporary file in the same directory, which then takes over the name: whoever looks
sees the old file or the new one, never a part. What was there is not written to, so other names of it (hard links) keep
what they had. The temporary file is locked as long as its writer lives; what a killed writer left behind is therefore
known by its name and a lock that can be had, and is removed by the next writer in that directory."""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Callable
from contextlib import suppress

from accord.workspace.folder import BY_DESCRIPTOR, Folder, Swapped
from accord.workspace.text import nothing

TEMPORARY = re.compile(r"\.accord-[0-9a-f]{16}\.tmp")
_CHUNK = 1 << 20
_STALE_SECONDS = 60.0

try:
    import fcntl
except ImportError:  # Windows, where an open file cannot be removed anyway
    fcntl = None  # type: ignore[assignment]


def replace(
    folder: Folder,
    name: str,
    data: bytes,
    *,
    mode: int | None = None,
    like: int | None = None,
    sync: bool = True,
    go_on: Callable[[], None] = nothing,
) -> None:
    """Makes `data` the content of a name. `mode` is the permissions (None: those of any new file); `like` a descriptor
    of the file that it replaces, whose owner and attributes are kept as far as we may. `go_on` may raise until the
    last moment: then nothing has changed."""
    temporary, fd = _temporary(folder, 0o666 if mode is None else 0o600)
    try:
        try:
            view = memoryview(data)
            for start in range(0, len(view), _CHUNK):
                go_on()
                _write_all(fd, view[start : start + _CHUNK])
            if like is not None:
                _take_after(fd, like)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(fd, mode & 0o777)  # not set-user-id: that was granted to the old content
            if sync:
                os.fsync(fd)
            go_on()
            if BY_DESCRIPTOR:
                folder.rename(temporary, folder, name)
        finally:
            os.close(fd)  # and so the lock
        if not BY_DESCRIPTOR:  # Windows renames no file that is open
            folder.rename(temporary, folder, name)
    except BaseException:
        with suppress(OSError):
            folder.remove(temporary)
        raise


def replace_by_link(folder: Folder, name: str, target: str) -> None:
    """Makes a name a symbolic link."""
    temporary = _name()
    folder.make_link(temporary, target)
    try:
        folder.rename(temporary, folder, name)
    except BaseException:
        with suppress(OSError):
            folder.remove(temporary)
        raise


def sweep(folder: Folder) -> int:
    """Removes what killed writers left in a directory, and says how much it was."""
    stale = [entry.name for entry in folder.names() if TEMPORARY.fullmatch(entry.name)]
    return sum(_remove_if_stale(folder, name) for name in stale)


def _remove_if_stale(folder: Folder, name: str) -> bool:
    with suppress(OSError, Swapped):
        status = folder.look(name)
        if status is None:
            return False
        if stat.S_ISLNK(status.st_mode):  # has no lock, and lives for an instant
            if time.time() - status.st_mtime < _STALE_SECONDS:
                return False
            folder.remove(name)
            return True
        fd = folder.read(name)
        try:
            if fcntl is not None:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            folder.remove(name)
            return True
        finally:
            os.close(fd)
    return False


def _temporary(folder: Folder, mode: int) -> tuple[str, int]:
    for _ in range(100):
        name = _name()
        fd = folder.create(name, mode)
        if _is_ours(fd):
            return name, fd
        os.close(fd)  # swept away before it was locked: another one
        with suppress(OSError):
            folder.remove(name)
    raise OSError(errno.EAGAIN, "somebody locks or removes every temporary file that is made here")


def _is_ours(fd: int) -> bool:
    """Locks a new temporary file, unless a sweeper was faster."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network file systems have no locks
        return True
    return os.fstat(fd).st_nlink > 0


def _name() -> str:
    return f".accord-{os.urandom(8).hex()}.tmp"


def _write_all(fd: int, data: memoryview) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _take_after(fd: int, like: int) -> None:
    """Owner and attributes (access lists among them) of the file that is replaced, each as far as we may."""
    old, new = os.fstat(like), os.fstat(fd)
    if hasattr(os, "fchown") and (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.fchown(fd, old.st_uid, old.st_gid)
        except OSError:
            with suppress(OSError):
                os.fchown(fd, -1, old.st_gid)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for attribute in os.listxattr(like):
                if attribute != "security.capability":  # as with set-user-id
                    with suppress(OSError):
                        os.setxattr(fd, attribute, os.getxattr(like, attribute))
