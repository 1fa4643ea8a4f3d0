"""A permission rule: what it is about, and what it says.

A rule is about a command (`command`, or `line` for one whole command line), about files (`path`, with `access` to mean
reading or writing alone), about an address (`url`), about a tool of an MCP server (`mcp`), or about everything
(`everything`). The kind and title of a tool call, the agent and the session may narrow it further. Several commands,
paths, addresses or tools mean any of them; different conditions have to hold together.

The kind and the title are what an agent says of itself, so they may make a rule stricter and are never enough to allow:
an `allow` has to name a command, a path, an address or such a tool. To allow everything is possible and has to be said
in so many words, by whoever starts the agent and trusts it (`trusted_agent=True`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any, Literal

import msgspec

from accord.errors import RuleError
from accord.policy import commands, glob, mcp, urls

Effect = Literal["allow", "ask", "deny"]
Scope = Literal["once", "session", "forever"]
Access = Literal["read", "write"]

EFFECTS: tuple[Effect, ...] = ("allow", "ask", "deny")
SCOPES: tuple[Scope, ...] = ("once", "session", "forever")
SUBJECTS = ("command", "line", "path", "url", "mcp")
KEYS = ("effect", "everything", *SUBJECTS, "access", "kind", "title", "agent", "session", "scope", "expires")
MAX_TEXT = 16 * 1024


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One rule. Make it with `rule_from_table`, or `text.parse`: they check it."""

    effect: Effect
    everything: bool = False
    command: tuple[str, ...] = ()
    line: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    access: Access | None = None
    url: tuple[str, ...] = ()
    mcp: tuple[str, ...] = ()
    tool_kind: str | None = None
    title: str | None = None
    agent: str | None = None
    session: str | None = None
    scope: Scope = "forever"
    expires: float | None = None
    """When it ends, in seconds since 1970."""

    @property
    def subject(self) -> str | None:
        """Which of the facts it is about."""
        return next((name for name in SUBJECTS if getattr(self, name)), None)

    @property
    def rank(self) -> int:
        """How exactly it says what it means: 3 one thing, 2 a pattern, 1 something about the agent's words, 0 all."""
        match self.subject:
            case "command":
                return 3 if all(commands.read(text).is_exact for text in self.command) else 2
            case "line":
                return 3
            case "path":
                return 3 if all(glob.read(text).is_exact for text in self.path) else 2
            case "url":
                return 3 if all(urls.read(text).is_exact for text in self.url) else 2
            case "mcp":
                return 3 if all(map(mcp.is_exact, self.mcp)) else 2
        return 1 if self.tool_kind or self.title or self.agent or self.session else 0

    def expired(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now


def checked(rule: Rule, *, trusted_agent: bool = False) -> Rule:
    """The rule, when it can be one; `RuleError` says why not."""
    about = [name for name in SUBJECTS if getattr(rule, name)]
    if rule.everything:
        about.append("everything")
    if len(about) > 1:
        raise RuleError(f"a rule is about one thing, and this is about {' and '.join(about)}; write one rule for each")
    if not about and not (rule.tool_kind or rule.title or rule.agent or rule.session):
        raise RuleError(f"the rule says what to {rule.effect} nowhere; expected {', '.join(SUBJECTS)}, kind or title")
    if rule.access and not rule.path:
        raise RuleError("access speaks of files; expected a path with it")
    if rule.effect == "allow" and not trusted_agent and rule.subject is None:
        raise RuleError(_why_not(rule))
    _check_patterns("command", rule.command, commands.read)
    _check_patterns("path", rule.path, glob.read)
    _check_patterns("url", rule.url, urls.read)
    _check_patterns("mcp", rule.mcp, mcp.read)
    return rule


def _check_patterns(key: str, patterns: tuple[str, ...], read: Callable[[str], object]) -> None:
    for text in patterns:
        try:
            read(text)
        except RuleError as fault:
            raise RuleError(fault.message, key=key) from None


def _why_not(rule: Rule) -> str:
    if rule.everything:
        return "only somebody who starts an agent may allow it everything, and has to say so there (--allow all)"
    words = [name for name, value in (("kind", rule.tool_kind), ("title", rule.title)) if value]
    if words:
        said = " and ".join(words)
        return (
            f"the {said} of a tool call {'are' if len(words) > 1 else 'is'} what the agent says of itself, "
            f"which is never enough to allow; name a command, a path or a url as well (ask and deny may do without)"
        )
    return "an allow has to say what is allowed; name a command, a path or a url as well"


def rule_from_table(table: Mapping[str, Any], *, trusted_agent: bool = False) -> Rule:
    """Reads a rule from a table of TOML, as `table_of` gives it."""
    unknown = sorted(set(table) - set(KEYS))
    if unknown:
        raise RuleError(f"a rule has no {unknown[0]!r}; expected {', '.join(KEYS)}", key=unknown[0])
    effect = table.get("effect")
    if effect not in EFFECTS:
        found = "nothing" if effect is None else repr(effect)
        raise RuleError(f"effect is {found}; expected allow, ask or deny", key="effect")
    scope = table.get("scope", "forever")
    if scope not in SCOPES:
        raise RuleError(f"scope is {scope!r}; expected once, session or forever", key="scope")
    access = table.get("access")
    if access not in (None, "read", "write"):
        raise RuleError(f"access is {access!r}; expected read or write", key="access")
    everything = table.get("everything", False)
    if not isinstance(everything, bool):
        raise RuleError(f"everything is {everything!r}; expected true or false", key="everything")
    rule = Rule(
        effect=effect,
        everything=everything,
        access=access,
        scope=scope,
        tool_kind=_text(table, "kind"),
        title=_text(table, "title"),
        agent=_text(table, "agent"),
        session=_text(table, "session"),
        expires=_moment(table.get("expires")),
        **{name: _texts(table, name) for name in SUBJECTS},
    )
    return checked(rule, trusted_agent=trusted_agent)


def table_of(rule: Rule) -> dict[str, Any]:
    """The rule as a table of TOML, which `rule_from_table` reads back."""
    table: dict[str, Any] = {"effect": rule.effect}
    if rule.everything:
        table["everything"] = True
    for name in SUBJECTS:
        values: tuple[str, ...] = getattr(rule, name)
        if values:
            table[name] = values[0] if len(values) == 1 else list(values)
    words = {"access": rule.access, "kind": rule.tool_kind, "title": rule.title, "agent": rule.agent}
    table |= {name: value for name, value in (words | {"session": rule.session}).items() if value}
    if rule.scope != "forever":
        table["scope"] = rule.scope
    if rule.expires is not None:
        table["expires"] = datetime.fromtimestamp(rule.expires, UTC)
    return table


def _text(table: Mapping[str, Any], key: str) -> str | None:
    value = table.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or not value:
        raise RuleError(f"{key} is {value!r}; expected a text", key=key)
    return _bounded(value, key)


def _texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key)
    if value is None:
        return ()
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(each, str) and each.strip() for each in values):
        raise RuleError(f"{key} is {value!r}; expected a text, or a list of texts", key=key)
    return tuple(_bounded(each, key) for each in values)


def _bounded(value: str, key: str) -> str:
    if len(value) > MAX_TEXT:
        raise RuleError(f"{key} has {len(value)} characters; expected at most {MAX_TEXT}", key=key)
    return value


def _moment(value: Any) -> float | None:
    """A time as TOML has it. One without a zone is meant in UTC; a day ends when it begins."""
    if value is None:
        return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time(), UTC)
    if not isinstance(value, datetime):
        raise RuleError(f"expires is {value!r}; expected a time such as 2030-01-31T12:00:00Z", key="expires")
    try:
        return (value if value.tzinfo is not None else value.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError):
        raise RuleError(f"expires is {value!r}; expected a time that a clock can show", key="expires") from None
