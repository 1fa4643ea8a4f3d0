"""Attach files and images to a prompt: `@path` mentions, `@path:12-40` for lines of a file, and `--image`.

Also finds mentions of files that don't exist, so that the user can be warned. Much that follows an `@` isn't meant as a
file: people, decorators, packages. Only what is written like a path counts, outside of code."""

from __future__ import annotations

import mimetypes
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from accord.client.offers import AgentOffers
from accord.errors import AccordError
from accord.model.content import Image, Resource, ResourceLink

_LINES = r":\d{1,9}(?:-\d{1,9})?"
_AT = re.compile(rf"(?:^|(?<=[\s(\[{{<\"']))@(\"[^\"\n]+\"(?:{_LINES})?|'[^'\n]+'(?:{_LINES})?|[^\s]+)")
_NAMED = re.compile(rf"(.*?)({_LINES})?", re.DOTALL)
TRAILING = ".,;:!?)]}>\"'"
"""Punctuation that ends a sentence or a bracket and is usually not part of a file name."""
_MAX_PUNCTUATION = 8
_MAX_PATH_LENGTH = 4096
_MAX_EMBEDDED_BYTES = 1024 * 1024
_MAX_SKIPPED_BYTES = 64 * 1024 * 1024
_MAX_IMAGE_BYTES = 8 * 1024 * 1024
_IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Mention(NamedTuple):
    """A file or directory that a prompt mentions, with a range of lines, or 0 for the whole file."""

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
    """Build a prompt: the text as typed, then each file it mentions, then the images.

    An image file is sent as an image if the agent accepts images. Other files are embedded if the agent accepts it and
    the file is text of a reasonable size; otherwise they are linked, as are directories. A mention of a file that
    doesn't exist stays text."""
    content: list[Any] = [text, *(_attach(mention, offers) for mention in find_mentions(text, cwd))]
    for image in images:
        if not offers.image:
            raise AccordError("this agent doesn't accept images; remove --image")
        content.append(Image.read(image))
    return content


def find_mentions(text: str, cwd: Path) -> Iterator[Mention]:
    """Find the existing files and directories that a text mentions, each once. Names with spaces are quoted."""
    yield from dict.fromkeys(found for word in _AT.findall(text) if (found := _resolve(word, cwd)) is not None)


def _resolve(word: str, cwd: Path) -> Mention | None:
    """Resolve a word to a file. Trailing punctuation is part of the name only if such a file exists."""
    if word[0] in "\"'" and (end := word.find(word[0], 1)) > 0:
        return _find(word[1:end], word[end + 1 :], cwd)
    bare = word.rstrip(TRAILING)
    some = min(len(word) - len(bare), _MAX_PUNCTUATION)  # with more, try only all or none of it
    for name in dict.fromkeys([*(word[: len(word) - count] for count in range(some + 1)), bare]):
        parts = _NAMED.fullmatch(name)
        assert parts is not None
        found = _find(name, "", cwd) or _find(parts[1], parts[2] or "", cwd)
        if found is not None:
            return found
    return None


def _find(name: str, lines: str, cwd: Path) -> Mention | None:
    """Find a file with its lines, or a directory if the name contains a slash."""
    if len(name) > _MAX_PATH_LENGTH:
        return None
    try:
        path = (cwd / os.path.expanduser(name)).resolve()
        if name and path.is_file():
            first, _, last = lines[1:].partition("-")
            one, other = int(first or 0), int(last or first or 0)
            return Mention(path, min(one, other), max(one, other))
        if "/" in name and not lines and path.is_dir():
            return Mention(path)
    except (OSError, ValueError, RuntimeError):  # an impossible name, or a symlink loop
        pass
    return None


