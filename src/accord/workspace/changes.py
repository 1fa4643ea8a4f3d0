"""What a file was, and what became of it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from accord.model.noun import Noun
from accord.workspace.text import plain

_CHUNK = 1 << 20


class Change(Noun):
    """Something that was done to a file. `before` and `after` are texts; None when there was none, when it is no text,
    or when it is too large to show. A move tells the old path in `source`."""

    path: str
    kind: Literal["created", "changed", "deleted", "moved"]
    before: str | None = None
    after: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class State:
    """What a name stood for at one moment."""

    kind: Literal["absent", "file", "link"]
    digest: str
    """Two states with the same digest are the same, permissions aside."""
    size: int = 0
    mode: int | None = None
    data: bytes | None = None
    """The content, or what the link says; None when it is larger than is kept."""

    @property
    def text(self) -> str | None:
        return plain(self.data) if self.kind == "file" and self.data is not None else None


ABSENT = State("absent", "absent")

Listener = Callable[[Change], None]

Guard = Callable[[str, State, State, tuple[str, ...]], None]
"""Is told of a change before it is made: the path, what is there, what will be, and directories that will be made for
it. If it raises, the change is not made."""


def file_state(data: bytes, mode: int | None = None) -> State:
    """A file with this content."""
    return State("file", f"file:{hashlib.sha256(data).hexdigest()}", len(data), mode, data)


def link_state(target: str) -> State:
    """A symbolic link that says this."""
    data = os.fsencode(target)
    return State("link", f"link:{hashlib.sha256(data).hexdigest()}", len(data), None, data)


def read_state(fd: int, ceiling: int) -> State:
    """The file behind a descriptor, with its content unless that is larger than `ceiling`."""
    digest = hashlib.sha256()
    kept: list[bytes] = []
    size = 0
    os.lseek(fd, 0, os.SEEK_SET)
    while chunk := os.read(fd, _CHUNK):
        digest.update(chunk)
        size += len(chunk)
        if size <= ceiling:
            kept.append(chunk)
        else:
            kept.clear()
    data = b"".join(kept) if size <= ceiling else None
    return State("file", f"file:{digest.hexdigest()}", size, stat.S_IMODE(os.fstat(fd).st_mode), data)
