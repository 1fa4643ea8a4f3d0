"""Match rules against the parts of an action.

`covers`, for allowing, is strict: the facts must match exactly. `catches`, for asking and denying, is generous: it is
enough that the rule could apply."""

from __future__ import annotations

from accord.policy.action import Action
from accord.policy.parts import Part, World
from accord.policy.patterns import commands, glob, mcp, urls
from accord.policy.rule import Rule
from accord.policy.shell.plain_line import split_plain

_SYSTEM_SHELLS = [(f"{path}/{name}", "-c") for path in ("/bin", "/usr/bin") for name in ("bash", "sh")]


def covers(rule: Rule, part: Part, action: Action, world: World) -> bool:
    """Return whether an `allow` rule allows a part."""
    if not _is_about(rule, action, loose=False):
        return False
    match rule.subject:
        case None:
            return True  # matches everything; such a rule needs `trusted_agent`
        case "command":
            return part.command is not None and any(commands.covers(text, part.command) for text in rule.command)
        case "line":
            # The environment isn't part of a line, but could change the meaning of every word.
            if part.what not in ("command", "path") or commands.risky_variables(action.env, action.line):
                return False
            return action.line in [text.strip() for text in rule.line]
        case "path":
            # A permission request that claims to read may do anything, so its access isn't "read".
            if part.what != "path" or (rule.access == "read" and part.access != "read"):
                return False
            if rule.access == "write" and part.access == "read":
                return False
            return any(glob.covers(text, part.names, project=world.project, home=world.home) for text in rule.path)
        case "url":
            return part.what == "url" and any(urls.covers(text, part.text) for text in rule.url)
        case "mcp":
            return part.what == "mcp" and any(mcp.covers(text, part.text) for text in rule.mcp)
    return False


def catches(rule: Rule, part: Part, action: Action, world: World) -> bool:
    """Return whether a rule that asks or denies applies to a part."""
    if not _is_about(rule, action, loose=True):
        return False
    match rule.subject:
        case None:
            return True
        case "command":
            return part.command is not None and any(commands.catches(text, part.command) for text in rule.command)
        case "line":
            line = action.line
            return line is not None and " ".join(line.split()) in [" ".join(text.split()) for text in rule.line]
        case "path":
            return _catches_path(rule, part, world)
        case "url":
            return _catches_url(rule, part)
        case "mcp":
            return part.what == "mcp" and any(mcp.catches(text, part.text) for text in rule.mcp)
    return False


def may_catch(rule: Rule, part: Part, action: Action) -> bool:
    """Return whether a rule could apply to a command, depending on words that only the shell knows."""
    if part.command is None or not _is_about(rule, action, loose=True):
        return False
    if rule.subject == "command":
        return any(commands.may_catch(text, part.command) for text in rule.command)
    return rule.subject in ("path", "url") and any(not word.literal for word in part.command.words)


def plain_commands(action: Action) -> list[tuple[str, ...]]:
    """Return the commands of an action whose line is plain (see `shell.plain_line`); empty if it isn't.

    A line that an agent starts with a system shell counts as that line, because the protocol has only programs."""
    line = action.command
    if action.argv[:-1] in _SYSTEM_SHELLS:
        line = action.argv[-1]
    return split_plain(line) or [] if line is not None else []


def is_spelled_out(part: Part, action: Action) -> bool:
    """Return whether a command is spelled out in a plain line, and isn't part of another command."""
    if part.command is None or part.only_strict or part.command.assignments:
        return False
    return tuple(word.text for word in part.command.words) in plain_commands(action)


def _is_about(rule: Rule, action: Action, *, loose: bool) -> bool:
    """Return whether the agent, session, kind and title of a rule match an action."""
    if rule.agent and not is_like(rule.agent, action.agent, loose=loose):
        return False
    if rule.session and rule.session != action.session:
        return False
    if rule.tool_kind and not is_like(rule.tool_kind, action.tool_kind, loose=loose):
        return False
    return not rule.title or is_like(rule.title, action.title, loose=loose)


def is_like(pattern: str, text: str, *, loose: bool) -> bool:
    """Return whether a text matches a pattern with stars."""
    if loose:
        pattern, text = glob.fold(pattern), glob.fold(text)
    return commands.fits(tuple(pattern.split("*")), text)


def _catches_path(rule: Rule, part: Part, world: World) -> bool:
    if part.command is not None:
        return any(
            glob.catches(text, names, project=world.project, home=world.home)
            for names in part.mentions
            for text in rule.path
        )
    if part.what != "path" or (rule.access and part.access not in (rule.access, "any")):
        return False
    return any(glob.catches(text, part.names, project=world.project, home=world.home) for text in rule.path)


def _catches_url(rule: Rule, part: Part) -> bool:
    if part.command is not None:
        words = [word.text.partition("=")[2] if word.text.startswith("-") else word.text for word in part.command.words]
        return any(urls.catches(text, word) for word in words if "://" in word for text in rule.url)
    return part.what == "url" and any(urls.catches(text, part.text) for text in rule.url)
