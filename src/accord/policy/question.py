"""Questions for the user: the choices, and the rules that are remembered for each.

Remembered rules are narrow: the exact words of a command, or its first words if the user chooses so, one whole line,
one file or the files in its directory, one URL, one MCP tool. Allowing by kind or title is never remembered, and
neither is any answer about a protected file or a command that can't be analyzed."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Awaitable, Callable, Sequence
from typing import Union

import msgspec

from accord.model.requests import PermissionOption, PermissionRequest
from accord.policy.action import READING_TOOLS, Action
from accord.policy.matching import is_spelled_out
from accord.policy.parts import Part, Parts, World
from accord.policy.patterns import commands, glob, mcp, urls
from accord.policy.patterns.prefixes import prefix_pattern
from accord.policy.rule import Access, Effect, Rule, Scope

MAX_PREFIXES = 3
"""The maximum number of commands in a line that one answer can allow by their prefixes."""


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """One possible answer."""

    id: str
    name: str
    kind: str
    scope: Scope = "once"
    """How long it applies: once, until the session ends, or forever."""
    rules: tuple[Rule, ...] = ()
    """The rules to remember; empty if the user will be asked again."""
    ttl: float | None = None
    """Seconds until the rules expire. The `Ask` callback may set it: `msgspec.structs.replace(choice, ttl=3600)`."""

    @property
    def allows(self) -> bool:
        return self.kind in ("allow_once", "allow_always")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question for the user."""

    action: Action
    choices: tuple[Choice, ...]
    why: str
    """The reason why the rules don't decide this."""
    request: PermissionRequest | None = None

    def describe_reason(self, cwd: str = "") -> str:
        """Return the reason without the trailing command, page or file, which the question shows anyway. Files may
        be shown relative to `cwd`."""
        action = self.action
        shown = [action.line, action.url, *action.paths, *(path.removeprefix(f"{cwd}/") for path in action.paths)]
        end = next((f" ({each})" for each in shown if each and self.why.endswith(f" ({each})")), "")
        return self.why.removesuffix(end)

    def choice(self, *kinds: str) -> Choice | None:
        """Return the first choice of one of these kinds, in this order."""
        return next((choice for kind in kinds for choice in self.choices if choice.kind == kind), None)


Reply = Union[Choice, str, bool, None]
"""A choice or its id; True or False to allow or reject once; None for no answer."""
Ask = Callable[[Question], Awaitable[Reply]]


def list_choices(
    action: Action,
    parts: Parts,
    world: World,
    request: PermissionRequest | None,
    *,
    can_remember: bool,
    undecided: Sequence[Part] = (),
) -> tuple[Choice, ...]:
    """Return the choices for an action: the agent's own options if it asked, else ours.

    `can_remember` is whether an allowing choice may become a remembered rule; `undecided` are the parts that the
    question is about."""
    allow = narrowest_rules(action, parts, world, "allow") if can_remember else ()
    deny = narrowest_rules(action, parts, world, "deny")
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
    prefixes = _prefixes(action, parts, undecided) if can_remember else []
    if prefixes:
        name = "Always allow " + " and ".join(f"`{each.removesuffix(' *')} …`" for each in prefixes)
        rules = (Rule(effect="allow", command=tuple(prefixes)),)
        choices.append(Choice(id="allow_prefix", name=name, kind="allow_always", scope="forever", rules=rules))
    beside = _directory_rules(action, parts, world) if can_remember else ()
    if beside:
        name = f"Always allow files in {_describe_directory(parts, world)}"
        choices.append(Choice(id="allow_folder", name=name, kind="allow_always", scope="forever", rules=beside))
    choices.append(Choice(id="reject_once", name="Reject", kind="reject_once"))
    if deny:
        choices.append(
            Choice(id="reject_always", name="Always reject this", kind="reject_always", scope="forever", rules=deny)
        )
    return tuple(choices)


def _scope(option: PermissionOption) -> Scope:
    """Return how long an agent's option applies. The protocol has only "always"; if the option's text mentions the
    session, it applies only to the session."""
    if option.kind not in ("allow_always", "reject_always"):
        return "once"
    return "session" if "session" in f"{option.id} {option.name}".casefold() else "forever"


