"""What was typed and not sent, so that none of it is lost.

Each client that runs has files of its own, one for each of its agents, and holds a lock beside each: two clients in one
project do not get into each other's way. What one that has ended left behind is taken over by the next one that starts
in the same project with the same agent."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from accord.config.folders import data_folder
from accord.tui.prompt.history import MOST_LENGTH, replace


class Drafts:
    """The drafts of one client, and those that others left behind. `on_fault` is told why one cannot be kept."""

    def __init__(self, folder: Path | None = None, on_fault: Callable[[OSError], None] | None = None) -> None:
        self._folder = folder or data_folder() / "chat" / "drafts"
        self._on_fault = on_fault
        self._own: dict[str, _Draft] = {}
        self.is_one_held = False
        """Whether the last look passed over a draft because its client still runs, if only for a moment."""

    def claim(self, project: str, agent: str | None = None) -> str:
        """Takes over what clients that have ended left in a project for an agent; None is for any of them. It is kept
        here from now on."""
        texts = []
        own = self._draft(agent or "")
        self.is_one_held = False
        with suppress(OSError):
            for path in sorted(self._folder.glob("*.json"), key=lambda each: each.stat().st_mtime):
                where, _, whom = _read(path)
                is_meant = where == project and (agent is None or whom in ("", agent))
                if not is_meant or self._is_own(path):
                    continue
                lock = _locked(path)
                if lock is None:
                    self.is_one_held = True
                else:
                    texts.append(_read(path)[1])
                    if self.keep(project, "\n\n".join(filter(None, texts)), agent or ""):
                        _remove(path, lock)
                    else:
                        lock.close()
        return own.text

    def keep(self, project: str, text: str, agent: str = "") -> bool:
        """Keeps a draft; an empty one is forgotten. Gives whether that could be done."""
        fault = self._draft(agent).keep(project, text, agent)
        if fault is not None and self._on_fault is not None:
            self._on_fault(fault)
        return fault is None

    def keep_all(self, project: str, texts: dict[str, str]) -> None:
        """Keeps what was typed for each agent, and forgets the rest."""
        for agent in {*self._own, *texts}:
            self.keep(project, texts.get(agent, ""), agent)

    def close(self) -> None:
        """Leaves what is kept to the next client."""
        for draft in self._own.values():
            draft.close()

    def _draft(self, agent: str) -> _Draft:
        return self._own.setdefault(agent, _Draft(self._folder / f"{uuid4().hex}.json"))

    def _is_own(self, path: Path) -> bool:
        return any(draft.path == path for draft in self._own.values())


class _Draft:
    """What was typed for one agent, in a file of its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = ""
        self._lock: IO[bytes] | None = None

    def keep(self, project: str, text: str, agent: str) -> OSError | None:
        """Keeps a text, or forgets it if it is empty. Gives why that could not be done."""
        if text == self.text:
            return None
        self.text = text
        if text:
            with suppress(OSError):
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._lock = self._lock or _locked(self.path)
            return replace(self.path, json.dumps([project, text[:MOST_LENGTH], agent]))
        lock, self._lock = self._lock, None
        _remove(self.path, lock)
        return None

    def close(self) -> None:
        """Leaves what is kept to the next client."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            with suppress(OSError):
                self.path.with_suffix(".lock").unlink()


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


def _read(path: Path) -> tuple[str, str, str]:
    """The project, the text and the agent of a draft."""
    try:
        project, text, *agent = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return "", "", ""
    return str(project), str(text), str(agent[0]) if agent else ""
