"""What a terminal pastes when files are dropped on it: their paths, which become mentions."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from accord.tui.prompt.mention import mention

_LONGEST = 4000
MOST_SHOWN = 8 * 1024 * 1024
"""Pictures that are larger are linked."""


def files_in(text: str, cwd: Path) -> list[Path]:
    """The files and folders that a text names, when it is nothing but paths or `file://` addresses of those."""
    text = text.strip("\r\n ") if len(text) <= _LONGEST else ""
    if not text or text[0] not in "/~'\"f" or "\n" in text:
        return []
    try:
        words = shlex.split(text) if os.sep == "/" else [text.strip("\"'")]
    except ValueError:
        return []
    paths = [_file(word, cwd) for word in words]
    if not all(paths):
        # One path with spaces in it that nobody quoted.
        paths = [_file(text.strip("\"'"), cwd)]
    return [path for path in paths if path is not None] if all(paths) else []


def mentions(paths: list[Path], cwd: Path) -> str:
    """The `@` mentions of files, to be put into a prompt; nothing where one of them cannot be mentioned."""
    made = [_mention(path, cwd) for path in paths]
    return "".join(f"{each} " for each in made) if all(made) else ""


def _file(word: str, cwd: Path) -> Path | None:
    if word.startswith("file:"):
        word = unquote(urlsplit(word).path)
    elif not word.startswith(("/", "~")) and os.sep == "/":
        return None  # a word among others may be the name of a file without meaning it
    try:
        path = (cwd / Path(word).expanduser()).resolve()
        return path if path.is_file() or (path.is_dir() and path != path.parent) else None
    except (OSError, ValueError, RuntimeError):
        return None


def _mention(path: Path, cwd: Path) -> str | None:
    """A path as people write it: from the project, or from their home."""
    slash = "/" if path.is_dir() else ""
    if path.is_relative_to(cwd := cwd.resolve()):
        return mention(f"{path.relative_to(cwd)}{slash}")
    with suppress(RuntimeError, OSError):
        home = Path.home().resolve()
        if path != home and path.is_relative_to(home):
            return mention(f"~/{path.relative_to(home)}{slash}", from_home=True)
    return mention(f"{path}{slash}")


def doubts(paths: list[Path], takes_pictures: bool) -> str:
    """What the user should know about files that were mentioned: pictures that the agent will not see."""
    import mimetypes

    pictures = [path for path in paths if (mimetypes.guess_type(path.name)[0] or "").startswith("image/")]
    if pictures and not takes_pictures:
        return "This agent takes no pictures: it gets a link to the file."
    if any(_size(path) > MOST_SHOWN for path in pictures):
        return (
            f"A picture of more than {MOST_SHOWN // 1024 // 1024} MB is not shown: the agent gets a link to the file."
        )
    return ""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
