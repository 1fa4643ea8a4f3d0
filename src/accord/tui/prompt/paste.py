"""Files pasted or dropped on the terminal as paths, and `@` mentions of files."""

from __future__ import annotations

import os
import re
import shlex
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, urlsplit

from accord.terminal_text import sanitize

_HALVES = re.compile("[\ud800-\udfff]")
"""Surrogates for bytes of a file name that aren't valid text; no message can contain them."""


def mention(name: str, *, from_home: bool = False) -> str | None:
    """Return the `@` mention of a file by its path; a name with spaces is quoted.

    Returns None for a name that can't be written in a prompt: one with line breaks, invisible characters, undecodable
    bytes, or both kinds of quotes."""
    if "\n" in name or sanitize(name) != name or _HALVES.search(name) is not None:
        return None
    if name.startswith("~") and not from_home:
        name = f"./{name}"
    if name[:1] not in ("'", '"') and not any(each.isspace() for each in name):
        return f"@{name}"
    quote = next((each for each in "\"'" if each not in name), None)
    return f"@{quote}{name}{quote}" if quote is not None else None


def replace_surrogates(text: str) -> str:
    """Replace surrogates, so that a message can contain the text."""
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text)


_MAX_LENGTH = 4000
MAX_SHOWN = 8 * 1024 * 1024
"""Larger images are sent as links."""


def files_in(text: str, cwd: Path) -> list[Path]:
    """Return the files and directories in a text, if it consists of paths or `file://` URLs only."""
    text = text.strip("\r\n ") if len(text) <= _MAX_LENGTH else ""
    if not text or text[0] not in "/~'\"f" or "\n" in text:
        return []
    try:
        words = shlex.split(text) if os.sep == "/" else [text.strip("\"'")]
    except ValueError:
        return []
    paths = [_file(word, cwd) for word in words]
    if not all(paths):
        # Perhaps a single path with unquoted spaces.
        paths = [_file(text.strip("\"'"), cwd)]
    return [path for path in paths if path is not None] if all(paths) else []


def mentions(paths: list[Path], cwd: Path) -> str:
    """Return the `@` mentions of files; empty if one of them can't be mentioned."""
    made = [_mention(path, cwd) for path in paths]
    return "".join(f"{each} " for each in made) if all(made) else ""


def _file(word: str, cwd: Path) -> Path | None:
    if word.startswith("file:"):
        word = unquote(urlsplit(word).path)
    elif not word.startswith(("/", "~")) and os.sep == "/":
        return None  # one of several words may equal a file name by accident
    try:
        path = (cwd / Path(word).expanduser()).resolve()
        return path if path.is_file() or (path.is_dir() and path != path.parent) else None
    except (OSError, ValueError, RuntimeError):
        return None


def _mention(path: Path, cwd: Path) -> str | None:
    """Mention a path relative to the project or the home directory."""
    slash = "/" if path.is_dir() else ""
    if path.is_relative_to(cwd := cwd.resolve()):
        return mention(f"{path.relative_to(cwd)}{slash}")
    with suppress(RuntimeError, OSError):
        home = Path.home().resolve()
        if path != home and path.is_relative_to(home):
            return mention(f"~/{path.relative_to(home)}{slash}", from_home=True)
    return mention(f"{path}{slash}")


def warn_about_images(paths: list[Path], accepts_images: bool) -> str:
    """Return a warning about mentioned images that the agent won't see; empty if there is none."""
    import mimetypes

    images = [path for path in paths if (mimetypes.guess_type(path.name)[0] or "").startswith("image/")]
    if images and not accepts_images:
        return "This agent doesn't accept images: it gets a link to the file."
    if any(_size(path) > MAX_SHOWN for path in images):
        return f"Images larger than {MAX_SHOWN // 1024 // 1024} MB aren't sent: the agent gets a link to the file."
    return ""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
