"""Skills: directories with a SKILL.md, whose instructions the model loads when a task needs them.

The system prompt lists names and descriptions. The instructions come with the `skill` tool, or when the user sends the
skill's slash command. Nothing of a skill is run: its scripts are commands like any other, which need permission.

A project's skills are as trusted as its AGENTS.md. They are read only inside the repository, whatever links lead there,
unless a rule protects them; and they never replace a skill of the user. The user's own directories may contain links,
because installers create them."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from accord.coder.agents_md import find_repository
from accord.coder.front_matter import split_front_matter
from accord.coder.tools.text import cut
from accord.errors import AccordError, ConfigError, NotFound
from accord.model.record import Record
from accord.model.session import Command
from accord.policy.action import Action
from accord.process.thread import run_in_thread

if TYPE_CHECKING:
    from accord.coder.session import CoderSession

FILE = "SKILL.md"
PROJECT_DIRECTORIES = (
    os.path.join(".accord", "skills"),
    os.path.join(".agents", "skills"),
    os.path.join(".claude", "skills"),
)
HOME_DIRECTORIES = (os.path.join(".agents", "skills"), os.path.join(".claude", "skills"))
"""Directories that other agents and installers use, in the home directory."""
MAX_ENTRIES = 200
"""The most entries of one directory that are looked at."""
MAX_CANDIDATES = 300
"""The most directories that are looked into, the user's first."""
MAX_SKILLS = 100
MAX_BYTES = 200_000
MAX_DESCRIPTION = 500
"""The most characters of a description in the system prompt."""
MIN_DESCRIPTION = 40
MAX_CATALOG = 6_000
"""The most characters of all descriptions in the system prompt. If there are more, all are shortened."""
MAX_TEXT = 60_000
MAX_LISTED_FILES = 40
MAX_LISTED_DIRECTORIES = 50
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")

CATALOG = """\
# Skills
Skills are instructions for particular tasks, from the user or the project. If the request matches a description, call \
the skill tool with that name first, and follow what it returns like an instruction file.
<skills>
{}
</skills>"""


class Skill(Record):
    """A skill that was found."""

    name: str
    description: str
    directory: str
    """With links resolved."""
    boundary: str
    """The directory that links must not leave: the repository, or the skill's own directory."""
    is_own: bool
    """Whether it is the user's, not the project's."""
    for_model: bool = True
    """Whether the model may load it by itself."""
    for_user: bool = True
    """Whether it is a slash command."""
    hint: str = ""


