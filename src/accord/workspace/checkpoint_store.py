"""Storage of checkpoints, in a private directory that outlives the process.

    <directory>/00000001.json     one checkpoint: the files it changed, and the digests of their old contents
    <directory>/objects/ab/cd…    contents, each once, named by their SHA-256

The file of a checkpoint is replaced atomically before each change is made, so that the store is correct even if the
process is killed at any moment. Contents are verified against their names when they are read."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal

import msgspec

from accord.model.record import Record
from accord.workspace.changes import ABSENT, State

log: logging.Logger = logging.getLogger("accord.workspace")

_ORPHAN_SECONDS = 86400.0


class SavedState(Record):
    """A saved state of a file. Without `is_kept`, the content was too large to save, and can't be restored."""

    kind: Literal["absent", "file", "link"]
    digest: str
    size: int = 0
    mode: int | None = None
    is_kept: bool = True

    @property
    def sha(self) -> str | None:
        """The name of the saved content, if there is any."""
        return self.digest.partition(":")[2] if self.kind != "absent" and self.is_kept else None


class ChangedFile(Record):
    """A changed file: its state when the checkpoint began, and the digests of the last two states that we wrote. Two,
    because a state is recorded before it is written, and the write may not have happened."""

    before: SavedState
    ours: list[str] = []
    made_directories: list[str] = []


class Checkpoint(Record):
    """A point in time to which files can be restored."""

    id: str
    label: str
    at: float
    files: dict[str, ChangedFile] = {}
    restores: str = ""
    """The id of the checkpoint to restore, if this one was added by a restore."""
    is_undone: bool = False
    commands: str = ""
    """A note for the user about changes of commands that can't be restored; empty if no command ran."""

    @property
    def is_restore(self) -> bool:
        return bool(self.restores)


class CheckpointStore:
    """The checkpoints in one directory, oldest first."""

    def __init__(self, directory: str, *, max_checkpoints: int, max_bytes: int, sync: bool = True) -> None:
        self.directory = directory
        self._objects = os.path.join(directory, "objects")
        self._max_checkpoints = max_checkpoints
        self._max_bytes = max_bytes
        self._sync = sync
        for each in (directory, self._objects):  # separately, because `mode` applies only to the last part of a path
            os.makedirs(each, mode=0o700, exist_ok=True)
        self.checkpoints: list[Checkpoint] = self._load()
        self._sizes = dict(self._contents())
        self.is_in_use = False
        self._clean()

    # -- Checkpoints

    def add(self, label: str, *, restores: str = "") -> Checkpoint:
        """Start a new checkpoint."""
        label = label.encode("utf-8", "replace").decode()  # a label with lone surrogates must not prevent saving
        number = max((int(each.id) for each in self.checkpoints), default=0)
        while True:
            number += 1
            checkpoint = Checkpoint(id=f"{number:08d}", label=label, at=time.time(), restores=restores)
            with suppress(FileExistsError):  # another process uses this directory, and has taken the number
                os.close(os.open(self._path(checkpoint.id), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                break
        self.save(checkpoint)
        self.checkpoints.append(checkpoint)
        self.trim()
        return checkpoint

    def trim(self) -> None:
        """Remove the oldest checkpoints above the limits, except during a restore."""
        while not self.is_in_use and len(self.checkpoints) > 1:
            if len(self.checkpoints) <= self._max_checkpoints and self._bytes() <= self._max_bytes:
                break
            self._drop_oldest()

    def _bytes(self) -> int:
        return sum(self._sizes.values())

    def save(self, checkpoint: Checkpoint) -> None:
        _replace(self._path(checkpoint.id), msgspec.json.encode(checkpoint), self._sync)

    def save_state(self, state: State) -> SavedState:
        """Save a state, without its content if there is no room."""
        saved = SavedState(kind=state.kind, digest=state.digest, size=state.size, mode=state.mode)
        sha = saved.sha
        if sha is None or sha in self._sizes:
            return saved
        if state.data is None or state.size > self._max_bytes:
            saved.is_kept = False
            return saved
        path = self._object(sha)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        _replace(path, state.data, self._sync)
        self._sizes[sha] = state.size
        self.trim()
        if sha in self._sizes and self._bytes() > self._max_bytes and not self.is_in_use:
            self._forget(sha)  # too large even with only this checkpoint left
            saved.is_kept = False
        return saved

    def load_state(self, saved: SavedState) -> State | None:
        """Load a state with its content; None if that wasn't saved, is missing or corrupted."""
        if saved.kind == "absent":
            return ABSENT
        sha = saved.sha
        if sha is None:
            return None
        try:
            with open(self._object(sha), "rb") as file:
                data = file.read()
        except OSError:
            return None
        if hashlib.sha256(data).hexdigest() != sha:
            log.warning("the saved content %s is corrupted", self._object(sha))
            return None
        return State(saved.kind, saved.digest, len(data), saved.mode, data)

    # -- Files

    def _path(self, id: str) -> str:
        return os.path.join(self.directory, f"{id}.json")

    def _object(self, sha: str) -> str:
        return os.path.join(self._objects, sha[:2], sha[2:])

    def _load(self) -> list[Checkpoint]:
        found = []
        for name in sorted(os.listdir(self.directory)):
            id, extension = os.path.splitext(name)
            if extension != ".json" or not id.isdecimal():
                continue
            try:
                with open(os.path.join(self.directory, name), "rb") as file:
                    found.append(msgspec.json.decode(file.read(), type=Checkpoint))
            except (OSError, msgspec.MsgspecError) as error:  # empty if the process was killed while creating it
                log.warning("can't read the checkpoint %s: %s", os.path.join(self.directory, name), error)
        return found

    def _contents(self) -> Iterator[tuple[str, int]]:
        """Yield the digest and the size of each saved content."""
        for shelf in os.scandir(self._objects):
            for entry in os.scandir(shelf.path) if shelf.is_dir() else ():
                yield shelf.name + entry.name, entry.stat().st_size

    def _drop_oldest(self) -> None:
        oldest = self.checkpoints.pop(0)
        with suppress(FileNotFoundError):
            os.unlink(self._path(oldest.id))
        # Another process may have added checkpoints here; remove only contents that no checkpoint refers to.
        named = _named_contents(self.checkpoints) | _named_contents(self._load())
        for sha in _named_contents([oldest]) - named:
            self._forget(sha)

    def _forget(self, sha: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._object(sha))
        self._sizes.pop(sha, None)

    def _clean(self) -> None:
        """Remove old contents that no checkpoint refers to: the process was killed before it saved the checkpoint."""
        named = _named_contents(self.checkpoints)
        for sha in [sha for sha in self._sizes if sha not in named]:
            with suppress(FileNotFoundError):
                if time.time() - os.stat(self._object(sha)).st_mtime > _ORPHAN_SECONDS:
                    self._forget(sha)


def _named_contents(checkpoints: list[Checkpoint]) -> set[str]:
    return {file.before.sha for each in checkpoints for file in each.files.values() if file.before.sha}


def _replace(path: str, data: bytes, sync: bool) -> None:
    temporary = f"{path}.{os.urandom(4).hex()}.tmp"
    fd = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with open(fd, "wb") as file:
            file.write(data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
