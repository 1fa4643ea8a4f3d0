"""Holds our types against the published schemas: every class, field, tag, word, default, mark and method.

`report(version)` is the list of differences, empty when there are none. Run as a program it prints the lists of both
versions, which is what a new release of the schemas is read with. Differences we want are in `deliberate.py`."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

if not __package__:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from schema import published_schemas
from schema.comparison import Fields, Variant
from schema.deliberate import DIFFERENT, RENAMED, UNTAGGED
from schema.our_types import Ours
from schema.published_types import Theirs


def report(version: int, unstable: dict[str, Any] | None = None, stable: dict[str, Any] | None = None) -> list[str]:
    """Describe the differences between our types of a version and the published ones."""
    ours = vocabulary(version)
    drift = Drift(version, ours, unstable or published_schemas.schema(version, unstable=True))
    found = [*drift.types(), *drift.methods(stable or published_schemas.schema(version, unstable=False))]
    partial = Drift(version, ours, stable or published_schemas.schema(version, unstable=False), whole=False)
    found += [f"{line} (stable schema)" for line in partial.types() if line not in found]
    wanted = {key.partition(" ")[2]: why for key, why in DIFFERENT.items() if key.startswith(f"v{version} ")}
    stale = [key for key in wanted if not any(line.startswith(key) for line in found)]
    return [
        *[line for line in found if not any(line.startswith(key) for key in wanted)],
        *[f"{key}: listed as deliberate ({wanted[key]}), but there is no such difference" for key in stale],
    ]


@cache
def vocabulary(version: int) -> Ours:
    """Our types of a version."""
    return Ours(importlib.import_module(f"accord.schema.v{version}"))


class Drift:
    """One comparison. With `whole`, what we have and they have not is a difference too."""

    def __init__(self, version: int, ours: Ours, schema: dict[str, Any], *, whole: bool = True) -> None:
        self.ours = ours
        self.whole = whole
        self.renamed = RENAMED[version]
        self.untagged = UNTAGGED[version]
        self.seen: set[str] = set()  # our classes that stand for something of theirs, under whatever name
        self.theirs = Theirs(schema["$defs"], cache(self._expected))

    def types(self) -> Iterator[str]:
        """Differences between types."""
        folded = self.theirs.list_folded()
        direct = self.theirs.named_by_fields()
        for name in self.theirs.names():
            if name not in folded:
                yield from self._compare_named(name, name)
            elif name in direct or name in self.untagged:
                yield from self._compare_named(name, self.untagged.get(name, name))
        # What remains are parts that several variants share, such as the scopes of a question.
        for name in sorted(folded - direct - self.seen - self.renamed.keys()):
            if not self.ours.is_variant(name):
                yield from self._compare_named(name, name)
        if self.whole:
            known = {*self.seen, *self.theirs.names(), *self.ours.duties()}
            yield from (f"{name}: not in the schema" for name in self.ours.names() if name not in known)

    def _expected(self, name: str) -> str:
        """Return the expected form of a field that names this type."""
        name = self.untagged.get(name, name)
        return self.ours.form(self.ours.get(name)) if self.ours.has(name) else f"<{name}, which we do not have>"

    def _compare_named(self, name: str, ours: str) -> Iterator[str]:
        if not self.ours.has(ours):
            yield f"{name}: missing"
        elif self.theirs.is_union(name):
            yield from self._union(name, ours)
        elif self.theirs.is_struct(name):
            yield from self._struct(name, self.theirs.struct(name), ours)
        else:
            mine, theirs = self.ours.form(self.ours.get(ours)), self.theirs.form(self.theirs.node(name))
            if mine != theirs:
                yield f"{name}: is {mine}; the schema says {theirs}"

    def _struct(self, name: str, fields: Fields, ours: str) -> Iterator[str]:
        cls = self.ours.get(ours)
        if not self.ours.is_struct(cls):
            yield f"{name}: is {self.ours.form(cls)}; the schema says an object"
            return
        if cls.__struct_config__.tag is not None:
            yield f"{name}: has the tag {cls.__struct_config__.tag!r}, but is used without one"
        self.seen.add(ours)
        yield from self._fields(name, fields, cls)

    def _union(self, name: str, ours: str) -> Iterator[str]:
        mine = self.ours.union(self.ours.get(ours))
        theirs = self.theirs.union(name)
        if mine is None:
            yield f"{name}: is {self.ours.form(self.ours.get(ours))}; the schema says a union"
            return
        if theirs.tag_field != mine.tag_field:
            yield f"{name}: is told apart by {mine.tag_field}; the schema says {theirs.tag_field}"
        if theirs.open != mine.open:
            yield f"{name}: is {'open' if mine.open else 'closed'}; the schema says otherwise"
        for tag, variant in theirs.tagged.items():
            if tag not in mine.tagged:
                yield f"{name}: has no variant {tag!r}"
            else:
                yield from self._variant(f"{name}[{tag}]", variant, mine.tagged[tag])
        if self.whole:
            for tag in mine.tagged.keys() - theirs.tagged.keys():
                yield f"{name}: the variant {tag!r} is not in the schema"
        if len(mine.untagged) != len(theirs.untagged):
            yield f"{name}: has {len(mine.untagged)} untagged variants; the schema says {len(theirs.untagged)}"
            return
        for option, variant in zip(mine.untagged, theirs.untagged, strict=True):
            if not self.ours.is_struct(option):
                if variant.form != self.ours.form(option):
                    yield f"{name}: has the variant {self.ours.form(option)}; the schema says {variant.form}"
            else:
                yield from self._variant(f"{name}[{option.__name__}]", variant, option)

    def _variant(self, place: str, variant: Variant, cls: Any) -> Iterator[str]:
        if variant.name and cls.__name__ not in (variant.name, *self.renamed.get(variant.name, ())):
            yield f"{place}: is {cls.__name__}; the schema says {variant.name}"
        self.seen.add(cls.__name__)
        place = cls.__name__ if variant.name == cls.__name__ else place
        if variant.name is not None and self.theirs.is_union(variant.name):
            yield from self._fields(place, {**variant.fields, **self.theirs.flat(variant.name)}, cls)
        else:
            yield from self._fields(place, variant.fields, cls)

    def _fields(self, place: str, theirs: Fields, cls: Any) -> Iterator[str]:
        mine = self.ours.fields(cls)
        for key, field in theirs.items():
            if key not in mine:
                yield f"{place}.{key}: missing"
                continue
            for what in field.differences(mine[key], whole=self.whole):
                yield f"{place}.{key}: {what}"
        if self.whole:
            for key in mine.keys() - theirs.keys() - {"_meta"}:
                yield f"{place}.{key}: not in the schema"

    def methods(self, stable: dict[str, Any]) -> Iterator[str]:
        """Differences between the tables of methods."""
        theirs, in_stable = self.theirs.methods(), Theirs(stable["$defs"], self._expected).methods()
        mine = self.ours.methods()
        for (method, kind), row in theirs.items():
            place = f"{method} ({kind})"
            if (method, kind) not in mine:
                yield f"{place}: missing"
                continue
            found = mine[method, kind]
            if found.served_by != row["side"]:
                yield f"{place}: served by {found.served_by}; the schema says {row['side']}"
            if found.unstable != ((method, kind) not in in_stable):
                yield f"{place}: marked {'unstable' if found.unstable else 'stable'}; the schema says otherwise"
            for what, type_ in (("params", found.params), ("result", found.result)):
                wanted = row.get(what)
                same = type_ is None if wanted is None else self.ours.has(wanted) and type_ == self.ours.get(wanted)
                if not same:
                    is_now = "nothing" if type_ is None else self.ours.form(type_)
                    yield f"{place}: its {what} is {is_now}; the schema says {wanted or 'nothing'}"
        for method, kind in mine.keys() - theirs.keys():
            yield f"{method} ({kind}): not in the schema"


def main() -> int:
    if published_schemas.folder() is None:
        print(published_schemas.MISSING, file=sys.stderr)
        return 2
    lines = [f"v{version} {line}" for version in (1, 2) for line in report(version)]
    print("\n".join(lines) or "our types and the published schemas agree")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
