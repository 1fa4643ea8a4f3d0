"""The directories that an agent may use, and finding what it names in them.

A path is walked name by name from a root that was opened once, each step relative to the directory before it, and the
system never follows a link for us: a link is read, and what it says is walked the same way, from the same roots. So
the answer is always a directory reached from a root and a name in it, whatever is swapped meanwhile.

- A link that points inside the roots is followed; one that points outside is refused, even when the path would come
  back in after it.
- `..` in a path is allowed as long as it stays in the roots or comes straight back into one.
- Roots are compared name by name: `/srv/app2` is not in `/srv/app`.
- What is neither file nor directory (FIFO, socket, device) is never opened; `/proc`, `/sys` and their like never
  entered, even where a root contains them."""

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
from accord.workspace.folder import BY_DESCRIPTOR, Folder, Swapped
from accord.workspace.paths import folded, is_absolute, pieces, shown, split
from accord.workspace.place import Place, Root, failure

T = TypeVar("T")

MAX_LINKS = 40
MAX_STEPS = 4096
MAX_LOOKS = 20
"""How often a path that changes under our feet is looked up again."""

_KERNEL_TYPES = (
    "proc sysfs cgroup cgroup2 debugfs tracefs securityfs configfs efivarfs selinuxfs fusectl pstore bpf devpts "
    "binfmt_misc"
)


class OutsideWorkspace(RequestFailed):
    """The path leads out of the directories that the agent may use."""

    default_code = INVALID_PARAMS


class Roots:
    """The working directory of a session and the other directories granted to it."""

    def __init__(self, cwd: str, additional: Iterable[str] = (), *, by_descriptor: bool = BY_DESCRIPTOR) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._kernel = _kernel_devices()
        self._roots: list[Root] = []
        self._let_go = weakref.finalize(self, _close, self._roots)
        try:
            for path in dict.fromkeys(map(os.fspath, (cwd, *additional))):
                self._roots.append(_open_root(path, by_descriptor))
        except BaseException:
            self.close()
            raise
        # A path belongs to the innermost root that contains it, in either of the root's spellings.
        spellings = {(folded(names), root) for root in self._roots for names in (root.given, root.names)}
        self._spellings = sorted(spellings, key=lambda pair: len(pair[0]), reverse=True)

    @property
    def paths(self) -> list[str]:
        """The directories as they were given, the working directory first."""
        return [root.path for root in self._roots]

    def close(self) -> None:
        """Lets the directories go. Calls that are under way end undisturbed. Repeating changes nothing."""
        with self._lock:
            self._closed = True
            self._let_go()

    def __enter__(self) -> Roots:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def contains(self, real_path: str) -> bool:
        """Whether a path of ours, free of links, lies in a root."""
        return self._match(pieces(real_path).names) is not None

    def at(self, path: str, work: Callable[[Place], T], *, follow: bool = True) -> T:
        """Finds a path and does something there; `Swapped` from the work begins again. `follow` is about a link in
        the last place: one before it is always followed. The place is good until the work returns."""
        parts = split(path)
        for _ in range(MAX_LOOKS):
            try:
                with self._walk(path, parts.names, follow or parts.is_folder) as place:
                    place.is_folder = parts.is_folder
                    return work(place)
            except Swapped:
                continue
            except OSError as error:
                raise failure(error, path) from error
        raise RequestFailed(f"{shown(path)} keeps changing while it is being opened; ask again when it is at rest")

    def _walk(self, path: str, names: tuple[str, ...], follow: bool) -> Place:
        root, ahead = self._enter(path, names)
        folder = self._open(root)
        try:
            behind: list[str] = []  # directories passed, from the root
            theirs = sys.maxsize  # so many names at the end of `ahead` were written by the agent, not by a link
            links = 0
            for _ in range(MAX_STEPS):
                if not ahead:  # the root itself, or a link to where it stands
                    return self._arrive(Place(root, folder, tuple(behind), "", (), folder.status()))
                name = ahead.pop()
                if name == "..":
                    # From the root again, along directories: the parent on disk may have changed since we passed it.
                    root, ahead = (root, ahead + behind[-2::-1]) if behind else self._climb(path, root, ahead, theirs)
                    folder, behind = self._instead(folder, self._open(root)), []
                    continue
                if ahead and (inner := folder.child(name)) is not None:
                    folder = self._instead(folder, inner)
                    behind.append(name)
                    continue
                status = folder.look(name)
                if status is None:
                    if ".." in ahead:
                        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
                    missing = (name, *ahead[::-1])
                    place = Place(root, folder, (*behind, *missing), missing[-1], missing[:-1], None)
                    place.is_dangling = len(missing) > theirs
                    return self._arrive(place)
                if stat.S_ISLNK(status.st_mode) and (ahead or follow):
                    links += 1
                    if links > MAX_LINKS:
                        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                    theirs = min(theirs, len(ahead))
                    target = _readable(folder.link(name), path)
                    if is_absolute(target):
                        root, inside = self._enter(path, pieces(target).names)
                        folder, behind = self._instead(folder, self._open(root)), []
                        ahead += inside
                    else:
                        ahead += pieces(target).names[::-1]
                    continue
                if not ahead:
                    return self._arrive(Place(root, folder, (*behind, name), name, (), status))
                if stat.S_ISDIR(status.st_mode):
                    raise Swapped  # it was none a moment ago
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            raise InvalidParams(f"{shown(path)} takes more than {MAX_STEPS} steps to find")
        except BaseException:
            folder.close()
            raise

    def _arrive(self, place: Place) -> Place:
        devices = {place.folder.status().st_dev} | ({place.status.st_dev} if place.status else set())
        if devices & self._kernel:
            raise InvalidParams(f"{shown(place.path)} belongs to the system (/proc, /sys), which is not served")
        if place.status is None and place.root.folder.status().st_nlink == 0:
            raise NotFound(f"the workspace {shown(place.root.path)} was removed since the session began")
        return place

    def _enter(self, path: str, names: tuple[str, ...]) -> tuple[Root, list[str]]:
        """The root that an absolute path begins in, and the names below it, the first one last."""
        found = self._match(names)
        if found is None:
            self._refuse(path)
        root, depth = found
        return root, list(reversed(names[depth:]))

    def _match(self, names: tuple[str, ...]) -> tuple[Root, int] | None:
        compared = folded(names)
        for spelling, root in self._spellings:
            if compared[: len(spelling)] == spelling:
                return root, len(spelling)
        return None

    def _climb(self, path: str, root: Root, ahead: list[str], theirs: int) -> tuple[Root, list[str]]:
        """`..` at a root: the path goes on above it and must come straight back into one. When a link says it, the link
        must: one that points outside is not followed, whatever comes after."""
        after = ahead[:theirs] if len(ahead) >= theirs else []
        ahead = ahead[len(after) :]
        above = list(root.names[:-1])
        while ahead and ahead[-1] == "..":
            ahead.pop()
            del above[-1:]
        root, inside = self._enter(path, (*above, *ahead[::-1]))
        return root, after + inside

    def _open(self, root: Root) -> Folder:
        with self._lock:  # or the number could be another directory's by now
            if self._closed:
                raise RequestFailed("the workspace is closed: its session is over")
            return root.folder.copy()

    @staticmethod
    def _instead(old: Folder, new: Folder) -> Folder:
        old.close()
        return new

    def _refuse(self, path: str) -> NoReturn:
        allowed = ", ".join(map(shown, self.paths))
        raise OutsideWorkspace(f"{shown(path)} is outside the workspace; allowed is what lies in {allowed}")


