"""What a person can choose when asked, and what Accord will remember of each choice.

What is remembered is narrow: the very words of a command, one whole line, one file or the files beside it, one address,
one tool of an MCP server. A kind or a title is never remembered as something to allow. A command that cannot be judged,
and a file that is always asked about, are not remembered at all."""

from __future__ import annotations

import os
import shlex
from collections.abc import Awaitable, Callable
from typing import Union

import msgspec

from accord.model.requests import PermissionOption, PermissionRequest
from accord.policy import commands, glob, mcp, urls
from accord.policy.action import Action
from accord.policy.parts import Part, Parts, World
from accord.policy.rule import Access, Effect, Rule, Scope

KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """One answer that can be given."""

    id: str
    name: str
    kind: str
    scope: Scope = "once"
    """For how long: this once, until the session ends, or for ever."""
    rules: tuple[Rule, ...] = ()
    """What will be remembered. Nothing, when it will be asked again."""
    ttl: float | None = None
    """After how many seconds it is forgotten. Whoever asks may set it: `msgspec.structs.replace(choice, ttl=3600)`."""

    @property
    def allows(self) -> bool:
        return self.kind in ("allow_once", "allow_always")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What a person is asked."""

    action: Action
    choices: tuple[Choice, ...]
    why: str
    """Why it is asked and not decided."""
    request: PermissionRequest | None = None

    def choice(self, *kinds: str) -> Choice | None:
        """The first choice of one of these kinds, in this order."""
        return next((choice for kind in kinds for choice in self.choices if choice.kind == kind), None)


Reply = Union[Choice, str, bool, None]
"""A choice or its id; True or False for this once; None for no answer."""
Ask = Callable[[Question], Awaitable[Reply]]


def choices_for(
    action: Action, parts: Parts, world: World, request: PermissionRequest | None, *, lasting: bool
) -> tuple[Choice, ...]:
    """The choices for an action: the agent's own options when it asked, ours otherwise.

    `lasting` is whether allowing can be remembered."""
    allow = remembered(action, parts, world, "allow") if lasting else ()
    deny = remembered(action, parts, world, "deny")
    if request is not None:
        return tuple(
            Choice(
                id=option.id,
                name=option.name,
                kind=option.kind,
                scope=_scope(option),
                rules=allow if option.kind == "allow_always" else deny if option.kind == "reject_always" else (),
            )
            for option in request.options
        )
    choices = [Choice(id="allow_once", name="Allow once", kind="allow_once")]
    if allow:
        choices.append(
            Choice(id="allow_session", name="Allow for this session", kind="allow_always", scope="session", rules=allow)
        )
        choices.append(
            Choice(id="allow_always", name="Always allow this", kind="allow_always", scope="forever", rules=allow)
        )
    beside = _beside(action, parts, world) if lasting else ()
    if beside:
        name = f"Always allow files in {_folder_shown(parts, world)}"
        choices.append(Choice(id="allow_folder", name=name, kind="allow_always", scope="forever", rules=beside))
    choices.append(Choice(id="reject_once", name="Reject", kind="reject_once"))
    if deny:
        choices.append(
            Choice(id="reject_always", name="Always reject this", kind="reject_always", scope="forever", rules=deny)
        )
    return tuple(choices)


def _scope(option: PermissionOption) -> Scope:
    """How long an agent's own option holds. The protocol has one word for all that outlasts the moment; an option that
    speaks of the session is not taken for more than that."""
    if option.kind not in ("allow_always", "reject_always"):
        return "once"
    return "session" if "session" in f"{option.id} {option.name}".casefold() else "forever"


def remembered(action: Action, parts: Parts, world: World, effect: Effect) -> tuple[Rule, ...]:
    """The narrowest rules that say the same for this very action; none when there are no such rules."""
    facts = [part for part in parts.parts if not part.only_strict]
    if effect == "allow" and any(part.what == "unclear" for part in facts):
        return ()
    if parts.script is not None:
        return _about_command(action, parts, effect)
    if action.url is not None:
        pattern = urls.exact(action.url)
        return (Rule(effect=effect, url=(pattern,)),) if pattern else ()
    if action.mcp is not None:
        name = mcp.exact(action.mcp)
        return (Rule(effect=effect, mcp=(name,)),) if name else ()
    paths = [_pattern(part, world) for part in facts if part.what == "path"]
    if paths:
        return (Rule(effect=effect, path=tuple(paths), access=_access(facts)),)
    if effect == "deny" and action.title and "*" not in action.title:
        return (Rule(effect=effect, title=action.title, tool_kind=action.tool_kind or None),)
    return ()


def _about_command(action: Action, parts: Parts, effect: Effect) -> tuple[Rule, ...]:
    script, line = parts.script, action.line
    if script is None or not line or (effect == "allow" and not commands.is_plain_environment(action.env)):
        return ()
    only = script.commands[0] if len(script.commands) == 1 else None
    if only is not None and not script.problem and all(word.literal for word in only.words):
        words = [word.text for word in only.words]
        pattern = commands.written(words)
        # Only words: what a shell would do besides is part of the line, and then the line is what was allowed.
        is_whole = list(action.argv) == words if action.argv else _split(line) == words
        if is_whole and commands.covers(pattern, only):
            return (Rule(effect=effect, command=(pattern,)),)
    return (Rule(effect=effect, line=(line,)),)


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _access(facts: list[Part]) -> Access:
    return "read" if all(part.access == "read" for part in facts if part.what == "path") else "write"


def _pattern(part: Part, world: World) -> str:
    """The pattern for one file: relative to the project when it lies there."""
    for name in part.names:
        for folder in world.project:
            if name.startswith(folder.rstrip(os.sep) + os.sep):
                return glob.literal(os.path.relpath(name, folder).replace(os.sep, "/"))
    return glob.literal(part.names[-1].replace(os.sep, "/"))


def _beside(action: Action, parts: Parts, world: World) -> tuple[Rule, ...]:
    """The rule for the files beside one file of the project."""
    paths = [part for part in parts.parts if part.what == "path" and not part.only_strict]
    if len(paths) != 1 or parts.script is not None or action.unclear is not None:
        return ()
    pattern = _pattern(paths[0], world)
    if pattern.startswith(("/", "~")):
        return ()
    folder = pattern.rpartition("/")[0]
    return (Rule(effect="allow", path=(f"{folder}/*" if folder else "*",), access=_access(paths)),)


def _folder_shown(parts: Parts, world: World) -> str:
    path = next(part for part in parts.parts if part.what == "path")
    return _pattern(path, world).rpartition("/")[0] or "the project's folder"
