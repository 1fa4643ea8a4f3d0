"""Check the objects that authors pass in, when they pass them, so that nothing invalid reaches the wire.

The functions raise `InvalidValue`. Streamed text isn't checked, because any string may be sent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, get_args

from msgspec import UnsetType

from accord.errors import InvalidValue
from accord.model.account import Account, AuthState, AuthStatus, Provider
from accord.model.requests import PermissionKind, PermissionOption
from accord.model.session import (
    Category,
    Choice,
    Command,
    CompactionStatus,
    Cost,
    EntryStatus,
    Notice,
    Option,
    Plan,
    PlanEntry,
    Priority,
    Severity,
    State,
    StopReason,
    Subagent,
    Tokens,
    Usage,
)
from accord.model.statement import Role
from accord.model.tool import Location, ToolKind, ToolStatus
from accord.model.values import UINT16, UINT32, count, number, optional_text, short, text, texts, word
from accord.schema.constructor import unchecked


def _literals(alias: Any) -> frozenset[str]:
    """Return the literals of `Union[Literal[…], str]`."""
    return frozenset(get_args(get_args(alias)[0]))


STOP_REASONS = _literals(StopReason) - {"error"}
TOOL_KINDS = _literals(ToolKind)
TOOL_STATUSES = _literals(ToolStatus)
SEVERITIES = _literals(Severity)
CATEGORIES = _literals(Category)
COMPACTION_STATUSES = _literals(CompactionStatus)
PERMISSION_KINDS = _literals(PermissionKind)
PRIORITIES = _literals(Priority)
ENTRY_STATUSES = _literals(EntryStatus)
STATES = _literals(State)
AUTH_STATES = _literals(AuthState)
BACKGROUND_KINDS = frozenset({"terminal", "tool_call", "subagent"})
ROLES: tuple[str, ...] = get_args(Role)


def form(argument: str, schema: Any) -> dict[str, Any]:
    """Check a form: a JSON schema of a flat object. Adds the keys that every form has."""
    if not isinstance(schema, dict):
        raise InvalidValue(f"{argument} is {short(schema)}; it must be a JSON schema (a dict)", argument=argument)
    found = {"type": "object", "properties": {}, **schema}
    if found["type"] != "object":
        where = f"{argument}.type"
        raise InvalidValue(f"{where} is {short(found['type'])}; it must be 'object'", argument=where)
    if not isinstance(found["properties"], dict):
        where = f"{argument}.properties"
        raise InvalidValue(f"{where} is {short(found['properties'])}; it must be a dict", argument=where)
    for name in texts(f"{argument}.required", found.get("required", ())):
        if name not in found["properties"]:
            where = f"{argument}.required"
            raise InvalidValue(f"{where} contains {name!r}, which isn't one of the properties", argument=where)
    for name, field in found["properties"].items():
        _form_field(f"{argument}.properties[{name!r}]", field)
    return found


def _form_field(where: str, field: Any) -> None:
    """Check one field of a form. Unknown types pass: clients may support more than this library knows."""
    if not isinstance(field, dict):
        raise InvalidValue(
            f"{where} is {short(field)}; it must be a JSON schema such as {{'type': 'string'}}", argument=where
        )
    kind = field.get("type")
    if kind == "object" or "properties" in field or (kind == "array" and _is_nested(field.get("items"))):
        raise InvalidValue(
            f"{where} is nested; forms are flat: strings, numbers, booleans and lists of strings", argument=where
        )


def _is_nested(items: Any) -> bool:
    return isinstance(items, dict) and items.get("type") in ("object", "array")


def records(listed: Any, wanted: type, argument: str, example: str) -> list[Any]:
    """Check a list of records, such as options. Strings are rejected, although they can be iterated."""
    if isinstance(listed, str | bytes | dict) or not isinstance(listed, Iterable):
        raise InvalidValue(f"{argument} is {short(listed)}; it must be a list of {example}", argument=argument)
    items = list(listed)
    for index, item in enumerate(items):
        if not isinstance(item, wanted):
            where = f"{argument}[{index}]"
            raise InvalidValue(f"{where} is {short(item)}; it must be {example}", argument=where)
    return items


def tokens(used: Any, argument: str = "tokens") -> Tokens | None:
    """Check the token counts of a turn."""
    if used is None:
        return None
    if not isinstance(used, Tokens):
        raise InvalidValue(f"{argument} is {short(used)}; it must be accord.Tokens", argument=argument)
    for name in ("total", "input", "output"):
        count(f"{argument}.{name}", getattr(used, name))
    for name in ("thought", "cached_read", "cached_write"):
        if getattr(used, name) is not None:
            count(f"{argument}.{name}", getattr(used, name))
    return used


def options(listed: Sequence[Option], argument: str = "options") -> None:
    """Check options: each select option has choices, and its value is one of them."""
    records(listed, Option, argument, "accord.Option(id=…, name=…, value=…)")
    for index, option in enumerate(listed):
        where = f"{argument}[{index}]"
        if option.other is not None:
            own_variant(f"{where}.other", option.other)
        elif not option.is_boolean:
            text(f"{where}.value", option.value)
            if not option.choices:
                raise InvalidValue(
                    f"{where}.choices is empty; a select option needs at least one", argument=f"{where}.choices"
                )
            records(option.choices, Choice, f"{where}.choices", "accord.Choice(value=…, name=…)")
            values = [choice.value for choice in option.choices]
            if option.value not in values:
                known = ", ".join(map(repr, values[:10]))
                problem = f"{where}.value is {option.value!r}; it must be one of its choices ({known})"
                raise InvalidValue(problem, argument=f"{where}.value")
        if option.category is not None:
            word(f"{where}.category", option.category, CATEGORIES)


def permission_options(listed: Any, argument: str = "options") -> list[PermissionOption]:
    """Check the options of a permission request."""
    offered: list[PermissionOption] = records(
        listed, PermissionOption, argument, "accord.PermissionOption(id=…, name=…, kind=…)"
    )
    if not offered:
        raise InvalidValue(f"{argument} is empty; a permission request needs at least one option", argument=argument)
    for index, option in enumerate(offered):
        word(f"{argument}[{index}].kind", option.kind, PERMISSION_KINDS)
    return offered


def commands(listed: Any, argument: str = "commands") -> list[Command]:
    """Check slash commands."""
    found: list[Command] = records(listed, Command, argument, "accord.Command(name=…, description=…)")
    for index, command in enumerate(found):
        for name in ("input", "other"):
            if getattr(command, name) is not None:
                own_variant(f"{argument}[{index}].{name}", getattr(command, name))
    return found


def plan_entries(entries: Any) -> list[PlanEntry]:
    """Convert the steps of a plan, which are texts or entries with a status and a priority."""
    if isinstance(entries, str | bytes | dict) or not isinstance(entries, Iterable):
        raise InvalidValue(
            f"entries is {short(entries)}; a plan is a list of steps: texts or accord.PlanEntry(content=…)",
            argument="entries",
        )
    return [_plan_entry(index, entry) for index, entry in enumerate(entries)]


def _plan_entry(index: int, entry: Any) -> PlanEntry:
    if isinstance(entry, str):
        return PlanEntry(content=entry)
    if not isinstance(entry, PlanEntry):
        where = f"entries[{index}]"
        raise InvalidValue(
            f"{where} is {short(entry)}; it must be a text or accord.PlanEntry(content=…)", argument=where
        )
    return entry


def plan(wanted: Plan) -> Plan:
    """Check a plan and its steps."""
    for index, entry in enumerate(wanted.entries):
        word(f"entries[{index}].priority", entry.priority, PRIORITIES)
        word(f"entries[{index}].status", entry.status, ENTRY_STATUSES)
    return wanted


def subagent(child: Subagent) -> Subagent:
    """Check a subagent."""
    if not isinstance(child, Subagent):
        raise InvalidValue(f"subagent is {short(child)}; it must be accord.Subagent(session_id=…)", argument="subagent")
    if child.state is not None:
        word("subagent.state", child.state, STATES - {"unknown"})
    if child.stop_reason is not None:
        word("subagent.stop_reason", child.stop_reason, STOP_REASONS | {"error"})
    return child


def usage(used: int, size: int, cost: float | None, currency: str) -> Usage:
    """Check the use of the context window, and the cost."""
    if count("size", size) == 0:
        raise InvalidValue("size is 0; it must be the size of the context window in tokens", argument="size")
    money = None if cost is None else Cost(amount=number("cost", cost), currency=text("currency", currency))
    return Usage(used=count("used", used), size=size, cost=money)


def notice(wanted: Notice) -> Notice:
    """Check a notice."""
    if not text("title", wanted.title):
        raise InvalidValue("title is empty; a notice needs one", argument="title")
    optional_text("description", wanted.description)
    word("severity", wanted.severity, SEVERITIES)
    return wanted


def location(place: str | Location) -> Location:
    """Check a location. A string is a path, which may end in `:line`."""
    if isinstance(place, Location):
        if place.line is not None:
            count("location.line", place.line, UINT32)
        return place
    path, colon, line = text("location", place).rpartition(":")
    found: Location = unchecked(Location, path=place)
    if colon and line.isdigit():
        found.path, found.line = path, int(line)
    return found


def background(work: Any) -> list[tuple[str, str]]:
    """Check background work: pairs of a kind and an id."""
    if not isinstance(work, (list, tuple)):
        raise InvalidValue(f"work is {short(work)}; it must be a list of pairs", argument="work")
    for index, each in enumerate(work):
        where = f"work[{index}]"
        if not isinstance(each, (list, tuple)) or len(each) != 2:
            raise InvalidValue(f"{where} is {short(each)}; it must be a pair of a kind and an id", argument=where)
        word(f"{where}[0]", each[0], BACKGROUND_KINDS)
        text(f"{where}[1]", each[1])
    return [(kind, id) for kind, id in work]


def auth_status(status: Any, argument: str = "status") -> AuthStatus:
    """Check the state of a login, and its accounts."""
    if not isinstance(status, AuthStatus):
        raise InvalidValue(f"{argument} is {short(status)}; it must be accord.AuthStatus(state=…)", argument=argument)
    word(f"{argument}.state", status.state, AUTH_STATES)
    for index, account in enumerate(
        records(status.accounts, Account, f"{argument}.accounts", "accord.Account(label=…)")
    ):
        text(f"{argument}.accounts[{index}].label", account.label)
    return status


def providers(listed: Any, argument: str = "providers") -> list[Provider]:
    """Check model providers. Any string is a valid API type."""
    found: list[Provider] = records(listed, Provider, argument, "accord.Provider(id=…, supported=[…])")
    for index, provider in enumerate(found):
        where = f"{argument}[{index}]"
        text(f"{where}.id", provider.id)
        for each in records(provider.supported, str, f"{where}.supported", "API types such as 'anthropic'"):
            text(f"{where}.supported", each)
    return found


def own_variant(argument: str, value: Any) -> dict[str, Any]:
    """Check an object of a custom type: a dict whose `type` begins with an underscore."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(kind, str) or not kind.startswith("_"):
        raise InvalidValue(
            f"{argument} is {short(value)}; it must be a dict with a custom type, such as {{'type': '_example.org/x'}}",
            argument=argument,
        )
    return value


def size(argument: str, value: Any) -> tuple[int, int]:
    """Check the size of a terminal: columns and rows."""
    if not isinstance(value, (list, tuple)) or len(value) != 2:
        raise InvalidValue(
            f"{argument} is {short(value)}; it must be columns and rows, such as (80, 24)", argument=argument
        )
    columns, rows = (count(argument, each, UINT16) for each in value)
    if not columns or not rows:
        raise InvalidValue(f"{argument} is {short(value)}; a terminal has at least one cell", argument=argument)
    return columns, rows


def role(value: Any) -> Role:
    """Check who wrote a message."""
    if value not in ROLES:
        raise InvalidValue(f"role is {short(value)}; it may be {', '.join(sorted(ROLES))}", argument="role")
    found: Role = value
    return found


def time(argument: str, value: Any) -> Any:
    """Convert a time to the format of the protocol. Strings are sent as they are; None and `UNSET` stay."""
    if not isinstance(value, datetime):
        return value if value is None or isinstance(value, UnsetType) else text(argument, value)
    if value.tzinfo is None:
        raise InvalidValue(f"{argument} is {value}, which has no time zone; pass datetime.now(UTC)", argument=argument)
    return value.isoformat(timespec="seconds").replace("+00:00", "Z")
