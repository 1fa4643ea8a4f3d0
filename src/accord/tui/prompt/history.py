"""Prompts that were sent, to be recalled: a file in the user's data folder, for its owner alone.

Each is kept with the project that it was sent in, which alone recalls it; all of them can be searched. A file that
cannot be read or written is no reason to stop: then nothing is recalled, and whoever wants to know is told."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from accord.config.folders import data_folder

MOST_PROMPTS = 1000
SPARE = 100
"""How many more there may be before the file is written anew."""
MOST_LENGTH = 100_000


class Sent(NamedTuple):
    """A prompt, and where it was sent; nowhere in particular where that is not known."""

    text: str
    project: str = ""


class History:
    """Prompts, the newest last. `on_fault` is told why they cannot be kept."""

    def __init__(
        self, path: Path | None = None, project: str = "", on_fault: Callable[[OSError], None] | None = None
    ) -> None:
        self._path = path or data_folder() / "chat" / "history.jsonl"
        self._project = project
        self._on_fault = on_fault
        self._all: list[Sent] | None = None
        self._prompts: list[str] = []
        self._seen: tuple[int, int] | None = None  # the file as it was when all that it holds was known
        self._is_kept = True

    def look_again(self) -> None:
        """Takes in what other clients have sent since."""
        if self._is_kept and self._all is not None and _stamp(self._path) != self._seen:
            self._all = None

    @property
    def everything(self) -> list[Sent]:
        """The prompts of all projects."""
        if self._all is None:
            self._seen = _stamp(self._path)
            self._all = [sent for sent in map(_sent, _lines(self._path)) if sent.text][-MOST_PROMPTS:]
            self._prompts = [sent.text for sent in self._all if sent.project in ("", self._project)]
        return self._all

    @property
    def prompts(self) -> list[str]:
        """The prompts of this project."""
        if self._all is None:
            _ = self.everything
        return self._prompts

    def add(self, text: str) -> None:
        """Remembers a prompt. The same one twice in a row is one."""
        kept = self.everything
        if (self._prompts and self._prompts[-1] == text) or len(text) > MOST_LENGTH:
            return
        kept.append(Sent(text, self._project))
        self._prompts.append(text)
        fault: OSError | None = None
        is_alone = _stamp(self._path) == self._seen
        if len(kept) > MOST_PROMPTS + SPARE:
            del kept[: len(kept) - MOST_PROMPTS]
            fault = replace(self._path, "".join(map(_line, kept)))
        else:
            try:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a") as file:
                    file.write(_line(kept[-1]))
            except OSError as error:
                fault = error
        self._is_kept = self._is_kept and fault is None
        if is_alone:
            self._seen = _stamp(self._path)
        if fault is not None and self._on_fault is not None:
            self._on_fault(fault)


def _stamp(path: Path) -> tuple[int, int] | None:
    """When the file was last written, and how long it is."""
    try:
        about = path.stat()
    except OSError:
        return None
    return about.st_mtime_ns, about.st_size


def _line(sent: Sent) -> str:
    return f"{json.dumps(list(sent) if sent.project else sent.text)}\n"


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    except OSError:
        return []


def _sent(line: str) -> Sent:
    """A line of the file: a text, or a text and its project."""
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
    """Writes a file in one step. Gives why that cannot be done; then it is as it was."""
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
