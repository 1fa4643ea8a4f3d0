"""The terms in which our types and the published ones are compared.

A type is put into words (`str`, `list of [Role]`, `open word(info, warning)`), so that two of them are equal when their
words are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

ABSENT = object()


@dataclass(frozen=True)
class Field:
    """One field: its type as text, and how it is read."""

    form: str
    required: bool
    default: Any = ABSENT
    lenient: bool = False
    filtered: bool = False
    null_is_empty: bool = False

    def differences(self, ours: Field, *, whole: bool) -> Iterator[str]:
        """Describe how our field differs. Unless `whole`, our union or default may hold more."""
        if ours.form != self.form and (whole or not _has_words(self.form, ours.form)):
            yield f"is {ours.form}; the schema says {self.form}"
        if ours.required != self.required:
            yield f"is {'required' if ours.required else 'optional'}; the schema says otherwise"
        if not _same_default(ours.default, self.default, whole=whole):
            yield f"defaults to {_describe(ours.default)}; the schema says {_describe(self.default)}"
        for mark, text in (
            ("lenient", "a bad value counts as absent or empty"),
            ("filtered", "bad items are dropped"),
            ("null_is_empty", "null means empty"),
        ):
            if getattr(ours, mark) != getattr(self, mark):
                yield f"{text}: {'yes' if getattr(ours, mark) else 'no'}; the schema says otherwise"


Fields = dict[str, Field]


@dataclass
class Variant:
    """One branch of a union: the name of its type if it has one, and all its fields, those of the union included."""

    name: str | None
    fields: Fields
    form: str = ""


@dataclass
class UnionOf:
    """A union of objects."""

    tag_field: str | None = None
    open: bool = False
    tagged: dict[str, Any] = field(default_factory=dict)
    untagged: list[Any] = field(default_factory=list)

    def is_lone(self) -> bool:
        """Return whether there is only one type, which may be absent."""
        return not self.tagged and not self.open and len(self.untagged) == 1


def join(forms: Iterable[str]) -> str:
    """Describe several types. If one of them is anything, the others are left out."""
    found = set(forms)
    return "any" if "any" in found else " | ".join(sorted(found))


def _has_words(theirs: str, ours: str) -> bool:
    """Return whether ours has the same values, or the same and more."""
    kind, _, words = theirs.partition("word(")
    our_kind, _, our_words = ours.partition("word(")
    return bool(words) and kind == our_kind and set(words[:-1].split(", ")) <= set(our_words[:-1].split(", "))


def _same_default(ours: Any, theirs: Any, *, whole: bool) -> bool:
    if theirs is ABSENT:
        return ours is ABSENT or ours in ([], {})
    if not whole and isinstance(ours, dict) and isinstance(theirs, dict):
        return all(key in ours and _same_default(ours[key], value, whole=False) for key, value in theirs.items())
    return bool(ours == theirs)


def _describe(default: Any) -> str:
    return "nothing" if default is ABSENT else repr(default)
