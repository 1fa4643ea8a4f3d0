"""Tool schemas of servers, adapted so that every provider accepts them."""

from __future__ import annotations

from typing import Any

from accord.coder.mcp.tool import inline_references


def test_references_are_replaced_with_their_definitions() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"at": {"$ref": "#/$defs/Place", "description": "where"}},
        "required": ["at"],
        "$defs": {
            "Place": {"type": "object", "properties": {"x": {"$ref": "#/$defs/Number"}}},
            "Number": {"type": "number"},
        },
    }
    assert inline_references(schema) == {
        "type": "object",
        "properties": {"at": {"type": "object", "properties": {"x": {"type": "number"}}, "description": "where"}},
        "required": ["at"],
    }


def test_recursive_references_become_open_schemas() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    found = inline_references(
        {"type": "object", "properties": {"first": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    )
    assert found["properties"]["first"] == {"type": "object", "properties": {"next": {}}}


def test_an_invalid_reference_becomes_an_open_schema() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/nothing"}, "b": {"$ref": "https://example.com/x"}}}
    assert inline_references(schema)["properties"] == {"a": {}, "b": {}}


def test_a_schema_that_would_grow_too_large_is_unchanged() -> None:
    levels: dict[str, Any] = {"L0": {"type": "string"}}
    for level in range(1, 20):
        twice = {"$ref": f"#/$defs/L{level - 1}"}
        levels[f"L{level}"] = {"type": "object", "properties": {"a": twice, "b": twice}}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/L19"}}, "$defs": levels}
    assert inline_references(schema) == schema


def test_the_arguments_are_an_object_whatever_the_servers_schema() -> None:
    assert inline_references({}) == {"type": "object", "properties": {}}
    assert inline_references({"type": ["object", "null"]})["type"] == "object"
