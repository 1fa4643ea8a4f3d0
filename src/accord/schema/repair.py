"""The lenient second pass of decoding, for values that the strict pass rejected.

The strict pass is msgspec's: once over the bytes, straight into the type. Only rejected values come here, as plain
data. They are read field by field with the published leniency rules: an invalid optional field counts as absent, an
invalid item is dropped from its list, an unknown variant is kept whole, and the spelling of older drafts is accepted.
An error names the path and the one wrong word, never the value around it: parameters may contain secrets."""

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
    """A value that no rule can read. `where` is its path from the root, `why` says what was found and expected."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where} {why}" if where else why)
        self.where = where
        self.why = why


def older(cls: type[M]) -> Callable[[Older], Older]:
    """Registers what an older draft wrote for this type: a function from its object to the present one."""

    def register(rewrite: Older) -> Older:
        _OLDER[cls] = rewrite
        return rewrite

    return register


def read(wanted: Any, value: Any, where: str = "") -> Any:
    """Decode plain data as a type, leniently where that is allowed. Raises `Unreadable` if that fails."""
    try:
        return msgspec.convert(value, wanted)
    except (msgspec.ValidationError, RecursionError):
        pass
    if isinstance(value, float) and value.is_integer():
        # 1.0 is the integer 1 where an integer is wanted; a boolean is not a number (L-11)
        with suppress(msgspec.ValidationError):
            return msgspec.convert(int(value), wanted)
    marks, bare = _unwrap(wanted)
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
            return {key: read(get_args(member)[1], item, _key(where, key)) for key, item in value.items()}
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
    """Checks what msgspec would have checked, for a list that was read item by item."""
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
        meant = missing.resolve(value) if missing is not None and tag_field not in value else None
        if meant is not None:
            value = {tag_field: meant, **value}
            tag = meant
        elif untagged is not None:
            return _read_untagged(list(untagged.members), value, where)
        else:
            found = "missing" if tag_field not in value else f"{_kind(tag)}, not a string"
            raise Unreadable(_key(where, tag_field), f"is {found}; it may be {_choices(by_tag)}")
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
    raise Unreadable(_key(where, tag_field), f"is {_word(tag)}; it may be {_choices(known)}")


def _read_untagged(options: list[Any], value: dict[str, Any], where: str) -> Any:
    """The first of these that fits. One that has a tag all the same fits only with it."""
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
    for name, key, wanted, required, strict, empty_on_error in _fields(cls):
        if key not in value:
            if required:
                raise Unreadable(_key(where, key), "is missing")
            continue
        item = value[key]
        try:
            kwargs[name] = read(wanted, item, _key(where, key))
        except Unreadable:
            if empty_on_error:
                kwargs[name] = _empty(_unwrap(wanted)[1])
            elif required or strict:
                raise
    try:
        return cls(**kwargs)
    except (ValueError, TypeError) as error:  # __post_init__ says what does not fit together
        raise Unreadable(where, str(error)) from None


def _read_list(wanted: Any, marks: tuple[Any, ...], value: list[Any], where: str) -> list[Any]:
    inner, bare = _unwrap(wanted)
    item_type = (get_args(bare) or (Any,))[0]
    if FILTERED not in marks and FILTERED not in inner:
        return [read(item_type, item, f"{where}[{index}]") for index, item in enumerate(value)]
    kept = []
    for index, item in enumerate(value):
        try:
            kept.append(read(item_type, item, f"{where}[{index}]"))
        except Unreadable:
            continue
    return kept


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
    """For each field: its name, its wire key, its type, and whether it is required, strict, or emptied when bad."""
    rows = []
    for info in msgspec.structs.fields(cls):
        marks, _ = _unwrap(info.type)
        required = info.default is NODEFAULT and info.default_factory is NODEFAULT
        strict = any(mark in (STRICT, NULL_IS_EMPTY, EXPECTED) for mark in marks)
        rows.append((info.name, info.encode_name, info.type, required, strict, EMPTIED in marks))
    return rows


@cache
def _unwrap(wanted: Any) -> tuple[tuple[Any, ...], Any]:
    """Splits `Annotated[T, …]` into its marks and T; marks of the only list or union inside an optional count too."""
    marks: tuple[Any, ...] = ()
    bare = wanted
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


def _is_struct(wanted: Any) -> bool:
    return isinstance(wanted, type) and issubclass(wanted, msgspec.Struct)


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


def _key(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _kind(value: Any) -> str:
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


def _word(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


def _choices(words: Iterable[Any]) -> str:
    *most, last = [str(word) for word in words]
    return f"{', '.join(most)} or {last}" if most else last


def _refuse(bare: Any, value: Any, where: str) -> NoReturn:
    words: list[str] = []
    for member in _members(bare):
        if get_origin(_leaf(member)) is Literal:
            words += [str(word) for word in get_args(_leaf(member))]
    if words and isinstance(value, str):
        raise Unreadable(where, f"is {_word(value)}; it may be {_choices(words)}")
    try:
        msgspec.convert(value, bare)
    except msgspec.ValidationError as error:
        # msgspec names types and bounds, never values
        reason = str(error).split(" - at ")[0].replace("`", "")
        raise Unreadable(where, f"is {_kind(value)}: {reason[:1].lower()}{reason[1:]}") from None
    except RecursionError:
        raise Unreadable(where, "is nested too deeply") from None
    raise Unreadable(where, f"is {_kind(value)}, which does not belong here")
