"""Instances of our own types, made up by hypothesis from what their fields say of themselves."""

from __future__ import annotations

import base64
import types
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st

from accord.schema import v1, v2, wire
from accord.schema.shape import FORMER, UNSET, AtLeast, Message, OpenUnion, Other, UnsetType, Untagged

Strategy = st.SearchStrategy[Any]

words = st.text(max_size=6)
json_values = st.sampled_from([None, True, 0, -1.5, "text", [], [1, "two", None], {}, {"deep": {"deeper": [False]}}])
by_format: dict[str, Strategy] = {
    "uri": st.sampled_from(["file:///project/notes.md", "https://example.com/a?b=c#d", "data:text/plain,hello"]),
    "regex": st.sampled_from(["^[a-z]+$", "a|b", ""]),
    "date-time": st.sampled_from(["2026-11-15T20:16:00Z", "2024-02-29T23:59:59.5+05:30", "1999-12-31t00:00:00-08:00"]),
    "base64": st.binary(max_size=6).map(lambda raw: base64.b64encode(raw).decode()),
}

# What the type of a field does not tell, because we read more there than the first version lets anyone write.
TOLD_NOWHERE: dict[tuple[Any, str], Strategy] = {
    (v1.ElicitationUrlMode, "url"): by_format["uri"],
    (v1.StringPropertySchema, "format"): st.sampled_from(["email", "uri", "date", "date-time", None]),
}


@cache
def instances(wanted: Any) -> Strategy:
    """Values of a type, unknown variants included."""
    marks: tuple[Any, ...] = ()
    while get_origin(wanted) is Annotated:
        wanted, *more = get_args(wanted)
        marks += tuple(more)
    if FORMER in marks:
        return st.just(UNSET)
    options = _options(wanted, marks)
    for mark in marks:
        if isinstance(mark, OpenUnion):
            options.append(_unknown(mark.tag_field, wanted, marks))
        if isinstance(mark, Untagged):
            options += [instances(member) for member in mark.members]
    return st.one_of(options)


def _options(wanted: Any, marks: tuple[Any, ...]) -> list[Strategy]:
    if get_origin(wanted) in (Union, types.UnionType):
        # A lone variant has a companion that stands for nothing.
        members = [m for m in get_args(wanted) if not _is_struct(m) or issubclass(m, Message)]
        return [instances(member) for member in members]
    return [_plain(wanted, next((mark for mark in marks if isinstance(mark, msgspec.Meta)), msgspec.Meta()))]


def _plain(wanted: Any, meta: msgspec.Meta) -> Strategy:
    if _is_struct(wanted):
        return _messages(wanted)
    if get_origin(wanted) is Literal:
        return st.sampled_from(get_args(wanted))
    if get_origin(wanted) is list:
        least = meta.min_length or 0
        return st.lists(instances(get_args(wanted)[0]), min_size=least, max_size=least + 1)
    if get_origin(wanted) is dict:
        return st.dictionaries(words, instances(get_args(wanted)[1]), max_size=2)
    if wanted is str:
        told = meta.extra_json_schema or {}
        form = told.get("format") or told.get("contentEncoding")
        return by_format[form] if form else st.text(min_size=meta.min_length or 0, max_size=6)
    if wanted is int:
        return st.integers(-(2**63) if meta.ge is None else meta.ge, 2**64 - 1 if meta.le is None else meta.le)
    if wanted is float:
        return st.floats(meta.ge, meta.le, allow_nan=False, allow_infinity=False)
    return {
        bool: st.booleans(),
        type(None): st.none(),
        UnsetType: st.just(UNSET),
        Any: json_values,
    }[wanted]


def _messages(cls: Any) -> Strategy:
    fields = {}
    for info in msgspec.structs.fields(cls):
        values = TOLD_NOWHERE[cls, info.name] if (cls, info.name) in TOLD_NOWHERE else instances(info.type)
        fields[info.name] = st.one_of(st.just(UNSET), values) if info.default is UNSET else values
    if issubclass(cls, (v1.AnyElicitation, v2.AnyElicitation)):
        return st.one_of(
            _scoped(cls, fields, "session_id", "request_id"), _scoped(cls, fields, "request_id", "session_id")
        )
    return st.builds(cls, **fields)


def _scoped(cls: Any, fields: dict[str, Strategy], present: str, absent: str) -> Strategy:
    """A question belongs to a session or to a request, never to both or neither."""
    there = fields[present].filter(lambda value: value is not UNSET)
    return st.builds(cls, **{**fields, present: there, absent: st.just(UNSET)})


def _unknown(tag_field: str, union: Any, marks: tuple[Any, ...]) -> Strategy:
    """Variants that nobody knows yet. They still carry what every variant must."""
    known = {member.__struct_config__.tag for member in get_args(union) or (union,) if _is_struct(member)}
    tags = words.map(lambda word: f"_{word}").filter(lambda tag: tag not in known)
    base = next((mark.message for mark in marks if isinstance(mark, AtLeast)), None)
    shared = instances(base).map(wire.encode).map(msgspec.json.decode) if base else st.just({})
    extra = st.dictionaries(words.map(lambda word: f"future{word}"), json_values, max_size=2)
    return st.builds(lambda tag, some, more: Other.of(tag, {**more, **some, tag_field: tag}), tags, shared, extra)


def _is_struct(wanted: Any) -> bool:
    return isinstance(wanted, type) and issubclass(wanted, msgspec.Struct)
