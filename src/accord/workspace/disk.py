"""Read and change files inside the roots: blocking calls, for a thread outside the event loop.

Changes are made one at a time. Guards are called before each, and the listener of the call after it."""

from __future__ import annotations

import errno
import io
import os
import stat
import threading
from collections.abc import Container, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Literal, cast

from accord.errors import InvalidParams, NotFound, RequestFailed
from accord.model.record import Record
from accord.workspace.atomic_write import TEMPORARY, replace, replace_by_link, sweep
from accord.workspace.changes import ABSENT, Change, Guard, State, file_state, link_state, read_state
from accord.workspace.directory import Swapped
from accord.workspace.overlay import Buffer, Overlay
from accord.workspace.paths import quote_path
from accord.workspace.place import QUIET, Call, Place, kind_of
from accord.workspace.roots import OutsideWorkspace, Roots
from accord.workspace.text import MARK, decode_text, read_text, too_large

MAX_READ_BYTES = 64 << 20
MAX_SCAN_BYTES = 1 << 30
"""The number of bytes that are searched for the first line of a read."""
MAX_PREVIEW_BYTES = 1 << 20

EntryKind = Literal["file", "directory", "link", "other"]


class Entry(Record):
    """An entry of a directory. A name that isn't UTF-8 has escapes and the kind `other`, and can't be opened."""

    name: str
    kind: EntryKind
    size: int = 0
    has_escapes: bool = False


