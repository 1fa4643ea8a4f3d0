"""The lenient second pass of decoding, for values that the strict pass rejected.

In the strict pass, msgspec decodes the bytes directly into the type. Only rejected values are handled here, as plain
data. They are read field by field with the published leniency rules: an invalid optional field counts as absent, an
invalid item is dropped from its list, an unknown variant is preserved, and the format of older drafts is accepted. An
error contains the path and the invalid string, never the value around it, because parameters may contain secrets."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache, partial
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, UNSET, UnsetType

from accord.schema.shape import (
    EMPTIED,
    EXPECTED,
    FILTERED,
    NULL_IS_EMPTY,
    STRICT,
    AtLeast,
    Message,
    Missing,
    OpenUnion,
    Other,
    Untagged,
)

M = TypeVar("M", bound=Message)
Older = Callable[[dict[str, Any]], dict[str, Any]]

_OLDER: dict[type[Message], Older] = {}


class Unreadable(ValueError):
    """A value can't be read by any rule. `where` is its path from the root, `why` says what was found and expected."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where} {why}" if where else why)
        self.where = where
        self.why = why


def older(cls: type[M]) -> Callable[[Older], Older]:
    """Register a function that converts an older draft's format of this type to the current one."""

    def register(rewrite: Older) -> Older:
        _OLDER[cls] = rewrite
        return rewrite

    return register


def read(expected: Any, value: Any, where: str = "") -> Any:
    """Decode plain data as a type, leniently where allowed. Raises `Unreadable` if that fails."""
    try:
        return msgspec.convert(value, expected)
    except (msgspec.ValidationError, RecursionError):
        pass
    if isinstance(value, float) and value.is_integer():
        # 1.0 is valid where an integer is expected; a boolean is not a number (L-11)
        with suppress(msgspec.ValidationError):
            return msgspec.convert(int(value), expected)
    marks, bare = _unwrap(expected)
    if value is None and NULL_IS_EMPTY in marks:
        return _empty(bare)
    try:
        result = _read_bare(bare, marks, value, where)
        if isinstance(result, list):
            _check_length(marks, result, where)
        return result
    except Unreadable:
        if EMPTIED in marks:
            return _empty(bare)
        raise


def _read_bare(bare: Any, marks: tuple[Any, ...], value: Any, where: str) -> Any:
    untagged = next((mark for mark in marks if isinstance(mark, Untagged)), None)
    members = _members(bare)
    structs = [m for m in members if isinstance(m, type) and issubclass(m, msgspec.Struct)]
    if structs and isinstance(value, dict):
        if structs[0].__struct_config__.tag_field is not None:
            return _read_union(structs, marks, untagged, value, where)
        return _read_untagged([*structs, *(untagged.members if untagged else ())], value, where)
    for member in members:
        origin = get_origin(member) or member
        if origin is list and isinstance(value, list):
            options = [member, *(untagged.members if untagged else ())]
            return _first_readable([partial(_read_list, option, marks, value, where) for option in options])
        if origin is dict and isinstance(value, dict):
            return {key: read(get_args(member)[1], item, _join_path(where, key)) for key, item in value.items()}
        if get_origin(member) is Annotated:
            try:
                return read(member, value, where)
            except Unreadable:
                if len(members) == 1 or not _same_kind(member, value):
                    continue
                raise
    bounds = [mark for mark in marks if isinstance(mark, msgspec.Meta)]
    return _refuse(Annotated[(bare, *bounds)] if bounds else bare, value, where)


def _check_length(marks: tuple[Any, ...], value: list[Any], where: str) -> None:
    """Check the length of a list that was read item by item, as msgspec would have."""
    for mark in marks:
        if isinstance(mark, msgspec.Meta) and mark.min_length is not None and len(value) < mark.min_length:
            raise Unreadable(where, f"has {len(value)} items; it needs at least {mark.min_length}")


def _read_union(
    structs: list[Any], marks: tuple[Any, ...], untagged: Untagged | None, value: dict[str, Any], where: str
) -> Any:
    tag_field: str = structs[0].__struct_config__.tag_field
    by_tag = {struct.__struct_config__.tag: struct for struct in structs if issubclass(struct, Message)}
    is_open = any(isinstance(mark, OpenUnion) for mark in marks)
    tag = value.get(tag_field)
    if not isinstance(tag, str):
        missing = next((mark for mark in marks if isinstance(mark, Missing)), None)
        assumed_tag = missing.resolve(value) if missing is not None and tag_field not in value else None
        if assumed_tag is not None:
            value = {tag_field: assumed_tag, **value}
            tag = assumed_tag
        elif untagged is not None:
            return _read_untagged(list(untagged.members), value, where)
        else:
            found = "missing" if tag_field not in value else f"{_describe_type(tag)}, not a string"
            raise Unreadable(_join_path(where, tag_field), f"is {found}; it may be {_choices(by_tag)}")
    if tag in by_tag:
        return _read_struct(by_tag[tag], value, where)
    if untagged is not None and (untagged.unknown_tags or tag in untagged.tags):
        return _read_untagged(list(untagged.members), value, where)
    if is_open:
        for mark in marks:
            if isinstance(mark, AtLeast):
                _read_struct(mark.message, value, where)
        return Other(tag, msgspec.json.encode(value))
    known = [*by_tag, *(untagged.tags if untagged is not None else ())]
    raise Unreadable(_join_path(where, tag_field), f"is {_quote(tag)}; it may be {_choices(known)}")


def _read_untagged(options: list[Any], value: dict[str, Any], where: str) -> Any:
    """Read the first of these types that fits. One with a tag fits only if the value has that tag."""
    fitting = [option for option in options if not _is_struct(option) or _has_its_tag(option, value)]
    return _first_readable(
        [partial(_read_struct if _is_struct(option) else read, option, value, where) for option in fitting]
    )


