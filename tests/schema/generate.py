"""Instances of the published types, made up from the published schemas alone.

The same seed gives the same instances. Keys that no schema knows are put into most objects: those that begin with
`dropped` may get lost when an object is read into a type, those that begin with `kept` lie inside an unknown variant
and must survive."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, Literal

Size = Literal["least", "most", "some"]

FORMATS = {
    "uri": ["file:///project/notes.md", "https://example.com/a?b=c#d"],
    "date-time": ["2026-11-15T20:16:00Z", "2024-02-29T23:59:59.5+05:30"],
    "regex": ["^[a-z]+$", "a|b"],
    "base64": ["", "aGVsbG8=", "/+8="],
}
TEXTS = ["text", "ünï–códe 𝄞", "", 'quo"te\\n', "_custom"]
VALUES = [None, True, 0, -1.5, "text", [1, "two", None], {}, {"deep": {"deeper": [False]}}]
TOPS = {
    "uint16": 0xFFFF,
    "uint32": 0xFFFF_FFFF,
    "uint64": 0xFFFF_FFFF_FFFF_FFFF,
    "int32": 0x7FFF_FFFF,
    "int64": 0x7FFF_FFFF_FFFF_FFFF,
}
BOTTOMS = {"int32": -0x8000_0000, "int64": -0x8000_0000_0000_0000}


class Generator:
    """Makes instances of the types of one schema.

    `flat` names the unions that are one class on our side, where an unknown variant cannot keep its own keys. A union
    that is a variant of another union is always one: its class has the tag of the outer union."""

    def __init__(self, schema: dict[str, Any], *, flat: frozenset[str] = frozenset()) -> None:
        self._defs = schema["$defs"]
        self._flat = flat
        self._random = random.Random()
        self._size: Size = "some"

    def instances(self, name: str, *, seed: int = 0, count: int = 4) -> Iterator[Any]:
        """The least and the most an instance can be, each variant of the type once, and some in between."""
        variants = len(_options(self._defs[name])) or 1
        sizes: list[Size] = ["least", "most", *["some"] * count]
        for number in range(max(variants, len(sizes))):
            self._random.seed(f"{name} {seed} {number}")
            self._size = sizes[number] if number < len(sizes) else "some"
            yield self._make_named(name, variant=number % variants)

    def _make_named(self, name: str, variant: int | None = None, *, flat: bool = False) -> Any:
        return self._value(self._defs[name], variant=variant, flat=flat or name in self._flat)

    def _value(self, node: Any, *, variant: int | None = None, flat: bool = False) -> Any:
        if node is True or not _says_anything(node):
            return self._random.choice(VALUES)
        if "const" in node:
            return node["const"]
        is_variant = any("const" in prop for prop in node.get("properties", {}).values())
        parts = [self._make_named(part, flat=is_variant) for part in _refs(node)]
        options = _options(node)
        if options:
            number = self._random.randrange(len(options)) if variant is None else variant
            parts.append(self._option(options[number], flat=flat))
        kinds = node.get("type")
        if kinds is not None:
            kinds = kinds if isinstance(kinds, list) else [kinds]
            told = [kind for kind in kinds if kind != "null"] if self._size == "most" else kinds
            parts.insert(0, self._plain(self._random.choice(told or kinds), node))
        if len(parts) == 1:
            return parts[0]
        merged: dict[str, Any] = {}
        for part in parts:
            merged |= part
        return merged

    def _option(self, option: dict[str, Any], *, flat: bool) -> Any:
        value = self._value(option)
        if "not" in option:
            tag = next(key for known in option["not"]["anyOf"] for key in known["properties"])
            value |= {tag: self._random.choice(["_future", "_", "future"])}
            value |= {f"{'dropped' if flat else 'kept'}ByNobody": self._random.choice(VALUES)}
        return value

    def _plain(self, kind: str, node: dict[str, Any]) -> Any:
        match kind:
            case "null":
                return None
            case "boolean":
                return self._random.random() < 0.5
            case "string":
                form = node.get("format") or node.get("contentEncoding")
                texts = FORMATS[form] if form else [t for t in TEXTS if len(t) >= node.get("minLength", 0)]
                return self._random.choice(texts)
            case "integer":
                low = max(BOTTOMS.get(node["format"], 0), node.get("minimum", BOTTOMS.get(node["format"], 0)))
                high = min(TOPS[node["format"]], node.get("maximum", TOPS[node["format"]]))
                return self._random.choice([low, max(low, 1), self._random.randint(low, high), high])
            case "number":
                low, high = node.get("minimum", -1e9), node.get("maximum", 1e9)
                return self._random.choice([low, high, self._random.uniform(low, high)])
            case "array":
                least = node.get("minItems", 0)
                return [self._value(node["items"]) for _ in range(least + self._some(2))]
            case "object":
                return self._object(node)
        raise ValueError(f"a type of the schema that this generator does not know: {kind}")

    def _object(self, node: dict[str, Any]) -> dict[str, Any]:
        value: dict[str, Any] = {}
        properties = node.get("properties")
        if properties is None and "additionalProperties" in node:
            more = node["additionalProperties"]
            return {f"key{number}": self._value(more) for number in range(self._some(2))}
        for key, prop in (properties or {}).items():
            if key in node.get("required", ()) or self._some(1):
                value[key] = self._value(prop)
        if self._some(1):
            value["droppedByTypes"] = self._random.choice(VALUES)
        return value

    def _some(self, most: int) -> int:
        return {"least": 0, "most": most, "some": self._random.randint(0, most)}[self._size]


def _says_anything(node: dict[str, Any]) -> bool:
    return bool(node.keys() & {"type", "const", "$ref", "allOf", "anyOf", "oneOf"})


def _options(node: Any) -> list[dict[str, Any]]:
    return (node.get("oneOf") or node.get("anyOf") or []) if isinstance(node, dict) else []


def _refs(node: dict[str, Any]) -> list[str]:
    parts = [node, *node.get("allOf", ())]
    return [part["$ref"].rpartition("/")[2] for part in parts if "$ref" in part]
