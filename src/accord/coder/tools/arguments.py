"""Read arguments the way models send them.

Models were trained with the tools of other agents: they use other names, put a list into a string, or send a single
object where a list belongs. `coerce` turns such arguments into the ones of our schema, driven by the argument struct.
What it can't explain stays as it is, and decoding reports it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import inspect

from accord.coder import json_repair

ALIASES: Mapping[str, str] = {
    "file_path": "path file filename target_file absolute_path notebook_path uri",
    "path": "file_path file directory dir dir_path directory_path folder target_directory search_path root",
    "source": "from source_path old_path src",
    "destination": "to target destination_path target_path new_path dest dst",
    "offset": "line start_line line_number start from_line start_line_one_indexed",
    "limit": "head_limit max_results max_lines num_lines line_count max_matches",
    "line_numbers": "show_line_numbers with_line_numbers number n",
    "content": "contents text file_text file_content body new_content code_edit",
    "edits": "changes replacements operations",
    "old_string": "old old_str old_text search find",
    "new_string": "new new_str new_text replace replacement",
    "replace_all": "all allow_multiple",
    "pattern": "query regex regexp search search_term search_pattern text",
    "glob": "include include_pattern include_glob file_pattern file_glob globs glob_pattern pattern",
    "mode": "output_mode mode_slug mode_id",
    "before": "b before_context",
    "after": "a after_context",
    "output_mode": "mode output",
    "ignore_case": "i case_insensitive !case_sensitive",
    "literal": "literal_text fixed_strings f !regex !is_regex !is_regexp",
    "symbol": "name symbol_name identifier",
    "depth": "max_depth levels",
    "command": "cmd script shell_command commands bash",
    "cwd": "workdir working_directory working_dir directory dir dir_path path",
    "timeout": "timeout_ms timeout_seconds timeout_secs block_until_ms",
    "url": "uri link address",
    "steps": "todos plan items tasks entries todo_list",
    "question": "prompt message text",
    "choices": "options suggestions answers follow_up",
    "multiple": "multi_select multiple_choice",
}
"""Other names of our arguments. With a leading `!`, the value means the opposite. A field adds its own with
`Meta(extra={"aliases": ...})`."""
VALUES: Mapping[str, str] = {
    "files": "files_with_matches",
    "files_only": "files_with_matches",
    "files_with_match": "files_with_matches",
    "counts": "count",
    "lines": "content",
    "todo": "pending",
    "not_started": "pending",
    "open": "pending",
    "doing": "in_progress",
    "active": "in_progress",
    "started": "in_progress",
    "done": "completed",
    "complete": "completed",
    "finished": "completed",
    "definition": "definitions",
    "defined": "definitions",
    "references": "uses",
    "used": "uses",
    "usages": "uses",
    "plan": "architect",
    "act": "code",
    "build": "code",
}
"""Other names of values that a field lists."""
UNREPORTED = frozenset({"command", "description", "explanation", "n", "toolcallid"})
"""Unknown names, normalized, that change nothing: they aren't reported as ignored."""
WRAPPERS = ("arguments", "args", "parameters", "params", "input")
PATHS = frozenset({"file_path", "path", "source", "destination", "cwd"})
LINES = frozenset({"content", "old_string", "new_string"})
"""Text that may come as a list of lines."""
_POSITION = re.compile(r"(?<=[^/:\\]):\d+(?:[-:]\d+)?\Z")
_ABSENT = frozenset({"", "null", "none", "undefined"})
_TRUE, _FALSE = frozenset({"true", "yes", "1", "on"}), frozenset({"false", "no", "0", "off"})


class Coerced(NamedTuple):
    """Arguments in the form of the schema."""

    arguments: dict[str, Any]
    notes: list[str]
    """For the model: what was ignored or understood in an unexpected way."""


def coerce(arguments: dict[str, Any], struct: type) -> Coerced:
    """Bring arguments into the form of a struct, as far as their meaning is clear."""
    shape = inspect.type_info(struct)
    assert isinstance(shape, inspect.StructType)
    notes: list[str] = []
    return Coerced(_struct(_unwrap(arguments, shape), shape, notes), notes)


def normalize(name: str) -> str:
    """A name without case, underscores and dashes, for comparison."""
    return re.sub(r"[\W_]+", "", name).casefold()


def clean_path(path: str) -> str:
    """A path without quotation marks, `file://`, and the line number that follows it in messages of other programs."""
    path = path.strip().strip("`\"'")
    if path.casefold().startswith("file://"):
        path = unquote(urlsplit(path).path)
    return _POSITION.sub("", path)


# -- names


