"""Going back to what the files were before a turn.

    checkpoints = Checkpoints(files)
    before = await checkpoints.begin("turn 3")
    …                                              # the agent works
    report = await checkpoints.restore(before)     # files are what they were; undo_restore() takes it back

Only what was changed through `files` is known and brought back: commands in a terminal go by unseen. A file that
somebody else changed since is left alone and reported, unless it is forced; even then a restore can be undone, since it
is a checkpoint itself. To restore one brings back everything that changed since it began, later turns included."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
from collections.abc import Callable

from accord.errors import NotFound
from accord.model.noun import Noun
from accord.workspace.changes import ABSENT, State, file_state
from accord.workspace.files import Files
from accord.workspace.history import Checkpoint, History, Saved, Touched
from accord.workspace.looking import QUIET, Call
from accord.workspace.overlay import Buffer
from accord.workspace.paths import shown

MAX_CHECKPOINTS = 100
MAX_BYTES = 1 << 30


class Restored(Noun):
    """What a restore did, by path."""

    restored: list[str] = []
    removed: list[str] = []
    """Those of them that were not there then, and are not there now."""
    same: list[str] = []
    """Nothing was to do."""
    conflicts: list[str] = []
    """Changed by somebody else meanwhile, and left alone."""
    lost: list[str] = []
    """What they were was not kept: too large, or damaged."""

    @property
    def is_complete(self) -> bool:
        return not self.conflicts and not self.lost


class _Task(Noun):
    """One file to bring back, and the states in which we left it."""

    path: str
    before: Saved
    known: set[str]
    made_folders: list[str]


class Checkpoints:
    """The checkpoints of one session."""

    def __init__(
        self,
        files: Files,
        folder: str | None = None,
        *,
        session: str = "default",
        max_checkpoints: int = MAX_CHECKPOINTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """They are kept in the user's data folder, by project and session, or in `folder`."""
        self._files = files
        if folder is None:
            folder = default_folder(files, session)
        self._history = History(folder, max_checkpoints=max_checkpoints, max_bytes=max_bytes, sync=files.disk.sync)
        self._current: Checkpoint | None = None
        self._lock = threading.Lock()
        self._restoring = asyncio.Lock()
        self._stop: Callable[[], None] | None = files.before_change(self._note)

    def close(self) -> None:
        """Notes no more changes. What is kept stays. Repeating changes nothing."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    @property
    def all(self) -> list[Checkpoint]:
        """Every checkpoint there is, oldest first, those of earlier runs included."""
        with self._lock:
            return list(self._history.checkpoints)

    # -- the calls

    async def begin(self, label: str) -> Checkpoint:
        """Begins a checkpoint: what changes from now on, until the next one, can be brought back to now."""
        return await self._files.away(self._begin, label, False)

    def end(self) -> None:
        """Changes from now on belong to no checkpoint, until the next one begins."""
        with self._lock:
            self._current = None

    async def restore(self, checkpoint: Checkpoint | str, *, force: bool = False) -> Restored:
        """Brings the files back to what they were when a checkpoint began. Begin another one before going on."""
        id = checkpoint if isinstance(checkpoint, str) else checkpoint.id
        async with self._restoring:
            return await self._carry_out(self._since(id), f"restore of {id}", force)

    async def undo_restore(self, *, force: bool = False) -> Restored:
        """Takes back the last restore that was not taken back yet. Files changed since then are conflicts."""
        async with self._restoring:
            restores = [each for each in self.all if each.is_restore and not each.is_undone]
            if not restores:
                raise NotFound("there is no restore to take back")
            last = restores[-1]
            tasks = [_task(path, touched) for path, touched in last.files.items()]
            report = await self._carry_out(tasks, f"undo of {last.label}", force, is_restore=False)
            last.is_undone = True
            await self._files.away(self._save, last)
            return report

    # -- noting

    async def note(self, path: str, before: str | None, after: str) -> None:
        """Notes a change that somebody else makes for us, an editor for one: what the file held, and what it will."""
        was = ABSENT if before is None else file_state(before.encode())
        await self._files.away(self._note_text, path, was, file_state(after.encode()))

    def _note_text(self, path: str, before: State, after: State, call: Call = QUIET) -> None:
        self._note(path, before, after, ())

    def _begin(self, label: str, is_restore: bool, call: Call = QUIET) -> Checkpoint:
        with self._lock:
            self._current = self._history.add(label, is_restore=is_restore)
            return self._current

    def _save(self, checkpoint: Checkpoint, call: Call = QUIET) -> None:
        with self._lock:
            self._history.save(checkpoint)

    def _trim(self, call: Call = QUIET) -> None:
        with self._lock:
            self._history.trim()

    def _note(self, path: str, before: State, after: State, made_folders: tuple[str, ...]) -> None:
        with self._lock:
            current = self._current
            if current is None:
                return
            touched = current.files.get(path)
            if touched is None:
                saved = self._history.keep(before)
                current.files[path] = Touched(before=saved, ours=[after.digest], made_folders=list(made_folders))
            else:
                touched.ours = [*touched.ours[-1:], after.digest]
            self._history.save(current)

    # -- bringing back

    def _since(self, id: str) -> list[_Task]:
        """What was changed since a checkpoint began: what each file was then, and the last that we made of it."""
        tasks: dict[str, _Task] = {}
        with self._lock:
            checkpoints = self._history.checkpoints
            first = next((index for index, each in enumerate(checkpoints) if each.id == id), None)
            if first is None:
                raise NotFound(f"there is no checkpoint {shown(id)}")
            for each in checkpoints[first:]:
                for path, touched in each.files.items():
                    task = tasks.setdefault(path, _task(path, touched))
                    task.known = {task.before.digest, touched.before.digest, *touched.ours}
        return list(tasks.values())

    async def _carry_out(self, tasks: list[_Task], label: str, force: bool, *, is_restore: bool = True) -> Restored:
        report = Restored()
        lists = {"restored": report.restored, "same": report.same, "conflict": report.conflicts, "lost": report.lost}
        self._history.is_in_use = True
        try:
            await self._files.away(self._begin, label, is_restore)
            for task in tasks:
                done = await self._bring_back(task, force)
                lists[done].append(task.path)
                if done == "restored" and task.before.kind == "absent":
                    report.removed.append(task.path)
            folders = {folder for task in tasks if task.before.kind == "absent" for folder in task.made_folders}
            for folder in sorted(folders, key=len, reverse=True):
                await self._files.away(self._files.disk.remove_folder_if_empty, folder)
        finally:
            self.end()
            self._history.is_in_use = False
            await self._files.away(self._trim)
        return report

    async def _bring_back(self, task: _Task, force: bool) -> str:
        wanted: State | None = await self._files.away(self._bring, task.before)
        if wanted is None:
            return "lost"
        known = None if force else task.known
        done: str | Buffer = await self._files.away(self._files.disk.put, task.path, wanted, known)
        if isinstance(done, Buffer):
            await self._files.give(done, wanted.text or "")
            return "restored"
        return done

    def _bring(self, saved: Saved, call: Call = QUIET) -> State | None:
        return self._history.bring(saved)


def _task(path: str, touched: Touched) -> _Task:
    known = {touched.before.digest, *touched.ours}
    return _Task(path=path, before=touched.before, known=known, made_folders=touched.made_folders)


def default_folder(files: Files, session: str) -> str:
    """Where checkpoints are kept when nobody says: never where the agent itself could change them."""
    from accord.config.folders import data_folder

    project = hashlib.sha256(os.path.realpath(files.roots.paths[0]).encode()).hexdigest()[:16]
    name = hashlib.sha256(session.encode()).hexdigest()[:16]
    folder = os.path.join(data_folder(), "checkpoints", project, name)
    if files.roots.contains(os.path.realpath(folder)):
        raise ValueError(f"checkpoints would be kept in {folder}, inside the workspace; say folder= where else")
    return folder
