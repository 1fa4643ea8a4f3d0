"""Prompt history: a file in the user's data directory that only its owner can read.

Prompts are saved with their project: Up recalls those of this project, and search finds all. If the file
can't be read or written, there is no history, and `on_error` receives the reason."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from accord.config.directories import data_directory

MAX_PROMPTS = 1000
MAX_EXTRA = 100
"""Extra prompts allowed before the file is rewritten."""
MAX_LENGTH = 100_000


class Sent(NamedTuple):
    """A prompt, and the project it was sent in, if known."""

    text: str
    project: str = ""


class History:
    """Prompts, newest last. `on_error` receives the reason if they can't be saved."""

    def __init__(
        self, path: Path | None = None, project: str = "", on_error: Callable[[OSError], None] | None = None
    ) -> None:
        self._path = path or data_directory() / "chat" / "history.jsonl"
        self._project = project
        self._on_error = on_error
        self._all: list[Sent] | None = None
        self._prompts: list[str] = []
        self._seen: tuple[int, int] | None = None  # stamp of the file when it was last read completely
        self._is_saved = True

    def reload(self) -> None:
        """Read prompts that other clients have added since."""
        if self._is_saved and self._all is not None and _stamp(self._path) != self._seen:
            self._all = None

    @property
    def everything(self) -> list[Sent]:
        """The prompts of all projects."""
        if self._all is None:
            self._seen = _stamp(self._path)
            self._all = [sent for sent in map(_parse, _lines(self._path)) if sent.text][-MAX_PROMPTS:]
            self._prompts = [sent.text for sent in self._all if sent.project in ("", self._project)]
        return self._all

    @property
    def prompts(self) -> list[str]:
        """The prompts of this project."""
        if self._all is None:
            _ = self.everything
        return self._prompts

    def add(self, text: str) -> None:
        """Add a prompt, unless it equals the previous one."""
        kept = self.everything
        if (self._prompts and self._prompts[-1] == text) or len(text) > MAX_LENGTH:
            return
        kept.append(Sent(text, self._project))
        self._prompts.append(text)
        problem: OSError | None = None
        is_alone = _stamp(self._path) == self._seen
        if len(kept) > MAX_PROMPTS + MAX_EXTRA:
            del kept[: len(kept) - MAX_PROMPTS]
            problem = replace(self._path, "".join(map(_line, kept)))
        else:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a") as file:
                    file.write(_line(kept[-1]))
            except OSError as error:
                problem = error
        self._is_saved = self._is_saved and problem is None
        if is_alone:
            self._seen = _stamp(self._path)
        if problem is not None and self._on_error is not None:
            self._on_error(problem)


def _stamp(path: Path) -> tuple[int, int] | None:
    """Modification time and size of the file."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size


def _line(sent: Sent) -> str:
    import json

    return f"{json.dumps(list(sent) if sent.project else sent.text)}\n"


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    except OSError:
        return []


def _parse(line: str) -> Sent:
    """Parse a line of the file: a text, or a text and its project."""
    import json

    try:
        found = json.loads(line)
    except ValueError:
        return Sent("")
    match found:
        case str():
            return Sent(found)
        case [str(text), str(project)]:
            return Sent(text, project)
    return Sent("")


def replace(path: Path, text: str) -> OSError | None:
    """Write a file atomically. Return the reason if that failed; the file is then unchanged."""
    new = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as new:
            new.write(text)
        os.replace(new.name, path)
    except OSError as error:
        if new is not None:
            with suppress(OSError):
                os.unlink(new.name)
        return error
    return None
