"""Cassettes: the HTTP exchanges with a model provider, recorded in a file and replayed without the provider.

A cassette is JSON Lines: a header, then one exchange per line, with the response byte for byte. Request headers are
never saved, and keys are replaced wherever they occur. Requests contain prompts and the contents of files, so only the
owner can read a cassette."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from accord.config.redaction import SHORTEST_KEY, secret_values
from accord.errors import ConfigError
from accord.model.record import Record

Match = Literal["request", "order"]
FORMAT = 1
REDACTED = "[redacted]"
SESSION_FIELDS = frozenset({"prompt_cache_key", "safety_identifier", "metadata", "user"})
"""Top-level fields of a request that identify a session or a user. Requests are compared without them."""
_DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b")
_ENVIRONMENT = re.compile(r"<environment>.*?</environment>", re.DOTALL)


class Exchange(Record):
    """One request and its response."""

    method: str
    path: str
    request: Any
    """The body as it was compared: without keys, the environment, the day, and `SESSION_FIELDS`."""
    status: int
    content_type: str
    response: str
    """The body. Bytes that aren't UTF-8 are lone surrogates (PEP 383)."""
    complete: bool = True
    """Whether all of it was read. The user may have cancelled the turn."""
    retry_after: str | None = None

    @property
    def hash(self) -> str:
        return hash_request(self.method, self.path, self.request)


class Cassette:
    """A file of exchanges, open for recording or for replaying. One cassette serves all sessions of a process."""

    def __init__(
        self,
        file: str | os.PathLike[str],
        *,
        record: bool = False,
        match: Match = "request",
        directory: str | None = None,
    ) -> None:
        """`match` says which exchange answers a request: an unused one with an equal request, or the next one.

        `directory` is the working directory, which requests mention: a cassette can be replayed in another one.
        Raises `ConfigError` if the file can't be used."""
        self.file: Path = Path(file)
        self.is_recording = record
        self.match: Match = match
        self._directory = directory or os.getcwd()
        self._unused: list[Exchange] = []
        if record:
            self._create()
        else:
            self._unused = load(self.file)
        self._count = len(self._unused)

    def add(self, exchange: Exchange) -> None:
        """Save an exchange."""
        self._append({"hash": exchange.hash, **msgspec.structs.asdict(exchange)})

    def find(self, method: str, path: str, body: Any) -> Exchange | None:
        """Take the exchange that answers a request; None if there is none."""
        if self.match == "order":
            return self._unused.pop(0) if self._unused else None
        wanted = hash_request(method, path, body)
        for index, exchange in enumerate(self._unused):
            if exchange.hash == wanted:
                return self._unused.pop(index)
        return None

    def explain_miss(self, method: str, path: str, body: Any) -> str:
        """Explain why no exchange answers a request: the difference from the next unused one."""
        position = self._count - len(self._unused) + 1
        if not self._unused:
            return f"{self.file} has no more responses: it has {self._count}, and this is request {position}"
        expected = self._unused[0]
        if (method, path) != (expected.method, expected.path):
            where = f"it is {method} {path} instead of {expected.method} {expected.path}"
        else:
            where = f"it differs at {difference(expected.request, body) or 'no field'}"
        return (
            f"request {position} isn't in {self.file}: {where}. Record it again, or replay with --cassette-match order"
        )

    def canonical(self, body: bytes, keys: set[str]) -> Any:
        """Return the body of a request as it is saved and compared."""
        text = self.redact(body.decode("utf-8", "surrogateescape"), keys)
        try:
            data = json.loads(text)
        except ValueError:
            return text
        data = _replace(data, self._directory)
        return (
            {key: value for key, value in data.items() if key not in SESSION_FIELDS} if isinstance(data, dict) else data
        )

    def redact(self, text: str, keys: set[str]) -> str:
        """Replace keys: those of the request, and the values of secret variables.

        Shorter values stay. Without a key, libraries send a word like `none`, which also occurs elsewhere."""
        for secret in sorted(keys | secret_values(os.environ), key=len, reverse=True):
            if len(secret) >= SHORTEST_KEY:
                text = text.replace(secret, REDACTED)
        return text

    def _create(self) -> None:
        try:
            os.close(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            raise ConfigError(f"{self.file} exists; delete it, or record to another file") from None
        except OSError as error:
            raise ConfigError(f"Couldn't create {self.file}: {error.strerror or error}") from None
        self._append({"cassette": FORMAT})

    def _append(self, line: dict[str, Any]) -> None:
        with self.file.open("a", encoding="ascii") as file:
            file.write(json.dumps(line) + "\n")


def load(file: Path) -> list[Exchange]:
    """Read the exchanges of a cassette. Raises `ConfigError` if it isn't one."""
    try:
        header, *lines = [json.loads(line) for line in file.read_text(encoding="ascii").splitlines()] or [{}]
        if header != {"cassette": FORMAT}:
            raise ValueError(f"the first line isn't {json.dumps({'cassette': FORMAT})}")
        return msgspec.convert(lines, list[Exchange])
    except OSError as error:
        raise ConfigError(f"Couldn't read the cassette {file}: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:  # a ValidationError is a ValueError
        raise ConfigError(f"{file} isn't a cassette: {error}") from None


def hash_request(method: str, path: str, body: Any) -> str:
    """Return the hash by which requests are compared."""
    text = json.dumps([method, path, body], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def difference(expected: Any, actual: Any, where: str = "") -> str:
    """Return the path of the first field that differs; empty if none does."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in [*expected, *(name for name in actual if name not in expected)]:
            if name not in expected or name not in actual:
                return f"{where}.{name}".lstrip(".")
            if found := difference(expected[name], actual[name], f"{where}.{name}"):
                return found.lstrip(".")
        return ""
    if isinstance(expected, list) and isinstance(actual, list):
        for index, (one, other) in enumerate(zip(expected, actual, strict=False)):
            if found := difference(one, other, f"{where}[{index}]"):
                return found
        shorter = min(len(expected), len(actual))
        return "" if len(expected) == len(actual) else f"{where}[{shorter}]"
    return "" if expected == actual else where.lstrip(".") or "the whole body"


def _replace(value: Any, directory: str) -> Any:
    """Replace the working directory, days and the description of the machine, which differ from run to run."""
    match value:
        case str():
            text = _ENVIRONMENT.sub("<environment/>", value.replace(directory, "<directory>"))
            return _DAY.sub("<day>", text)
        case dict():
            return {key: _replace(item, directory) for key, item in value.items()}
        case list():
            return [_replace(item, directory) for item in value]
    return value
