"""Prompts that were sent, to be recalled: a file in the user's data folder, for its owner alone.

A file that cannot be read or written is no reason to stop: then nothing is recalled."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from accord.config.folders import data_folder

MOST_PROMPTS = 1000
MOST_LENGTH = 100_000


class History:
    """Prompts, the newest last."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or data_folder() / "chat" / "history.jsonl"
        self._prompts: list[str] | None = None

    @property
    def prompts(self) -> list[str]:
        if self._prompts is None:
            self._prompts = [text for text in map(_text, _lines(self._path)) if text][-MOST_PROMPTS:]
        return self._prompts

    def add(self, text: str) -> None:
        """Remembers a prompt. The same one twice in a row is one."""
        prompts = self.prompts
        if (prompts and prompts[-1] == text) or len(text) > MOST_LENGTH:
            return
        prompts.append(text)
        if len(prompts) > MOST_PROMPTS:
            del prompts[: len(prompts) - MOST_PROMPTS]
            replace(self._path, "".join(f"{json.dumps(each)}\n" for each in prompts))
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a") as file:
                file.write(f"{json.dumps(text)}\n")
        except OSError:
            return


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    except OSError:
        return []


def _text(line: str) -> str:
    try:
        found = json.loads(line)
    except ValueError:
        return ""
    return found if isinstance(found, str) else ""


def replace(path: Path, text: str) -> None:
    """Writes a file in one step, if that can be done."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as new:
            new.write(text)
        os.replace(new.name, path)
    except OSError:
        return
