"""What a prompt carries besides its text: `@path` words and pictures."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from accord.client.offers import AgentOffers
from accord.errors import AccordError
from accord.model.content import Image, Link, Resource

_AT = re.compile(r"(?:^|(?<=[\s(\[{<\"']))@(\"[^\"\n]+\"|'[^'\n]+'|[^\s]+)")
_TRAILING = ".,;:!?)]}>\"'"
_MOST_EMBEDDED = 1024 * 1024
_MOST_SHOWN = 8 * 1024 * 1024
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def prompt_content(text: str, images: Sequence[Path], cwd: Path, offers: AgentOffers) -> list[Any]:
    """A prompt: its text as typed, then each file it names with `@`, then the pictures.

    A picture is shown to an agent that takes pictures. Any other file is embedded where the agent takes embedded files
    and it is text of a sensible size; otherwise it is linked.
    A word that names no file is just a word."""
    content: list[Any] = [text, *(_attached(path, offers) for path in named_files(text, cwd))]
    for image in images:
        if not offers.image:
            raise AccordError("this agent takes no pictures; leave --image out")
        content.append(Image.read(image))
    return content


def named_files(text: str, cwd: Path) -> Iterator[Path]:
    """The files that a text names with `@`, each once. A name with spaces stands in quotes."""
    seen: set[Path] = set()
    for word in _AT.findall(text):
        path = _file(word, cwd)
        if path is not None and path not in seen:
            seen.add(path)
            yield path


def _file(word: str, cwd: Path) -> Path | None:
    """The file that a word means; what ends a sentence or a bracket is not part of its name, unless it is."""
    names = [word[1:-1]] if word[0] in "\"'" else [word]
    while names[-1] and names[-1][-1] in _TRAILING:
        names.append(names[-1][:-1])
    for name in names:
        try:
            path = (cwd / Path(name).expanduser()).resolve()
            if name and path.is_file():
                return path
        except (OSError, ValueError, RuntimeError):  # a name that no file can have, or a user that is not there
            continue
    return None


def _attached(path: Path, offers: AgentOffers) -> Image | Resource | Link:
    mime_type = mimetypes.guess_type(path.name)[0]
    size = path.stat().st_size
    if offers.image and mime_type in _PICTURES and size <= _MOST_SHOWN:
        try:
            return Image.read(path)
        except OSError as error:
            raise AccordError(f"{path}: cannot be attached: {error.strerror}") from None
    if offers.resource and size <= _MOST_EMBEDDED:
        try:
            return Resource.of(path.as_uri(), path.read_bytes().decode("utf-8"), mime_type or "text/plain")
        except UnicodeDecodeError:
            pass  # not text: linked like any other file
        except OSError as error:
            raise AccordError(f"{path}: cannot be attached: {error.strerror}") from None
    return Link(uri=path.as_uri(), name=path.name, mime_type=mime_type, size=size)
