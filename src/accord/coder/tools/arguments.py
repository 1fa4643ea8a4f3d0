"""Read arguments the way models send them.

Models were trained with the tools of other agents: they use other names, put a list into a string, or send a single
object where a list belongs. `coerce` turns such arguments into the ones of our schema, driven by the argument struct.
Anything else stays unchanged, and decoding reports it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import inspect

from accord.coder import json_repair
from accord.coder.tools.aliases import ALIASES, UNREPORTED, VALUES

WRAPPERS = ("arguments", "args", "kwargs", "parameters", "params", "input", "properties")
PATHS = frozenset({"file_path", "path", "source", "destination", "cwd"})
LINES = frozenset({"content", "old_string", "new_string"})
"""Text that may come as a list of lines."""
_POSITION = re.compile(r"(?<=[^/:\\])(?::\d+(?:[-:]\d+)?|#L\d+(?:-L?\d+)?)\Z")
_FENCED = re.compile(r"\s*```\w*\n(.*?)\n?```\s*", re.DOTALL)
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)(?:[a-z]*)\s*", re.IGNORECASE)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
DURATIONS = frozenset({"timeout", "wait_seconds"})
_ABSENT = frozenset({"", "null", "none", "undefined"})
_TRUE, _FALSE = frozenset({"true", "yes", "1", "on"}), frozenset({"false", "no", "0", "off"})


class Coerced(NamedTuple):
    """Arguments in the form of the schema."""

    arguments: dict[str, Any]
    notes: list[str]
    """For the model: arguments that were ignored, or understood in an unexpected way."""


def coerce(arguments: dict[str, Any], struct: type) -> Coerced:
    """Bring arguments into the form of a struct, as far as their meaning is clear."""
    shape = inspect.type_info(struct)
    assert isinstance(shape, inspect.StructType)
    notes: list[str] = []
    coerced = _struct(_unwrap(arguments, shape), shape, notes)
    return Coerced(coerced, list(dict.fromkeys(notes)))


def normalize(name: str) -> str:
    """Normalize a name for comparison: without case, underscores and dashes."""
    return re.sub(r"[\W_]+", "", name).casefold()


def clean_path(path: str) -> str:
    """Strip quotation marks, `file://` and the line number that other programs append from a path."""
    path = path.strip().strip("`\"'")
    if path.casefold().startswith("file://"):
        path = unquote(urlsplit(path).path)
    return _POSITION.sub("", path)


# -- names


def _unwrap(arguments: dict[str, Any], shape: inspect.StructType) -> dict[str, Any]:
    """Return the inner object of `{"arguments": {...}}`, as some models repeat the form of the call."""
    for name in WRAPPERS:
        inner = arguments.get(name)
        if isinstance(inner, str) and inner.lstrip().startswith("{"):
            inner = _decode(inner)
        names = _names(shape.cls)
        if isinstance(inner, dict) and normalize(name) not in names and any(normalize(each) in names for each in inner):
            return inner
    return arguments


@cache
def _names(struct: type) -> dict[str, list[tuple[str, bool]]]:
    """Map normalized names to the fields they may mean, and whether the value means the opposite."""
    shape = inspect.type_info(struct)
    assert isinstance(shape, inspect.StructType)
    found = {normalize(field.name): [(field.name, False)] for field in shape.fields}
    for field in shape.fields:
        for alias in [*ALIASES.get(field.name, "").split(), *_own_aliases(field.type)]:
            found.setdefault(normalize(alias), []).append((field.name, alias.startswith("!")))
    return found


def _own_aliases(kind: inspect.Type) -> list[str]:
    return str((kind.extra or {}).get("aliases", "")).split() if isinstance(kind, inspect.Metadata) else []


def _struct(given: dict[str, Any], shape: inspect.StructType, notes: list[str]) -> dict[str, Any]:
    fields = {field.name: field for field in shape.fields}
    given = _lift(given, fields, shape, notes)
    result: dict[str, Any] = {name: given[name] for name in fields if name in given}
    unknown: dict[str, Any] = {}
    for name, value in given.items():
        if name in fields:
            continue
        for field_name, is_opposite in _names(shape.cls).get(normalize(name), ()):
            if field_name in result or not _fits(value, fields[field_name].type, is_opposite):
                continue
            if normalize(name).endswith("ms") and field_name in DURATIONS:
                value = f"{value} ms"
            result[field_name] = not _bool(value) if is_opposite else value
            break
        else:
            unknown[name] = value
    _gather(result, unknown, fields)
    for name in list(result):
        value = _value(result[name], fields[name].type, name, notes)
        if not fields[name].required and _is_absent(value, fields[name].type):
            if isinstance(value, (int, float)) and value < -1:
                notes.append(f"ignored {name} {value:g}, which must not be negative")
            del result[name]
        else:
            result[name] = value
    _distribute(result, unknown, fields)
    ignored = [name for name in unknown if normalize(name) not in UNREPORTED]
    if ignored:
        known = ", ".join(fields)
        notes.append(f"ignored unknown argument{'s' if len(ignored) > 1 else ''} {', '.join(ignored)}; known: {known}")
    return result


def _gather(result: dict[str, Any], unknown: dict[str, Any], fields: dict[str, inspect.Field]) -> None:
    """Move the fields of a single item into the list where they belong: an edit's texts beside the file's path."""
    for name, item in _item_types(fields):
        names = _names(item.cls)
        needed = {each.name for each in item.fields if each.required}
        taken = {key for key in unknown if normalize(key) in names}
        if name not in result and needed & {names[normalize(key)][0][0] for key in taken}:
            result[name] = [{key: unknown.pop(key) for key in taken}]


def _distribute(result: dict[str, Any], unknown: dict[str, Any], fields: dict[str, inspect.Field]) -> None:
    """Copy values given once into each item, and the other way round: `replace_all` beside the edits, or
    the file's path in each of them."""
    for name, item in _item_types(fields):
        items = result.get(name)
        if not isinstance(items, list) or not all(isinstance(each, dict) for each in items):
            continue
        own: list[str] = [each.name for each in item.fields if not each.required]
        for key in [key for key in unknown if key in own]:
            value = unknown.pop(key)
            for each in items:
                each.setdefault(key, value)