class Disk:
    """Blocking file operations. Each call resolves its path from the roots again."""

    def __init__(self, roots: Roots, overlay: Overlay, *, max_read_bytes: int, sync: bool) -> None:
        self.roots = roots
        self.overlay = overlay
        self._max_read_bytes = max_read_bytes
        self.guards: list[Guard] = []
        self.sync = sync
        self._lock = threading.Lock()
        self._swept: set[tuple[int, int]] = set()

    def read(self, path: str, line: int | None = None, limit: int | None = None, call: Call = QUIET) -> str:
        """Return the text of a file: from an open buffer, else from disk."""

        def work(place: Place) -> str:
            call.check_place(path, place)
            buffer = self._find_buffer(place)
            if buffer is not None:
                source = io.BytesIO(buffer.text.encode(errors="replace"))
                return read_text(source, path, line=line, limit=limit, ceiling=self._max_read_bytes)
            place.require_file()
            with open(place.open(), "rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                if size > self._max_read_bytes and limit is None and (line or 0) <= 1:
                    raise too_large(path, size, self._max_read_bytes)
                most = self._max_read_bytes
                return read_text(
                    file,
                    path,
                    line=line,
                    limit=limit,
                    ceiling=most,
                    size=size,
                    scan=MAX_SCAN_BYTES,
                    check_wanted=call.check_wanted,
                )

        return self.roots.at(path, work)

    def preview(self, path: str, call: Call = QUIET) -> tuple[str, bool, str | None]:
        """Return the resolved path, whether the file exists, and its text unless it is too long or binary."""

        def work(place: Place) -> tuple[str, bool, str | None]:
            buffer = self._find_buffer(place)
            if buffer is not None:
                return place.real, True, buffer.text
            if place.kind != "file":
                return place.real, place.status is not None, None
            with open(place.open(), "rb", buffering=0) as file:
                data = file.read(MAX_PREVIEW_BYTES + 1)
            return place.real, True, decode_text(data) if len(data) <= MAX_PREVIEW_BYTES else None

        return self.roots.at(path, work)

    def _find_buffer(self, place: Place) -> Buffer | None:
        return self.overlay.find(place.real) if len(self.overlay) else None

    def exists(self, path: str, call: Call = QUIET) -> bool:
        """Return whether a path exists, on disk or as an open buffer."""
        with suppress(NotFound):
            return self.roots.at(path, lambda place: bool(place.status or self._find_buffer(place)))
        return False

    def list(self, path: str, call: Call = QUIET) -> list[Entry]:
        """List a directory, sorted by name."""

        def work(place: Place) -> list[Entry]:
            call.check_place(path, place)
            if place.status is None:
                raise NotFound(f"{quote_path(path)} doesn't exist", data={"path": path})
            if place.kind != "directory":
                raise InvalidParams(f"{quote_path(path)} is a {place.kind}, not a directory")
            directory = place.directory.child(place.name) if place.name else place.directory.copy()
            if directory is None:
                raise Swapped
            with directory:
                return sorted(map(_entry, directory.names()), key=lambda entry: entry.name)

        return [entry for entry in self.roots.at(path, work) if not TEMPORARY.fullmatch(entry.name)]

    def write(self, path: str, text: str, call: Call = QUIET) -> Buffer | None:
        """Write a text to a file. If the file is open in a buffer with an owner, nothing is written, and the buffer is
        returned: the owner has to apply the text."""
        try:
            data = text.encode()
        except UnicodeEncodeError as error:
            raise InvalidParams(
                f"the text has a lone surrogate at {error.start}, which can't be encoded as UTF-8"
            ) from None

        def work(place: Place) -> Buffer | None:
            call.check_place(path, place)
            place.require_file(or_nothing=True)
            buffer = self._find_buffer(place)
            if buffer is not None and buffer.owner is not None:
                self._announce(place, file_state(buffer.text.encode(errors="replace")), file_state(data))
                return buffer
            with ExitStack() as held:
                old = held.enter_context(self._open_existing(place))
                content = data
                if old is not None and _begins_with_mark(old) and not data.startswith(MARK):
                    content = MARK + data
                before = self._state(place, old) if self._is_watched(call) else None
                if before is not None:
                    self._announce(place, before, file_state(content))
                if not place.directory.renames_open_files:
                    held.close()
                    old = None
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
        """Remove a file or link."""

        def work(place: Place) -> None:
            call.check_place(path, place)
            place.require_file(or_link=True)
            before = self._state(place) if self._is_watched(call) else ABSENT
            self._announce(place, before, ABSENT)
            call.check_wanted()
            place.directory.remove(place.name)
            if call.tell is not None:
                call.tell(Change(path=place.path, kind="deleted", before=before.text))

        with self._lock:
            self.roots.at(path, work, follow=False)

    def move(
        self, source: str, target: str, overwrite: bool = False, target_at: str | None = None, call: Call = QUIET
    ) -> None:
        """Move a file. `call.at` and `target_at` are the expected resolved paths of source and target."""

        def from_place(old: Place) -> None:
            call.check_place(source, old)
            old.require_file()
            self.roots.at(target, lambda new: to_place(old, new), follow=False)

        def to_place(old: Place, new: Place) -> None:
            Call(at=target_at).check_place(target, new)
            new.require_file(or_nothing=True, or_link=True)
            if old.path == new.path:
                raise InvalidParams(f"{quote_path(source)} and {quote_path(target)} are the same path")
            if new.status is not None and not overwrite:
                raise InvalidParams(f"{quote_path(target)} already exists; use overwrite to replace it")
            text = None
            if self._is_watched(call):
                before = self._state(old)
                text = before.text
                self._announce(new, self._state(new), before)
                self._announce(old, before, ABSENT)
            call.check_wanted()
            self._rename(old, new, overwrite, call)
            if call.tell is not None:
                call.tell(Change(path=new.path, kind="moved", before=text, after=text, source=old.path))

        with self._lock:
            self.roots.at(source, from_place, follow=False)

    def restore(self, path: str, wanted: State, known: Container[str] | None, call: Call = QUIET) -> Buffer | str:
        """Restore a path to a state. Return `restored`, `same` if it already is in that state, `conflict` if it isn't
        in one of the `known` states (None: any state), or a buffer whose owner has to apply the text."""

        def work(place: Place) -> Buffer | str:
            if place.path != path or place.kind not in ("absent", "file", "link"):
                return "conflict"  # its directory is now a link, or the path is a directory
            buffer = self._find_buffer(place)
            owned = buffer is not None and buffer.owner is not None and wanted.text is not None
            now = file_state(buffer.text.encode(errors="replace")) if buffer and owned else self._state(place)
            if now.digest == wanted.digest and (owned or now.mode == wanted.mode):
                return "same"
            if known is not None and now.digest not in known:
                return "conflict"
            self._announce(place, now, wanted)
            if buffer is not None and owned:
                return buffer
            self._apply_state(place, wanted, call)
            if buffer is not None and wanted.text is not None:
                buffer.text = wanted.text
            if call.tell is not None:
                kind: Literal["created", "changed", "deleted"] = "created" if now.kind == "absent" else "changed"
                kind = "deleted" if wanted.kind == "absent" else kind
                call.tell(Change(path=path, kind=kind, before=now.text, after=wanted.text))
            return "restored"

        with self._lock:
            try:
                return self.roots.at(path, work, follow=False)
            except OutsideWorkspace:
                return "conflict"  # its directory is now a link that leads elsewhere
            except RequestFailed as error:
                if isinstance(error.__cause__, OSError) and error.__cause__.errno in (errno.ENOTDIR, errno.ELOOP):
                    return "conflict"  # its directory is now a file, or a loop of links
                raise

    def remove_directory_if_empty(self, path: str, call: Call = QUIET) -> None:
        with suppress(OSError, RequestFailed), self._lock:
            self.roots.at(path, lambda place: place.directory.remove_directory(place.name), follow=False)

    # -- Steps

    def _rename(self, old: Place, new: Place, overwrite: bool, call: Call) -> None:
        with new.parents_created() as directory:
            # A rename between two hard links of one file does nothing and reports success.
            is_same = old.status and new.status and os.path.samestat(old.status, new.status)
            try:
                if overwrite and not is_same:
                    old.directory.rename(old.name, directory, new.name)
                    return
                if not overwrite:
                    # Unlike a hard link, a rename would replace a file that is created there at the same moment.
                    old.directory.add_name(old.name, directory, new.name)
            except OSError as error:
                if error.errno == errno.EXDEV:
                    self._copy(old, new, call)
                elif error.errno in (errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK) and not overwrite:
                    old.directory.rename(old.name, directory, new.name)  # hard links aren't supported here
                    return
                else:
                    raise
            old.directory.remove(old.name)

    def _copy(self, old: Place, new: Place, call: Call) -> None:
        """Copy a file to another file system."""
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

    def _apply_state(self, place: Place, wanted: State, call: Call) -> None:
        data = wanted.data or b""
        if wanted.kind == "absent":
            place.directory.remove(place.name)
        elif wanted.kind == "link":
            with place.parents_created() as directory:
                replace_by_link(directory, place.name, os.fsdecode(data))
        else:
            self._install(place, data, wanted.mode, None, call)

    def _install(self, place: Place, data: bytes, mode: int | None, old: int | None, call: Call) -> None:
        with place.parents_created() as directory:
            status = directory.status()
            if (status.st_dev, status.st_ino) not in self._swept:
                with suppress(OSError):  # the directory may be writable, but not readable
                    sweep(directory)
                self._swept.add((status.st_dev, status.st_ino))
            replace(directory, place.name, data, mode=mode, like=old, sync=self.sync, check_wanted=call.check_wanted)

    @contextmanager
    def _open_existing(self, place: Place) -> Iterator[int | None]:
        """Open the file that will be replaced; None if it doesn't exist or isn't readable."""
        if place.status is None:
            yield None
            return
        if not place.directory.may_write(place.name):
            raise RequestFailed(f"{quote_path(place.path)} is read-only; its permissions must be changed first")
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
            return link_state(place.directory.link(place.name))
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


def _entry(entry: os.DirEntry[str]) -> Entry:
    try:
        entry.name.encode()
    except UnicodeEncodeError:
        return Entry(name=os.fsencode(entry.name).decode(errors="backslashreplace"), kind="other", has_escapes=True)
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:  # removed in the meantime, or not accessible
        return Entry(name=entry.name, kind="other")
    kind = kind_of(status.st_mode)
    known = cast(EntryKind, kind if kind in ("file", "directory", "link") else "other")
    return Entry(name=entry.name, kind=known, size=status.st_size if kind == "file" else 0)
