"""How a file is mentioned in a prompt, so that whoever reads the prompt finds it again."""

from __future__ import annotations

import re

from accord.tui.plain import plain

_HALVES = re.compile("[\ud800-\udfff]")
"""What stands for bytes of a file's name that are no text; no message can carry it."""


def mention(name: str, *, from_home: bool = False) -> str | None:
    """The `@` mention of a file by its path in the project, or elsewhere; a name with spaces stands in quotes.

    None for a name that cannot be written in a prompt: with line breaks in it, what cannot be seen, bytes that are
    no text, or with every kind of quote."""
    if "\n" in name or plain(name) != name or _HALVES.search(name) is not None:
        return None
    if name.startswith("~") and not from_home:
        name = f"./{name}"
    if name[:1] not in ("'", '"') and not any(each.isspace() for each in name):
        return f"@{name}"
    quote = next((each for each in "\"'" if each not in name), None)
    return f"@{quote}{name}{quote}" if quote is not None else None


def without_halves(text: str) -> str:
    """A text that a message can carry."""
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text)
