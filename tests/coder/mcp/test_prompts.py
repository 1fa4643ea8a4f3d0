"""Arguments of a server's prompts."""

from __future__ import annotations

from typing import Any

import pytest

from accord.coder.mcp.errors import McpServerError
from accord.coder.mcp.prompts import command, messages, parse_arguments
from accord.model.content import TextContent


def prompt(*required: str, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    arguments = [{"name": name, "required": True} for name in required] + [{"name": name} for name in optional]
    return {"name": "p", "description": "Does it.\nAnd more.", "arguments": arguments}


def test_the_hint_of_a_command_lists_its_arguments() -> None:
    made = command("mcp:s:p", "s", prompt("file", optional=("style",)))
    assert (made.name, made.description, made.hint) == ("mcp:s:p", "Does it. (s)", "<file> [style]")
    assert command("mcp:s:p", "s", {"name": "p"}).hint is None


@pytest.mark.parametrize(
    "listed, text, given",
    [
        (prompt("a"), "all of this = one", {"a": "all of this = one"}),
        (prompt("a"), "a=1", {"a": "a=1"}),
        (prompt("a", "b"), "one two three", {"a": "one", "b": "two three"}),
        (prompt("a", "b"), '"one two" three', {"a": "one two", "b": "three"}),
        (prompt("a", "b"), "b=2 a='x y'", {"a": "x y", "b": "2"}),
        (prompt("a", optional=("b",)), "it's", {"a": "it's"}),
        (prompt("a", optional=("b",)), "it's so", {"a": "it's", "b": "so"}),
        (prompt(optional=("a", "b")), "", {}),
        (prompt(), "", {}),
    ],
)
def test_arguments_are_taken_in_order_or_by_name(listed: dict[str, Any], text: str, given: dict[str, str]) -> None:
    assert parse_arguments("s", listed, text) == given


def test_missing_and_unknown_arguments_are_reported() -> None:
    with pytest.raises(McpServerError, match="MCP server s: the prompt 'p' needs b; expected: <a> <b>"):
        parse_arguments("s", prompt("a", "b"), "one")
    with pytest.raises(McpServerError, match="takes no arguments"):
        parse_arguments("s", prompt(), "one")


def test_messages_of_one_role_are_not_labeled() -> None:
    answer = {"messages": [{"role": "user", "content": {"type": "text", "text": word}} for word in ("a", "b")]}
    assert messages(answer) == [TextContent("a"), TextContent("b")]
