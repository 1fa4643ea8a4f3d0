"""Our types match the published ones, and the comparison would notice any difference."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from schema import published_schemas
from schema.drift import Drift, report, vocabulary
from support.prerequisites import needs
from support.proofs import Rule, read_rules

import accord

pytestmark = needs(published_schemas.missing())

Node = dict[str, Any]


GROUPS = ("string types", "marker types", "empty params/results")
"""Subjects of rules that stand for several small types: opaque strings, objects without fields."""


def published_types(version: int, subject: str) -> list[str]:
    """The published types that a rule about types is about."""
    if subject not in GROUPS:
        return [subject]
    subjects = {rule.subject for rule in read_rules() if rule.version == version and rule.area == "SCH"}
    defs = published_schemas.schema(version, unstable=True)["$defs"]
    small = {name: node for name, node in defs.items() if name not in subjects and not node.get("x-docs-ignore")}
    group = {name: GROUPS[_group(name, node)] for name, node in small.items()}
    return [name for name in small if group[name] == subject]


def _group(name: str, node: Node) -> int:
    if node.get("type") == "string":
        return 0
    return 2 if name.endswith(("Request", "Response")) else 1


@cache
def differences(version: int) -> list[str]:
    return report(version)


@pytest.mark.parametrize("version", [1, 2])
def test_every_type_and_method_is_as_published(version: int) -> None:
    assert differences(version) == []


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(rule, id=f"{rule.id}: {rule.subject}", marks=pytest.mark.req(rule.id))
        for rule in read_rules()
        if rule.area == "SCH"
    ],
)
def test_the_type_is_as_published_and_a_change_to_it_would_show(rule: Rule) -> None:
    assert differences(rule.version) == []
    names = published_types(rule.version, rule.subject)
    assert names
    for name in names:
        schema = published_schemas.schema(rule.version, unstable=True)
        node = schema["$defs"][name]
        if node.get("type") == "object" and not {"oneOf", "anyOf"} & node.keys():
            node.setdefault("properties", {})["newField"] = {"type": "string"}
        else:
            schema["$defs"][name] = {"type": "boolean"}
        found = list(Drift(rule.version, vocabulary(rule.version), schema).types())
        assert found != differences_of_types(rule.version), f"nothing compares {name}"


def test_error_codes_of_our_own_are_outside_the_range_of_the_protocol() -> None:
    """The protocol may define any other code of its range later, with another meaning."""
    codes = {
        int(code)
        for path in Path(accord.__file__).parent.rglob("*.py")
        for code in re.findall(r"-32\d{3}\b", path.read_text("utf-8"))
    }
    published = {each["const"] for version in (1, 2) for each in _error_codes(version)}

    assert codes - published == set()
    assert {-32600, -32000} <= codes & published


def _error_codes(version: int) -> list[Node]:
    defs = published_schemas.schema(version, unstable=True)["$defs"]
    return [each for each in defs["ErrorCode"]["anyOf"] if "const" in each]


@cache
def differences_of_types(version: int) -> list[str]:
    """Compare the types alone, deliberate differences included."""
    return list(Drift(version, vocabulary(version), published_schemas.schema(version, unstable=True)).types())


def test_every_published_type_is_the_subject_of_a_rule() -> None:
    for version in (1, 2):
        defs = published_schemas.schema(version, unstable=True)["$defs"]
        subjects = [rule.subject for rule in read_rules() if rule.version == version and rule.area == "SCH"]
        named = [name for subject in subjects for name in published_types(version, subject)]
        envelopes = [name for name in defs if name not in subjects and defs[name].get("x-docs-ignore")]
        assert sorted([*named, *envelopes]) == sorted(defs)


def apply_change(version: int, change: Callable[[Node], None]) -> list[str]:
    """The report after a change to the types of the unstable schema."""
    schema = published_schemas.schema(version, unstable=True)
    change(schema["$defs"])
    return report(version, unstable=schema)


def objects(defs: Node) -> Iterator[tuple[str, Node]]:
    """Every published object that has fields, apart from the envelopes."""
    for name, node in defs.items():
        if "properties" in node and not node.get("x-docs-ignore"):
            yield name, node


@pytest.mark.parametrize("version", [1, 2])
def test_a_new_field_of_any_object_shows(version: int) -> None:
    names: list[str] = []

    def change(defs: Node) -> None:
        for name, node in objects(defs):
            node["properties"][f"new{name}"] = {"type": "string"}
            names.append(name)

    lines = apply_change(version, change)

    assert [name for name in names if not any(f".new{name}: missing" in line for line in lines)] == []


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "mark", ["x-deserialize-default-on-error", "x-deserialize-skip-invalid-items", "x-deserialize-default-on-null"]
)
def test_a_change_in_how_any_field_is_read_shows(version: int, mark: str) -> None:
    keys: set[str] = set()

    def change(defs: Node) -> None:
        for _, node in objects(defs):
            for key, prop in node["properties"].items():
                prop[mark] = not prop.get(mark, False)
                keys.add(key)

    lines = apply_change(version, change)

    assert {key for key in keys if not any(f".{key}: " in line for line in lines)} == set()


@pytest.mark.parametrize("version", [1, 2])
def test_a_new_word_of_any_list_of_words_shows(version: int) -> None:
    names: list[str] = []

    def change(defs: Node) -> None:
        for name, node in defs.items():
            options = node.get("oneOf") or node.get("anyOf") or []
            if any(option.get("type") == "string" and "const" in option for option in options):
                options.append({"type": "string", "const": "zzz"})
                names.append(name)

    lines = apply_change(version, change)

    assert names
    assert [name for name in names if not any(line.startswith(f"{name}: is ") for line in lines)] == []


@pytest.mark.parametrize("version", [1, 2])
def test_a_new_variant_of_a_union_shows(version: int) -> None:
    variant = {"type": "object", "properties": {"type": {"type": "string", "const": "smell"}}, "required": ["type"]}

    def change(defs: Node) -> None:
        block = defs["ContentBlock"]
        block["oneOf" if "oneOf" in block else "anyOf"].insert(0, variant)

    assert apply_change(version, change) == ["ContentBlock: has no variant 'smell'"]


def forget(defs: Node) -> None:
    defs["Cost"]["required"].remove("currency")


def rename(defs: Node) -> None:
    defs["Cost"]["properties"]["sum"] = defs["Cost"]["properties"].pop("amount")
    defs["Cost"]["required"] = ["sum", "currency"]


def retype(defs: Node) -> None:
    defs["Cost"]["properties"]["currency"] = {"type": ["integer", "null"], "format": "int32"}


def narrow(defs: Node) -> None:
    defs["Usage"]["properties"]["totalTokens"]["format"] = "uint32"


def close(defs: Node) -> None:
    defs["NoticeSeverity"]["anyOf"].pop()


def retag(defs: Node) -> None:
    options = defs["ToolCallContent"].get("oneOf") or defs["ToolCallContent"]["anyOf"]
    options[1]["properties"]["type"]["const"] = "patch"


def add(defs: Node) -> None:
    defs["Smell"] = {"type": "object", "properties": {}}


def remove(defs: Node) -> None:
    del defs["DeleteSessionResponse"]


@pytest.mark.parametrize(
    "change, lines",
    [
        (forget, ["Cost.currency: is required; the schema says otherwise"]),
        (rename, ["Cost.amount: not in the schema", "Cost.sum: missing"]),
        (retype, ["Cost.currency: is str; the schema says int(-2147483648..2147483647) | null"]),
        (narrow, ["Usage.totalTokens: is int(0..); the schema says int(0..4294967295)"]),
        (close, ["NoticeSeverity: is open word(error, info, warning); the schema says word(error, info, warning)"]),
        (
            retag,
            ["ToolCallContent: has no variant 'patch'", "ToolCallContent: the variant 'diff' is not in the schema"],
        ),
        (add, ["Smell: missing"]),
        (
            remove,
            [
                "DeleteSessionResponse: not in the schema",
                "session/delete (request): its result is DeleteSessionResponse; the schema says nothing",
            ],
        ),
    ],
)
@pytest.mark.parametrize("version", [1, 2])
def test_each_kind_of_change_is_described(version: int, change: Callable[[Node], None], lines: list[str]) -> None:
    assert sorted(apply_change(version, change)) == sorted(lines)


def test_a_changed_default_shows() -> None:
    def change(defs: Node) -> None:
        defs["PromptCapabilities"]["properties"]["image"]["default"] = True

    assert apply_change(1, change) == ["PromptCapabilities.image: defaults to False; the schema says True"]


def method_moves(defs: Node) -> None:
    defs["PromptRequest"]["x-side"] = defs["PromptResponse"]["x-side"] = "client"


def method_is_new(defs: Node) -> None:
    defs["LogoutRequest"] = {"x-side": "agent", "x-method": "smell", "type": "object", "properties": {}}


def test_a_changed_method_shows() -> None:
    assert apply_change(1, method_moves) == ["session/prompt (request): served by agent; the schema says client"]
    assert "smell (request): missing" in apply_change(1, method_is_new)


def test_a_method_that_becomes_stable_shows() -> None:
    stable = published_schemas.schema(1, unstable=False)
    unstable = published_schemas.schema(1, unstable=True)["$defs"]
    for name in ("ForkSessionRequest", "ForkSessionResponse"):
        stable["$defs"][name] = unstable[name]

    assert "session/fork (request): marked unstable; the schema says otherwise" in report(1, stable=stable)


def test_a_stable_schema_that_says_otherwise_than_the_unstable_one_shows() -> None:
    stable = published_schemas.schema(1, unstable=False)
    stable["$defs"]["Cost"]["properties"]["currency"] = {"type": "boolean"}

    assert report(1, stable=stable) == ["Cost.currency: is str; the schema says bool (stable schema)"]


def test_an_outdated_deliberate_difference_is_reported() -> None:
    unstable, stable = published_schemas.schema(1, unstable=True), published_schemas.schema(1, unstable=False)
    for schema in (unstable, stable):
        schema["$defs"]["ToolCall"]["properties"]["kind"]["default"] = "other"

    assert report(1, unstable, stable) == [
        "ToolCall.kind: defaults to: listed as deliberate (the specification's text gives the default), "
        "but there is no such difference"
    ]
