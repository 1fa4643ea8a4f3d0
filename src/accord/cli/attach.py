"""What a prompt carries besides its text: `@path` words, `@path:12-40` for some lines of a file, and pictures."""

from __future__ import annotations

import mimetypes
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from accord.client.offers import AgentOffers
from accord.errors import AccordError
from accord.model.content import Image, Link, Resource

_LINES = r":\d{1,9}(?:-\d{1,9})?"
_AT = re.compile(rf"(?:^|(?<=[\s(\[{{<\"']))@(\"[^\"\n]+\"(?:{_LINES})?|'[^'\n]+'(?:{_LINES})?|[^\s]+)")
_NAMED = re.compile(rf"(.*?)({_LINES})?", re.DOTALL)
TRAILING = ".,;:!?)]}>\"'"
"""What ends a sentence or a bracket, and is not part of a name."""
_MOST_MARKS = 8
_MOST_LETTERS = 4096
_MOST_EMBEDDED = 1024 * 1024
_MOST_PASSED = 64 * 1024 * 1024
_MOST_SHOWN = 8 * 1024 * 1024
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Named(NamedTuple):
    """A file or folder that a prompt names, and the lines that are meant of it; all of them where none are named."""

    path: Path
    first: int = 0
    last: int = 0

    @property
    def uri(self) -> str:
        if self.first:
            return f"{self.path.as_uri()}#L{self.first}{f'-L{self.last}' if self.last > self.first else ''}"
        return f"{self.path.as_uri()}/" if self.path.is_dir() else self.path.as_uri()

    @property
    def name(self) -> str:
        name = self.path.name.encode("utf-8", "replace").decode()  # not every name is text
        if self.first:
            return f"{name}:{self.first}{f'-{self.last}' if self.last > self.first else ''}"
        return f"{name}/" if self.path.is_dir() else name


def prompt_content(text: str, images: Sequence[Path], cwd: Path, offers: AgentOffers) -> list[Any]:
    """A prompt: its text as typed, then each file it names with `@`, then the pictures.

    A picture is shown to an agent that takes pictures. Any other file is embedded where the agent takes embedded files
    and it is text of a sensible size; otherwise it is linked, as folders are.
    A word that names no file is just a word."""
    content: list[Any] = [text, *(_attached(named, offers) for named in all_named(text, cwd))]
    for image in images:
        if not offers.image:
            raise AccordError("this agent takes no pictures; leave --image out")
        content.append(Image.read(image))
    return content


def named_files(text: str, cwd: Path) -> Iterator[Path]:
    """The files and folders that a text names with `@`, each once."""
    yield from dict.fromkeys(named.path for named in all_named(text, cwd))


def all_named(text: str, cwd: Path) -> Iterator[Named]:
    """What a text names with `@`, each once. A name with spaces stands in quotes."""
    yield from dict.fromkeys(named for word in _AT.findall(text) if (named := _named(word, cwd)) is not None)


def _named(word: str, cwd: Path) -> Named | None:
    """What a word means; what ends a sentence or a bracket is not part of its name, unless it is."""
    if word[0] in "\"'" and (end := word.find(word[0], 1)) > 0:
        return _found(word[1:end], word[end + 1 :], cwd)
    bare = word.rstrip(TRAILING)
    some = min(len(word) - len(bare), _MOST_MARKS)  # of more, only that all are a name's or none is
    for name in dict.fromkeys([*(word[: len(word) - count] for count in range(some + 1)), bare]):
        parts = _NAMED.fullmatch(name)
        assert parts is not None
        found = _found(name, "", cwd) or _found(parts[1], parts[2] or "", cwd)
        if found is not None:
            return found
    return None


def _found(name: str, lines: str, cwd: Path) -> Named | None:
    """The file, or the folder if it is written like one; and the lines that are wanted of a file."""
    if len(name) > _MOST_LETTERS:
        return None
    try:
        path = (cwd / os.path.expanduser(name)).resolve()
        if name and path.is_file():
            first, _, last = lines[1:].partition("-")
            one, other = int(first or 0), int(last or first or 0)
            return Named(path, min(one, other), max(one, other))
        if "/" in name and not lines and path.is_dir():
            return Named(path)
    except (OSError, ValueError, RuntimeError):  # a name that no file can have, or links in a circle
        pass
    return None


def _attached(named: Named, offers: AgentOffers) -> Image | Resource | Link:
    path = named.path
    try:
        if path.is_dir():
            return Link(uri=named.uri, name=named.name, mime_type="inode/directory")
        mime_type = mimetypes.guess_type(path.name)[0]
        size = path.stat().st_size
        if offers.image and mime_type in _PICTURES and size <= _MOST_SHOWN:
            return Image.read(path)
        if offers.resource and (text := _text(named, size)) is not None:
            return Resource.of(named.uri, text, mime_type or "text/plain")
        return Link(uri=named.uri, name=named.name, mime_type=mime_type, size=None if named.first else size)
    except OSError as error:
        raise AccordError(f"{path}: cannot be attached: {error.strerror}") from None


def _text(named: Named, size: int) -> str | None:
    """What is to be embedded of a file; None where it is too much, is no text, or is not there."""
    try:
        if not named.first:
            return named.path.read_bytes().decode("utf-8") if size <= _MOST_EMBEDDED else None
        kept, much, passed = [], 0, 0
        with named.path.open("rb") as file:
            for number in range(1, named.last + 1):
                line = file.readline(_MOST_EMBEDDED + 1)
                passed += len(line)
                much += len(line) if number >= named.first else 0
                if max(much, len(line)) > _MOST_EMBEDDED or passed > _MOST_PASSED:
                    return None
                if not line:
                    break
                if number >= named.first:
                    kept.append(line)
        return b"".join(kept).decode("utf-8") or None
    except UnicodeDecodeError:
        return None
