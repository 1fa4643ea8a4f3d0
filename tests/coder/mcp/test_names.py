"""Names of servers and their tools, for models, users and rules."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from accord.coder.mcp.servers import Names

ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}")


def test_a_tool_is_named_after_its_server() -> None:
    assert Names().tool("github", "list_issues") == "mcp__github__list_issues"


def test_characters_that_providers_reject_are_replaced() -> None:
    names = Names()
    assert names.label(0, "My Server (ö)") == "My_Server____"
    assert names.tool("x", "a.b/c") == "mcp__x__a_b_c"
    assert names.label(1, "") == "server"


def test_names_that_would_collide_get_a_number_and_keep_it() -> None:
    names = Names()
    first, second = names.tool("x", "a.b"), names.tool("x", "a/b")
    assert (first, second) == ("mcp__x__a_b", "mcp__x__a_b_2")
    assert (names.tool("x", "a/b"), names.tool("x", "a.b")) == (second, first)


@given(st.lists(st.tuples(st.text(max_size=80), st.text(max_size=120)), max_size=12, unique=True))
def test_every_name_is_valid_and_unique(pairs: list[tuple[str, str]]) -> None:
    names = Names()
    labels = [names.label(index, server) for index, (server, _) in enumerate(pairs)]
    tools = [names.tool(label, tool) for label, (_, tool) in zip(labels, pairs, strict=True)]
    assert len(set(labels)) == len(labels) and len(set(tools)) == len(tools)
    assert all(ALLOWED.fullmatch(name) for name in (*labels, *tools))
    assert all("/" not in label for label in labels)
