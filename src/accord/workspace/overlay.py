"""Open editor buffers with unsaved changes, which take precedence over the files on disk.

An editor registers its open buffers here, so that agents read the same text as the user. One overlay can serve several
sessions. If an agent writes to an open file, the text goes to the buffer's owner, which decides about saving. Without
an owner, it is written to disk, and the buffer is updated."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Owner = Callable[[str, str], Awaitable[None] | None]
"""Called with a path and the text that an agent wrote to it, in the event loop. May be a coroutine function."""


@dataclass(slots=True, eq=False)
class Buffer:
    """The text of one open file."""

    path: str
    text: str
    owner: Owner | None = None


class Overlay:
    """Open buffers by path. The roots decide whether an agent may read a path, not this class."""

    def __init__(self) -> None:
        self._buffers: dict[str, Buffer] = {}

    def show(self, path: str, text: str, owner: Owner | None = None) -> Buffer:
        """Add or replace the buffer of a path."""
        buffer = Buffer(path, text, owner)
        self._buffers[_key(path)] = buffer
        return buffer

    def hide(self, path: str) -> None:
        """Remove a buffer that was closed or saved. Idempotent."""
        self._buffers.pop(_key(path), None)

    def find(self, real_path: str) -> Buffer | None:
        """Return the buffer of a file by its resolved path, regardless of the path with which it was opened."""
        return self._buffers.get(os.path.normcase(real_path))

    def __len__(self) -> int:
        return len(self._buffers)


def _key(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))