def _has_its_tag(struct: Any, value: dict[str, Any]) -> bool:
    config = struct.__struct_config__
    return config.tag_field is None or value.get(config.tag_field) == config.tag


def _first_readable(attempts: list[Callable[[], Any]]) -> Any:
    first: Unreadable | None = None
    for attempt in attempts:
        try:
            return attempt()
        except Unreadable as error:
            first = first or error
    assert first is not None
    raise first


def _read_struct(cls: Any, value: dict[str, Any], where: str) -> Any:
    value = _modern(cls, value)
    try:
        return msgspec.convert(value, cls)
    except (msgspec.ValidationError, RecursionError):
        pass
    kwargs: dict[str, Any] = {}
    for name, key, expected, required, strict, empty_on_error in _fields(cls):
        if key not in value:
            if required:
                raise Unreadable(_join_path(where, key), "is missing")
            continue
        item = value[key]
        try:
            kwargs[name] = read(expected, item, _join_path(where, key))
        except Unreadable:
            if empty_on_error:
                kwargs[name] = _empty(_unwrap(expected)[1])
            elif required or strict:
                raise
    try:
        return cls(**kwargs)
    except (ValueError, TypeError) as error:  # raised by __post_init__ for an invalid combination of fields
        raise Unreadable(where, str(error)) from None


def _read_list(expected: Any, marks: tuple[Any, ...], value: list[Any], where: str) -> list[Any]:
    inner, bare = _unwrap(expected)
    item_type = (get_args(bare) or (Any,))[0]
    if FILTERED not in marks and FILTERED not in inner:
        return [read(item_type, item, f"{where}[{index}]") for index, item in enumerate(value)]
    valid_items = []
    for index, item in enumerate(value):
        try:
            valid_items.append(read(item_type, item, f"{where}[{index}]"))
        except Unreadable:
            continue
    return valid_items


def _modern(cls: Any, value: dict[str, Any]) -> dict[str, Any]:
    for old, new in cls.OLDER.items():
        if old in value and new not in value:
            value = {**value, new: value[old]}
    for base in cls.__mro__:
        rewrite = _OLDER.get(base)
        if rewrite is not None:
            return rewrite(value)
    return value


@cache
def _fields(cls: Any) -> list[tuple[str, str, Any, bool, bool, bool]]:
    """Describe each field: name, wire key, type, and whether it is required, strict, or emptied if invalid."""
    rows = []
    for info in msgspec.structs.fields(cls):
        marks, _ = _unwrap(info.type)
        required = info.default is NODEFAULT and info.default_factory is NODEFAULT
        strict = any(mark in (STRICT, NULL_IS_EMPTY, EXPECTED) for mark in marks)
        rows.append((info.name, info.encode_name, info.type, required, strict, EMPTIED in marks))
    return rows


@cache
def _unwrap(expected: Any) -> tuple[tuple[Any, ...], Any]:
    """Split `Annotated[T, …]` into T and its marks, including the marks of the only list or union in an optional
    type."""
    marks: tuple[Any, ...] = ()
    bare = expected
    while True:
        if get_origin(bare) is Annotated:
            bare, *more = get_args(bare)
            marks += tuple(more)
            continue
        if _is_union(bare):
            rest = [arg for arg in get_args(bare) if arg not in (type(None), UnsetType)]
            if len(rest) == 1 and get_origin(rest[0]) is Annotated:
                inner, *more = get_args(rest[0])
                if not any(isinstance(mark, msgspec.Meta) for mark in more):
                    marks += tuple(more)
                    keep = [arg for arg in get_args(bare) if arg in (type(None), UnsetType)]
                    bare = Union[(inner, *keep)]
                    continue
        return marks, bare


def _members(bare: Any) -> list[Any]:
    if not _is_union(bare):
        return [bare]
    return [arg for arg in get_args(bare) if arg not in (type(None), UnsetType)]


def _is_union(bare: Any) -> bool:
    return get_origin(bare) in (Union, types.UnionType)


def _is_struct(expected: Any) -> bool:
    return isinstance(expected, type) and issubclass(expected, msgspec.Struct)


def _leaf(member: Any) -> Any:
    return get_args(member)[0] if get_origin(member) is Annotated else member


def _same_kind(member: Any, value: Any) -> bool:
    leaf = _leaf(member)
    origin = get_origin(leaf) or leaf
    return isinstance(origin, type) and isinstance(value, origin)


def _empty(bare: Any) -> Any:
    for member in _members(bare):
        origin = get_origin(_leaf(member)) or _leaf(member)
        if origin in (list, dict):
            return origin()
        if _is_struct(origin):
            return origin()
    return UNSET


def _join_path(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _describe_type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"


def _quote(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _choices(words: Iterable[Any]) -> str:
    *leading, last = [str(word) for word in words]
    return f"{', '.join(leading)} or {last}" if leading else last


def _refuse(bare: Any, value: Any, where: str) -> NoReturn:
    words: list[str] = []
    for member in _members(bare):
        if get_origin(_leaf(member)) is Literal:
            words += [str(word) for word in get_args(_leaf(member))]
    if words and isinstance(value, str):
        raise Unreadable(where, f"is {_quote(value)}; it may be {_choices(words)}")
    try:
        msgspec.convert(value, bare)
    except msgspec.ValidationError as error:
        # msgspec names types and bounds, never values
        reason = str(error).split(" - at ")[0].replace("`", "")
        raise Unreadable(where, f"is {_describe_type(value)}: {reason[:1].lower()}{reason[1:]}") from None
    except RecursionError:
        raise Unreadable(where, "is nested too deeply") from None
    raise Unreadable(where, f"is {_describe_type(value)}, which is not allowed here")
