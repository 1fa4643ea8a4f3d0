"""What an action consists of: each command, each file, each address by itself.

An action is allowed only if each of its parts is. A path is known by every name it has, the one that was given and the
one it leads to, so that no symbolic link hides where a file lies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from accord.policy.action import Action
from accord.policy.script import Script, Simple, Word
from accord.policy.shell import judge, judge_words
from accord.policy.wrappers import SHELL_CHANGERS

Resolve = Callable[[str], str]
Access = Literal["read", "write", "any"]

MAX_PATH = 4096


class Part(NamedTuple):
    """One thing that an action does."""

    what: Literal["command", "path", "url", "mcp", "unclear"]
    text: str
    """The part in words, for people."""
    command: Simple | None = None
    names: tuple[str, ...] = ()
    """Every name of a file."""
    access: Access = "any"
    mentions: tuple[tuple[str, ...], ...] = ()
    """The files that the words of a command may name."""
    only_strict: bool = False
    """Whether it is only suspected, or mentioned: it can be asked about and denied, and need not be allowed."""


class Parts(NamedTuple):
    """An action taken apart."""

    parts: tuple[Part, ...]
    script: Script | None = None


class World(NamedTuple):
    """What has to be known of the place where an action happens."""

    project: tuple[str, ...]
    """The names of the project's folder."""
    home: tuple[str, ...]
    """The names of the user's own folder."""
    resolve: Resolve = os.path.realpath

    @classmethod
    def of(cls, project: str, home: str, resolve: Resolve = os.path.realpath) -> World:
        projects, homes = (tuple(dict.fromkeys((folder, resolve(folder)))) for folder in (project, home))
        return cls(projects, homes, resolve)


def names_of(path: str, base: str | None, resolve: Resolve) -> tuple[str, ...]:
    """Every name of a file; none when it cannot be known."""
    if not path or "\0" in path or len(path) > MAX_PATH:
        return ()
    if not os.path.isabs(path):
        if not base or not os.path.isabs(base):
            return ()
        path = os.path.join(base, path)
    try:
        return tuple(dict.fromkeys((os.path.normpath(path), resolve(path))))
    except (OSError, ValueError):
        return ()


def parts_of(action: Action, world: World) -> Parts:
    """Takes an action apart."""
    parts: list[Part] = []
    script: Script | None = None
    if action.command is not None or action.argv:
        script = judge(action.command) if action.command is not None else judge_words(action.argv)
        parts += _command_parts(action, script, world)
    if action.url is not None:
        parts.append(Part("url", action.url))
    if action.mcp is not None:
        parts.append(Part("mcp", action.mcp))
    is_mentioned = script is not None or action.url is not None or action.mcp is not None
    access: Access = "read" if action.kind == "read" else "any" if action.kind == "permission" else "write"
    parts += [_path_part(path, action.cwd or action.project, access, world, is_mentioned) for path in action.paths]
    if action.unclear is not None:
        parts.append(Part("unclear", action.unclear))
    elif not any(not part.only_strict for part in parts):
        parts.append(Part("unclear", "nothing says what will be done"))
    return Parts(tuple(parts), script)


def _path_part(path: str, base: str | None, access: Access, world: World, only_strict: bool = False) -> Part:
    names = names_of(path, base, world.resolve)
    if not names:
        return Part("unclear", f"the path {path[:200]!r} leads nowhere that is known")
    return Part("path", names[0], names=names, access=access, only_strict=only_strict)


def _command_parts(action: Action, script: Script, world: World) -> Iterator[Part]:
    if script.problem is not None:
        yield Part("unclear", f"the command cannot be judged: {script.problem}")
    elif not script.commands and not script.writes and not script.reads:
        yield Part("unclear", "the command is empty")
    base = action.cwd or action.project
    bases = (base, *_moves(script, base)) if base else ()
    outer = tuple(Word(f"{name}={value}", True, f"{name}={value}") for name, value in action.env)
    for command in script.commands:
        whole = Simple(command.words, (*outer, *command.assignments))
        yield Part("command", _shown(command), command=whole, mentions=_mentions(command, bases, world))
    known = {word.text for command in script.commands for word in command.words}
    for command in script.suspects:
        new = Simple(tuple(word for word in command.words if word.text not in known))
        known |= {word.text for word in new.words}
        mentions = _mentions(new, bases, world)
        yield Part("command", _shown(command), command=command, mentions=mentions, only_strict=True)
    for path in script.writes:
        yield _path_part(_at_home(path, world), base, "write", world)
    for path in script.reads:
        yield _path_part(_at_home(path, world), base, "read", world)
    if base and not is_inside(names_of(base, None, world.resolve), world.project):
        yield Part("unclear", f"the command runs in {base[:200]!r}, which is outside the project")


def _at_home(path: str, world: World) -> str:
    return world.home[0] + path[1:] if path == "~" or path.startswith("~/") else path


def _moves(script: Script, base: str) -> Iterator[str]:
    """Where a line goes before it runs the rest."""
    for command in script.commands:
        if command.words and command.words[0].text in SHELL_CHANGERS:
            yield from (os.path.join(base, word.text) for word in command.words[1:2] if word.literal)


def is_inside(names: tuple[str, ...], folders: tuple[str, ...]) -> bool:
    """Whether every name of a path lies in one of the folders, or is one."""
    return bool(names) and all(
        any(name == folder or name.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders) for name in names
    )


def _shown(command: Simple) -> str:
    return " ".join(word.source or word.text for word in (*command.assignments, *command.words))


def _mentions(command: Simple, bases: tuple[str, ...], world: World) -> tuple[tuple[str, ...], ...]:
    """The files that words may name. A command can name a file in ways that no one sees: a help, and no wall."""
    found: dict[tuple[str, ...], None] = {}
    for word in dict.fromkeys(word.text for word in command.words):
        for text in dict.fromkeys(_candidates(word)):
            for base in bases:
                names = names_of(_at_home(text, world), base, world.resolve)
                if names:
                    found[names] = None
    return tuple(found)


def _candidates(word: str) -> Iterator[str]:
    yield word
    for mark in "=:@":
        if mark in word:
            yield word.partition(mark)[2]
            yield word.rpartition(mark)[2]
    if word.startswith("-") and not word.startswith("--") and len(word) > 2:
        yield word[2:]  # -ofile
