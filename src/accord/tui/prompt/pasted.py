"""What a terminal pastes when files are dropped on it: their paths, which become mentions."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LONGEST = 4000


def mentions(text: str, cwd: Path) -> str:
    """The text, or `@` mentions when it is nothing but paths or `file://` addresses of files that are there."""
    text = text.strip("\r\n ") if len(text) <= _LONGEST else ""
    if not text or text[0] not in "/~'\"f" or "\n" in text:
        return ""
    try:
        words = shlex.split(text) if os.sep == "/" else [text.strip("\"'")]
    except ValueError:
        return ""
    paths = [_file(word, cwd) for word in words]
    if not all(paths):
        # One path with spaces in it that nobody quoted.
        paths = [_file(text.strip("\"'"), cwd)]
    return "".join(f"{_mention(path, cwd)} " for path in paths if path is not None) if all(paths) else ""


def _file(word: str, cwd: Path) -> Path | None:
    if word.startswith("file:"):
        word = unquote(urlsplit(word).path)
    elif not word.startswith(("/", "~")) and os.sep == "/":
        return None  # a word among others may be the name of a file without meaning it
    try:
        path = (cwd / Path(word).expanduser()).resolve()
        return path if path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _mention(path: Path, cwd: Path) -> str:
    inside = path.is_relative_to(cwd.resolve())
    name = str(path.relative_to(cwd.resolve())) if inside else str(path)
    return f'@"{name}"' if any(each.isspace() for each in name) else f"@{name}"
