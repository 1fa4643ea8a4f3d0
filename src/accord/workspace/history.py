"""What files were like before each turn, kept in a private folder so that it outlives the process.

    <folder>/00000001.json     one checkpoint: which files it changed, and the digests of what they were
    <folder>/objects/ab/cd…    contents, each once, named by their SHA-256

A checkpoint's file is replaced whole at every change and before the change is made, so that at any moment a kill leaves
a history that is true. Contents are checked against their names when they are used."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Literal

import msgspec

from accord.model.noun import Noun
from accord.workspace.changes import ABSENT, State

log = logging.getLogger("accord.workspace")

_ORPHAN_SECONDS = 86400.0


class Saved(Noun):
    """A state of a file. Without `is_kept` the content was too large to keep, and cannot be brought back."""

    kind: Literal["absent", "file", "link"]
    digest: str
    size: int = 0
    mode: int | None = None
    is_kept: bool = True

    @property
    def sha(self) -> str | None:
        """The name of the content, if it has any that is kept."""
        return self.digest.partition(":")[2] if self.kind != "absent" and self.is_kept else None


class Touched(Noun):
    """A file that was changed: what it was when the checkpoint began, and what we made of it (the last two states,
    since the last may not have come about)."""

    before: Saved
    ours: list[str] = []
    made_folders: list[str] = []


class Checkpoint(Noun):
    """A moment to which the files can be brought back."""

    id: str
    label: str
    at: float
    files: dict[str, Touched] = {}
    is_restore: bool = False
    is_undone: bool = False


class History:
    """The checkpoints in one folder, oldest first."""

    def __init__(self, folder: str, *, max_checkpoints: int, max_bytes: int, sync: bool = True) -> None:
        self._folder = folder
        self._objects = os.path.join(folder, "objects")
        self._max_checkpoints = max_checkpoints
        self._max_bytes = max_bytes
        self._sync = sync
        for each in (folder, self._objects):  # one by one: only the last of a way is made private
            os.makedirs(each, mode=0o700, exist_ok=True)
        self.checkpoints = self._load()
        self._sizes = dict(self._kept())
        self.is_in_use = False
        self._clean()

    # -- checkpoints

    def add(self, label: str, *, is_restore: bool = False) -> Checkpoint:
        """Begins a new one."""
        label = label.encode("utf-8", "replace").decode()  # no name for a turn is a reason not to keep files
        number = max((int(each.id) for each in self.checkpoints), default=0)
        while True:
            number += 1
            checkpoint = Checkpoint(id=f"{number:08d}", label=label, at=time.time(), is_restore=is_restore)
            with suppress(FileExistsError):  # another process uses this folder
                os.close(os.open(self._path(checkpoint.id), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                break
        self.save(checkpoint)
        self.checkpoints.append(checkpoint)
        self.trim()
        return checkpoint

    def trim(self) -> None:
        """Drops the oldest while there are too many; but none while files are being brought back from them."""
        while not self.is_in_use and len(self.checkpoints) > 1:
            if len(self.checkpoints) <= self._max_checkpoints and self._bytes() <= self._max_bytes:
                break
            self._drop_oldest()

    def _bytes(self) -> int:
        return sum(self._sizes.values())

    def save(self, checkpoint: Checkpoint) -> None:
        _replace(self._path(checkpoint.id), msgspec.json.encode(checkpoint), self._sync)

    def keep(self, state: State) -> Saved:
        """Takes a state into the history; only without its content when there is no room."""
        saved = Saved(kind=state.kind, digest=state.digest, size=state.size, mode=state.mode)
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
            self._forget(sha)  # there is no room even with this checkpoint alone
            saved.is_kept = False
        return saved

    def bring(self, saved: Saved) -> State | None:
        """The state with its content; None when that was not kept, is gone or damaged."""
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
            log.warning("the saved content %s is damaged", self._object(sha))
            return None
        return State(saved.kind, saved.digest, len(data), saved.mode, data)

    # -- the folder

    def _path(self, id: str) -> str:
        return os.path.join(self._folder, f"{id}.json")

    def _object(self, sha: str) -> str:
        return os.path.join(self._objects, sha[:2], sha[2:])

    def _load(self) -> list[Checkpoint]:
        found = []
        for name in sorted(os.listdir(self._folder)):
            id, extension = os.path.splitext(name)
            if extension != ".json" or not id.isdecimal():
                continue
            try:
                with open(os.path.join(self._folder, name), "rb") as file:
                    found.append(msgspec.json.decode(file.read(), type=Checkpoint))
            except (OSError, msgspec.MsgspecError) as error:  # empty: begun in the moment of a kill
                log.warning("the checkpoint %s cannot be read: %s", os.path.join(self._folder, name), error)
        return found

    def _kept(self) -> Iterator[tuple[str, int]]:
        for shelf in os.scandir(self._objects):
            for entry in os.scandir(shelf.path) if shelf.is_dir() else ():
                yield shelf.name + entry.name, entry.stat().st_size

    def _drop_oldest(self) -> None:
        oldest = self.checkpoints.pop(0)
        with suppress(FileNotFoundError):
            os.unlink(self._path(oldest.id))
        # Another process may have checkpoints here that we do not know; only what nobody names may go.
        named = _contents(self.checkpoints) | _contents(self._load())
        for sha in _contents([oldest]) - named:
            self._forget(sha)

    def _forget(self, sha: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self._object(sha))
        self._sizes.pop(sha, None)

    def _clean(self) -> None:
        """Removes contents that no checkpoint names: a kill came before it could."""
        named = _contents(self.checkpoints)
        for sha in [sha for sha in self._sizes if sha not in named]:
            with suppress(FileNotFoundError):
                if time.time() - os.stat(self._object(sha)).st_mtime > _ORPHAN_SECONDS:
                    self._forget(sha)


def _contents(checkpoints: list[Checkpoint]) -> set[str]:
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
