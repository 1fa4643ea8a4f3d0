"""Describes our own types in the terms of the comparison."""

from __future__ import annotations

import types
from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from schema.comparison import ABSENT, Field, UnionOf, join

from accord.schema.method import Method
from accord.schema.shape import (
    EMPTIED,
    EXPECTED,
    FILTERED,
    FORMER,
    NULL_IS_EMPTY,
    STRICT,
    AtLeast,
    Message,
    OpenUnion,
    Untagged,
)


class Ours:
    """The vocabulary of one version."""

    def __init__(self, module: types.ModuleType) -> None:
        self._module = module
        self.fields = cache(self._fields_by_key)

    def has(self, name: str) -> bool:
        return name in self._module.__all__

    def get(self, name: str) -> Any:
        return getattr(self._module, name)

    def names(self) -> list[str]:
        """Return the classes of the vocabulary, without aliases."""
        return [
            name for name in self._module.__all__ if self.is_struct(self.get(name)) and self.get(name).__name__ == name
        ]

    @staticmethod
    def is_struct(type_: Any) -> bool:
        return isinstance(type_, type) and issubclass(type_, Message)

    def is_variant(self, name: str) -> bool:
        """Return whether it is one of our classes with a tag."""
        return self.has(name) and self.is_struct(self.get(name)) and self.get(name).__struct_config__.tag is not None

    def form(self, type_: Any) -> str:
        """Describe a type."""
        return join(self._forms(type_))

    def _forms(self, type_: Any) -> Iterator[str]:
        bare, marks = unwrap(type_)
        union = self.union(type_)
        if union is not None and not (self.is_struct(bare) and not marks) and not union.is_lone():
            yield from self._union_form(union)
            if types.NoneType in get_args(bare):
                yield "null"
            return
        if is_union(bare):
            members = get_args(bare)
            words = [word for member in members for word in self._words(member)]
            for member in members:
                if not self._words(member) and not (words and member is str) and member is not msgspec.UnsetType:
                    yield from self._forms(member)
            if words:
                yield f"{'open ' if str in members else ''}word({', '.join(sorted(words))})"
            return
        yield self._plain(bare, marks)

    def _words(self, type_: Any) -> tuple[str, ...]:
        return get_args(type_) if get_origin(type_) is Literal else ()

    def _plain(self, bare: Any, marks: list[Any]) -> str:
        meta = next((mark for mark in marks if isinstance(mark, msgspec.Meta)), msgspec.Meta())
        if words := self._words(bare):
            return f"word({', '.join(sorted(words))})"
        if self.is_struct(bare):
            return str(bare.__name__)
        match get_origin(bare) or bare:
            case origin if origin is list:
                least = f" (min {meta.min_length})" if meta.min_length else ""
                return f"list of [{self.form(get_args(bare)[0])}]{least}"
            case origin if origin is dict:
                return f"map of [{self.form(get_args(bare)[1])}]"
        if bare is str:
            return f"str(min {meta.min_length})" if meta.min_length else "str"
        if bare is int:
            return f"int({_end(meta.ge)}..{_end(meta.le)})"
        if bare is float:
            return "num" if meta.ge is None and meta.le is None else f"num({_end(meta.ge)}..{_end(meta.le)})"
        return {bool: "bool", types.NoneType: "null", Any: "any"}[bare]

    def _union_form(self, union: UnionOf) -> Iterator[str]:
        tagged = [f"{tag}: {cls.__name__}" for tag, cls in sorted(union.tagged.items())]
        rest = [cls.__name__ if self.is_struct(cls) else self.form(cls) for cls in union.untagged]
        yield f"one of {'; '.join([*tagged, *rest])}{' or others' if union.open else ''}"

    def union(self, type_: Any) -> UnionOf | None:
        """A union of messages or lists; None when it is nothing of the kind."""
        bare, marks = unwrap(type_)
        is_open = any(isinstance(mark, OpenUnion) for mark in marks)
        untagged = [member for mark in marks if isinstance(mark, Untagged) for member in mark.members]
        members = get_args(bare) if is_union(bare) else [bare]
        structs = [member for member in (*members, *untagged) if self.is_struct(member)]
        tagged = [struct for struct in structs if struct.__struct_config__.tag is not None]
        untagged = [member for member in untagged if member not in tagged]
        others = [struct for struct in structs if struct not in tagged and struct not in untagged]
        if get_origin(bare) is list and untagged:
            bounds = [mark for mark in marks if isinstance(mark, msgspec.Meta)]
            others = [Annotated[(bare, *bounds)] if bounds else bare]
        if not tagged and not (others or untagged):
            return None
        return UnionOf(
            tag_field=tagged[0].__struct_config__.tag_field if tagged else None,
            open=is_open,
            tagged={struct.__struct_config__.tag: struct for struct in tagged},
            untagged=[*others, *untagged],
        )

    def _fields_by_key(self, cls: Any) -> dict[str, Field]:
        """The fields of a class under their names on the wire, except those that only older drafts had."""
        return dict(self._fields(cls))

    def _fields(self, cls: Any) -> Iterator[tuple[str, Field]]:
        for info in msgspec.structs.fields(cls):
            marks = all_marks(info.type)
            if FORMER in marks:
                continue
            has_default = info.default is not msgspec.NODEFAULT or info.default_factory is not msgspec.NODEFAULT
            required = EXPECTED in marks or not has_default
            strict = STRICT in marks or NULL_IS_EMPTY in marks
            yield (
                info.encode_name,
                Field(
                    form=self.form(info.type),
                    required=required,
                    default=ABSENT if required else _default(info),
                    lenient=EMPTIED in marks if required else not strict,
                    filtered=FILTERED in marks,
                    null_is_empty=NULL_IS_EMPTY in marks,
                ),
            )

    def duties(self) -> set[str]:
        """Classes that only say what several others have in common."""
        found = {base.__name__ for name in self.names() for base in self.get(name).__mro__[1:]}
        for name in self._module.__all__:
            marks = get_args(self.get(name))[1:] if get_origin(self.get(name)) is Annotated else ()
            found.update(mark.message.__name__ for mark in marks if isinstance(mark, AtLeast))
        return found

    def methods(self) -> dict[tuple[str, str], Method[Any, Any]]:
        """(method, request or notification) → its row."""
        requests = {(name, "request"): row for name, row in self._module.REQUESTS.items()}
        notifications = {(name, "notification"): row for name, row in self._module.NOTIFICATIONS.items()}
        return {**requests, **notifications}


