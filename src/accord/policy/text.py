"""Rules as short texts, for command lines and for showing: `command:git status`, `write:src/** agent:x`.

    rule       = "all" *( SP condition ) / condition *( SP condition )
    condition  = key ":" value
    key        = "command" / "line" / "path" / "read" / "write" / "url" / "mcp" / "kind" / "title" / "agent" / "session"
               / "scope" / "expires"
    value      = quoted / bare
    quoted     = %x22 *( any character, with \\" and \\\\ and \\n for a quote, a backslash and a line break ) %x22
    bare       = everything up to the next " key:", or to the end; it does not begin with a quote

`read:` and `write:` are `path:` for one kind of access. A condition that is repeated means any of its values. The
effect (allow, ask, deny) is not part of the text where an option says it (`--deny 'path:**/.env'`); in front of it, it
makes a whole rule: `deny path:**/.env`."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from accord.errors import RuleError
from accord.policy.rule import EFFECTS, Effect, Rule, rule_from_table

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
_MANY = ("command", "line", "path", "url", "mcp")
_CONDITION = re.compile(rf"({'|'.join(_KEYS)}):")
_NEXT = re.compile(rf"\s+(?=(?:{'|'.join(_KEYS)}):)")
_EXPECTED = "expected KEY:VALUE, with one of " + ", ".join(_KEYS) + "; or all"


def parse(text: str, effect: Effect | None = None, *, trusted_agent: bool = False, where: str = "") -> Rule:
    """Reads a short text. Without `effect`, the text begins with it."""
    try:
        return _parse(text, effect, trusted_agent)
    except RuleError as fault:
        raise fault.at(where) if where else fault from None


def show(rule: Rule) -> str:
    """The whole rule as a text, effect first. `parse` reads it back."""
    return f"{rule.effect} {conditions(rule)}"


def conditions(rule: Rule) -> str:
    """The rule as a text without its effect."""
    said: list[str] = ["all"] if rule.everything else []
    for key in _MANY:
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
            raise RuleError(f"{text[:80]!r} does not begin with allow, ask or deny")
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
            raise RuleError("path:, read: and write: do not go together; write one rule for each")
        if access:
            table["access"] = access
        key = "path"
    if key in _MANY:
        table.setdefault(key, []).append(value)
    elif key in table:
        raise RuleError(f"{key}: stands there twice; expected it once")
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
        raise RuleError(f"in the rule {text[:80]!r}: the quote at character {start + 1} is never closed")
    at += 1
    if at < len(text) and not text[at].isspace():
        raise RuleError(f"at character {at + 1} of the rule {text[:80]!r}: expected a space after the quote")
    return "".join(value), at


def _value(value: str) -> str:
    bare = value.strip() == value and not value.startswith('"') and not _NEXT.search(value) and "\n" not in value
    if bare:
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
