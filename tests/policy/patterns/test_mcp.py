"""Patterns for MCP tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.errors import RuleError
from accord.policy.action import Action
from accord.policy.engine import Policy
from accord.policy.question import Question
from accord.policy.rule import format_rule, parse_rule


def action(tool: str, **more: str) -> Action:
    return Action(kind="mcp", mcp=tool, title=tool, session="s", **more)  # type: ignore[arg-type]


def effect(tmp_path: Path, tool: str, *rules: str) -> str:
    return Policy(str(tmp_path), user=[parse_rule(rule) for rule in rules]).decide(action(tool)).effect


def test_a_tool_that_no_rule_names_is_asked_about(tmp_path: Path) -> None:
    assert effect(tmp_path, "github/list_issues") == "ask"


@pytest.mark.parametrize(
    "rule, allowed, not_allowed",
    [
        ("mcp:github/list_issues", ["github/list_issues"], ["github/list_issue", "gitlab/list_issues"]),
        ("mcp:github/list_*", ["github/list_issues", "github/list_"], ["github/delete", "GitHub/list_issues"]),
        ("mcp:github", ["github/anything", "github/a/b"], ["github2/anything"]),
        ("mcp:git*/read", ["github/read", "git/read"], ["git/x/read", "hub/read"]),
    ],
)
def test_an_allowing_rule_means_server_and_tool_to_the_letter(
    tmp_path: Path, rule: str, allowed: list[str], not_allowed: list[str]
) -> None:
    for tool in allowed:
        assert effect(tmp_path, tool, f"allow {rule}") == "allow", tool
    for tool in not_allowed:
        assert effect(tmp_path, tool, f"allow {rule}") == "ask", tool


def test_a_denial_counts_whatever_the_case(tmp_path: Path) -> None:
    assert effect(tmp_path, "GitHub/Delete_Repo", "allow mcp:GitHub", "deny mcp:github/delete_*") == "deny"


def test_rules_of_other_subjects_allow_no_tool(tmp_path: Path) -> None:
    rules = ("allow command:github/list", "allow path:**", "allow url:https://github/**")
    assert effect(tmp_path, "github/list", *rules) == "ask"


def test_a_title_still_makes_it_stricter(tmp_path: Path) -> None:
    assert effect(tmp_path, "github/list", "allow mcp:github", "deny title:github/*") == "deny"


@pytest.mark.parametrize("pattern", ["/tool", "github/"])
def test_a_pattern_needs_a_server(pattern: str) -> None:
    with pytest.raises(RuleError, match="expected server/tool"):
        parse_rule(f"mcp:{pattern}", "allow")


async def test_the_remembered_rule_is_about_exactly_this_tool(tmp_path: Path) -> None:
    policy = Policy(str(tmp_path))
    asked: list[Question] = []

    async def ask(question: Question) -> str:
        asked.append(question)
        return "allow_session"

    assert (await policy.answer(action("github/list"), ask=ask)).effect == "allow"
    assert [format_rule(rule) for rule in asked[0].choices[1].rules] == ["allow mcp:github/list"]
    assert policy.decide(action("github/list")).effect == "allow"
    assert policy.decide(action("github/delete")).effect == "ask"


async def test_a_name_with_a_star_in_it_is_not_remembered(tmp_path: Path) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> bool:
        asked.append(question)
        return True

    await Policy(str(tmp_path)).answer(action("github/*"), ask=ask)
    assert [choice.id for choice in asked[0].choices] == ["allow_once", "reject_once"]