def _lift(
    given: dict[str, Any], fields: dict[str, inspect.Field], shape: inspect.StructType, notes: list[str]
) -> dict[str, Any]:
    """Move values that every item of a list repeats out of the list: the file's path in each edit."""
    for name, item in _item_types(fields):
        items = _decode_items(given.get(name))
        if not items:
            continue
        for key in items[0]:
            targets = [field for field, _ in _names(shape.cls).get(normalize(key), ()) if fields[field].required]
            values = [each.get(key) for each in items]
            if not targets or targets[0] in given or normalize(key) in _names(item.cls):
                continue
            if values.count(values[0]) < len(values):
                notes.append(f"the {name} differ in {targets[0]}: make a separate call for each")
            else:
                rest = [{other: value for other, value in each.items() if other != key} for each in items]
                return {**given, name: rest, targets[0]: values[0]}
    return given


def _decode_items(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, which may come as text; none if it holds anything else."""
    value = _decode(value) if isinstance(value, str) and value.lstrip()[:1] in ("[", "{") else value
    items = [value] if isinstance(value, dict) else value
    return items if isinstance(items, list) and all(isinstance(each, dict) for each in items) else []


def _item_types(fields: dict[str, inspect.Field]) -> Iterator[tuple[str, inspect.StructType]]:
    """Yield the fields that are lists of objects, with the type of those."""
    for name, field in fields.items():
        match strip_optional(field.type):
            case inspect.ListType(item_type=inspect.StructType() as item):
                yield name, item


def _fits(value: Any, kind: inspect.Type, is_opposite: bool) -> bool:
    """Return whether an alias can mean this field: `regex` may be a pattern or a switch."""
    kind = strip_optional(kind)
    if is_opposite:
        return _bool(value) is not None
    match kind:
        case inspect.BoolType():
            return _bool(value) is not None
        case inspect.StrType():
            return not isinstance(value, bool)
        case inspect.IntType() | inspect.FloatType():
            return _number(value) is not None or _seconds(value) is not None
    return True


# -- values


def strip_optional(kind: inspect.Type) -> inspect.Type:
    """Strip `None` and metadata from a type."""
    if isinstance(kind, inspect.Metadata):
        return strip_optional(kind.type)
    if isinstance(kind, inspect.UnionType):
        others = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        return strip_optional(others[0]) if len(others) == 1 else kind
    return kind


def _is_absent(value: Any, kind: inspect.Type) -> bool:
    """Return whether an optional argument has only a placeholder: null, an empty text, or a number below the least."""
    if value is None:
        return True
    kind = strip_optional(kind)
    if isinstance(value, str):
        is_text = isinstance(kind, inspect.StrType)
        return value.strip().casefold() in _ABSENT and (is_text or not isinstance(kind, inspect.ListType))
    if isinstance(kind, (inspect.IntType, inspect.FloatType)) and isinstance(value, (int, float)):
        return (kind.ge is not None and value < kind.ge) or (kind.gt is not None and value <= kind.gt)
    return False


def _value(value: Any, kind: inspect.Type, name: str, notes: list[str]) -> Any:
    kind = strip_optional(kind)
    if value is None:
        return None
    match kind:
        case inspect.StrType():
            return _text(value, name, notes)
        case inspect.BoolType():
            known = _bool(value)
            return value if known is None else known
        case inspect.IntType() | inspect.FloatType():
            return _read_number(value, kind, name, notes)
        case inspect.LiteralType(values=values):
            return _literal(value, values)
        case inspect.ListType(item_type=item):
            return [_value(each, item, name, notes) for each in _list(value, strip_optional(item), name)]
        case inspect.StructType():
            return _object(value, kind, notes)
    return value


def _text(value: Any, name: str, notes: list[str]) -> Any:
    if name == "command":
        value = _command(value, notes)
    if isinstance(value, list) and all(isinstance(each, str) for each in value) and value:
        if len(value) == 1:
            value = value[0]
        elif name in LINES:
            return "\n".join(value)
        elif name == "glob":
            return f"{{{','.join(value)}}}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    if name == "content" and isinstance(value, (dict, list)):
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode() + "\n"
    if name in PATHS and isinstance(value, str):
        cleaned = clean_path(value)
        if _POSITION.search(value.strip()) and cleaned:
            notes.append(f"{name} was read as {cleaned}, without the line number")
        return cleaned
    return value


def _command(value: Any, notes: list[str]) -> Any:
    """Build a command line from a list of words or commands, or strip a code fence and a `$` prompt from one."""
    if isinstance(value, str) and value.lstrip().startswith('["'):
        decoded = _decode(value)
        value = decoded if isinstance(decoded, list) else value
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        # ["bash", "-lc", "make test"] is how some agents call a shell.
        is_shell = len(value) == 3 and value[1] in ("-c", "-lc") and value[0].rpartition("/")[2] in ("bash", "sh")
        if is_shell:
            return value[2]
        if len(value) > 1 and re.search(r"\s", value[0].strip()):  # no program's name, so each is a command
            joined = " && ".join(value)
            notes.append(f"command was read as {joined}")
            return joined
        return value[0] if len(value) == 1 else shlex.join(value)
    if isinstance(value, str):
        if fenced := _FENCED.fullmatch(value):
            value = fenced[1]
        return re.sub(r"\A\s*\$ (?=\S)", "", value)
    return value


def _list(value: Any, item: inspect.Type, name: str) -> list[Any]:
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{", '"'):
        value = _decode(value)
    if isinstance(value, dict) and list(value) == [name]:  # {"edits": {"edits": [...]}}
        value = _decode(value[name])
    if isinstance(value, str) and not (value and isinstance(item, inspect.StrType)):
        return list(_split_items(value))
    return value if isinstance(value, list) else [value]


def _split_items(text: str) -> Iterator[str]:
    """Yield the items of a list written as text, one per line."""
    for line in text.splitlines():
        if item := re.sub(r"\A\s*(?:[-*+•]|\d+[.)])?\s*(?:\[[ xX>-]?\])?\s*", "", line).strip():
            yield item


def _object(value: Any, kind: inspect.StructType, notes: list[str]) -> Any:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _decode(value)
    if isinstance(value, str):
        needed = [field.name for field in kind.fields if field.required]
        return {needed[0]: value} if len(needed) == 1 else value
    return _struct(value, kind, notes) if isinstance(value, dict) else value


def _literal(value: Any, values: tuple[Any, ...]) -> Any:
    if not isinstance(value, str) or value in values:
        return value
    name = re.sub(r"[\s-]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", value.strip())).casefold()
    name = name if name in values else VALUES.get(name, name)
    return name if name in values else value


def _read_number(value: Any, kind: inspect.IntType | inspect.FloatType, name: str, notes: list[str]) -> Any:
    number = _number(value)
    if name in DURATIONS and number is None and (seconds := _seconds(value)) is not None:
        if "ms" in str(value):
            notes.append(f"{name} was read as {seconds:g} seconds")
        return seconds
    if number is None:
        return value
    if name == "timeout" and _is_milliseconds(number):
        notes.append(f"timeout was read as {number / 1000:g} seconds")
        number /= 1000
    if kind.le is not None and number > kind.le:
        notes.append(f"{name} was reduced to {kind.le}, the maximum")
        number = kind.le
    return int(number) if isinstance(kind, inspect.IntType) and number == int(number) else number


def _is_milliseconds(timeout: float) -> bool:
    """Return whether a timeout is in milliseconds, as most agents count: round thousands, or more than a day."""
    return timeout > 86_400 or (timeout >= 1_000 and timeout % 1_000 == 0)


def _seconds(value: Any) -> float | None:
    """Parse a duration with its unit (`30s`, `500 ms`); None for anything else."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    return float(match[1]) * _UNITS[match[2].lower()] if match else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*", value)
        return float(match[1]) if match else None
    if isinstance(value, (int, float)):
        return value if abs(value) < 1e15 else None
    return None


def as_number(value: Any) -> int | None:
    """Parse a whole number, which may come as text; None for anything else."""
    number = _number(value)
    return int(number) if number is not None else None


def _bool(value: Any) -> bool | None:
    word = str(value).strip().casefold() if isinstance(value, (str, int)) else ""
    return True if word in _TRUE else False if word in _FALSE else None


def _decode(text: Any) -> Any:
    """Decode a text if it is JSON, twice if it was encoded twice."""
    for _ in range(2):
        if not isinstance(text, str):
            break
        try:
            text = json_repair.decode(text)
        except ValueError:
            break
    return text