class Skills:
    """The skills of one session."""

    def __init__(self, state: CoderSession, reserved: Collection[str]) -> None:
        """`reserved` are names of slash commands that skills can't have."""
        self._state = state
        self._reserved = frozenset(reserved)
        self.by_name: dict[str, Skill] = {}

    async def load(self) -> None:
        """Find the skills of the user and the project."""
        candidates = await run_in_thread(_list_candidates, self._state.session.roots)
        self.by_name = {}
        for directory, boundary in candidates:
            if len(self.by_name) == MAX_SKILLS:
                break
            skill = await self._read(directory, boundary)
            if skill is not None:
                self.by_name.setdefault(skill.name, skill)

    async def _read(self, directory: str, boundary: str | None) -> Skill | None:
        inside = boundary if boundary is not None else directory
        name = os.path.basename(directory)
        skill = Skill(name=name, description="", directory=directory, boundary=inside, is_own=boundary is None)
        try:
            fields, body = split_front_matter(await self.read_file(skill, FILE))
        except (AccordError, OSError):
            return None  # missing, unreadable, binary, too large, or a link to somewhere else
        skill.name = next((each for each in (fields.get("name", ""), name) if _NAME.fullmatch(each)), "")
        skill.description = _sanitize(fields.get("description", ""))
        skill.hint = _sanitize(fields.get("argument-hint", ""))[:100]
        skill.for_model = fields.get("disable-model-invocation", "").casefold() != "true"
        skill.for_user = fields.get("user-invocable", "").casefold() != "false"
        return skill if skill.name and skill.description and body else None

    async def read_file(self, skill: Skill, file: str) -> str:
        """Return the text of a skill's file. Raises `AccordError` if it is missing or may not be read."""
        from accord.workspace.files import Files
        from accord.workspace.roots import Roots

        path = os.path.join(skill.directory, file)
        real = await run_in_thread(os.path.realpath, path)
        if not _is_inside(real, skill.directory) or not self._may_read(real, skill):
            raise NotFound(f"the skill {skill.name} has no file {file}")
        with Roots(skill.boundary) as roots:
            return await Files(roots, max_read_bytes=MAX_BYTES).read(real, at=real)

    def _may_read(self, path: str, skill: Skill) -> bool:
        """Return whether no rule protects a file. The user's own are in directories that are otherwise protected."""
        session = self._state.session
        action = Action.of_read(path, agent="accord", session=session.id, project=session.cwd)
        decision = self._state.policy.decide(action)
        if skill.is_own:
            return decision.effect != "deny"
        return decision.effect == "allow" or (decision.effect == "ask" and decision.by == "default")

    # -- for the model

    @property
    def offered(self) -> list[Skill]:
        """The skills that the model can load, by name."""
        return sorted((skill for skill in self.by_name.values() if skill.for_model), key=lambda skill: skill.name)

    def describe(self) -> str:
        """Return the part of the system prompt that lists the skills; empty if there are none."""
        offered = self.offered
        if not offered:
            return ""
        limit = MAX_DESCRIPTION
        while limit > MIN_DESCRIPTION and sum(min(len(each.description), limit) for each in offered) > MAX_CATALOG:
            limit = max(limit * 3 // 4, MIN_DESCRIPTION)
        lines = [f"- {each.name}: {_shorten(each.description, limit)}" for each in offered]
        return CATALOG.format("\n".join(lines))

    async def render(self, skill: Skill) -> str:
        """Return a skill's instructions for the model. Raises `AccordError` if they can't be read any more."""
        _, body = split_front_matter(await self.read_file(skill, FILE))
        if len(body) > MAX_TEXT:
            body = f"{cut(body, MAX_TEXT)}\n[truncated; the file has {len(body):,} characters]"
        text = f'<skill name="{skill.name}" directory="{_sanitize(skill.directory)}">\n{body}\n</skill>'
        files = await run_in_thread(_list_files, skill.directory)
        if files:
            text += f"\n[Other files of this skill, for the skill tool's `file`: {', '.join(files)}]"
        return text

    # -- for the user

    def commands(self, taken: Collection[str] = ()) -> list[Command]:
        """Return the slash commands of skills. Names of other commands are left out."""
        return [
            Command(name=each.name, description=_shorten(each.description, 200), hint=each.hint or "request")
            for each in self.by_name.values()
            if each.for_user and each.name not in self._reserved and each.name not in taken
        ]

    async def expand(self, name: str, argument: str) -> str | None:
        """Return the prompt that a slash command stands for; None if it isn't a skill."""
        skill = self.by_name.get(name)
        if skill is None or not skill.for_user or name in self._reserved:
            return None
        text = await self.render(skill)
        argument = argument.strip()
        if "$ARGUMENTS" in text:
            text, argument = text.replace("$ARGUMENTS", argument), ""
        request = f"\n\nThe request: {argument}" if argument else ""
        return f"Use the skill {name}: follow its instructions.\n\n{text}{request}"


def _list_candidates(roots: Sequence[str]) -> list[tuple[str, str | None]]:
    """List directories that may be skills, with their boundary; None for the user's own.

    `roots` are the directories of the session. The first of two skills with the same name is used."""
    found: dict[str, str | None] = dict.fromkeys(
        each for base in _own_directories() for each in _list_directories(base)
    )
    cwd, *others = (os.path.realpath(root) for root in roots)
    for inner, boundary in [(cwd, find_repository(cwd) or cwd), *((other, other) for other in others)]:
        for each in _list_in_project(inner, boundary):
            found.setdefault(each, boundary)
    return list(found.items())[:MAX_CANDIDATES]


def _list_in_project(inner: str, boundary: str) -> Iterator[str]:
    """List the directories of skills from `inner` up to `boundary`."""
    projects = [inner]
    while projects[-1] != boundary and _is_inside(projects[-1], boundary):
        projects.append(os.path.dirname(projects[-1]))
    for project in projects:
        for name in PROJECT_DIRECTORIES:
            base = os.path.realpath(os.path.join(project, name))
            if _is_inside(base, boundary):
                for each in _list_directories(base):
                    # A link to a directory above would make every file of the repository a file of the skill.
                    if _is_inside(each, boundary) and not _is_inside(inner, each):
                        yield each


def _own_directories() -> list[str]:
    from accord.config.directories import config_directory

    try:
        config = [str(config_directory() / "skills")]
    except ConfigError:  # no home directory
        return []
    home = os.path.expanduser("~")
    return config + [os.path.join(home, each) for each in HOME_DIRECTORIES if os.path.isabs(home)]


def _list_directories(base: str) -> Iterator[str]:
    """List the directories in a directory that contain a SKILL.md, with links resolved."""
    try:
        names = sorted(name for name in os.listdir(base) if not name.startswith("."))[:MAX_ENTRIES]
    except OSError:
        return
    for name in names:
        real = os.path.realpath(os.path.join(base, name))
        if os.path.lexists(os.path.join(real, FILE)):
            yield real


def _list_files(directory: str) -> list[str]:
    """List the other files of a skill that have printable names; links aren't followed."""
    found: list[str] = []
    for index, (path, directories, files) in enumerate(os.walk(directory)):
        directories[:] = sorted(each for each in directories if not each.startswith((".", "node_modules")))
        for name in sorted(files):
            relative = os.path.relpath(os.path.join(path, name), directory)
            if relative != FILE and not name.startswith(".") and relative.isprintable():
                found.append(relative)
        if len(found) >= MAX_LISTED_FILES or index == MAX_LISTED_DIRECTORIES:
            break
    return found[:MAX_LISTED_FILES]


def _is_inside(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


def _sanitize(text: str) -> str:
    """Put a text on one line, without characters that could end the list it is part of."""
    words = "".join(char if char.isprintable() else " " for char in text[: MAX_DESCRIPTION * 4]).split()
    return " ".join(words).replace("<", "‹").replace(">", "›").replace('"', "'")


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
