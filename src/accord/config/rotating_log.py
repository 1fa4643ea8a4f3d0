"""A log file with one JSON object per line, rotated at a maximum size. Several processes can write to it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from accord.config.locking import open_lock_file, try_lock

MAX_BYTES = 4 * 1024 * 1024
KEEP = 3


class RotatingLog:
    """The file and its rotated predecessors: `NAME.1` is the newest of them."""

    def __init__(self, path: Path, *, max_bytes: int = MAX_BYTES, keep: int = KEEP) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._keep = keep
        self._torn = False

    def write(self, entry: dict[str, Any]) -> None:
        """Append an entry. Raises `OSError`, or an error of msgspec if it can't be encoded."""
        line = msgspec.json.encode(entry) + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self.path, flags, 0o600)
        try:
            if self._torn:
                line = b"\n" + line
            written = os.write(handle, line)  # one call, so that lines of several processes don't interleave
            self._torn = written < len(line)
            if self._torn:
                raise OSError("the disk is full")
            size = os.fstat(handle).st_size
        finally:
            os.close(handle)
        if size > self._max_bytes:
            self._rotate()

    def entries(self) -> Iterator[dict[str, Any]]:
        """Yield all entries, oldest first. Truncated lines are skipped."""
        for path in (*(self._rotated_path(number) for number in range(self._keep, 0, -1)), self.path):
            try:
                lines = path.read_bytes().splitlines()
            except OSError:
                continue
            for line in lines:
                try:
                    entry = msgspec.json.decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue
                if isinstance(entry, dict):
                    yield entry

    def _rotate(self) -> None:
        """Rename full files."""
        handle = open_lock_file(self.path.with_name(self.path.name + ".lock"))
        try:
            # Another process may be rotating, or may have finished.
            if not try_lock(handle) or os.stat(self.path).st_size <= self._max_bytes:
                return
            for number in range(self._keep, 0, -1):
                older = self._rotated_path(number)
                younger = self._rotated_path(number - 1) if number > 1 else self.path
                with contextlib.suppress(FileNotFoundError):
                    os.replace(younger, older)
            if self._keep == 0:
                os.truncate(self.path, 0)
        finally:
            os.close(handle)

    def _rotated_path(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")
