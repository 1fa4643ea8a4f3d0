"""Rules as tables and as short text."""

from __future__ import annotations

import contextlib
import tomllib
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.properties import steady

from accord.errors import RuleError
from accord.policy.rule import Rule, format_conditions, format_rule, parse_rule, rule_from_table, rule_to_table
from accord.policy.sources import parse_flags, parse_permissions


@pytest.mark.parametrize(
    "text, rule",
    [
        ("allow command:git status", Rule(effect="allow", command=("git status",))),
        ("deny path:**/.env", Rule(effect="deny", path=("**/.env",))),
        ("allow read:docs/** agent:scribe", Rule(effect="allow", path=("docs/**",), access="read", agent="scribe")),
        ("allow write:a write:b", Rule(effect="allow", path=("a", "b"), access="write")),
        ("ask kind:execute", Rule(effect="ask", tool_kind="execute")),
        ("ask title:Delete *", Rule(effect="ask", title="Delete *")),
        ("allow line:cd a && make > log", Rule(effect="allow", line=("cd a && make > log",))),
        ("allow url:https://example.com/docs/**", Rule(effect="allow", url=("https://example.com/docs/**",))),
        ("allow mcp:github/list_*", Rule(effect="allow", mcp=("github/list_*",))),
        ("allow command:docker run img:tag", Rule(effect="allow", command=("docker run img:tag",))),
        ('deny title:"a kind:b"', Rule(effect="deny", title="a kind:b")),
        ('deny title:"say \\"hi\\"\\n\\\\"', Rule(effect="deny", title='say "hi"\n\\')),
        ("deny all session:s1", Rule(effect="deny", everything=True, session="s1")),
        ("allow command:make scope:once", Rule(effect="allow", command=("make",), scope="once")),
        (
            "allow command:make expires:2030-01-01T00:00:00+00:00",
            Rule(effect="allow", command=("make",), expires=datetime(2030, 1, 1, tzinfo=UTC).timestamp()),
        ),
    ],
)
def test_a_short_text_is_a_rule_and_a_rule_a_short_text(text: str, rule: Rule) -> None:
    assert parse_rule(text) == rule
    assert format_rule(rule) == text
    assert rule_from_table(rule_to_table(rule)) == rule


def test_an_option_says_the_effect() -> None:
    assert parse_rule("command:git status", "allow") == parse_rule("allow command:git status")
    assert format_conditions(parse_rule("path:**/.env", "deny")) == "path:**/.env"


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "is empty"),
        ("git status", "found 'git status'; expected KEY:VALUE"),
        ("comand:git status", "at character 1 of the rule 'comand:git status': found 'comand:git status'"),
        ("kind:", "nothing follows 'kind:'"),
        ('title:"a', "the quote at character 7 isn't closed"),
        ('title:"a"b', "at character 10"),
        ('title:"\\x"', "found \\x"),
        ("kind:a kind:b", "kind is given twice"),
        ("path:a write:b", "can't be combined"),
        ("path:a command:b", "one subject"),
        ("path:../x", "contains .."),
        ("command:a; b", "an unquoted ';'"),
        ("url:http://", "URL pattern"),
        ("scope:always path:a", "scope is 'always'; expected once, session or forever"),
        ("path:a expires:soon", "expires is 'soon'; expected a date and time"),
        ("scope:once", "doesn't say what to ask"),
    ],
)
def test_an_invalid_rule_text_is_refused_with_the_position(text: str, words: str) -> None:
    with pytest.raises(RuleError) as refused:
        parse_rule(text, "ask", where="--ask")
    assert words in str(refused.value)
    assert str(refused.value).startswith("--ask: ")


def test_without_an_effect_the_text_has_to_begin_with_one() -> None:
    with pytest.raises(RuleError, match="doesn't start with allow, ask or deny"):
        parse_rule("command:git status")


@pytest.mark.parametrize("text", ["kind:read", "title:Read *", "kind:read title:x", "kind:read agent:scribe session:s"])
def test_an_agents_own_description_of_a_call_never_allows_it(text: str) -> None:
    with pytest.raises(RuleError, match="what the agent says about itself, which is never enough to allow"):
        parse_rule(text, "allow")
    assert parse_rule(text, "ask").effect == "ask"
    assert parse_rule(text, "deny").effect == "deny"
    assert parse_rule(text, "allow", trusted_agent=True).effect == "allow"


