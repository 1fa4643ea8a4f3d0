"""Checkpoints: restore files to their state before a turn.

    checkpoints = Checkpoints(files)
    before = await checkpoints.begin("turn 3")
    …                                              # the agent works
    report = await checkpoints.restore(before)     # undo_restore() reverts this

Changes made through `files` are tracked. Those of commands are tracked if `before_commands` was called before them.
Restoring a checkpoint reverts all changes since it began, including those of later turns. A file that others have
changed in the meantime is left unchanged and reported, unless `force` is set. A restore is a checkpoint itself, so even
a forced one can be undone."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from accord.errors import NotFound, RequestFailed
from accord.model.record import Record
from accord.process.thread import run_in_thread
from accord.workspace.changes import ABSENT, State, file_state
from accord.workspace.checkpoint_store import ChangedFile, Checkpoint, CheckpointStore, SavedState
from accord.workspace.files import Files
from accord.workspace.overlay import Buffer
from accord.workspace.paths import quote_path
from accord.workspace.place import QUIET, Call
from accord.workspace.work_trees import Period, WorkTrees

MAX_CHECKPOINTS = 100
MAX_BYTES = 1 << 30
MAX_AGE_SECONDS = 30 * 86_400.0
"""How long checkpoints of an unchanged session are kept."""


class Restored(Record):
    """The result of a restore, by path."""

    restored: list[str] = []
    removed: list[str] = []
    """The restored paths that didn't exist before, and were removed."""
    same: list[str] = []
    """Paths that were already in the requested state."""
    conflicts: list[str] = []
    """Paths that others have changed in the meantime, and that were left unchanged."""
    lost: list[str] = []
    """Paths that can't be restored, because the saved content is missing (too large) or corrupted."""
    failed: dict[str, str] = {}
    """Paths that couldn't be written, with the reason."""
    commands: list[str] = []
    """Changes of commands that aren't restored."""

    @property
    def is_complete(self) -> bool:
        return not self.conflicts and not self.lost and not self.failed


class _Task(Record):
    """One file to restore, and the states that we know it may be in."""

    path: str
    before: SavedState
    known: set[str]
    made_directories: list[str]