def narrowest_rules(action: Action, parts: Parts, world: World, effect: Effect) -> tuple[Rule, ...]:
    """Return the narrowest rules that would decide exactly this action; empty if there are none."""
    facts = [part for part in parts.parts if not part.only_strict and not part.is_mentioned]
    if effect == "allow" and any(part.what == "unclear" for part in facts):
        return ()
    if parts.script is not None:
        return _command_rules(action, parts, effect)
    if action.url is not None:
        pattern = urls.exact_pattern(action.url)
        return (Rule(effect=effect, url=(pattern,)),) if pattern else ()
    if action.mcp is not None:
        name = mcp.exact_pattern(action.mcp)
        return (Rule(effect=effect, mcp=(name,)),) if name else ()
    paths = [_pattern(part, world) for part in facts if part.what == "path"]
    if paths:
        return (Rule(effect=effect, path=tuple(paths), access=_access(action)),)
    if effect == "deny" and action.title and "*" not in action.title:
        return (Rule(effect=effect, title=action.title, tool_kind=action.tool_kind or None),)
    return ()


def _command_rules(action: Action, parts: Parts, effect: Effect) -> tuple[Rule, ...]:
    script, line = parts.script, action.line
    if script is None or not line or (effect == "allow" and commands.risky_variables(action.env, line)):
        return ()
    only = script.commands[0] if len(script.commands) == 1 else None
    if only is not None and not script.problem and all(word.literal for word in only.words):
        words = [word.text for word in only.words]
        pattern = commands.exact_pattern(words)
        # If the line does more than run these words (such as a redirection), the rule has to cover the whole line.
        is_whole = list(action.argv) == words if action.argv else _split(line) == words
        if is_whole and commands.covers(pattern, only):
            return (Rule(effect=effect, command=(pattern,)),)
    return (Rule(effect=effect, line=(line,)),)


def _prefixes(action: Action, parts: Parts, undecided: Sequence[Part]) -> list[str]:
    """Return the patterns that would allow the undecided commands of a line with other arguments, if all have one."""
    if parts.script is None or parts.script.problem or commands.risky_variables(action.env, action.line):
        return []
    found = {
        prefix_pattern(part.command) if part.command is not None and is_spelled_out(part, action) else None: None
        for part in undecided
    }
    return [each for each in found if each is not None] if None not in found and len(found) <= MAX_PREFIXES else []


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _access(action: Action) -> Access:
    """Return the kind of access that an answer covers: the actual one, or the one that the agent announced."""
    says_read = action.kind == "permission" and action.tool_kind in READING_TOOLS
    return "read" if action.kind == "read" or says_read else "write"


def _pattern(part: Part, world: World) -> str:
    """Return the pattern for one file, relative to the project if it is inside."""
    for name in part.names:
        for directory in world.project:
            if name.startswith(directory.rstrip(os.sep) + os.sep):
                return glob.escape(os.path.relpath(name, directory).replace(os.sep, "/"))
    return glob.escape(part.names[-1].replace(os.sep, "/"))


def _directory_rules(action: Action, parts: Parts, world: World) -> tuple[Rule, ...]:
    """Return the rule for all files in the same directory of the project."""
    paths = [part for part in parts.parts if part.what == "path" and not part.only_strict]
    if len(paths) != 1 or parts.script is not None or action.unclear is not None:
        return ()
    pattern = _pattern(paths[0], world)
    if pattern.startswith(("/", "~")):
        return ()
    directory = pattern.rpartition("/")[0]
    return (Rule(effect="allow", path=(f"{directory}/*" if directory else "*",), access=_access(action)),)


def _describe_directory(parts: Parts, world: World) -> str:
    path = next(part for part in parts.parts if part.what == "path")
    return _pattern(path, world).rpartition("/")[0] or "the project directory"


async def wait_for_reply(
    reply: Awaitable[Reply], deadline: Union[float, Awaitable[object], None]
) -> tuple[Reply, bool]:
    """Return the reply, and whether it came before the deadline. If it didn't, asking is cancelled."""
    if deadline is None:
        return await reply, True
    asking = asyncio.ensure_future(reply)
    limit = asyncio.ensure_future(asyncio.sleep(deadline) if isinstance(deadline, (int, float)) else deadline)
    try:
        await asyncio.wait({asking, limit}, return_when=asyncio.FIRST_COMPLETED)
        if asking.done():
            return asking.result(), True
        return None, False
    finally:
        for task in (asking, limit):
            task.cancel()
        await asyncio.gather(asking, limit, return_exceptions=True)


def resolve_reply(reply: Reply, question: Question) -> Choice | None:
    """Return the choice that a reply refers to; None if it wasn't offered."""
    match reply:
        case Choice():
            # The callback may change how long a choice applies, but can't invent a choice.
            known = next((choice for choice in question.choices if choice.id == reply.id), None)
            return reply if known is not None and known.kind == reply.kind else None
        case True:
            return question.choice("allow_once", "allow_always")
        case False:
            return question.choice("reject_once", "reject_always")
        case str():
            return next((choice for choice in question.choices if choice.id == reply), None)
    return None
