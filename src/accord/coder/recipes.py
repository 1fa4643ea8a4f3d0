"""The project's own slash commands: Markdown files in `.accord/commands`, one command each.

    ---
    description: Write a changelog entry
    hint: what changed
    ---
    Add a line to CHANGELOG.md for this change: $ARGUMENTS

`$ARGUMENTS` stands for what follows the command's name; where it is missing, that is added at the end."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from accord.errors import AccordError
from accord.model.noun import Noun
from accord.model.session import Command

if TYPE_CHECKING:
    from accord.coder.desk import Desk

FOLDER = os.path.join(".accord", "commands")
MAX_COMMANDS = 100
MAX_BYTES = 100_000
LONG = 200
"""How many letters of a description are shown."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_HEAD = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)


class Recipe(Noun):
    """One command and what it asks for."""

    command: Command
    text: str

    def filled(self, argument: str) -> str:
        """The request, with what the user typed after the name."""
        if "$ARGUMENTS" in self.text:
            return self.text.replace("$ARGUMENTS", argument)
        return f"{self.text}\n\n{argument}" if argument else self.text


def parse(name: str, text: str) -> Recipe:
    """A command from its file."""
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    head = _HEAD.match(text)
    fields: dict[str, str] = {}
    if head is not None:
        for line in head[1].splitlines():
            key, colon, value = line.partition(":")
            if colon:
                fields[key.strip()] = value.strip().strip("\"'")
        text = text[head.end() :]
    text = text.strip()
    first = next((line.strip("# ").strip() for line in text.splitlines() if line.strip()), name)
    command = Command(
        name=name,
        description=_line(fields.get("description") or first) or name,
        hint=_line(fields.get("hint", "")) or ("arguments" if "$ARGUMENTS" in text else None),
    )
    return Recipe(command=command, text=text)


def _line(text: str) -> str:
    """One line that can be shown anywhere, not too long."""
    return "".join(char if char.isprintable() else " " for char in text)[:LONG].strip()


async def read(desk: Desk, taken: set[str]) -> dict[str, Recipe]:
    """The commands of a session's project, by name. What cannot be read, or has a name that is taken, is left out."""
    found: dict[str, Recipe] = {}
    folder = os.path.join(desk.session.cwd, FOLDER)
    try:
        entries = await desk.files.disk.list(folder)
    except (AccordError, OSError):
        return found
    named = [(entry.name.removesuffix(".md"), entry) for entry in entries if entry.name.endswith(".md")]
    for name, entry in sorted(named, key=lambda each: each[0]):
        if entry.size > MAX_BYTES or name in taken or not _NAME.fullmatch(name):
            continue
        if len(found) == MAX_COMMANDS:
            break
        try:
            recipe = parse(name, await desk.files.disk.read(os.path.join(folder, entry.name)))
        except (AccordError, OSError):
            continue
        if recipe.text:
            found[name] = recipe
    return found


def trace(cwd: str) -> tuple[object, ...]:
    """Something that changes when a command's file does: cheap enough to look at often."""
    folder = os.path.join(cwd, FOLDER)
    try:
        with os.scandir(folder) as entries:
            named = [each for each in entries if each.name.endswith(".md")]
            return tuple(sorted((each.name, each.stat(follow_symlinks=False).st_mtime_ns) for each in named))
    except OSError:
        return ()
