"""Changing files in the roots: blocking calls, for a thread beside the event loop.

Changes are made one after the other. Guards hear of each before it is made, and whoever called for it after."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from accord.errors import InvalidParams, RequestFailed
from accord.workspace.changes import ABSENT, Change, Guard, State, file_state, link_state, read_state
from accord.workspace.looking import QUIET, Call, Looking
from accord.workspace.overlay import Buffer, Overlay
from accord.workspace.paths import shown
from accord.workspace.place import Place
from accord.workspace.replacing import replace, replace_by_link, sweep
from accord.workspace.roots import Roots
from accord.workspace.text import MARK


class Disk(Looking):
    """Reads and changes files: what `Files` does off the event loop."""

    def __init__(self, roots: Roots, overlay: Overlay, *, max_read_bytes: int, sync: bool) -> None:
        super().__init__(roots, overlay, max_read_bytes)
        self.guards: list[Guard] = []
        self.sync = sync
        self._lock = threading.Lock()
        self._swept: set[tuple[int, int]] = set()

    def write(self, path: str, text: str, call: Call = QUIET) -> Buffer | None:
        """Makes a text the content of a file. When it is on screen and has an owner, nothing is written and the buffer
        is returned: its owner has to."""
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise InvalidParams(
                f"the text has half a character at {error.start}, which no UTF-8 file can hold"
            ) from None

        def work(place: Place) -> Buffer | None:
            place.need_file(or_nothing=True)
            buffer = self._on_screen(place)
            if buffer is not None and buffer.owner is not None:
                self._announce(place, file_state(buffer.text.encode(errors="replace")), file_state(data))
                return buffer
            with self._old(place) as old:
                content = data
                if old is not None and _begins_with_mark(old) and not data.startswith(MARK):
                    content = MARK + data
                before = self._state(place, old) if self._is_watched(call) else None
                if before is not None:
                    self._announce(place, before, file_state(content))
                self._install(place, content, place.status and place.status.st_mode, old, call)
            if buffer is not None:
                buffer.text = text
            if call.tell is not None:
                kind: Literal["created", "changed"] = "created" if place.status is None else "changed"
                call.tell(Change(path=place.path, kind=kind, before=before.text if before else None, after=text))
            return None

        with self._lock:
            return self.roots.at(path, work)

    def delete(self, path: str, call: Call = QUIET) -> None:
        """Removes a file, or a link itself."""

        def work(place: Place) -> None:
            place.need_file(or_link=True)
            before = self._state(place) if self._is_watched(call) else ABSENT
            self._announce(place, before, ABSENT)
            call.go_on()
            place.folder.remove(place.name)
            if call.tell is not None:
                call.tell(Change(path=place.path, kind="deleted", before=before.text))

        with self._lock:
            self.roots.at(path, work, follow=False)

    def move(self, source: str, target: str, overwrite: bool = False, call: Call = QUIET) -> None:
        """Gives a file another path."""

        def from_place(old: Place) -> None:
            old.need_file()
            self.roots.at(target, lambda new: to_place(old, new), follow=False)

        def to_place(old: Place, new: Place) -> None:
            new.need_file(or_nothing=True, or_link=True)
            if old.path == new.path:
                raise InvalidParams(f"{shown(source)} and {shown(target)} are the same path")
            if new.status is not None and not overwrite:
                raise InvalidParams(f"{shown(target)} exists already; say overwrite to replace it")
            text = None
            if self._is_watched(call):
                before = self._state(old)
                text = before.text
                self._announce(new, self._state(new), before)
                self._announce(old, before, ABSENT)
            call.go_on()
            self._rename(old, new, overwrite, call)
            if call.tell is not None:
                call.tell(Change(path=new.path, kind="moved", before=text, after=text, source=old.path))

        with self._lock:
            self.roots.at(source, from_place, follow=False)

    def put(self, path: str, wanted: State, known: Container[str] | None, call: Call = QUIET) -> Buffer | str:
        """Brings a path back to a state: `restored`, or `same` when nothing was to do, or `conflict` when it is in
        none of the states that are known (None: whatever it is). A buffer is returned when its owner has to do it."""

        def work(place: Place) -> Buffer | str:
            if place.path != path or place.kind not in ("absent", "file", "link"):
                return "conflict"  # its directory is a link now, or it is a directory itself
            buffer = self._on_screen(place)
            owned = buffer is not None and buffer.owner is not None and wanted.text is not None
            now = file_state(buffer.text.encode(errors="replace")) if buffer and owned else self._state(place)
            if now.digest == wanted.digest and (owned or now.mode == wanted.mode):
                return "same"
            if known is not None and now.digest not in known:
                return "conflict"
            self._announce(place, now, wanted)
            if buffer is not None and owned:
                return buffer
            self._become(place, wanted, call)
            if buffer is not None and wanted.text is not None:
                buffer.text = wanted.text
            if call.tell is not None:
                kinds = {"absent": "created"} if now.kind == "absent" else {}
                kind = "deleted" if wanted.kind == "absent" else kinds.get(now.kind, "changed")
                call.tell(Change(path=path, kind=kind, before=now.text, after=wanted.text))  # type: ignore[arg-type]
            return "restored"

        with self._lock:
            return self.roots.at(path, work, follow=False)

    def remove_folder_if_empty(self, path: str, call: Call = QUIET) -> None:
        with suppress(OSError, RequestFailed), self._lock:
            self.roots.at(path, lambda place: place.folder.remove_folder(place.name), follow=False)

    # -- the steps

    def _rename(self, old: Place, new: Place, overwrite: bool, call: Call) -> None:
        with new.folders_made() as folder:
            # A rename between two names of one file does nothing and says it went well.
            is_same = old.status and new.status and os.path.samestat(old.status, new.status)
            try:
                if overwrite and not is_same:
                    old.folder.rename(old.name, folder, new.name)
                    return
                if not overwrite:  # a rename would replace what somebody puts there at this moment
                    old.folder.add_name(old.name, folder, new.name)
            except OSError as error:
                if error.errno == errno.EXDEV:
                    self._copy(old, new, call)
                elif error.errno in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK) and not overwrite:
                    old.folder.rename(old.name, folder, new.name)  # no hard links here
                    return
                else:
                    raise
            old.folder.remove(old.name)

    def _copy(self, old: Place, new: Place, call: Call) -> None:
        """To another file system."""
        fd = old.open()
        try:
            with open(fd, "rb", closefd=False) as file:
                data = file.read()
            self._install(new, data, os.fstat(fd).st_mode, fd, call)
        finally:
            os.close(fd)

    def _is_watched(self, call: Call) -> bool:
        return bool(self.guards) or call.tell is not None

    def _announce(self, place: Place, before: State, after: State) -> None:
        for guard in self.guards:
            guard(place.path, before, after, place.missing_paths)

    def _become(self, place: Place, wanted: State, call: Call) -> None:
        data = wanted.data or b""
        if wanted.kind == "absent":
            place.folder.remove(place.name)
        elif wanted.kind == "link":
            with place.folders_made() as folder:
                replace_by_link(folder, place.name, os.fsdecode(data))
        else:
            self._install(place, data, wanted.mode, None, call)

    def _install(self, place: Place, data: bytes, mode: int | None, old: int | None, call: Call) -> None:
        with place.folders_made() as folder:
            status = folder.status()
            if (status.st_dev, status.st_ino) not in self._swept:
                with suppress(OSError):  # it may be written to, but not listed
                    sweep(folder)
                self._swept.add((status.st_dev, status.st_ino))
            replace(folder, place.name, data, mode=mode, like=old, sync=self.sync, go_on=call.go_on)

    @contextmanager
    def _old(self, place: Place) -> Iterator[int | None]:
        """The file that is to be replaced, open for reading; None when there is none or we may not read it."""
        if place.status is None:
            yield None
            return
        if not place.folder.may_write(place.name):
            raise RequestFailed(f"{shown(place.path)} is read-only; its permissions must be changed first")
        try:
            fd = place.open()
        except PermissionError:
            yield None
            return
        try:
            yield fd
        finally:
            os.close(fd)

    def _state(self, place: Place, old: int | None = None) -> State:
        if place.status is None:
            return ABSENT
        if stat.S_ISLNK(place.status.st_mode):
            return link_state(place.folder.link(place.name))
        if old is not None:
            return read_state(old, self._max_read_bytes)
        fd = place.open()
        try:
            return read_state(fd, self._max_read_bytes)
        finally:
            os.close(fd)


def _begins_with_mark(fd: int) -> bool:
    os.lseek(fd, 0, os.SEEK_SET)
    return os.read(fd, len(MARK)) == MARK
