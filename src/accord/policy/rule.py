"""Permission rules: their subject, their effect, and their forms as a TOML table and as short text.

A rule applies to a command (`command`, or `line` for one whole command line), to files (`path`, with `access` for
reading or writing only), to a URL (`url`), to a tool of an MCP server (`mcp`), or to everything (`everything`). The
kind and title of a tool call, the agent and the session can narrow it further. Of several commands, paths, URLs or
tools, any may match. Different conditions must all match.

The kind and the title come from the agent itself. They can make a rule stricter, but are never enough to allow: an
`allow` rule must name a command, a path, a URL or an MCP tool. Only the user who starts the agent can allow everything
(`trusted_agent=True`).

The short text is for command lines and for messages: `command:git status`, `write:src/** agent:x`.

    rule       = "all" *( SP condition ) / condition *( SP condition )
    condition  = key ":" value
    key        = "command" / "line" / "path" / "read" / "write" / "url" / "mcp" / "kind" / "title" / "agent" / "session"
               / "scope" / "expires"
    value      = quoted / bare
    quoted     = %x22 *( any character, with \\" and \\\\ and \\n for a quote, a backslash and a line break ) %x22
    bare       = everything up to the next " key:", or to the end; it does not begin with a quote

`read:` and `write:` are `path:` for one kind of access. Of a repeated condition, any value may match. The effect
(allow, ask, deny) is omitted where an option gives it (`--deny 'path:**/.env'`), and comes first otherwise:
`deny path:**/.env`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any, Literal

import msgspec

from accord.errors import RuleError
from accord.policy.patterns import commands, glob, mcp, urls

Effect = Literal["allow", "ask", "deny"]
Scope = Literal["once", "session", "forever"]
Access = Literal["read", "write"]

EFFECTS: tuple[Effect, ...] = ("allow", "ask", "deny")
SCOPES: tuple[Scope, ...] = ("once", "session", "forever")
SUBJECTS = ("command", "line", "path", "url", "mcp")
KEYS = ("effect", "everything", *SUBJECTS, "access", "kind", "title", "agent", "session", "scope", "expires")
MAX_TEXT = 16 * 1024


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A permission rule. Create it with `rule_from_table` or `parse_rule`, which validate it."""

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
    """When the rule expires, in seconds since the epoch."""

    @property
    def subject(self) -> str | None:
        """The field that names the subject of the rule."""
        return next((name for name in SUBJECTS if getattr(self, name)), None)

    @property
    def rank(self) -> int:
        """How specific the rule is: 3 one exact subject, 2 a pattern, 1 only claims of the agent, 0 everything."""
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

    def is_expired(self, now: float) -> bool:
        return self.expires is not None and self.expires <= now


def validate_rule(rule: Rule, *, trusted_agent: bool = False) -> Rule:
    """Return the rule if it is valid, else raise `RuleError`."""
    about = [name for name in SUBJECTS if getattr(rule, name)]
    if rule.everything:
        about.append("everything")
    if len(about) > 1:
        raise RuleError(f"a rule has one subject, and this one has {' and '.join(about)}; write one rule for each")
    if not about and not (rule.tool_kind or rule.title or rule.agent or rule.session):
        raise RuleError(f"the rule doesn't say what to {rule.effect}; expected {', '.join(SUBJECTS)}, kind or title")
    if rule.access and not rule.path:
        raise RuleError("access requires a path")
    if rule.effect == "allow" and not trusted_agent and rule.subject is None:
        raise RuleError(_explain_refusal(rule))
    _check_patterns("command", rule.command, commands.read)
    _check_patterns("path", rule.path, glob.read)
    _check_patterns("url", rule.url, urls.read)
    _check_patterns("mcp", rule.mcp, mcp.read)
    return rule


def _check_patterns(key: str, patterns: tuple[str, ...], read: Callable[[str], object]) -> None:
    for text in patterns:
        try:
            read(text)
        except RuleError as error:
            raise RuleError(error.message, key=key) from None


def _explain_refusal(rule: Rule) -> str:
    if rule.everything:
        return (
            "only the user who starts an agent can allow it everything: use --allow all on the command "
            "line, or trusted_agent=True in a program"
        )
    words = [name for name, value in (("kind", rule.tool_kind), ("title", rule.title)) if value]
    if words:
        said = " and ".join(words)
        return (
            f"the {said} of a tool call {'are' if len(words) > 1 else 'is'} what the agent says about itself, "
            f"which is never enough to allow; add a command, path or url (ask and deny don't need one)"
        )
    return "an allow rule must say what it allows; add a command, path or url"


def rule_from_table(table: Mapping[str, Any], *, trusted_agent: bool = False) -> Rule:
    """Create a rule from a TOML table, as returned by `rule_to_table`."""
    unknown = sorted(set(table) - set(KEYS))
    if unknown:
        raise RuleError(f"unknown key {unknown[0]!r} in a rule; expected {', '.join(KEYS)}", key=unknown[0])
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
        expires=_timestamp(table.get("expires")),
        **{name: _texts(table, name) for name in SUBJECTS},
    )
    return validate_rule(rule, trusted_agent=trusted_agent)


def rule_to_table(rule: Rule) -> dict[str, Any]:
    """Return the rule as a TOML table, for `rule_from_table`."""
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
        raise RuleError(f"{key} is {value!r}; expected a string", key=key)
    return _check_length(value, key)


def _texts(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key)
    if value is None:
        return ()
    values = value if isinstance(value, list) else [value]
    if not values or not all(isinstance(each, str) and each.strip() for each in values):
        raise RuleError(f"{key} is {value!r}; expected a string or a list of strings", key=key)
    return tuple(_check_length(each, key) for each in values)


