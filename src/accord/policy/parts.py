"""Split an action into parts: each command, file and URL on its own.

An action is allowed only if each part is allowed. A file is identified by its given path and its resolved path, so that
a symbolic link can't hide its location."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Literal, NamedTuple

from accord.policy.action import Action
from accord.policy.patterns.commands import risky_variables
from accord.policy.protections import only_reads
from accord.policy.shell.parser import parse_argv, parse_line
from accord.policy.shell.script import Script, SimpleCommand, Word
from accord.policy.shell.wrappers import SHELL_CHANGERS

Resolve = Callable[[str], str]
Access = Literal["read", "write", "any"]

MAX_PATH = 4096


class Part(NamedTuple):
    """One part of an action."""

    what: Literal["command", "path", "url", "mcp", "unclear"]
    text: str
    """A description for the user."""
    command: SimpleCommand | None = None
    names: tuple[str, ...] = ()
    """All paths of a file: as given, and resolved."""
    access: Access = "any"
    mentions: tuple[tuple[str, ...], ...] = ()
    """The files that the words of a command may refer to, each with all its paths."""
    written: tuple[tuple[str, ...], ...] = ()
    """The mentioned files that the command may write: not the program, and none if the command only reads."""
    only_strict: bool = False
    """Whether it is only a possibility: rules can ask about it or deny it, but it doesn't need to be allowed."""
    is_mentioned: bool = False
    """Whether a request only mentions it: rules must allow it, but the user's answer doesn't cover it."""


class Parts(NamedTuple):
    """The parts of an action."""

    parts: tuple[Part, ...]
    script: Script | None = None
    cwd: str | None = None
    """The directory where a command runs, with links resolved."""


class World(NamedTuple):
    """The directories that patterns are relative to, and access to the file system."""

    project: tuple[str, ...]
    """The paths of the project directory: as given, and resolved."""
    home: tuple[str, ...]
    """The paths of the home directory: as given, and resolved."""
    resolve: Resolve = os.path.realpath
    exists: Callable[[str], bool] = os.path.lexists

    @classmethod
    def of(cls, project: str, home: str, resolve: Resolve = os.path.realpath) -> World:
        projects, homes = (tuple(dict.fromkeys((directory, resolve(directory)))) for directory in (project, home))
        return cls(projects, homes, resolve)


def resolve_names(path: str, base: str | None, resolve: Resolve) -> tuple[str, ...]:
    """Return the paths of a file, normalized and resolved; empty if it can't be resolved."""
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


def split_action(action: Action, world: World) -> Parts:
    """Split an action into parts."""
    parts: list[Part] = []
    script: Script | None = None
    if action.command is not None or action.argv:
        script = parse_line(action.command) if action.command is not None else parse_argv(action.argv)
        parts += _command_parts(action, script, world)
    if action.url is not None:
        parts.append(Part("url", action.url))
    if action.mcp is not None:
        parts.append(Part("mcp", action.mcp))
    is_mentioned = script is not None or action.url is not None or action.mcp is not None
    access: Access = "read" if action.kind == "read" else "any" if action.kind == "permission" else "write"
    base = action.cwd or action.project
    for path, reached in zip_longest(action.paths, action.reached[: len(action.paths)]):
        part = _path_part(path, base, access, world, is_mentioned, (reached,) if reached is not None else ())
        parts.append(part._replace(is_mentioned=path in action.mentioned))
    if action.unclear is not None:
        parts.append(Part("unclear", action.unclear))
    elif not any(not part.only_strict for part in parts):
        parts.append(Part("unclear", "there are no details about what it will do"))
    cwd = resolve_names(action.cwd, None, world.resolve)[-1:] if action.cwd else ()
    return Parts(tuple(parts), script, cwd[0] if cwd else None)


def _path_part(
    path: str,
    base: str | None,
    access: Access,
    world: World,
    only_strict: bool = False,
    reached: tuple[str, ...] = (),
) -> Part:
    names = resolve_names(path, base, world.resolve)
    if not names:
        return Part("unclear", f"the path {path[:200]!r} can't be resolved")
    names = tuple(dict.fromkeys((*names, *reached)))
    return Part("path", names[0], names=names, access=access, only_strict=only_strict)


