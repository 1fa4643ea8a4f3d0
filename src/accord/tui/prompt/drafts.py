"""What was typed and not sent, so that none of it is lost.

Each client that runs has a file of its own, and holds a lock beside it: two clients in one project do not get into each
other's way. What one that has ended left behind is taken over by the next one that starts in the same project."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from accord.config.folders import data_folder
from accord.tui.prompt.history import MOST_LENGTH, replace


class Drafts:
    """The drafts of one client, and those that others left behind."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or data_folder() / "chat" / "drafts"
        self._path = self._folder / f"{uuid4().hex}.json"
        self._lock: IO[bytes] | None = None
        self._kept = ""

    def claim(self, project: str) -> str:
        """Takes over what clients that have ended left in a project. It is kept here from now on."""
        texts = []
        with suppress(OSError):
            for path in sorted(self._folder.glob("*.json"), key=lambda each: each.stat().st_mtime):
                lock = _locked(path) if path != self._path and _read(path)[0] == project else None
                if lock is not None:
                    texts.append(_read(path)[1])
                    self.keep(project, "\n\n".join(filter(None, texts)))
                    _remove(path, lock)
        return self._kept

    def keep(self, project: str, text: str) -> None:
        """Keeps a draft; an empty one is forgotten."""
        if text == self._kept:
            return
        self._kept = text
        if text:
            with suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._lock = self._lock or _locked(self._path)
            replace(self._path, json.dumps([project, text[:MOST_LENGTH]]))
        else:
            lock, self._lock = self._lock, None
            _remove(self._path, lock)

    def close(self) -> None:
        """Leaves what is kept to the next client."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            with suppress(OSError):
                self._path.with_suffix(".lock").unlink()


def _locked(path: Path) -> IO[bytes] | None:
    """The lock beside a file, if nobody holds it. It goes with the process, however that ends."""
    lock = path.with_suffix(".lock")
    try:
        if sys.platform == "win32":
            lock.unlink(missing_ok=True)  # cannot be done while somebody has it open
            return lock.open("wb")
        import fcntl

        file = lock.open("wb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            return None
        return file
    except OSError:
        return None


def _remove(path: Path, lock: IO[bytes] | None) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
    if lock is not None:
        lock.close()
        with suppress(OSError):
            os.unlink(path.with_suffix(".lock"))


def _read(path: Path) -> tuple[str, str]:
    """The project and the text of a draft."""
    try:
        project, text = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return "", ""
    return str(project), str(text)
