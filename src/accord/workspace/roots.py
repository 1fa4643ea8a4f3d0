"""Roots: the directories that an agent may use, and the resolution of paths inside them.

A path is walked name by name from a root that was opened once. Each step is relative to the open directory before it,
and the system never follows links for us: a link is read, and its target is walked in the same way, from the same
roots. The result is always a directory reached from a root and a name in it, even if parts of the path are replaced
during the walk.

- A link that points inside the roots is followed. One that points outside is refused, even if the path would come back
  inside after it.
- `..` is allowed if the path stays in the roots or immediately returns to one.
- Roots are compared name by name: `/srv/app2` is not in `/srv/app`.
- FIFOs, sockets and devices are never opened. `/proc`, `/sys` and similar file systems are never entered, even if a
  root contains them."""

from __future__ import annotations

import errno
import os
import stat
import sys
import threading
import weakref
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import NoReturn, TypeVar

from accord.errors import INVALID_PARAMS, InvalidParams, NotFound, RequestFailed
from accord.workspace.directory import BY_DESCRIPTOR, Directory, Swapped
from accord.workspace.paths import fold_case, is_absolute, parse_path, quote_path, split_names
from accord.workspace.place import Place, Root, request_error

T = TypeVar("T")

MAX_LINKS = 40
MAX_STEPS = 4096
MAX_ATTEMPTS = 20
"""How often a path is resolved again if it changes during the walk."""

_KERNEL_TYPES = (
    "proc sysfs cgroup cgroup2 debugfs tracefs securityfs configfs efivarfs selinuxfs fusectl pstore bpf devpts "
    "binfmt_misc"
)


class OutsideWorkspace(RequestFailed):
    """The path points outside the directories that the agent may use."""

    default_code = INVALID_PARAMS