def unwrap(type_: Any) -> tuple[Any, list[Any]]:
    """The type without its marks, and the marks; of an optional union, those of the union."""
    marks: list[Any] = []
    while True:
        if get_origin(type_) is Annotated:
            type_, *more = get_args(type_)
            marks += more
        elif is_union(type_):
            rest = [arg for arg in get_args(type_) if arg not in (types.NoneType, msgspec.UnsetType)]
            if len(rest) != 1 or get_origin(rest[0]) is not Annotated or not is_union_or_untagged(rest[0]):
                return type_, marks
            inner, *more = get_args(rest[0])
            marks += more
            type_ = Union[(inner, *(arg for arg in get_args(type_) if arg is types.NoneType))]
        else:
            return type_, marks


def is_union_or_untagged(type_: Any) -> bool:
    return any(isinstance(mark, (OpenUnion, Untagged)) for mark in get_args(type_)[1:])


def all_marks(type_: Any) -> list[Any]:
    """The marks of a field: its own, and those of the one list inside an optional."""
    marks: list[Any] = []
    if get_origin(type_) is Annotated:
        bare, *marks = get_args(type_)
        return marks + all_marks(bare)
    if is_union(type_):
        for member in get_args(type_):
            marks += all_marks(member)
    return marks


def is_union(type_: Any) -> bool:
    return get_origin(type_) in (Union, types.UnionType)


def _default(info: msgspec.structs.FieldInfo) -> Any:
    if info.default is msgspec.UNSET:
        return ABSENT
    value = info.default_factory() if info.default_factory is not msgspec.NODEFAULT else info.default
    return msgspec.to_builtins(value)


def _end(bound: Any) -> str:
    return "" if bound is None else str(bound)
