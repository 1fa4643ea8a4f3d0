"""Replace a file atomically.

The new content is written to a temporary file in the same directory, which is then renamed: readers see the old or the
new file, never a part. The old file isn't modified, so its other hard links keep their content.

The temporary file is locked while its writer is running. An unlocked file with such a name belongs to a killed writer,
and is removed by the next writer in that directory."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import time
from collections.abc import Callable
from contextlib import suppress

from accord.config.locking import try_lock
from accord.workspace.directory import Directory, Swapped
from accord.workspace.text import do_nothing

TEMPORARY = re.compile(r"\.accord-[0-9a-f]{16}\.tmp")
_CHUNK = 1 << 20
_STALE_SECONDS = 60.0


def _lock(fd: int) -> None:
    """Lock a file that no other process has locked, or raise `BlockingIOError`."""
    # Windows needs no lock: open files can't be renamed or removed.
    if sys.platform != "win32" and not try_lock(fd):
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))


def replace(
    directory: Directory,
    name: str,
    data: bytes,
    *,
    mode: int | None = None,
    like: int | None = None,
    sync: bool = True,
    check_wanted: Callable[[], None] = do_nothing,
) -> None:
    """Replace the content of a file with `data`. `mode` sets its permissions (None: the default of new files). `like`
    is a descriptor of the replaced file, whose owner and attributes are preserved if possible. Pass None if the system
    can't rename over an open file. `check_wanted` may raise until the last moment, in which case nothing has
    changed."""
    temporary, fd = _create_temporary(directory, 0o666 if mode is None else 0o600)
    try:
        try:
            view = memoryview(data)
            for start in range(0, len(view), _CHUNK):
                check_wanted()
                _write_all(fd, view[start : start + _CHUNK])
            if like is not None:
                _copy_attributes(fd, like)
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(fd, mode & 0o777)  # without set-user-id, which was granted only for the old content
            if sync:
                os.fsync(fd)
            check_wanted()
            if directory.renames_open_files:
                directory.rename(temporary, directory, name)
        finally:
            os.close(fd)  # this also releases the lock
        if not directory.renames_open_files:
            directory.rename(temporary, directory, name)
    except BaseException:
        with suppress(OSError):
            directory.remove(temporary)
        raise


def replace_by_link(directory: Directory, name: str, target: str) -> None:
    """Replace a name with a symbolic link."""
    temporary = _temporary_name()
    directory.make_link(temporary, target)
    try:
        directory.rename(temporary, directory, name)
    except BaseException:
        with suppress(OSError):
            directory.remove(temporary)
        raise


def sweep(directory: Directory) -> int:
    """Remove temporary files of killed writers from a directory, and return their number."""
    stale = [entry.name for entry in directory.names() if TEMPORARY.fullmatch(entry.name)]
    return sum(_remove_if_stale(directory, name) for name in stale)


def _remove_if_stale(directory: Directory, name: str) -> bool:
    with suppress(OSError, Swapped):
        status = directory.status_of(name)
        if status is None:
            return False
        if stat.S_ISLNK(status.st_mode):  # links can't be locked, but exist only for an instant
            if time.time() - status.st_mtime < _STALE_SECONDS:
                return False
            directory.remove(name)
            return True
        if not directory.renames_open_files:
            directory.remove(name)  # fails while the writer has it open
            return True
        fd = directory.read(name)
        try:
            _lock(fd)
            directory.remove(name)
            return True
        finally:
            os.close(fd)
    return False


def _create_temporary(directory: Directory, mode: int) -> tuple[str, int]:
    for _ in range(100):
        name = _temporary_name()
        fd = directory.create(name, mode)
        if _is_ours(fd):
            return name, fd
        os.close(fd)  # removed by a sweep before it was locked: try another one
        with suppress(OSError):
            directory.remove(name)
    raise OSError(errno.EAGAIN, "another process locks or removes every new temporary file")


def _is_ours(fd: int) -> bool:
    """Lock a new temporary file; return False if a sweep was faster."""
    try:
        _lock(fd)
    except BlockingIOError:
        return False
    except OSError:  # some network file systems don't support locks
        return True
    return os.fstat(fd).st_nlink > 0


def _temporary_name() -> str:
    return f".accord-{os.urandom(8).hex()}.tmp"


def _write_all(fd: int, data: memoryview) -> None:
    while data:
        data = data[os.write(fd, data) :]


def _copy_attributes(fd: int, like: int) -> None:
    """Copy owner and extended attributes (including access control lists), as far as permitted."""
    old, new = os.fstat(like), os.fstat(fd)
    if hasattr(os, "fchown") and (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        try:
            os.fchown(fd, old.st_uid, old.st_gid)
        except OSError:
            with suppress(OSError):
                os.fchown(fd, -1, old.st_gid)
    if sys.platform == "linux":
        with suppress(OSError):
            for attribute in os.listxattr(like):
                if attribute != "security.capability":  # for the same reason as set-user-id
                    with suppress(OSError):
                        os.setxattr(fd, attribute, os.getxattr(like, attribute))
