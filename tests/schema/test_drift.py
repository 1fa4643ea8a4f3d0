"""Our types are the published ones; and the comparison that says so would notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from schema import published
from schema.drift import report

pytestmark = pytest.mark.skipif(published.folder() is None, reason=published.MISSING)

Node = dict[str, Any]


# Each row of the ledgers' schema sections is one published type.
ROWS = {1: [f"V1-SCH-{row:03}" for row in range(1, 192)], 2: [f"V2-SCH-{row:03}" for row in range(1, 203)]}


@pytest.mark.parametrize(
    "version", [pytest.param(1, marks=pytest.mark.req(*ROWS[1])), pytest.param(2, marks=pytest.mark.req(*ROWS[2]))]
)
def test_every_type_and_method_is_as_published(version: int) -> None:
    assert report(version) == []


def changed(version: int, change: Callable[[Node], None]) -> list[str]:
    """The report after a change to the types of the unstable schema."""
    schema = published.schema(version, unstable=True)
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

    lines = changed(version, change)

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

    lines = changed(version, change)

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

    lines = changed(version, change)

    assert names
    assert [name for name in names if not any(line.startswith(f"{name}: is ") for line in lines)] == []


@pytest.mark.parametrize("version", [1, 2])
def test_a_new_variant_of_a_union_shows(version: int) -> None:
    variant = {"type": "object", "properties": {"type": {"type": "string", "const": "smell"}}, "required": ["type"]}

    def change(defs: Node) -> None:
        block = defs["ContentBlock"]
        block["oneOf" if "oneOf" in block else "anyOf"].insert(0, variant)

    assert changed(version, change) == ["ContentBlock: has no variant 'smell'"]


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
def test_each_kind_of_change_is_told_in_words(version: int, change: Callable[[Node], None], lines: list[str]) -> None:
    assert sorted(changed(version, change)) == sorted(lines)


def test_a_changed_default_shows() -> None:
    def change(defs: Node) -> None:
        defs["PromptCapabilities"]["properties"]["image"]["default"] = True

    assert changed(1, change) == ["PromptCapabilities.image: defaults to False; the schema says True"]


def method_moves(defs: Node) -> None:
    defs["PromptRequest"]["x-side"] = defs["PromptResponse"]["x-side"] = "client"


def method_is_new(defs: Node) -> None:
    defs["LogoutRequest"] = {"x-side": "agent", "x-method": "smell", "type": "object", "properties": {}}


def test_a_changed_method_shows() -> None:
    assert changed(1, method_moves) == ["session/prompt (request): served by agent; the schema says client"]
    assert "smell (request): missing" in changed(1, method_is_new)


def test_a_method_that_becomes_stable_shows() -> None:
    stable = published.schema(1, unstable=False)
    unstable = published.schema(1, unstable=True)["$defs"]
    for name in ("ForkSessionRequest", "ForkSessionResponse"):
        stable["$defs"][name] = unstable[name]

    assert "session/fork (request): marked unstable; the schema says otherwise" in report(1, stable=stable)


def test_a_stable_schema_that_says_otherwise_than_the_unstable_one_shows() -> None:
    stable = published.schema(1, unstable=False)
    stable["$defs"]["Cost"]["properties"]["currency"] = {"type": "boolean"}

    assert report(1, stable=stable) == ["Cost.currency: is str; the schema says bool (stable schema)"]


def test_a_deliberate_difference_that_is_none_any_more_shows() -> None:
    unstable, stable = published.schema(1, unstable=True), published.schema(1, unstable=False)
    for schema in (unstable, stable):
        schema["$defs"]["ToolCall"]["properties"]["kind"]["default"] = "other"

    assert report(1, unstable, stable) == [
        "ToolCall.kind: defaults to: listed as deliberate (the specification's text gives the default), "
        "but there is no such difference"
    ]
