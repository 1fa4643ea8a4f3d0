"""The version of each file that the model last read or wrote.

`write_file` uses it to protect files that the model hasn't read, and the loop to report files that have changed since.
A version is a digest of the text, without the differences in line endings that clients introduce."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from accord.coder.files import Stamp
from accord.coder.history import Message, UserSaid, replace_surrogates
from accord.coder.tools.text import one_line
from accord.errors import NotFound, RemoteProtocolError, RequestFailed
from accord.model.content import Resource

if TYPE_CHECKING:
    from accord.coder.files import ProjectFiles

MAX_FILES = 200
"""The most files of a session whose versions are saved; the oldest are forgotten."""
MAX_BYTES = 10_000_000
"""A file that has grown beyond this has changed; it isn't read to find out."""
MAX_CLIENT_READS = 20
"""The most files that are read through the client at once, newest first. The others are read from disk."""
MAX_NAMED = 20
MAX_NAME = 200


class SeenFile:
    """A file, and the version that the model knows."""

    def __init__(self, path: str, version: str, is_outside: bool) -> None:
        self.path = path
        self.version = version
        self.is_outside = is_outside
        self.reported: str | None = None
        """The newer version that was reported to the model."""
        self.stamp: Stamp | None = None


class Changes(NamedTuple):
    """Files that changed since the model last read or wrote them."""

    changed: list[str]
    deleted: list[str]


class SeenFiles:
    """The files that the model has read or written in this session, by resolved path."""

    def __init__(self) -> None:
        self._files: dict[str, SeenFile] = {}
        self._refused: dict[str, str] = {}
        """The version of each file whose replacement was refused."""

    def note(self, path: str, real: str, text: str, *, is_outside: bool = False) -> None:
        """Record that the model has read or written this text."""
        self._files.pop(real, None)
        self._files[real] = SeenFile(path, version_of(text), is_outside)
        self._refused.pop(real, None)
        while len(self._files) > MAX_FILES:
            del self._files[next(iter(self._files))]

    def drop(self, real: str) -> None:
        """Forget a file that the model has deleted."""
        self._files.pop(real, None)

    def move(self, real: str, path: str, new_real: str) -> None:
        """Follow a file that the model has moved."""
        seen = self._files.pop(real, None)
        if seen is not None:
            seen.path = path
            self._files[new_real] = seen

    def forget(self) -> None:
        """Forget everything, after a summary has replaced what the model read."""
        self._files.clear()
        self._refused.clear()

    def may_replace(self, real: str, text: str, history: Sequence[Message]) -> bool:
        """Return whether the model may replace a file that has this text: if it has seen it, in a result or attached to
        a prompt, or if the same version was refused before."""
        version = version_of(text)
        seen = self._files.get(real)
        if not text.strip() or (seen is not None and seen.version == version) or _is_attached(version, history):
            return True
        if self._refused.get(real) == version:
            return True
        while len(self._refused) >= MAX_FILES:
            del self._refused[next(iter(self._refused))]
        self._refused[real] = version
        return False

    async def find_changes(self, files: ProjectFiles, *, ask_client: bool) -> Changes:
        """Find the files that have changed, each new version once.

        A client's unsaved changes show up only by reading. With `ask_client`, the newest files are read through it;
        otherwise only those that have changed on disk."""
        changes = Changes([], [])
        client_reads = MAX_CLIENT_READS if files.has_client_files else 0
        for seen in reversed(list(self._files.values())):
            stamp = await files.stamp(seen.path, is_outside=seen.is_outside)
            has_client = client_reads > 0 and not seen.is_outside
            if stamp == seen.stamp and not (ask_client and has_client):
                continue
            seen.stamp = stamp
            version = None if ask_client and has_client else await _version_on_disk(files, seen, stamp)
            if version != seen.version and has_client:
                client_reads -= 1
                version = await _version_in_client(files, seen, stamp)
            if version == seen.version:
                seen.reported = None
            elif version != seen.reported:
                seen.reported = version
                (changes.changed if version else changes.deleted).append(seen.path)
        return changes


async def _version_on_disk(files: ProjectFiles, seen: SeenFile, stamp: Stamp | None) -> str:
    """Return the version of a file on disk; empty if it doesn't exist."""
    if stamp is None:
        return ""
    source = files.outside if seen.is_outside else files.disk
    try:
        return version_of(await source.read(seen.path)) if stamp[0] <= MAX_BYTES else str(stamp)
    except NotFound:
        return ""
    except RequestFailed:
        return str(stamp)  # no longer text


async def _version_in_client(files: ProjectFiles, seen: SeenFile, stamp: Stamp | None) -> str:
    """Return the version of a file in the client. Clients report missing files in many ways: then the disk decides."""
    try:
        return version_of(await files.read(seen.path))
    except (RequestFailed, RemoteProtocolError):
        return await _version_on_disk(files, seen, stamp)


def describe_changes(changes: Changes, cwd: str) -> str:
    """Return a reminder that names the files that have changed; empty if there are none."""
    sentences = []
    if changes.changed:
        sentences.append(f"These files have changed since you last read or wrote them: {_list(changes.changed, cwd)}.")
    if changes.deleted:
        sentences.append(f"These files, which you have read, no longer exist: {_list(changes.deleted, cwd)}.")
    if not sentences:
        return ""
    return " ".join(
        [*sentences, "The user or a command did this. Read what you need again, and keep changes that aren't yours."]
    )


def _list(paths: list[str], cwd: str) -> str:
    base = cwd.rstrip(os.sep) + os.sep
    names = [one_line(replace_surrogates(path.removeprefix(base)), MAX_NAME) for path in sorted(paths)[:MAX_NAMED]]
    return ", ".join(names) + (f" and {len(paths) - MAX_NAMED} more" if len(paths) > MAX_NAMED else "")


def _is_attached(version: str, history: Sequence[Message]) -> bool:
    """Return whether the user attached a file with this version to a prompt."""
    return any(
        isinstance(piece, Resource) and piece.resource.text and version_of(piece.resource.text) == version
        for message in history
        if isinstance(message, UserSaid)
        for piece in message.content
    )


def version_of(text: str) -> str:
    """Return a digest of a text that ignores line endings: some clients convert them, or drop the last one."""
    normal = text.replace("\r\n", "\n").rstrip("\n")
    return hashlib.blake2b(normal.encode(errors="surrogatepass"), digest_size=16).hexdigest()
