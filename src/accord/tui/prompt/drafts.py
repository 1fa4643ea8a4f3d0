"""Drafts: unsent text, saved so that nothing typed is lost.

A running client has one draft file per agent and holds a lock beside each, so that clients in one project don't
interfere. A new client takes over the drafts that exited ones left in the same project for the same agent."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple
from uuid import uuid4

from accord.config.directories import data_directory
from accord.config.locking import try_lock
from accord.tui.prompt.history import replace


class Unsent(NamedTuple):
    """Unsent text: the text in the prompt, and the queued prompts."""

    text: str = ""
    queue: tuple[str, ...] = ()


class Drafts:
    """The drafts of one client, and those left by others. `on_error` receives the reason if one can't be saved."""

    def __init__(self, directory: Path | None = None, on_error: Callable[[OSError], None] | None = None) -> None:
        self._directory = directory or data_directory() / "chat" / "drafts"
        self._on_error = on_error
        self._own: dict[str, _DraftFile] = {}
        self.is_one_held: bool = False
        """Whether the last search skipped a draft because its client is still running."""

    def claim(self, project: str, agent: str | None = None) -> Unsent:
        """Take over the drafts that exited clients left in a project for an agent (None: any agent)."""
        found = []
        own = self._draft(agent or "")
        self.is_one_held = False
        with suppress(OSError):
            for path in sorted(self._directory.glob("*.json"), key=_age):
                where, owner, _ = _read(path)
                is_ours = where == project and (agent is None or owner in ("", agent))
                if not is_ours or self._is_own(path):
                    continue
                lock = _acquire_lock(path)
                if lock is None:
                    self.is_one_held = True
                else:
                    found.append(_read(path)[2])
                    if self.save(project, join_drafts(found), agent or ""):
                        _remove(path, lock)
                    else:
                        _release(path, lock)
        return own.left

    def save(self, project: str, left: Unsent | str, agent: str = "") -> bool:
        """Save a draft, or delete it if empty. Return whether that succeeded."""
        problem = self._draft(agent).save(project, Unsent(left) if isinstance(left, str) else left, agent)
        if problem is not None and self._on_error is not None:
            self._on_error(problem)
        return problem is None

    def save_all(self, project: str, drafts: dict[str, Unsent]) -> None:
        """Save the drafts of all agents, and delete the others."""
        for agent in {*self._own, *drafts}:
            self.save(project, drafts.get(agent, Unsent()), agent)

    @property
    def are_saved(self) -> bool:
        """Whether all drafts could be saved at the last attempt."""
        return all(draft.problem is None for draft in self._own.values())

    def close(self) -> None:
        """Release the saved drafts for the next client."""
        for draft in self._own.values():
            draft.close()

    def _draft(self, agent: str) -> _DraftFile:
        return self._own.setdefault(agent, _DraftFile(self._directory / f"{uuid4().hex}.json"))

    def _is_own(self, path: Path) -> bool:
        return any(draft.path == path for draft in self._own.values())


class _DraftFile:
    """The draft for one agent, in a separate file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.left = Unsent()
        self.problem: OSError | None = None
        """Why it couldn't be saved, if so."""
        self._lock: IO[bytes] | None = None

    def save(self, project: str, left: Unsent, agent: str) -> OSError | None:
        """Save the draft, or delete it if empty. Return the reason if that failed."""
        if left != self.left or self.problem is not None:
            self.left, self.problem = left, self._write(project, left, agent)
        return self.problem

    def _write(self, project: str, left: Unsent, agent: str) -> OSError | None:
        if left != Unsent():
            with suppress(OSError):
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._lock = self._lock or _acquire_lock(self.path)
            import json

            return replace(self.path, json.dumps([project, left.text, agent, left.queue]))
        lock, self._lock = self._lock, None
        _remove(self.path, lock)
        return None

    def close(self) -> None:
        """Release the saved drafts for the next client."""
        lock, self._lock = self._lock, None
        if lock is not None:
            _release(self.path, lock)


def _acquire_lock(path: Path) -> IO[bytes] | None:
    """Acquire the lock beside a file, or return None if it is held. The system releases it when the process ends."""
    lock = path.with_suffix(".lock")
    try:
        if sys.platform == "win32":
            lock.unlink(missing_ok=True)  # fails while another process has it open
            return lock.open("wb")
        file = lock.open("wb")
        try:
            if try_lock(file.fileno()) and os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                return file
        except OSError:
            pass
        file.close()  # held by another client, or deleted since we opened it: then the next lock is another file
        return None
    except OSError:
        return None


def _remove(path: Path, lock: IO[bytes] | None) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
    if lock is not None:
        _release(path, lock)


def _release(path: Path, lock: IO[bytes]) -> None:
    """Release the lock beside a file. The lock file is deleted first if possible, while no other client can have it."""
    if sys.platform == "win32":
        lock.close()
    with suppress(OSError):
        path.with_suffix(".lock").unlink()
    lock.close()


def _age(path: Path) -> float:
    """Return the modification time of a file, which another client may have taken over in the meantime."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def join_drafts(drafts: Iterable[Unsent]) -> Unsent:
    """Combine several drafts into one."""
    every = list(drafts)
    text = "\n\n".join(each.text for each in every if each.text)
    return Unsent(text, tuple(prompt for each in every for prompt in each.queue))


def _read(path: Path) -> tuple[str, str, Unsent]:
    """Return the project, agent and text of a draft file. Older files have fewer fields."""
    import json

    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "", "", Unsent()
    match found:
        case [str(project), str(text), str(agent), list(queue)]:
            return project, agent, Unsent(text, tuple(map(str, queue)))
        case [str(project), str(text), str(agent)]:
            return project, agent, Unsent(text)
        case [str(project), str(text)]:
            return project, "", Unsent(text)
    return "", "", Unsent()
