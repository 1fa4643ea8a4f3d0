"""What is on somebody's screen and not saved yet.

An editor shows its open buffers here; one overlay may serve any number of sessions. Agents that read a file then see
what the person sees. What an agent writes to a file that is on screen goes to the buffer's owner when it has one, who
decides about saving; without an owner it goes to disk, and the buffer shows it too."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Owner = Callable[[str, str], Awaitable[None] | None]
"""Takes a path and the text that an agent wrote to it. Called on the event loop; may be a coroutine function."""


@dataclass(slots=True, eq=False)
class Buffer:
    """The text of one file as it is on screen."""

    path: str
    text: str
    owner: Owner | None = None


class Overlay:
    """Paths and the texts shown for them. Whether an agent may see one is decided by the roots, not here."""

    def __init__(self) -> None:
        self._buffers: dict[str, Buffer] = {}

    def show(self, path: str, text: str, owner: Owner | None = None) -> Buffer:
        """Says what is on screen for a path, in place of what was said before."""
        buffer = Buffer(path, text, owner)
        self._buffers[_key(path)] = buffer
        return buffer

    def hide(self, path: str) -> None:
        """The buffer is closed, or saved and the same as on disk. Repeating changes nothing."""
        self._buffers.pop(_key(path), None)

    def find(self, real_path: str) -> Buffer | None:
        """The buffer of a file, whichever path it was opened by; the path asked for is free of links."""
        return self._buffers.get(os.path.normcase(real_path))

    def __len__(self) -> int:
        return len(self._buffers)


def _key(path: str) -> str:
    return os.path.normcase(os.path.realpath(path))
