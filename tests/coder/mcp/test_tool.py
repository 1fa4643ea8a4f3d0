"""Tool schemas of servers, adapted so that every provider accepts them."""

from __future__ import annotations

from typing import Any

from accord.coder.mcp.tool import inline_references


def test_definitions_are_written_out_where_they_are_used() -> None:
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


def test_what_refers_to_itself_is_left_open_there() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    found = inline_references(
        {"type": "object", "properties": {"first": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}}
    )
    assert found["properties"]["first"] == {"type": "object", "properties": {"next": {}}}


def test_a_reference_that_leads_nowhere_means_anything() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "#/nothing"}, "b": {"$ref": "https://example.com/x"}}}
    assert inline_references(schema)["properties"] == {"a": {}, "b": {}}


def test_a_schema_that_would_explode_stays_as_it_came() -> None:
    levels: dict[str, Any] = {"L0": {"type": "string"}}
    for level in range(1, 20):
        twice = {"$ref": f"#/$defs/L{level - 1}"}
        levels[f"L{level}"] = {"type": "object", "properties": {"a": twice, "b": twice}}
    schema = {"type": "object", "properties": {"x": {"$ref": "#/$defs/L19"}}, "$defs": levels}
    assert inline_references(schema) == schema


def test_the_arguments_are_an_object_whatever_the_servers_schema() -> None:
    assert inline_references({}) == {"type": "object", "properties": {}}
    assert inline_references({"type": ["object", "null"]})["type"] == "object"
