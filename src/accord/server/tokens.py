"""Bearer tokens. The file has only their hashes; a token itself is shown once, when it is created.

A token has 256 random bits and can't be guessed, so a plain SHA-256 is enough; a slow hash wouldn't add protection."""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from accord.config.files import replace
from accord.config.locking import hold
from accord.config.served_agents import serve_directory
from accord.errors import ConfigError
from accord.hub.principal import Principal, Role
from accord.server.identity import Identity

PREFIX = "accord_"
LOCAL = "local"
"""The principal of the token that a server generates for clients of the same user."""
WEB = "web"
"""The principal of pages that need no token (`--trust-origin`)."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")


class TokenRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The saved part of a token: all but the token itself."""

    name: str
    role: Role
    hash: str
    created: float
    expires: float | None = None

    def has_expired(self, now: float) -> bool:
        return self.expires is not None and now >= self.expires

    @property
    def identity(self) -> Identity:
        return Identity(Principal(self.name, self.role), self.hash)


class _Document(msgspec.Struct):
    tokens: list[TokenRecord] = []


def generate_token() -> str:
    """Return a new token. Redaction recognizes it by its prefix."""
    return PREFIX + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """Return the hash under which a token is saved."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


class TokenFile:
    """The tokens of this user's servers, in a file that only the user can read."""

    def __init__(self, path: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self.path: Path = path if path is not None else serve_directory() / "tokens.json"
        self._clock = clock

    def load(self) -> list[TokenRecord]:
        """Return all records. Raises `ConfigError` for a file that is damaged, or that others could change or read."""
        try:
            with open(self.path, "rb") as file:
                info = os.fstat(file.fileno())
                content = file.read()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise ConfigError(f"can't read {self.path}: {error.strerror}") from None
        if sys.platform != "win32":
            if stat.S_IMODE(info.st_mode) & 0o077:
                raise ConfigError(f"{self.path} is accessible by others; run: chmod 600 {self.path}")
            if info.st_uid != os.geteuid():
                raise ConfigError(f"{self.path} belongs to another user; remove it, and create the tokens again")
        try:
            return msgspec.json.decode(content, type=_Document).tokens
        except msgspec.MsgspecError as error:
            raise ConfigError(f"{self.path}: {error}") from None

    def create(self, name: str, role: Role = "driver", expires: float | None = None) -> str:
        """Create a token, and return it. Only its hash is saved."""
        if not _NAME.fullmatch(name):
            raise ConfigError(f"{name!r} isn't a valid token name: use up to 64 letters, digits and . _ @ -")
        if name in (LOCAL, WEB):
            whose = "local clients" if name == LOCAL else "web pages that need no token"
            raise ConfigError(f"{name!r} is the name of {whose}; choose another name")
        token = generate_token()
        with self._changing():
            records = self.load()
            if any(record.name == name for record in records):
                raise ConfigError(
                    f"there is already a token named {name!r}; revoke it first: accord serve token revoke {name}"
                )
            self._save([*records, TokenRecord(name, role, hash_token(token), self._clock(), expires)])
        return token

    def revoke(self, name: str) -> None:
        """Remove a token. Running servers close its connections."""
        with self._changing():
            records = self.load()
            remaining = [record for record in records if record.name != name]
            if len(remaining) == len(records):
                names = ", ".join(record.name for record in records) or "none"
                raise ConfigError(f"there is no token named {name!r} (tokens: {names})")
            self._save(remaining)

    def version(self) -> tuple[int, int, int] | None:
        """Return a value that changes whenever the file is replaced; None without a file."""
        try:
            info = os.stat(self.path)
        except OSError:
            return None
        return info.st_mtime_ns, info.st_size, info.st_ino

    @contextmanager
    def _changing(self) -> Iterator[None]:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with hold(self.path.with_suffix(".lock")):
            yield

    def _save(self, records: list[TokenRecord]) -> None:
        text = msgspec.json.format(msgspec.json.encode(_Document(records)), indent=2).decode()
        replace(self.path, text + "\n", mode=0o600)


class Tokens:
    """The valid tokens of a running server: those of the file, and the one for local clients.

    Fails closed: while the file can't be read, only the local token is valid."""

    def __init__(self, file: TokenFile, *, local: str | None = None, clock: Callable[[], float] = time.time) -> None:
        self.problem: str = ""
        """Why the file can't be read; empty if it can."""
        self._file = file
        self._clock = clock
        self._local = [TokenRecord(LOCAL, "admin", hash_token(local), clock())] if local is not None else []
        self._records: list[TokenRecord] = []
        self._version: tuple[int, int, int] | None = (-1, -1, -1)
        self.refresh()

    def refresh(self) -> bool:
        """Read the file again if it has changed, and return whether it had."""
        version = self._file.version()
        if version == self._version:
            return False
        self._version = version
        self._records, self.problem = [], ""
        try:
            self._records = self._file.load()
        except ConfigError as error:
            self.problem = str(error)
        return True

    def identify(self, token: str) -> Identity | None:
        """Return the identity of a token's owner; None if it isn't valid. Takes the same time for every token."""
        self.refresh()
        hashed, now, found = hash_token(token), self._clock(), None
        for record in (*self._local, *self._records):
            if hmac.compare_digest(record.hash, hashed) and not record.has_expired(now):
                found = record.identity
        return found

    def is_still_valid(self, identity: Identity) -> bool:
        """Check like `is_valid`, by the tokens that the file has now."""
        self.refresh()
        return self.is_valid(identity)

    def is_valid(self, identity: Identity) -> bool:
        """Return whether the credential of a client that was authenticated earlier is still valid, in the same role."""
        if identity.credential.startswith("origin:"):
            return True
        now = self._clock()
        return any(
            record.identity == identity and not record.has_expired(now) for record in (*self._local, *self._records)
        )