def _command_parts(action: Action, script: Script, world: World) -> Iterator[Part]:
    if script.problem is not None:
        yield Part("unclear", f"the command can't be analyzed: {script.problem}")
    elif not script.commands and not script.writes and not script.reads:
        yield Part("unclear", "the command is empty")
    base = action.cwd or action.project
    bases = (base, *_changed_directories(script, base)) if base else ()
    variables = risky_variables(action.env, action.line)
    outer = tuple(Word(f"{name}={value}", True, f"{name}={value}") for name, value in variables)
    sets = f", sets {', '.join(name for name, _ in variables)}" if variables else ""
    for command in script.commands:
        whole = SimpleCommand(command.words, (*outer, *command.assignments))
        mentions, written = _mentioned_paths(command, bases, world), _written_paths(command, bases, world)
        yield Part("command", _format_command(command) + sets, command=whole, mentions=mentions, written=written)
    known = {word.text for command in script.commands for word in command.words}
    for command in script.suspects:
        new = SimpleCommand(tuple(word for word in command.words if word.text not in known))
        known |= {word.text for word in new.words}
        mentions = _mentioned_paths(new, bases, world)
        yield Part(
            "command", _format_command(command), command=command, mentions=mentions, written=mentions, only_strict=True
        )
    for path in script.writes:
        yield _path_part(_expand_home(path, world), base, "write", world)
    for path in script.reads:
        yield _path_part(_expand_home(path, world), base, "read", world)
    if any(_is_git(command) for command in (*script.commands, *script.suspects)):
        yield from _check_git_directories(script, bases, world)
    if base and not is_inside(resolve_names(base, None, world.resolve), world.project):
        yield Part("unclear", f"the command runs in {base[:200]!r}, which is outside the project")


def _is_git(command: SimpleCommand) -> bool:
    return bool(command.words) and command.words[0].text.rpartition("/")[2] == "git"


def _check_git_directories(script: Script, bases: tuple[str, ...], world: World) -> Iterator[Part]:
    """Find places where git would run programs named in ordinary files.

    Git treats a directory with HEAD, objects and refs as a repository, and its `config` names programs to run. These
    files aren't protected, so an agent could write them and then run an allowed command."""
    if any(
        command.words[0].text in SHELL_CHANGERS and not all(word.literal for word in command.words[1:])
        for command in script.commands
        if command.words
    ):
        yield Part("unclear", "git runs in a directory that only the shell knows")
    inside = [
        word.text
        for command in script.commands
        if _is_git(command)
        for option, word in zip(command.words, command.words[1:], strict=False)
        if option.text == "-C"
    ]
    for base in dict.fromkeys((*bases, *(os.path.join(base, text) for base in bases for text in inside))):
        for name in resolve_names(base, None, world.resolve):
            found = _find_bare_repository(name, world)
            if found is not None:
                yield Part("unclear", f"git would use {found[:200]!r} as its repository")
                return


def _find_bare_repository(directory: str, world: World) -> str | None:
    """Return the bare repository that git would find from a directory of the project upwards."""
    own = [os.path.join(project, ".git") for project in world.project]
    while is_inside((directory,), world.project):
        if directory in own or _is_repository(os.path.join(directory, ".git"), world):
            return None
        if all(world.exists(os.path.join(directory, name)) for name in ("HEAD", "objects", "refs")):
            return directory
        directory = os.path.dirname(directory)
    return None


def _is_repository(path: str, world: World) -> bool:
    """Return whether git accepts a `.git`: a directory with a HEAD, or a file. Git skips any other directory."""
    is_directory = world.exists(os.path.join(path, "."))
    return world.exists(os.path.join(path, "HEAD")) if is_directory else world.exists(path)


def _expand_home(path: str, world: World) -> str:
    return world.home[0] + path[1:] if path == "~" or path.startswith("~/") else path


def _changed_directories(script: Script, base: str) -> Iterator[str]:
    """Yield the directories that a line changes to."""
    for command in script.commands:
        if command.words and command.words[0].text in SHELL_CHANGERS:
            yield from (os.path.join(base, word.text) for word in command.words[1:2] if word.literal)


def is_inside(names: tuple[str, ...], directories: tuple[str, ...]) -> bool:
    """Return whether all paths of a file are inside one of the directories, or are one."""
    return bool(names) and all(
        any(name == directory or name.startswith(directory.rstrip(os.sep) + os.sep) for directory in directories)
        for name in names
    )


def _format_command(command: SimpleCommand) -> str:
    return " ".join(word.source or word.text for word in (*command.assignments, *command.words))


def _mentioned_paths(command: SimpleCommand, bases: tuple[str, ...], world: World) -> tuple[tuple[str, ...], ...]:
    """Return the files to which words may refer.

    A best effort, not a security boundary: a command can refer to files in ways that aren't visible here."""
    found: dict[tuple[str, ...], None] = {}
    for word in dict.fromkeys(word.text for word in command.words):
        for text in dict.fromkeys(_candidates(word)):
            for base in bases:
                names = resolve_names(_expand_home(text, world), base, world.resolve)
                if names:
                    found[names] = None
    return tuple(found)


def _written_paths(command: SimpleCommand, bases: tuple[str, ...], world: World) -> tuple[tuple[str, ...], ...]:
    words = tuple(word.text for word in command.words)
    if only_reads(words):
        return ()
    return _mentioned_paths(SimpleCommand(command.words[1:]), bases, world)


def _candidates(word: str) -> Iterator[str]:
    yield word
    for mark in "=:@":
        if mark in word:
            yield word.partition(mark)[2]
            yield word.rpartition(mark)[2]
    if word.startswith("-") and not word.startswith("--") and len(word) > 2:
        yield word[2:]  # -ofile
