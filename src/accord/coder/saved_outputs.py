"""Long command output, saved in files that the model can read and search.

    <data directory>/outputs/<session>/<number>-<random>.txt

The directory is private to the user. A session's files are limited in total size, the oldest are removed first, and
all are removed after a week."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import stat
import sys
import time
from contextlib import suppress

from accord.errors import ConfigError

MAX_TOTAL_BYTES = 64_000_000
"""The most that is saved for one session."""
MAX_AGE_SECONDS = 7 * 86_400.0


class SavedOutputs:
    """The output files of one session. Blocking: use it in a thread."""

    def __init__(self, session: str) -> None:
        from accord.config.directories import data_directory

        name = hashlib.sha256(session.encode()).hexdigest()[:16]
        try:
            self._parent: str | None = os.path.realpath(data_directory() / "outputs")
        except ConfigError:  # no home directory
            self._parent = None
        self.directory: str | None = os.path.join(self._parent, name) if self._parent is not None else None
        """Where the files are, with links resolved."""
        self._count = 0

    def save(self, text: str) -> str | None:
        """Save a text, and return the path of its file; None if it can't be saved."""
        if self._parent is None or self.directory is None:
            return None
        try:
            os.makedirs(self._parent, mode=0o700, exist_ok=True)
            if self._count == 0:
                _remove_old(self._parent)
            with suppress(FileExistsError):
                os.mkdir(self.directory, 0o700)
            self._count += 1
            if sys.platform == "win32":  # no descriptors of directories
                return self._write_by_path(text.encode(errors="replace"))
            # Commands run as the same user and may have replaced the directory by a link: then nothing is written.
            directory = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                return self._write(directory, text.encode(errors="replace"))
            finally:
                os.close(directory)
        except OSError:
            return None

    def _write(self, directory: int, data: bytes) -> str:
        assert self.directory is not None
        name = self._file_name()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        with open(os.open(name, flags, 0o600, dir_fd=directory), "wb") as file:
            file.write(data[-MAX_TOTAL_BYTES:])
        _trim(directory)
        return os.path.join(self.directory, name)

    def _write_by_path(self, data: bytes) -> str:
        assert self.directory is not None
        path = os.path.join(self.directory, self._file_name())
        with open(path, "xb") as file:
            file.write(data[-MAX_TOTAL_BYTES:])
        return path

    def _file_name(self) -> str:
        return f"{self._count}-{secrets.token_hex(4)}.txt"


def _trim(directory: int) -> None:
    """Remove the oldest files until the rest is small enough."""
    found = [(os.lstat(name, dir_fd=directory), name) for name in os.listdir(directory)]
    found = sorted(found, key=lambda each: each[0].st_mtime_ns, reverse=True)
    total = 0
    for status, name in found:
        total += status.st_size
        if total > MAX_TOTAL_BYTES:
            os.unlink(name, dir_fd=directory)


def _remove_old(parent: str) -> None:
    """Remove the directories of sessions that have saved nothing for a week."""
    limit = time.time() - MAX_AGE_SECONDS
    for entry in os.scandir(parent):
        with suppress(OSError):
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode) and status.st_mtime < limit:
                shutil.rmtree(entry.path, ignore_errors=True)
