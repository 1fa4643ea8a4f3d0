"""What a prompt carries besides its text: `@path` words and pictures."""

from __future__ import annotations

import mimetypes
import re
from pathlib import Path
from typing import Any

from accord.client.offers import AgentOffers
from accord.errors import AccordError
from accord.model.content import Image, Link, Resource

_AT = re.compile(r"(?:^|(?<=\s))@(\"[^\"]+\"|[^\s]+)")
_MOST_EMBEDDED = 1024 * 1024


def prompt_content(text: str, images: list[Path], cwd: Path, offers: AgentOffers) -> list[Any]:
    """A prompt: its text as typed, then each file it names with `@`, then the pictures.

    A file is embedded where the agent takes embedded files and it is text of a sensible size; otherwise it is linked.
    A word that names no file is just a word."""
    content: list[Any] = [text]
    seen: set[Path] = set()
    for word in _AT.findall(text):
        path = (cwd / word.strip('"')).expanduser()
        if not path.is_file():
            path = (cwd / word.strip('"').rstrip(".,;:!?)")).expanduser()
        if path.is_file() and path.resolve() not in seen:
            seen.add(path.resolve())
            content.append(_attached(path.resolve(), offers))
    for image in images:
        if not image.is_file():
            raise AccordError(f"there is no picture {image}")
        if not offers.image:
            raise AccordError("this agent takes no pictures; leave --image out")
        content.append(Image.read(image))
    return content


def _attached(path: Path, offers: AgentOffers) -> Resource | Link:
    mime_type = mimetypes.guess_type(path.name)[0]
    if offers.resource and path.stat().st_size <= _MOST_EMBEDDED:
        try:
            return Resource.of(path.as_uri(), path.read_text(encoding="utf-8"), mime_type or "text/plain")
        except UnicodeDecodeError:
            pass  # not text: linked like any other file
    return Link(uri=path.as_uri(), name=path.name, mime_type=mime_type, size=path.stat().st_size)
