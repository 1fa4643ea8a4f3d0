"""A separate Git repository for a work tree, which detects the changes of commands in it.

    shadow = ShadowRepository(root, directory)
    before = shadow.take()
    …                                    # a command runs
    changes = shadow.compare(before, shadow.take())

Its index stores sizes and times, so that only files that seem to have changed are read. The repository, its index and
its configuration are in our own `directory`. Only the ignore lists of the project's own repository are used, and its
objects, to avoid copies; each object's content is verified against its name.

No program of the project is executed: Git runs hooks, filters and monitors only if its configuration names them, and
ours doesn't. Attributes are overridden, so that contents are the bytes on disk.

Not covered: ignored files, files above `MAX_FILE_BYTES`, other repositories inside the work tree, directories without
files, and everything that is neither a file nor a link. All methods block: use them in a thread."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from accord.config.locking import hold
from accord.errors import AccordError
from accord.process.programs import find_program
from accord.workspace.changes import ABSENT, State, file_state, link_state

MAX_FILE_BYTES = 5_000_000
MAX_NEW_FILES = 30_000
"""The maximum number of files to read for a snapshot. The first snapshot of a project reads all files."""
MAX_NEW_BYTES = 1_000_000_000
MAX_CHANGES = 5_000
GIT_SECONDS = 20.0
"""The time limit for each Git command, for which a user has to wait."""
KEEP_SECONDS = 86_400.0
"""How long objects outside the index are kept, because another session may need them until its turn ends."""

_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.symlinks": "true",
    "core.fileMode": "true" if os.name == "posix" else "false",
    "core.splitIndex": "false",
    "core.untrackedCache": "false",
    "core.compression": "1",
    "core.precomposeUnicode": "false",
    "gc.auto": "0",
}
_ATTRIBUTES = "* -text -eol -ident -filter -working-tree-encoding\n"
_LINK, _PROGRAM = "120000", "100755"


class NotCovered(AccordError):
    """Changes can't be detected here. The message gives the user the reason."""


class TreeSnapshot(NamedTuple):
    """The files of a work tree at one moment."""

    tree: str
    """The id of the Git tree."""
    modes: dict[str, int]
    """The permissions of files that Git doesn't preserve."""


class FileChange(NamedTuple):
    """A file that differs between two snapshots."""

    path: str
    """Relative to the root."""
    before: State
    after: State