def test_only_the_user_who_starts_the_agent_can_allow_everything() -> None:
    with pytest.raises(
        RuleError, match=r"only the user who starts an agent .*--allow all .*trusted_agent=True in a program"
    ):
        parse_rule("all", "allow")
    with pytest.raises(RuleError, match="must say what it allows"):
        parse_rule("agent:scribe", "allow")
    with pytest.raises(RuleError, match="only the user who starts an agent"):
        rule_from_table({"effect": "allow", "everything": True})
    assert parse_rule("all", "allow", trusted_agent=True).everything
    assert parse_rule("all", "deny").everything


@pytest.mark.parametrize(
    "table, words",
    [
        ({}, "effect is nothing; expected allow, ask or deny"),
        ({"effect": "permit"}, "effect is 'permit'"),
        ({"effect": "deny", "paths": "x"}, "unknown key 'paths' in a rule; expected effect, everything"),
        ({"effect": "deny", "path": 5}, "path is 5; expected a string or a list of strings"),
        ({"effect": "deny", "path": []}, "path is []"),
        ({"effect": "deny", "path": ["a", ""]}, "path is ['a', '']"),
        ({"effect": "deny", "kind": ["a"]}, "kind is ['a']; expected a string"),
        ({"effect": "deny", "path": "a", "access": "execute"}, "access is 'execute'; expected read or write"),
        ({"effect": "deny", "command": "a", "access": "read"}, "access requires a path"),
        ({"effect": "deny", "everything": "yes"}, "everything is 'yes'; expected true or false"),
        ({"effect": "deny", "path": "a", "expires": "tomorrow"}, "expires is 'tomorrow'"),
        ({"effect": "deny", "command": "x" * 20_000}, "command has 20000 characters; expected at most 16384"),
    ],
)
def test_an_invalid_table_is_refused_with_an_explanation(table: dict[str, Any], words: str) -> None:
    with pytest.raises(RuleError) as refused:
        rule_from_table(table)
    assert words in str(refused.value)


@steady
@given(st.text(max_size=60), st.sampled_from(["allow", "ask", "deny", None]), st.booleans())
def test_no_text_raises_anything_but_a_rule_error(text: str, effect: Any, trusted: bool) -> None:
    with contextlib.suppress(RuleError):
        parse_rule(text, effect, trusted_agent=trusted)


WORDS = [
    "command:",
    "path:",
    "read:",
    "kind:",
    "title:",
    '"',
    "\\",
    " ",
    "a",
    "*",
    "[",
    "all",
    "\n",
    "expires:",
    "2030",
]


@steady
@given(st.lists(st.sampled_from(WORDS), max_size=10).map("".join))
def test_whatever_can_be_read_is_shown_so_that_it_reads_the_same(text: str) -> None:
    with contextlib.suppress(RuleError):
        rule = parse_rule(text, "deny")
        assert parse_rule(format_rule(rule)) == rule
        assert rule_from_table(rule_to_table(rule)) == rule


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.datetimes(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["effect", "command", "path", "kind", "title", "scope", "expires", "everything", "url", "x"])


@steady
@given(st.dictionaries(KEYS, VALUES | st.sampled_from(["allow", "deny", "once"]), max_size=5))
def test_no_table_raises_anything_but_a_rule_error(table: dict[str, Any]) -> None:
    with contextlib.suppress(RuleError):
        rule_from_table(table)


@steady
@given(TEXTS := st.text(min_size=1, max_size=20).filter(lambda text: text.strip() != ""), TEXTS, TEXTS)
def test_any_values_go_through_the_text_and_back(title: str, line: str, agent: str) -> None:
    rule = Rule(effect="deny", line=(line,), title=title, agent=agent)
    assert parse_rule(format_rule(rule)) == rule


@pytest.mark.parametrize(
    "text, rank",
    [
        ("line:a && b", 3),
        ("command:git status", 3),
        ("command:git status *", 2),
        ("command:git a*", 2),
        ("path:src/a.py", 3),
        ("path:src/*", 2),
        ("path:src/a path:src/**", 2),
        ("url:https://example.com/a", 3),
        ("url:example.com", 2),
        ("kind:edit", 1),
        ("all agent:x", 1),
        ("all", 0),
    ],
)
def test_a_rule_knows_how_exact_it_is(text: str, rank: int) -> None:
    assert parse_rule(text, "deny").rank == rank


