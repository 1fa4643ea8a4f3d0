"""Custom slash commands: Markdown files in `.accord/commands` of the session's directories, one command each.

    ---
    description: Write a changelog entry
    hint: what changed
    ---
    Add a line to CHANGELOG.md for this change: $ARGUMENTS

`$ARGUMENTS` is replaced by the text after the command's name. If it is missing, that text is appended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from accord.coder.front_matter import split_front_matter
from accord.errors import AccordError
from accord.model.record import Record
from accord.model.session import Command
from accord.process.thread import run_in_thread

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.workspace.files import Files

DIRECTORY = os.path.join(".accord", "commands")
MAX_COMMANDS = 100
MAX_BYTES = 100_000
MAX_DESCRIPTION = 200
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class CustomCommand(Record):
    """One command and its prompt."""

    command: Command
    text: str

    def fill(self, argument: str) -> str:
        """Return the prompt, with the text the user typed after the name."""
        if "$ARGUMENTS" in self.text:
            return self.text.replace("$ARGUMENTS", argument)
        return f"{self.text}\n\n{argument}" if argument else self.text


class CustomCommands:
    """The custom commands of a session's project, reloaded when their files change."""

    def __init__(
        self,
        session: Session,
        files: Callable[[], Files],
        reserved: Collection[str],
        on_change: Callable[[], None],
        may_read: Callable[[str], bool],
    ) -> None:
        """`files` returns the session's files, which change if it moves; `reserved` names are ignored. `may_read` is
        whether no rule protects a file: a command may be a link to one."""
        self._session = session
        self._files = files
        self._may_read = may_read
        self._reserved = frozenset(reserved)
        self._on_change = on_change
        self._watcher: asyncio.Task[None] | None = None
        self.by_name: dict[str, CustomCommand] = {}

    async def reload(self) -> None:
        found = await load(self._session.roots, self._files(), self._reserved, self._may_read)
        if found != self.by_name:
            self.by_name = found
            self._on_change()

    def watch(self, seconds: float) -> None:
        """Check for changes at this interval until the session is closed."""
        self._watcher = asyncio.get_running_loop().create_task(self._watch(seconds))

    async def _watch(self, seconds: float) -> None:
        seen = fingerprint(self._session.roots)
        while True:
            await asyncio.sleep(seconds)
            now = fingerprint(self._session.roots)
            if now != seen:
                with contextlib.suppress(AccordError):  # the client can't be reached now: try again next time
                    await self.reload()
                    seen = now

    def close(self) -> None:
        if self._watcher is not None:
            self._watcher.cancel()


def parse(name: str, text: str) -> CustomCommand:
    """Parse a command's file."""
    fields, text = split_front_matter(text)
    first = next((line.strip("# ").strip() for line in text.splitlines() if line.strip()), name)
    command = Command(
        name=name,
        description=_sanitize(fields.get("description") or first) or name,
        hint=_sanitize(fields.get("hint", "")) or ("arguments" if "$ARGUMENTS" in text else None),
    )
    return CustomCommand(command=command, text=text)


def _sanitize(text: str) -> str:
    """Replace unprintable characters, and truncate."""
    return "".join(char if char.isprintable() else " " for char in text)[:MAX_DESCRIPTION].strip()


async def load(
    roots: Sequence[str], files: Files, reserved: Collection[str], may_read: Callable[[str], bool]
) -> dict[str, CustomCommand]:
    """Load the commands of a session's directories by name. Of two with the same name, the first one is used."""
    found: dict[str, CustomCommand] = {}
    for root in roots:
        await _load_directory(os.path.join(root, DIRECTORY), files, reserved, may_read, found)
    return found


async def _load_directory(
    directory: str,
    files: Files,
    reserved: Collection[str],
    may_read: Callable[[str], bool],
    found: dict[str, CustomCommand],
) -> None:
    """Add the commands of one directory to `found`. Unreadable files and reserved names are skipped."""
    try:
        entries = await files.list(directory)
    except (AccordError, OSError):
        return
    named = [(entry.name.removesuffix(".md"), entry) for entry in entries if entry.name.endswith(".md")]
    for name, entry in sorted(named, key=lambda each: each[0]):
        if entry.size > MAX_BYTES or name in reserved or name in found or not _NAME.fullmatch(name):
            continue
        if len(found) == MAX_COMMANDS:
            break
        path = os.path.join(directory, entry.name)
        real = await run_in_thread(os.path.realpath, path)
        if not may_read(real):
            continue
        try:
            custom = parse(name, await files.read(path, at=real))
        except (AccordError, OSError):
            continue
        if custom.text:
            found[name] = custom


def fingerprint(roots: Sequence[str]) -> tuple[object, ...]:
    """Return a value that changes when a command's file does. Cheap enough to compute every two seconds."""
    return tuple(_fingerprint_directory(os.path.join(root, DIRECTORY)) for root in roots)


def _fingerprint_directory(directory: str) -> tuple[object, ...]:
    try:
        with os.scandir(directory) as entries:
            files = [each for each in entries if each.name.endswith(".md")]
            return tuple(sorted((each.name, each.stat(follow_symlinks=False).st_mtime_ns) for each in files))
    except OSError:
        return ()
