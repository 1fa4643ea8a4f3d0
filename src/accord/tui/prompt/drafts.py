"""What was typed and not sent, so that none of it is lost.

Each client that runs has files of its own, one for each of its agents, and holds a lock beside each: two clients in one
project do not get into each other's way. What one that has ended left behind is taken over by the next one that starts
in the same project with the same agent."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple
from uuid import uuid4

from accord.config.folders import data_folder
from accord.tui.prompt.history import replace


class Left(NamedTuple):
    """What was typed and not sent: what stands in the prompt, and the prompts that wait behind it to be sent."""

    text: str = ""
    queue: tuple[str, ...] = ()


class Drafts:
    """The drafts of one client, and those that others left behind. `on_fault` is told why one cannot be kept."""

    def __init__(self, folder: Path | None = None, on_fault: Callable[[OSError], None] | None = None) -> None:
        self._folder = folder or data_folder() / "chat" / "drafts"
        self._on_fault = on_fault
        self._own: dict[str, _Draft] = {}
        self.is_one_held = False
        """Whether the last look passed over a draft because its client still runs, if only for a moment."""

    def claim(self, project: str, agent: str | None = None) -> Left:
        """Takes over what clients that have ended left in a project for an agent; None is for any of them. It is kept
        here from now on."""
        found = []
        own = self._draft(agent or "")
        self.is_one_held = False
        with suppress(OSError):
            for path in sorted(self._folder.glob("*.json"), key=_age):
                where, whom, _ = _read(path)
                is_meant = where == project and (agent is None or whom in ("", agent))
                if not is_meant or self._is_own(path):
                    continue
                lock = _locked(path)
                if lock is None:
                    self.is_one_held = True
                else:
                    found.append(_read(path)[2])
                    if self.keep(project, joined(found), agent or ""):
                        _remove(path, lock)
                    else:
                        _release(path, lock)
        return own.left

    def keep(self, project: str, left: Left | str, agent: str = "") -> bool:
        """Keeps a draft; an empty one is forgotten. Gives whether that could be done."""
        fault = self._draft(agent).keep(project, Left(left) if isinstance(left, str) else left, agent)
        if fault is not None and self._on_fault is not None:
            self._on_fault(fault)
        return fault is None

    def keep_all(self, project: str, drafts: dict[str, Left]) -> None:
        """Keeps what was typed for each agent, and forgets the rest."""
        for agent in {*self._own, *drafts}:
            self.keep(project, drafts.get(agent, Left()), agent)

    @property
    def are_kept(self) -> bool:
        """Whether all that was typed could be kept when that was last tried."""
        return all(draft.fault is None for draft in self._own.values())

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
        self.left = Left()
        self.fault: OSError | None = None
        """Why it is not kept, if it is not."""
        self._lock: IO[bytes] | None = None

    def keep(self, project: str, left: Left, agent: str) -> OSError | None:
        """Keeps what was typed, or forgets it if that is nothing. Gives why that could not be done."""
        if left != self.left or self.fault is not None:
            self.left, self.fault = left, self._kept(project, left, agent)
        return self.fault

    def _kept(self, project: str, left: Left, agent: str) -> OSError | None:
        if left != Left():
            with suppress(OSError):
                self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._lock = self._lock or _locked(self.path)
            return replace(self.path, json.dumps([project, left.text, agent, left.queue]))
        lock, self._lock = self._lock, None
        _remove(self.path, lock)
        return None

    def close(self) -> None:
        """Leaves what is kept to the next client."""
        lock, self._lock = self._lock, None
        if lock is not None:
            _release(self.path, lock)


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
            if os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                return file
        except OSError:
            pass
        file.close()  # somebody has it, or it was let go of since it was opened: the next one is another file
        return None
    except OSError:
        return None


def _remove(path: Path, lock: IO[bytes] | None) -> None:
    with suppress(OSError):
        path.unlink(missing_ok=True)
    if lock is not None:
        _release(path, lock)


def _release(path: Path, lock: IO[bytes]) -> None:
    """Lets go of the lock beside a file. Its name goes first, where it can: no other client has it by then."""
    if sys.platform == "win32":
        lock.close()
    with suppress(OSError):
        path.with_suffix(".lock").unlink()
    lock.close()


def _age(path: Path) -> float:
    """When a file was last written; another client may have taken it over by now."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def joined(drafts: Iterable[Left]) -> Left:
    """Several of them as one."""
    every = list(drafts)
    text = "\n\n".join(each.text for each in every if each.text)
    return Left(text, tuple(prompt for each in every for prompt in each.queue))


def _read(path: Path) -> tuple[str, str, Left]:
    """The project of a draft, the agent it is for, and what was typed. Older ones say less."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "", "", Left()
    match found:
        case [str(project), str(text), str(agent), list(queue)]:
            return project, agent, Left(text, tuple(map(str, queue)))
        case [str(project), str(text), str(agent)]:
            return project, agent, Left(text)
        case [str(project), str(text)]:
            return project, "", Left(text)
    return "", "", Left()