def test_a_rule_expires_at_its_time() -> None:
    rule = Rule(effect="deny", path=("a",), expires=100.0)
    assert (rule.is_expired(99.9), rule.is_expired(100.0)) == (False, True)


def test_a_day_is_a_time_and_a_time_without_a_zone_is_in_utc() -> None:
    day = rule_from_table({"effect": "deny", "path": "a", "expires": datetime(2030, 1, 1).date()})
    bare = rule_from_table({"effect": "deny", "path": "a", "expires": datetime(2030, 1, 1)})
    assert day.expires == bare.expires == datetime(2030, 1, 1, tzinfo=UTC).timestamp()


def test_the_options_of_a_command_line_are_rules() -> None:
    found = parse_flags(allow=["all", "command:make"], ask=["kind:execute"], deny=["path:**/.env"])
    assert [format_rule(rule) for rule in found] == [
        "allow all",
        "allow command:make",
        "ask kind:execute",
        "deny path:**/.env",
    ]
    with pytest.raises(RuleError, match="--allow: the kind of a tool call is what the agent says about itself"):
        parse_flags(allow=["kind:read"])


def test_the_permissions_of_a_configuration_are_read() -> None:
    found = parse_permissions(
        {
            "default": "deny",
            "allow": ["command:git status", "write:src/**"],
            "deny": ["path:**/.env"],
            "rules": [{"effect": "ask", "kind": "execute"}],
        }
    )
    assert found.default == "deny"
    assert [format_rule(rule) for rule in found.rules] == [
        "allow command:git status",
        "allow write:src/**",
        "deny path:**/.env",
        "ask kind:execute",
    ]


@pytest.mark.parametrize(
    "table, words",
    [
        ({"alow": []}, "config.toml: permissions.alow: unknown setting; expected default, allow, ask"),
        ({"default": "allow"}, "config.toml: permissions.default: is 'allow'; expected ask or deny"),
        ({"allow": "x"}, "config.toml: permissions.allow: is 'x'; expected a list"),
        ({"allow": ["path:a", "kind:edit"]}, "config.toml: permissions.allow[1]: the kind of a tool call"),
        ({"rules": {}}, "config.toml: permissions.rules: isn't a list"),
        ({"rules": [5]}, "config.toml: permissions.rules[0]: is 5; expected a table"),
        ({"rules": [{"effect": "no"}]}, "config.toml: permissions.rules[0]: effect is 'no'"),
    ],
)
def test_an_error_in_a_configuration_is_reported_with_its_key(table: dict[str, Any], words: str) -> None:
    with pytest.raises(RuleError) as refused:
        parse_permissions(table, where="config.toml")
    assert str(refused.value).startswith(words)


@pytest.mark.parametrize(
    "lines, words",
    [
        (["alow = []"], "line 4: permissions.alow: unknown setting; expected default, allow, ask, deny"),
        (["default = 'allow'"], "line 4: permissions.default: is 'allow'; expected ask or deny"),
        (["allow = ['path:a',", "  'kind:edit',", "]"], "line 5: permissions.allow[1]: the kind of a tool call"),
        (['deny = ["path:a", "line:\\"x\\" y"]'], "line 4: permissions.deny[1]: at character 10"),
        (["[[permissions.rules]]", "effect='ask'", "path='a'", "[[permissions.rules]]", "effect='no'"], "line 8: "),
        (["[[permissions.rules]]", "effect='deny'", "path = 'a/../b'"], "line 6: permissions.rules[0]: the path"),
    ],
)
def test_an_error_is_reported_with_its_line_if_the_text_is_known(lines: list[str], words: str) -> None:
    text = "\n".join(["# mine", "default_agent = 'a'", "[permissions]", *lines])
    with pytest.raises(RuleError) as refused:
        parse_permissions(tomllib.loads(text)["permissions"], where="config.toml", text=text)
    assert str(refused.value).startswith(f"config.toml: {words}")
