"""Provider keys in a file of the user, for machines without a keyring.

Only the user can read the file and its directory. A file that others can read, or that is a link, is refused: its keys
may be known to others, or it may be someone else's file."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from accord.config.directories import data_directory
from accord.config.files import replace
from accord.config.locking import hold
from accord.errors import AccordError

_MAX_BYTES = 1 << 20
Change = Callable[[dict[str, str]], dict[str, str]]


class KeyFileError(AccordError):
    """The file of keys can't be used. The message says why."""


class KeyFile:
    """The keys by provider, as a JSON object."""

    def __init__(self, path: Path | None = None) -> None:
        self.path: Path = path if path is not None else data_directory() / "keys" / "providers.json"

    def read(self) -> dict[str, str]:
        """Return the saved keys; none without a file."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            return {}
        except OSError as error:
            if os.path.islink(self.path):
                raise KeyFileError(f"{self.path} is a link, so its keys aren't used; remove it") from None
            raise KeyFileError(f"{self.path}: cannot be read: {error.strerror}") from None
        with os.fdopen(descriptor, "rb") as file:
            self._check(os.fstat(file.fileno()))
            content = file.read(_MAX_BYTES)
        try:
            return msgspec.json.decode(content, type=dict[str, str])
        except msgspec.MsgspecError:  # the error could quote a key
            raise KeyFileError(f"{self.path}: not a JSON object of keys; remove it, and log in again") from None

    def save(self, provider: str, key: str) -> None:
        """Add or replace a provider's key."""
        self._change(lambda keys: {**keys, provider: key})

    def remove(self, provider: str) -> bool:
        """Remove a provider's key. Returns whether there was one."""
        if provider not in self.read():
            return False
        self._change(lambda keys: {name: key for name, key in keys.items() if name != provider})
        return True

    def _change(self, change: Change) -> None:
        directory = self.path.parent
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._check_directory(directory.lstat())
            with hold(self.path.with_suffix(".lock")):
                keys = change(self.read())
                # `replace` writes to a new file, which has this mode from the start, and renames it.
                replace(self.path, msgspec.json.encode(keys).decode() + "\n", mode=0o600)
        except OSError as error:
            raise KeyFileError(f"{self.path}: cannot be written: {error.strerror}") from None

    def _check(self, info: os.stat_result) -> None:
        if not stat.S_ISREG(info.st_mode):
            raise KeyFileError(f"{self.path} isn't a regular file, so its keys aren't used; remove it")
        if sys.platform == "win32":
            return  # a user's directories are private there
        if info.st_uid != os.geteuid():
            raise KeyFileError(f"{self.path} belongs to another user, so its keys aren't used")
        if info.st_mode & 0o077:
            raise KeyFileError(
                f"{self.path} is readable by others, so its keys aren't used; run: chmod 600 {self.path}"
            )

    def _check_directory(self, info: os.stat_result) -> None:
        directory = self.path.parent
        if not stat.S_ISDIR(info.st_mode):
            raise KeyFileError(f"{directory} is a link or a file, so no key is saved there; remove it")
        if sys.platform != "win32" and (info.st_uid != os.geteuid() or info.st_mode & 0o077):
            raise KeyFileError(f"{directory} is accessible to others, so no key is saved; run: chmod 700 {directory}")