def _attach(named: Mention, offers: AgentOffers) -> Image | Resource | ResourceLink:
    path = named.path
    try:
        if path.is_dir():
            return ResourceLink(uri=named.uri, name=named.name, mime_type="inode/directory")
        mime_type = mimetypes.guess_type(path.name)[0]
        size = path.stat().st_size
        if offers.image and mime_type in _IMAGE_TYPES and size <= _MAX_IMAGE_BYTES:
            return Image.read(path)
        if offers.resource and (text := _text(named, size)) is not None:
            return Resource.of(named.uri, text, mime_type or "text/plain")
        return ResourceLink(uri=named.uri, name=named.name, mime_type=mime_type, size=None if named.first else size)
    except OSError as error:
        raise AccordError(f"can't attach {path}: {error.strerror}") from None


def _text(named: Mention, size: int) -> str | None:
    """Read the text to embed; None if it is too long, isn't UTF-8, or is empty."""
    try:
        if not named.first:
            return named.path.read_bytes().decode("utf-8") if size <= _MAX_EMBEDDED_BYTES else None
        kept, much, passed = [], 0, 0
        with named.path.open("rb") as file:
            for number in range(1, named.last + 1):
                line = file.readline(_MAX_EMBEDDED_BYTES + 1)
                passed += len(line)
                much += len(line) if number >= named.first else 0
                if max(much, len(line)) > _MAX_EMBEDDED_BYTES or passed > _MAX_SKIPPED_BYTES:
                    return None
                if not line:
                    break
                if number >= named.first:
                    kept.append(line)
        return b"".join(kept).decode("utf-8") or None
    except UnicodeDecodeError:
        return None


_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_WORD = re.compile(r"(?<!\S)@(\"[^\"\n]+\"|'[^'\n]+'|\S+)")
_LINES_AT_END = re.compile(rf"{_LINES}\Z")
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f(){}\[\]<>=|*?\"'`\\@]|://")
_MAX_MISSING = 20
_MAX_MISSING_LENGTH = 400
_EXTENSION = re.compile(
    r"adoc|bash|bat|bmp|cc?|cfg|[cm]js|clj|cmake|conf|cpp|cs|css|csv|cxx|dart|diff|docx?|env|exs|fish|gif|go|gradle|graphql|"
    r"h|hcl|hpp|hs|html?|ico|ini|ipynb|java|jpe?g|js|jsonc?|jsonl|jsx|kts?|less|lock|log|lua|markdown|mdx?|mk|ml|mm|nix|"
    r"odt|org|patch|pdf|php|pl|plist|png|pptx|properties|proto|ps1|pyi?|pyx|rb|rs|rst|sass|scala|scss|sh|sql|svelte|svg|"
    r"swift|tex|tf|toml|tsv|tsx?|txt|vim|vue|wasm|webp|xlsx|xml|xsd|ya?ml|zig|zip|zsh",
    re.IGNORECASE,
)
"""File extensions. Any other text after a dot may be code, such as `@app.route`."""


def find_missing(text: str, cwd: Path) -> list[str]:
    """Find mentions that are written like the path of a file and name none, each once."""
    return list(dict.fromkeys(_find_missing(_CODE.sub(" ` ", text), cwd)))[:_MAX_MISSING]


def _find_missing(text: str, cwd: Path) -> Iterator[str]:
    for found in _WORD.finditer(text):
        word = found[1]
        quoted = word[0] in "\"'" and word[-1] == word[0] and len(word) > 1
        name = _LINES_AT_END.sub("", word[1:-1] if quoted else word.rstrip(TRAILING))
        if _is_path(name, cwd) and not any(find_mentions(found[0], cwd)):
            yield name


def _is_path(name: str, cwd: Path) -> bool:
    """Return whether a name is written like a path. Names of packages and teams contain slashes too, so a name without
    a file extension must start with an existing directory."""
    if not name or len(name) > _MAX_MISSING_LENGTH or _NOT_IN_NAMES.search(name) is not None:
        return False
    first, slash, _ = name.partition("/")
    last = name.rstrip("/").rpartition("/")[2]
    stem, dot, ending = last.rpartition(".")
    if dot and (_EXTENSION.fullmatch(ending) is not None or (not stem and ending.isalpha())):
        return True
    try:
        return bool(slash) and (first in ("", ".", "..") or first.startswith("~") or (cwd / first).is_dir())
    except (OSError, ValueError):
        return False
