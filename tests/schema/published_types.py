"""Describes a published schema in the terms of the comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from schema.comparison import ABSENT, Field, Fields, UnionOf, Variant, join

RANGES = {
    "uint16": (0, 0xFFFF),
    "uint32": (0, 0xFFFF_FFFF),
    "uint64": (0, None),  # our integers have no bound above 2⁶³ − 1 to give
    "int32": (-0x8000_0000, 0x7FFF_FFFF),
    "int64": (-0x8000_0000_0000_0000, 0x7FFF_FFFF_FFFF_FFFF),
}


class Theirs:
    """One schema. `expected` says how a type that a field names should look on our side."""

    def __init__(self, defs: dict[str, Any], expected: Callable[[str], str]) -> None:
        self._defs = defs
        self._expected = expected

    def names(self) -> list[str]:
        """Return every type except the envelopes."""
        return [name for name, node in self._defs.items() if not node.get("x-docs-ignore")]

    def node(self, name: str) -> dict[str, Any]:
        node: dict[str, Any] = self._defs[name]
        return node

    def is_union(self, name: str) -> bool:
        """Return whether it is a union of objects or lists. Strings and numbers don't count."""
        options = _options(self.node(name))
        return bool(options) and not all(map(_is_plain, options)) and not any(map(_is_anything, options))

    def is_struct(self, name: str) -> bool:
        node = self.node(name)
        return node.get("type") == "object" and not self.is_union(name)

    def form(self, node: dict[str, Any]) -> str:
        """Describe a type."""
        return join(self._forms(node))

    def _forms(self, node: dict[str, Any]) -> Iterator[str]:
        if refs := _refs(node):
            yield from self._expected(refs[0]).split(" | ")
            return
        if options := _options(node):
            words = [option["const"] for option in options if option.get("type") == "string" and "const" in option]
            rest = [option for option in options if "const" not in option]
            forms = {form for option in rest for form in self._forms(option)}
            if words:
                yield f"{'open ' if 'str' in forms else ''}word({', '.join(sorted(words))})"
                forms.discard("str")
            yield from forms
            return
        kinds = node.get("type", "any")
        for kind in kinds if isinstance(kinds, list) else [kinds]:
            yield self._plain(kind, node)

    def _plain(self, kind: str, node: dict[str, Any]) -> str:
        match kind:
            case "any" | "null":
                return kind
            case "boolean":
                return "bool"
            case "string":
                if "const" in node:
                    return f"word({node['const']})"
                return f"str(min {node['minLength']})" if node.get("minLength") else "str"
            case "integer":
                low, high = RANGES[node["format"]]
                low = max(low, node.get("minimum", low))
                tops = [top for top in (high, node.get("maximum")) if top is not None]
                return f"int({low}..{min(tops) if tops else ''})"
            case "number":
                low, high = node.get("minimum", ""), node.get("maximum", "")
                return "num" if low == high == "" else f"num({low}..{high})"
            case "array":
                least = f" (min {node['minItems']})" if node.get("minItems") else ""
                return f"list of [{self.form(node.get('items', {}))}]{least}"
            case "object":
                more = node.get("additionalProperties", True)
                return f"map of [{self.form(more if isinstance(more, dict) else {})}]"
        raise ValueError(f"a type of the schema that this test does not know: {kind}")

    def struct(self, name: str) -> Fields:
        """The fields of an object, those of its parts included."""
        return self._merge(self.node(name))

    def _merge(self, node: dict[str, Any], without: str | None = None) -> Fields:
        required = set(node.get("required", ()))
        fields = {
            key: self._field(prop, key in required)
            for key, prop in node.get("properties", {}).items()
            if key != without
        }
        for ref in _refs(node):
            fields = {**self._merge(self.node(ref), without), **fields}
        # The scopes of a question: exactly one of them, so none of their fields is always there.
        for option in _options(node) if not _has_tags(node) else ():
            for key, part in self._merge(option).items():
                fields[key] = replace(part, required=False)
        return fields

    def _field(self, node: dict[str, Any], required: bool) -> Field:
        return Field(
            form=self.form(node),
            required=required,
            default=node.get("default", ABSENT),
            lenient=node.get("x-deserialize-default-on-error", False),
            filtered=node.get("x-deserialize-skip-invalid-items", False),
            null_is_empty=node.get("x-deserialize-default-on-null", False),
        )

    def union(self, name: str) -> UnionOf:
        """A union, its variants with all their fields."""
        node = self.node(name)
        found = UnionOf()
        shared = {key: value for key, value in node.items() if key in ("properties", "required")}
        for option in _options(node):
            tag_field, tag = _tag(option)
            if tag_field is not None:
                found.tag_field = tag_field
                if tag is None:
                    found.open = True
                    continue
            refs = _refs(option)
            fields = {**self._merge(shared, tag_field), **self._merge(option, tag_field)}
            variant = Variant(refs[0] if refs else None, fields, self.form(option) if not tag_field else "")
            if tag is None:
                found.untagged.append(variant)
            else:
                found.tagged[tag] = variant
        return found

    def flat(self, name: str) -> Fields:
        """A union as one object with the fields of all its variants; what some lack is optional."""
        node = self.node(name)
        fields = self._merge({key: value for key, value in node.items() if key in ("properties", "required")})
        union = self.union(name)
        if union.tag_field:
            told = fields.get(union.tag_field, Field("", required=True))
            words = f"{'open ' if union.open else ''}word({', '.join(sorted(union.tagged))})"
            form = join([words, *(form for form in told.form.split(" | ") if form not in ("", "str"))])
            fields[union.tag_field] = replace(told, form=form)
        for variant in union.tagged.values():
            parts = self.flat(variant.name) if variant.name and self.is_union(variant.name) else variant.fields
            for key, part in parts.items():
                if key not in fields:
                    fields[key] = replace(part, required=False)
        return fields

    def list_folded(self) -> set[str]:
        """Types that are parts of other types: the variants of unions, and their scopes."""
        found: set[str] = set()
        for name in self.names():
            node = self.node(name)
            for option in _options(node):
                if not _is_plain(option) and (_tag(option)[0] is not None or node.get("properties")):
                    found.update(_refs(option))
                    found.update(ref for inner in _options(option) for ref in _refs(inner))
        return found

    def named_by_fields(self) -> set[str]:
        """Types that a field names directly."""
        found: set[str] = set()

        def look(node: Any) -> None:
            if isinstance(node, dict):
                found.update(_refs(node))
                for part in (*_options(node), node.get("items"), node.get("additionalProperties")):
                    look(part)

        for name in self.names():
            node = self.node(name)
            for part in (node, *_options(node)):
                for prop in part.get("properties", {}).values():
                    look(prop)
        return found

    def methods(self) -> dict[tuple[str, str], dict[str, str]]:
        """(method, request or notification) → its side and the names of its types."""
        rows: dict[tuple[str, str], dict[str, str]] = {}
        for name, node in self._defs.items():
            if "x-method" not in node or node["x-side"] == "protocol":
                continue
            kind = "notification" if name.endswith("Notification") else "request"
            row = rows.setdefault((node["x-method"], kind), {})
            row["side"] = node["x-side"]
            row["result" if name.endswith("Response") else "params"] = name
        return rows


def _options(node: Any) -> list[dict[str, Any]]:
    return (node.get("oneOf") or node.get("anyOf") or []) if isinstance(node, dict) else []


def _refs(node: dict[str, Any]) -> list[str]:
    parts = [node, *node.get("allOf", ())]
    return [part["$ref"].rpartition("/")[2] for part in parts if "$ref" in part]


def _tag(option: dict[str, Any]) -> tuple[str | None, str | None]:
    """The tag's key and value; a value of None stands for all other values."""
    for key, prop in option.get("properties", {}).items():
        if "const" in prop:
            return key, prop["const"]
    if option.get("title") == "other" and option.get("required"):
        return option["required"][0], None
    return None, None


def _has_tags(node: dict[str, Any]) -> bool:
    return any(_tag(option)[0] for option in _options(node))


def _is_plain(option: dict[str, Any]) -> bool:
    return option.get("type") in ("string", "integer", "number", "boolean", "null") or (
        option.get("type") == "array" and option.get("items", {}).get("type") == "string"
    )


def _is_anything(option: dict[str, Any]) -> bool:
    return not option.keys() - {"title", "description"}