def _close(roots: list[Root]) -> None:
    for root in roots:
        root.folder.close()


def _open_root(path: str, by_descriptor: bool) -> Root:
    parts = split(path)
    try:
        folder = Folder.open(path, by_descriptor=by_descriptor)
        real = os.path.realpath(path)
        status = folder.status()
        if not os.path.samestat(os.stat(real), status):
            folder.close()
            raise Swapped
    except FileNotFoundError:
        raise NotFound(f"the workspace {shown(path)} does not exist") from None
    except NotADirectoryError:
        raise InvalidParams(f"the workspace {shown(path)} is not a directory") from None
    except OSError as error:
        raise failure(error, path) from error
    except Swapped:
        raise RequestFailed(f"the workspace {shown(path)} changed while it was being opened") from None
    if ".." in parts.names:  # what it means depends on links; the real spelling does not
        path = real
    return Root(os.path.normpath(path), real, pieces(path).names, pieces(real).names, folder)


def _readable(target: str, path: str) -> str:
    try:
        target.encode()
    except UnicodeEncodeError:
        raise InvalidParams(f"{shown(path)} passes a link to a name that is not UTF-8") from None
    return target


def _kernel_devices() -> set[int]:
    """The devices of mounted file systems that are windows into the kernel: there reading or writing does things."""
    devices = set()
    types = _KERNEL_TYPES.split()
    with suppress(OSError), open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as mounts:
        for line in mounts:
            fields = line.split()
            if fields[fields.index("-") + 1] in types:
                devices.add(os.makedev(*map(int, fields[2].split(":"))))
    return devices