class Checkpoints:
    """The checkpoints of one session."""

    def __init__(
        self,
        files: Files,
        directory: str | None = None,
        *,
        session: str = "default",
        max_checkpoints: int = MAX_CHECKPOINTS,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """Save checkpoints in `directory`, or by default in the user's data directory, per project and session."""
        self._files = files
        if directory is None:
            directory = default_directory(files, session)
        self._history = CheckpointStore(
            directory, max_checkpoints=max_checkpoints, max_bytes=max_bytes, sync=files.disk.sync
        )
        self._current: Checkpoint | None = None
        self._trees: WorkTrees | None = None
        self._ran: list[Period] = []
        """When commands ran since the current checkpoint began."""
        self._running = 0
        self._running_since = 0
        self._lock = threading.Lock()
        self._restoring = asyncio.Lock()
        self._stop: Callable[[], None] | None = files.before_change(self._note)

    def close(self) -> None:
        """Stop recording changes. Saved checkpoints stay. Idempotent."""
        if self._stop is not None:
            self._stop()
            self._stop = None

    @property
    def all(self) -> list[Checkpoint]:
        """All checkpoints, including those of earlier runs, oldest first."""
        with self._lock:
            return list(self._history.checkpoints)

    # -- Operations

    async def begin(self, label: str) -> Checkpoint:
        """Begin a checkpoint: changes from now on, until the next one, can be reverted."""
        return await self._files.run_blocking(self._begin, label, "")

    def end(self) -> None:
        """End the current checkpoint: changes aren't recorded until the next one begins."""
        with self._lock:
            self._current = None

    async def restore(self, checkpoint: Checkpoint | str, *, force: bool = False) -> Restored:
        """Restore files to their state when a checkpoint began. Begin another checkpoint before the next changes."""
        id = checkpoint if isinstance(checkpoint, str) else checkpoint.id
        async with self._restoring:
            report = await self._restore_files(self._changes_since(id), f"restore of {id}", force, restores=id)
            report.commands = self._notes_since(id)
            return report

    async def undo_restore(self, *, force: bool = False) -> Restored:
        """Undo the last restore that hasn't been undone. Files changed since then are conflicts."""
        async with self._restoring:
            restores = [each for each in self.all if each.is_restore and not each.is_undone]
            if not restores:
                raise NotFound("there is no restore to undo")
            last = restores[-1]
            tasks = [_task(path, touched) for path, touched in last.files.items()]
            report = await self._restore_files(tasks, f"undo of {last.label}", force)
            last.is_undone = True
            await self._files.run_blocking(self._save, last)
            return report

    # -- Commands

    async def before_commands(self) -> None:
        """Look at the files before the first command of a checkpoint, so that `after_commands` finds its changes.

        Call it before each command, and `command_ended` after it."""
        await self._look_before()
        if not self._running:
            self._running_since = time.time_ns()
        self._running += 1

    async def _look_before(self) -> None:
        with self._lock:
            current = self._current
            if current is None or current.commands:
                return
            edited = frozenset(current.files)
        if self._trees is None:
            self._trees = WorkTrees(self._files.roots.paths, os.path.dirname(self._history.directory))
        notes = await run_in_thread(self._trees.begin, edited)
        with self._lock:
            current.commands = notes
            self._history.save(current)

    def command_ended(self) -> None:
        """Note that a command has ended: what changes from now on isn't its work."""
        if self._running:
            self._running -= 1
            if not self._running:
                self._ran.append(Period(self._running_since, time.time_ns()))

    async def after_commands(self) -> None:
        """Record the changes of commands since `before_commands`."""
        if self._trees is not None and self._trees.is_open:
            await run_in_thread(self._record_commands, finishes=True)

    def _record_commands(self) -> None:
        assert self._trees is not None
        ran = [*self._ran, *([Period(self._running_since, time.time_ns())] if self._running else [])]
        with self._lock:
            edited = frozenset(self._current.files) if self._current is not None else frozenset()
        found, notes = self._trees.finish(ran, edited)
        with self._lock:
            current = self._current
            if current is None:
                return
            current.commands = notes
            for change in found:
                touched = current.files.get(change.path)
                if touched is None or not change.is_edited_before:
                    before = self._history.save_state(change.before)
                    made = touched.made_directories if touched is not None else list(change.made_directories)
                    touched = current.files[change.path] = ChangedFile(before=before, made_directories=made)
                touched.ours = [*touched.ours[-1:], change.after.digest]
            self._history.save(current)

    def _notes_since(self, id: str) -> list[str]:
        with self._lock:
            since = [each for each in self._history.checkpoints if each.id >= id and not each.is_restore]
            return list(dict.fromkeys(each.commands for each in since if each.commands))

    # -- Recording

    async def note(self, path: str, before: str | None, after: str) -> None:
        """Record a change that another program makes on our behalf, such as an editor."""
        was = ABSENT if before is None else file_state(before.encode())
        await self._files.run_blocking(self._note_text, path, was, file_state(after.encode()))

    def _note_text(self, path: str, before: State, after: State, call: Call = QUIET) -> None:
        self._note(path, before, after, ())

    def _begin(self, label: str, restores: str, call: Call = QUIET) -> Checkpoint:
        with self._lock:
            self._ran.clear()
            self._running = 0
            self._current = self._history.add(label, restores=restores)
            return self._current

    def _save(self, checkpoint: Checkpoint, call: Call = QUIET) -> None:
        with self._lock:
            self._history.save(checkpoint)

    def _trim(self, call: Call = QUIET) -> None:
        with self._lock:
            self._history.trim()

    def _note(self, path: str, before: State, after: State, made_directories: tuple[str, ...]) -> None:
        with self._lock:
            current = self._current
            if current is None:
                return
            touched = current.files.get(path)
            if touched is None:
                saved = self._history.save_state(before)
                current.files[path] = ChangedFile(
                    before=saved, ours=[after.digest], made_directories=list(made_directories)
                )
            else:
                touched.ours = [*touched.ours[-1:], after.digest]
            self._history.save(current)

    # -- Restoring

    def _changes_since(self, id: str) -> list[_Task]:
        """Return the files changed since a checkpoint began, with their state at that time and the states that we wrote
        last."""
        tasks: dict[str, _Task] = {}
        with self._lock:
            checkpoints = self._history.checkpoints
            first = next((index for index, each in enumerate(checkpoints) if each.id == id), None)
            if first is None:
                raise NotFound(f"checkpoint {quote_path(id)} doesn't exist")
            for each in checkpoints[first:]:
                for path, touched in each.files.items():
                    task = tasks.setdefault(path, _task(path, touched))
                    task.known = {task.before.digest, touched.before.digest, *touched.ours}
        return list(tasks.values())

    async def _restore_files(self, tasks: list[_Task], label: str, force: bool, *, restores: str = "") -> Restored:
        report = Restored()
        lists = {"restored": report.restored, "same": report.same, "lost": report.lost}
        self._history.is_in_use = True
        try:
            await self._files.run_blocking(self._begin, label, restores)
            while tasks:
                blocked: list[_Task] = []
                for task in tasks:
                    try:
                        done = await self._restore_file(task, force)
                    except RequestFailed as error:
                        report.failed[task.path] = error.message
                        continue
                    if done == "conflict":
                        blocked.append(task)
                        continue
                    lists[done].append(task.path)
                    if done == "restored" and task.before.kind == "absent":
                        report.removed.append(task.path)
                made = {each for task in tasks if task.before.kind == "absent" for each in task.made_directories}
                for directory in sorted(made, key=len, reverse=True):
                    await self._files.run_blocking(self._files.disk.remove_directory_if_empty, directory)
                if len(blocked) == len(tasks):
                    report.conflicts = [task.path for task in blocked]
                    break
                tasks = blocked  # what was in the way may be gone: a link in place of a directory, for example
        finally:
            self.end()
            self._history.is_in_use = False
            await self._files.run_blocking(self._trim)
        return report

    async def _restore_file(self, task: _Task, force: bool) -> str:
        state: State | None = await self._files.run_blocking(self._load_state, task.before)
        if state is None:
            return "lost"
        known = None if force else task.known
        done: str | Buffer = await self._files.run_blocking(self._files.disk.restore, task.path, state, known)
        if isinstance(done, Buffer):
            await self._files.hand_to_owner(done, state.text or "")
            return "restored"
        return done

    def _load_state(self, saved: SavedState, call: Call = QUIET) -> State | None:
        return self._history.load_state(saved)


def _task(path: str, touched: ChangedFile) -> _Task:
    known = {touched.before.digest, *touched.ours}
    return _Task(path=path, before=touched.before, known=known, made_directories=touched.made_directories)


def default_directory(files: Files, session: str) -> str:
    """Return the default directory for checkpoints. It must not be inside the workspace, where the agent could change
    them."""
    from accord.config.directories import data_directory

    project = hashlib.sha256(os.path.realpath(files.roots.paths[0]).encode()).hexdigest()[:16]
    name = hashlib.sha256(session.encode()).hexdigest()[:16]
    directory = os.path.join(data_directory(), "checkpoints", project, name)
    if files.roots.contains(os.path.realpath(directory)):
        raise ValueError(f"checkpoints would be saved in {directory}, inside the workspace; pass another directory=")
    return directory


def remove_old(data_directory: str, max_age_seconds: float = MAX_AGE_SECONDS) -> None:
    """Remove default checkpoint directories that haven't changed for `max_age_seconds`. Blocking."""
    limit = time.time() - max_age_seconds
    with suppress(OSError):
        for project in list(os.scandir(os.path.join(data_directory, "checkpoints"))):
            with suppress(OSError):
                shadow = os.path.join(project.path, "shadow")
                for parent in (project.path, shadow):
                    _remove_old_entries(parent, limit)
                for empty in (shadow, project.path):
                    os.rmdir(empty)


def _remove_old_entries(parent: str, limit: float) -> None:
    for entry in list(os.scandir(parent)) if os.path.isdir(parent) else ():
        is_ours = len(entry.name) == 16 and entry.is_dir(follow_symlinks=False)
        if is_ours and entry.stat(follow_symlinks=False).st_mtime < limit:
            shutil.rmtree(entry.path, ignore_errors=True)