def _unwrap(arguments: dict[str, Any], shape: inspect.StructType) -> dict[str, Any]:
    """The inner object of `{"arguments": {...}}`, as some models repeat the form of the call."""
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
    """Normalized names → the fields they may mean, and whether the value means the opposite."""
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
    result: dict[str, Any] = {name: given[name] for name in fields if name in given}
    unknown: dict[str, Any] = {}
    for name, value in given.items():
        if name in fields:
            continue
        for field_name, is_opposite in _names(shape.cls).get(normalize(name), ()):
            if field_name in result or not _fits(value, fields[field_name].type, is_opposite):
                continue
            result[field_name] = not _bool(value) if is_opposite else value
            break
        else:
            unknown[name] = value
    _gather(result, unknown, fields)
    for name in list(result):
        value = _value(result[name], fields[name].type, name, notes)
        if not fields[name].required and _is_absent(value, fields[name].type):
            del result[name]
        else:
            result[name] = value
    ignored = [name for name in unknown if normalize(name) not in UNREPORTED]
    if ignored:
        known = ", ".join(fields)
        notes.append(f"ignored unknown argument{'s' if len(ignored) > 1 else ''} {', '.join(ignored)}; known: {known}")
    return result


def _gather(result: dict[str, Any], unknown: dict[str, Any], fields: dict[str, inspect.Field]) -> None:
    """Move the fields of a single item into the list where they belong: an edit's texts beside the file's path."""
    for name, field in fields.items():
        match _strip_optional(field.type):
            case inspect.ListType(item_type=inspect.StructType() as item) if name not in result:
                names = _names(item.cls)
                taken = {key for key in unknown if normalize(key) in names}
                needed = {each.name for each in item.fields if each.required}
                if needed <= {names[normalize(key)][0][0] for key in taken}:
                    result[name] = [{key: unknown.pop(key) for key in taken}]


def _fits(value: Any, kind: inspect.Type, is_opposite: bool) -> bool:
    """Return whether an alias can mean this field: `regex` may be a pattern or a switch."""
    kind = _strip_optional(kind)
    if is_opposite:
        return _bool(value) is not None
    match kind:
        case inspect.BoolType():
            return _bool(value) is not None
        case inspect.StrType():
            return not isinstance(value, bool)
        case inspect.IntType() | inspect.FloatType():
            return _number(value) is not None
    return True


# -- values


def _strip_optional(kind: inspect.Type) -> inspect.Type:
    """A type without `None` and without metadata."""
    if isinstance(kind, inspect.Metadata):
        return _strip_optional(kind.type)
    if isinstance(kind, inspect.UnionType):
        others = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        return _strip_optional(others[0]) if len(others) == 1 else kind
    return kind


def _is_absent(value: Any, kind: inspect.Type) -> bool:
    """Return whether an optional argument was only filled in: null, an empty text, or a number below the least."""
    if value is None:
        return True
    kind = _strip_optional(kind)
    if isinstance(value, str):
        is_text = isinstance(kind, inspect.StrType)
        return value.strip().casefold() in _ABSENT and (is_text or not isinstance(kind, inspect.ListType))
    if isinstance(kind, (inspect.IntType, inspect.FloatType)) and isinstance(value, (int, float)):
        return (kind.ge is not None and value < kind.ge) or (kind.gt is not None and value <= kind.gt)
    return False


def _value(value: Any, kind: inspect.Type, name: str, notes: list[str]) -> Any:
    kind = _strip_optional(kind)
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
            return [_value(each, item, name, notes) for each in _list(value, _strip_optional(item), name)]
        case inspect.StructType():
            return _object(value, kind, notes)
    return value


def _text(value: Any, name: str, notes: list[str]) -> Any:
    if isinstance(value, list) and all(isinstance(each, str) for each in value) and value:
        if name == "command":
            # ["bash", "-lc", "make test"] is how some agents call a shell.
            is_shell = len(value) == 3 and value[1] in ("-c", "-lc") and value[0].rpartition("/")[2] in ("bash", "sh")
            return value[2] if is_shell else shlex.join(value)
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


def _list(value: Any, item: inspect.Type, name: str) -> list[Any]:
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        value = _decode(value)
    if isinstance(value, dict) and list(value) == [name]:  # {"edits": {"edits": [...]}}
        value = _decode(value[name])
    if isinstance(value, str) and not (value and isinstance(item, inspect.StrType)):
        return list(_split_items(value))
    return value if isinstance(value, list) else [value]


def _split_items(text: str) -> Iterator[str]:
    """The items of a list written as text, one per line."""
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
    """Most agents count timeouts in milliseconds. Round thousands, or more than a day, are not in seconds."""
    return timeout > 86_400 or (timeout >= 1_000 and timeout % 1_000 == 0)


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*", value)
        return float(match[1]) if match else None
    if isinstance(value, (int, float)):
        return value if abs(value) < 1e15 else None
    return None


def _bool(value: Any) -> bool | None:
    word = str(value).strip().casefold() if isinstance(value, (str, int)) else ""
    return True if word in _TRUE else False if word in _FALSE else None


def _decode(text: Any) -> Any:
    """The value of a text if it is JSON; decoded twice if it was encoded twice."""
    for _ in range(2):
        if not isinstance(text, str):
            break
        try:
            text = json_repair.decode(text)
        except ValueError:
            break
    return text