def _check_length(value: str, key: str) -> str:
    if len(value) > MAX_TEXT:
        raise RuleError(f"{key} has {len(value)} characters; expected at most {MAX_TEXT}", key=key)
    return value


def _timestamp(value: Any) -> float | None:
    """Convert a TOML time. Without a time zone it is UTC; a date means the start of that day."""
    if value is None:
        return None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time(), UTC)
    if not isinstance(value, datetime):
        raise RuleError(f"expires is {value!r}; expected a time such as 2030-01-31T12:00:00Z", key="expires")
    try:
        return (value if value.tzinfo is not None else value.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError):
        raise RuleError(f"expires is {value!r}; expected a time in the supported range", key="expires") from None


_KEYS = (
    "command",
    "line",
    "path",
    "read",
    "write",
    "url",
    "mcp",
    "kind",
    "title",
    "agent",
    "session",
    "scope",
    "expires",
)
_CONDITION = re.compile(rf"({'|'.join(_KEYS)}):")
_NEXT = re.compile(rf"\s+(?=(?:{'|'.join(_KEYS)}):)")
_EXPECTED = "expected KEY:VALUE, with one of " + ", ".join(_KEYS) + "; or all"


def parse_rule(text: str, effect: Effect | None = None, *, trusted_agent: bool = False, where: str = "") -> Rule:
    """Parse the short text of a rule. Without `effect`, the text starts with it."""
    try:
        return _parse(text, effect, trusted_agent)
    except RuleError as error:
        raise error.at(where) if where else error from None


def format_rule(rule: Rule) -> str:
    """Format a rule as short text, with the effect first, for `parse_rule`."""
    return f"{rule.effect} {format_conditions(rule)}"


def format_conditions(rule: Rule) -> str:
    """Format a rule as short text, without the effect."""
    said: list[str] = ["all"] if rule.everything else []
    for key in SUBJECTS:
        name = rule.access if key == "path" and rule.access else key
        said += [f"{name}:{_value(value)}" for value in getattr(rule, key)]
    for key, value in (("kind", rule.tool_kind), ("title", rule.title), ("agent", rule.agent)):
        said += [f"{key}:{_value(value)}"] if value else []
    said += [f"session:{_value(rule.session)}"] if rule.session else []
    if rule.scope != "forever":
        said.append(f"scope:{rule.scope}")
    if rule.expires is not None:
        said.append(f"expires:{datetime.fromtimestamp(rule.expires, UTC).isoformat()}")
    return " ".join(said)


def _parse(text: str, effect: Effect | None, trusted_agent: bool) -> Rule:
    at = len(text) - len(text.lstrip())
    if effect is None:
        word = re.match(r"\s*(\w+)\s", text)
        if word is None or word[1] not in EFFECTS:
            raise RuleError(f"{text[:80]!r} doesn't start with allow, ask or deny")
        effect = word[1]
        at = word.end()
    table: dict[str, Any] = {"effect": effect}
    everything = re.compile(r"\s*all(?=\s|$)").match(text, at)
    if everything:
        table["everything"] = True
        at = everything.end()
    if not text[at:].strip() and not everything:
        raise RuleError(f"the rule {text[:80]!r} is empty; {_EXPECTED}")
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        condition = _CONDITION.match(text, at)
        if condition is None:
            raise RuleError(
                f"at character {at + 1} of the rule {text[:80]!r}: found {text[at : at + 20]!r}; {_EXPECTED}"
            )
        value, at = _read_value(text, condition.end())
        if not value.strip():
            raise RuleError(f"in the rule {text[:80]!r}: nothing follows {condition[0]!r}; expected a value")
        _put(table, condition[1], value)
    return rule_from_table(table, trusted_agent=trusted_agent)


def _put(table: dict[str, Any], key: str, value: str) -> None:
    if key in ("read", "write", "path"):
        access = None if key == "path" else key
        if "path" in table and table.get("access") != access:
            raise RuleError("path:, read: and write: can't be combined; write one rule for each")
        if access:
            table["access"] = access
        key = "path"
    if key in SUBJECTS:
        table.setdefault(key, []).append(value)
    elif key in table:
        raise RuleError(f"{key} is given twice; expected it once")
    elif key == "expires":
        try:
            table[key] = datetime.fromisoformat(value.strip())
        except ValueError:
            raise RuleError(f"expires is {value!r}; expected a date and time such as 2030-01-31T12:00:00Z") from None
    else:
        table[key] = value


def _read_value(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] != '"':
        following = _NEXT.search(text, at)
        end = following.start() if following else len(text)
        return text[at:end].strip(), end
    value: list[str] = []
    start = at
    at += 1
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and at + 1 < len(text):
            at += 1
            if text[at] not in '"\\n':
                raise RuleError(f'in the rule {text[:80]!r}: found \\{text[at]}; in quotes, expected \\", \\\\ or \\n')
            value.append("\n" if text[at] == "n" else text[at])
        else:
            value.append(text[at])
        at += 1
    if at >= len(text):
        raise RuleError(f"in the rule {text[:80]!r}: the quote at character {start + 1} isn't closed")
    at += 1
    if at < len(text) and not text[at].isspace():
        raise RuleError(f"at character {at + 1} of the rule {text[:80]!r}: expected a space after the quote")
    return "".join(value), at


def _value(value: str) -> str:
    bare = value.strip() == value and not value.startswith('"') and not _NEXT.search(value) and "\n" not in value
    if bare:
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