class ShadowRepository:
    """Snapshots of a work tree. Raises `NotCovered` if they aren't possible."""

    def __init__(self, root: str, directory: str, *, roots: Sequence[str] = ()) -> None:
        """`roots` are other directories of the session, where a program named `git` isn't Git."""
        self._root = root
        self._roots = (root, *roots)
        self._directory = directory
        self.left_out: list[str] = []
        """A description of the files that the last snapshot skipped, for the user."""

    def take(self) -> TreeSnapshot:
        """Take a snapshot."""
        try:
            self._create()
            with hold(Path(self._directory, "lock")):
                os.utime(self._directory)  # in use
                try:
                    return self._take()
                except _GitError:  # an index of another version, or missing objects: start over
                    for name in ("index", "index.lock"):
                        with suppress(FileNotFoundError):
                            os.unlink(os.path.join(self._directory, name))
                    return self._take()
        except _GitError as error:
            raise NotCovered(f"Git failed ({error})") from error
        except OSError as error:
            raise NotCovered(f"the snapshot failed ({error.strerror or error})") from error

    def compare(self, before: TreeSnapshot, after: TreeSnapshot) -> list[FileChange]:
        """Return the files that differ between two snapshots."""
        if before.tree == after.tree:
            return []
        try:
            output = self._git("diff-tree", "-r", "-z", "--no-renames", "--raw", before.tree, after.tree)
            fields = output.split(b"\0")[:-1]
            if len(fields) // 2 > MAX_CHANGES:
                raise NotCovered(f"more than {MAX_CHANGES:,} files were changed")
            entries = [(fields[at].decode(), os.fsdecode(fields[at + 1])) for at in range(0, len(fields), 2)]
            found = []
            requested: list[tuple[str, str]] = []
            for raw, path in entries:
                old_mode, new_mode, old, new, _ = raw.lstrip(":").split(" ")
                found.append((path, len(requested)))
                requested += [(old_mode, old), (new_mode, new)]
            states = self._load(requested)
        except _GitError as error:
            raise NotCovered(f"Git failed ({error})") from error
        changes = []
        for path, index in found:
            was, now = states[index], states[index + 1]
            if was is not None and now is not None and _is_inside(path):
                if path in before.modes and was.kind == "file":
                    was = replace(was, mode=before.modes[path])
                changes.append(FileChange(path, was, now))
        return changes

    def prune(self) -> None:
        """Remove old objects that aren't needed any more."""
        with suppress(_GitError, OSError):
            self._git("prune", f"--expire={int(time.time() - KEEP_SECONDS)}")

    # -- Snapshots

    def _create(self) -> None:
        if os.path.exists(os.path.join(self._directory, "HEAD")):
            return
        os.makedirs(self._directory, mode=0o700, exist_ok=True)
        with hold(Path(self._directory, "lock")):
            os.makedirs(os.path.join(self._directory, "info"), exist_ok=True)
            # The file in `info` takes precedence over those of the project.
            Path(self._directory, "info", "attributes").write_text(_ATTRIBUTES)
            self._git("init", "--quiet", "--template=", work_tree=False)

    def _take(self) -> TreeSnapshot:
        exclude = [f"--exclude-from={path}" for path in self._ignore_lists()]
        new = self._list("ls-files", "-z", "--others", "--exclude-standard", *exclude)
        changed = self._list("ls-files", "-z", "--modified", "--deleted")
        add, remove, large, repositories = self._sort(dict.fromkeys([*changed, *new]))
        self.left_out = [
            *(f"files above {MAX_FILE_BYTES // 1_000_000} MB" for _ in large[:1]),
            *(f"the repository {path.rstrip('/')}" for path in repositories[:5]),
            *(f"{len(repositories) - 5} more repositories" for _ in repositories[5:6]),
        ]
        if add:
            self._git("update-index", "-z", "--add", "--remove", "--replace", "--stdin", names=add)
        if remove:
            self._git("update-index", "-z", "--force-remove", "--stdin", names=remove)
        return TreeSnapshot(self._git("write-tree").decode().strip(), self._save_modes(add, remove))

    def _save_modes(self, added: Sequence[str], removed: Sequence[str]) -> dict[str, int]:
        """Update the permissions that Git doesn't save, in a file beside the index."""
        path = os.path.join(self._directory, "modes.json")
        before: dict[str, int] = {}
        with suppress(OSError, msgspec.MsgspecError):
            before = msgspec.json.decode(Path(path).read_bytes(), type=dict[str, int])
        modes = {name: mode for name, mode in before.items() if name not in set(removed)}
        for name in added:
            with suppress(OSError):
                status = os.lstat(os.path.join(self._root, name))
                modes.pop(_encodable(name), None)
                if stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) not in (0o644, 0o755):
                    modes[_encodable(name)] = stat.S_IMODE(status.st_mode)
        if modes != before:
            Path(path).write_bytes(msgspec.json.encode(modes))
        return modes

    def _sort(self, paths: Iterable[str]) -> tuple[list[str], list[str], list[str], list[str]]:
        """Sort paths into those to add, to remove, too large ones, and nested repositories."""
        add: list[str] = []
        remove: list[str] = []
        large: list[str] = []
        repositories: list[str] = []
        total = 0
        directories: dict[str, bool] = {"": True}
        for path in paths:
            if path.endswith("/"):
                repositories.append(path)
                continue
            parent = os.path.dirname(path)
            if parent not in directories:
                directories[parent] = os.path.realpath(os.path.join(self._root, parent)) == os.path.join(
                    os.path.realpath(self._root), parent
                )
            whole = os.path.join(self._root, path)
            try:
                status = os.lstat(whole)
            except OSError:
                remove.append(path)
                continue
            is_file = stat.S_ISREG(status.st_mode)
            if not directories[parent] or not (is_file or stat.S_ISLNK(status.st_mode)):
                remove.append(path)
            elif is_file and (status.st_size > MAX_FILE_BYTES or not os.access(whole, os.R_OK)):
                large.append(path)
                remove.append(path)
            else:
                add.append(path)
                total += status.st_size
        if len(add) > MAX_NEW_FILES or total > MAX_NEW_BYTES:
            raise NotCovered(f"there is too much to save: {len(add):,} files with {total // 1_000_000:,} MB")
        return add, remove, large, repositories

    def _list(self, *words: str) -> list[str]:
        return [os.fsdecode(name) for name in self._git(*words).split(b"\0") if name]

    def _ignore_lists(self) -> list[str]:
        """Return the ignore lists that aren't in the work tree: the repository's, and those of directories above."""
        found = [os.path.join(self._root, ".git", "info", "exclude")]
        directory = os.path.dirname(self._root)
        is_repository = os.path.lexists(os.path.join(self._root, ".git"))
        while not is_repository and directory != os.path.dirname(directory):
            found.append(os.path.join(directory, ".gitignore"))
            is_repository = os.path.lexists(os.path.join(directory, ".git"))
            directory = os.path.dirname(directory)
        if not is_repository:
            return []
        return [path for path in found if _is_plain_file(path)]

    # -- Contents

    def _load(self, requested: Sequence[tuple[str, str]]) -> list[State | None]:
        """Load states by mode and object id; None for a missing or corrupted object, or one that isn't a file."""
        ids = list(dict.fromkeys(id for mode, id in requested if mode != "000000"))
        contents = self._read_objects(ids)
        states: list[State | None] = []
        for mode, id in requested:
            data = contents.get(id)
            if mode == "000000":
                states.append(ABSENT)
            elif data is None or mode == "160000":
                states.append(None)
            elif mode == _LINK:
                states.append(link_state(os.fsdecode(data)))
            else:
                states.append(file_state(data, 0o755 if mode == _PROGRAM else 0o644))
        return states

    def _read_objects(self, ids: Sequence[str]) -> dict[str, bytes]:
        output = self._git("cat-file", "--batch", given="".join(f"{id}\n" for id in ids).encode()) if ids else b""
        contents: dict[str, bytes] = {}
        at = 0
        for id in ids:
            end = output.index(b"\n", at)
            words = output[at:end].split(b" ")
            at = end + 1
            if len(words) != 3:  # missing
                continue
            data = output[at : at + int(words[2])]
            at += len(data) + 1
            # The project's objects can't be trusted: someone may have stored other content under this name.
            if hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == id:
                contents[id] = data
        return contents

    # -- Git

    def _git(
        self, *words: str, names: Sequence[str] | None = None, given: bytes = b"", work_tree: bool = True
    ) -> bytes:
        program = find_program("git", outside=self._roots)
        if program is None:
            raise NotCovered("Git isn't installed")
        data = b"".join(os.fsencode(name) + b"\0" for name in names) if names is not None else given
        try:
            done = subprocess.run(
                [program, "--no-pager", "--no-replace-objects", "--literal-pathspecs", *words],
                cwd=self._root,
                env=self._environment(work_tree),
                input=data,
                capture_output=True,
                timeout=GIT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise NotCovered(f"Git took longer than {GIT_SECONDS:g} s") from None
        if done.returncode != 0:
            raise _GitError(f"{words[0]}: {done.stderr.decode(errors='replace').strip()[-300:]}")
        return done.stdout

    def _environment(self, work_tree: bool) -> dict[str, str]:
        keep = ("PATH", "SYSTEMROOT", "TMPDIR")
        environment = {name: os.environ[name] for name in keep if name in os.environ}
        environment |= {
            "HOME": self._directory,
            "GIT_DIR": self._directory,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_CONFIG_COUNT": str(len(_SETTINGS)),
            "LC_ALL": "C",
        }
        for number, (name, value) in enumerate(_SETTINGS.items()):
            environment |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
        if work_tree:
            environment["GIT_WORK_TREE"] = self._root
        objects = os.path.join(self._root, ".git", "objects")
        is_plain = _is_plain_directory(os.path.dirname(objects)) and _is_plain_directory(objects)
        if is_plain and not {'"', os.pathsep} & set(objects):
            environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = objects
        return environment


class _GitError(Exception):
    """Git failed."""


def _is_inside(path: str) -> bool:
    """Return whether a path of a tree is in the work tree, and not in a repository.

    A tree may be read from the project's objects, where someone may have stored a different one under its id."""
    return not any(name in ("", ".", "..") or name.casefold() == ".git" for name in path.split("/"))


def _encodable(name: str) -> str:
    return name.encode(errors="replace").decode()


def _is_plain_file(path: str) -> bool:
    with suppress(OSError):
        return stat.S_ISREG(os.lstat(path).st_mode)
    return False


def _is_plain_directory(path: str) -> bool:
    with suppress(OSError):
        return stat.S_ISDIR(os.lstat(path).st_mode)
    return False