class Roots:
    """The working directory of a session and its additional directories."""

    def __init__(self, cwd: str, additional: Iterable[str] = (), *, by_descriptor: bool = BY_DESCRIPTOR) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._kernel = _kernel_devices()
        self._roots: list[Root] = []
        self._finalizer = weakref.finalize(self, _close_all, self._roots)
        try:
            for path in dict.fromkeys(map(os.fspath, (cwd, *additional))):
                self._roots.append(_open_root(path, by_descriptor))
        except BaseException:
            self.close()
            raise
        # A path belongs to the innermost root that contains it, by the root's given or resolved path.
        spellings = {(fold_case(names), root) for root in self._roots for names in (root.given, root.names)}
        self._spellings = sorted(spellings, key=lambda pair: len(pair[0]), reverse=True)

    @property
    def paths(self) -> list[str]:
        """The directories as given, the working directory first."""
        return [root.path for root in self._roots]

    def close(self) -> None:
        """Close the directories. Running calls aren't affected. Idempotent."""
        with self._lock:
            self._closed = True
            self._finalizer()

    def __enter__(self) -> Roots:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def contains(self, real_path: str) -> bool:
        """Return whether a resolved path is inside a root."""
        return self._match(split_names(real_path).names) is not None

    def at(self, path: str, work: Callable[[Place], T], *, follow: bool = True) -> T:
        """Resolve a path and call `work` with the place, which is valid until `work` returns. If `work` raises
        `Swapped`, resolve the path again. `follow` applies to a link as the last name; links before it are always
        followed."""
        parts = parse_path(path)
        for _ in range(MAX_ATTEMPTS):
            try:
                with self._walk(path, parts.names, follow or parts.is_directory) as place:
                    place.is_directory = parts.is_directory
                    return work(place)
            except Swapped:
                continue
            except OSError as error:
                raise request_error(error, path) from error
        raise RequestFailed(f"{quote_path(path)} keeps changing while it is being opened; try again later")

    def _walk(self, path: str, names: tuple[str, ...], follow: bool) -> Place:
        root, ahead = self._enter(path, names)
        directory = self._open(root)
        try:
            behind: list[str] = []  # directories walked so far, from the root
            # The number of names at the bottom of the stack `ahead` that came from the agent and not from a link.
            theirs = sys.maxsize
            links = 0
            for _ in range(MAX_STEPS):
                if not ahead:  # the root itself, or a link to the current directory
                    return self._accept(Place(root, directory, tuple(behind), "", (), directory.status()))
                name = ahead.pop()
                if name == "..":
                    # Walk again from the root: the parent on disk may have changed since we walked through it.
                    root, ahead = (root, ahead + behind[-2::-1]) if behind else self._go_up(path, root, ahead, theirs)
                    directory, behind = self._swap(directory, self._open(root)), []
                    continue
                if ahead and (inner := directory.child(name)) is not None:
                    directory = self._swap(directory, inner)
                    behind.append(name)
                    continue
                status = directory.status_of(name)
                if status is None:
                    if ".." in ahead:
                        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
                    missing = (name, *ahead[::-1])
                    place = Place(root, directory, (*behind, *missing), missing[-1], missing[:-1], None)
                    place.is_dangling = len(missing) > theirs
                    return self._accept(place)
                if stat.S_ISLNK(status.st_mode) and (ahead or follow):
                    links += 1
                    if links > MAX_LINKS:
                        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                    theirs = min(theirs, len(ahead))
                    target = _require_utf8(directory.link(name), path)
                    if is_absolute(target):
                        root, inside = self._enter(path, split_names(target).names)
                        directory, behind = self._swap(directory, self._open(root)), []
                        ahead += inside
                    else:
                        ahead += split_names(target).names[::-1]
                    continue
                if not ahead:
                    return self._accept(Place(root, directory, (*behind, name), name, (), status))
                if stat.S_ISDIR(status.st_mode):
                    raise Swapped  # it wasn't a directory in the previous step
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            raise InvalidParams(f"{quote_path(path)} needs more than {MAX_STEPS} steps to resolve")
        except BaseException:
            directory.close()
            raise

    def _accept(self, place: Place) -> Place:
        devices = {place.directory.status().st_dev} | ({place.status.st_dev} if place.status else set())
        if devices & self._kernel:
            raise InvalidParams(
                f"{quote_path(place.path)} is in a system directory (/proc, /sys), which isn't supported"
            )
        if place.status is None and place.root.directory.status().st_nlink == 0:
            raise NotFound(f"the workspace {quote_path(place.root.path)} was removed after the session started")
        return place

    def _enter(self, path: str, names: tuple[str, ...]) -> tuple[Root, list[str]]:
        """Return the root of an absolute path, and the names below it as a stack, the first one last."""
        found = self._match(names)
        if found is None:
            self._refuse(path)
        root, depth = found
        return root, list(reversed(names[depth:]))

    def _match(self, names: tuple[str, ...]) -> tuple[Root, int] | None:
        compared = fold_case(names)
        for spelling, root in self._spellings:
            if compared[: len(spelling)] == spelling:
                return root, len(spelling)
        return None

    def _go_up(self, path: str, root: Root, ahead: list[str], theirs: int) -> tuple[Root, list[str]]:
        """Handle `..` at a root: the path must immediately return to a root. If the `..` is part of a link's target,
        the target itself must, because links that point outside are never followed."""
        after = ahead[:theirs] if len(ahead) >= theirs else []
        ahead = ahead[len(after) :]
        above = list(root.names[:-1])
        while ahead and ahead[-1] == "..":
            ahead.pop()
            del above[-1:]
        root, inside = self._enter(path, (*above, *ahead[::-1]))
        return root, after + inside

    def _open(self, root: Root) -> Directory:
        with self._lock:  # otherwise `close` could free the descriptor, and its number be reused, before the copy
            if self._closed:
                raise RequestFailed("the workspace is closed because its session has ended")
            return root.directory.copy()

    @staticmethod
    def _swap(old: Directory, new: Directory) -> Directory:
        old.close()
        return new

    def _refuse(self, path: str) -> NoReturn:
        allowed = ", ".join(map(quote_path, self.paths))
        raise OutsideWorkspace(f"{quote_path(path)} is outside the workspace; allowed directories: {allowed}")


def _close_all(roots: list[Root]) -> None:
    for root in roots:
        root.directory.close()


def _open_root(path: str, by_descriptor: bool) -> Root:
    parts = parse_path(path)
    try:
        directory = Directory.open(path, by_descriptor=by_descriptor)
        real = os.path.realpath(path)
        status = directory.status()
        if not os.path.samestat(os.stat(real), status):
            directory.close()
            raise Swapped
    except FileNotFoundError:
        raise NotFound(f"the workspace {quote_path(path)} does not exist") from None
    except NotADirectoryError:
        raise InvalidParams(f"the workspace {quote_path(path)} is not a directory") from None
    except OSError as error:
        raise request_error(error, path) from error
    except Swapped:
        raise RequestFailed(f"the workspace {quote_path(path)} changed while it was being opened") from None
    if ".." in parts.names:  # the given path depends on links; the resolved path doesn't
        path = real
    return Root(os.path.normpath(path), real, split_names(path).names, split_names(real).names, directory)


def _require_utf8(target: str, path: str) -> str:
    try:
        target.encode()
    except UnicodeEncodeError:
        raise InvalidParams(f"{quote_path(path)} goes through a link to a name that isn't UTF-8") from None
    return target


def _kernel_devices() -> set[int]:
    """Return the devices of kernel file systems such as /proc, where reading or writing has side effects."""
    devices: set[int] = set()
    if sys.platform == "win32":
        return devices
    types = _KERNEL_TYPES.split()
    with suppress(OSError), open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
        for line in mounts:
            fields = line.split()
            if fields[fields.index("-") + 1] in types:
                devices.add(os.makedev(*map(int, fields[2].split(":"))))
    return devices
