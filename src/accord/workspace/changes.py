"""File states and changes between them."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from accord.model.record import Record
from accord.workspace.text import decode_text

_CHUNK = 1 << 20


class Change(Record):
    """A change of a file. `before` and `after` are None if the file doesn't exist, isn't text, or is too large to
    show. For a move, `source` is the old path."""

    path: str
    kind: Literal["created", "changed", "deleted", "moved"]
    before: str | None = None
    after: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """The state of a path at one moment."""

    kind: Literal["absent", "file", "link"]
    digest: str
    """States with the same digest are equal, apart from permissions."""
    size: int = 0
    mode: int | None = None
    data: bytes | None = None
    """The content, or the target of a link; None if it is too large to keep."""

    @property
    def text(self) -> str | None:
        return decode_text(self.data) if self.kind == "file" and self.data is not None else None


ABSENT = State("absent", "absent")

Listener = Callable[[Change], None]

Guard = Callable[[str, State, State, tuple[str, ...]], None]
"""Called before a change, with the path, the states before and after, and the directories that will be created. If it
raises, the change isn't made."""


def file_state(data: bytes, mode: int | None = None) -> State:
    """Return the state of a file with this content."""
    return State("file", f"file:{hashlib.sha256(data).hexdigest()}", len(data), mode, data)


def link_state(target: str) -> State:
    """Return the state of a symbolic link with this target."""
    data = os.fsencode(target)
    return State("link", f"link:{hashlib.sha256(data).hexdigest()}", len(data), None, data)


def read_state(fd: int, ceiling: int) -> State:
    """Read the state of an open file, with its content unless that is larger than `ceiling`."""
    digest = hashlib.sha256()
    chunks: list[bytes] = []
    size = 0
    os.lseek(fd, 0, os.SEEK_SET)
    while chunk := os.read(fd, _CHUNK):
        digest.update(chunk)
        size += len(chunk)
        if size <= ceiling:
            chunks.append(chunk)
        else:
            chunks.clear()
    data = b"".join(chunks) if size <= ceiling else None
    return State("file", f"file:{digest.hexdigest()}", size, stat.S_IMODE(os.fstat(fd).st_mode), data)
