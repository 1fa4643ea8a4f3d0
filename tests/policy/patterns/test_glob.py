"""Patterns for paths, to allow and to deny."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.properties import steady

from accord.errors import RuleError
from accord.policy.patterns import glob

PROJECT, HOME = ["/work/app"], ["/home/ada"]


def covers(pattern: str, *names: str) -> bool:
    return glob.covers(pattern, names, project=PROJECT, home=HOME)


def catches(pattern: str, *names: str) -> bool:
    return glob.catches(pattern, names, project=PROJECT, home=HOME)


@pytest.mark.parametrize(
    "pattern, name, allowed, denied",
    [
        ("src/a.py", "/work/app/src/a.py", True, True),
        ("src/a.py", "/work/app/src/A.PY", False, True),
        ("src/a.py", "/work/app/lib/src/a.py", False, False),
        ("src/a.py", "/work/app2/src/a.py", False, False),
        ("./src//a.py", "/work/app/src/a.py", True, True),
        ("src", "/work/app/src/a.py", False, True),
        ("src/", "/work/app/src/a/b.py", True, True),
        ("src/*", "/work/app/src/a.py", True, True),
        ("src/*", "/work/app/src/a/b.py", False, True),
        ("src/*", "/work/app/src", False, False),
        ("src/**", "/work/app/src/a/b.py", True, True),
        ("src/**", "/work/app/src", False, True),
        ("src/**", "/work/app/src2/a", False, False),
        ("src/**/test_*.py", "/work/app/src/test_a.py", True, True),
        ("src/**/test_*.py", "/work/app/src/a/b/test_a.py", True, True),
        ("src/**/test_*.py", "/work/app/src/a/b/a.py", False, False),
        ("**", "/work/app/.hidden/x", True, True),
        ("**", "/work/app", True, True),
        ("**", "/etc/passwd", False, True),
        ("**/.env", "/work/app/.env", True, True),
        ("**/.env", "/work/app/a/b/.env", True, True),
        ("**/.env", "/work/app/.env.local", False, False),
        ("**/.env", "/elsewhere/.env", False, True),
        ("**/.git/**", "/work/app/.git", False, True),
        ("**/.git/**", "/work/app/.gitignore", False, False),
        ("*.py", "/work/app/a.py", True, True),
        ("*.py", "/work/app/src/a.py", False, False),
        ("a?c", "/work/app/abc", True, True),
        ("a?c", "/work/app/a/c", False, False),
        ("[a-c]x", "/work/app/bx", True, True),
        ("[!a-c]x", "/work/app/bx", False, False),
        ("[!a-c]x", "/work/app/dx", True, True),
        ("[]a]x", "/work/app/]x", True, True),
        ("\\*x", "/work/app/*x", True, True),
        ("\\*x", "/work/app/ax", False, False),
        ("/etc/*", "/etc/passwd", True, True),
        ("/etc/*", "/work/app/etc/passwd", False, False),
        ("/", "/", True, True),
        ("~/.ssh/**", "/home/ada/.ssh/id", True, True),
        ("~/.ssh/**", "/work/app/~/.ssh/id", False, False),
        ("~", "/home/ada", True, True),
        (".git", "/work/app/.g\u200cit", False, True),
        ("caf\u00e9", "/work/app/cafe\u0301", False, True),
    ],
)
def test_a_pattern_allows_only_exact_matches_and_denies_possible_ones(
    pattern: str, name: str, allowed: bool, denied: bool
) -> None:
    assert (covers(pattern, name), catches(pattern, name)) == (allowed, denied)


def test_to_allow_every_name_has_to_match_and_to_deny_one_is_enough() -> None:
    assert not covers("src/**", "/work/app/src/link", "/etc/passwd")
    assert catches("/etc/**", "/work/app/src/link", "/etc/passwd")
    assert not covers("src/**")


@pytest.mark.parametrize("pattern", ["", ".", "../x", "a/../b", "[a", "a[z-a]", "a\\", "a\0b", "~bob/x"])
def test_an_invalid_pattern_is_refused_with_an_explanation(pattern: str) -> None:
    with pytest.raises(RuleError, match="path pattern"):
        glob.read(pattern)


@steady
@given(st.text(max_size=30), st.text(max_size=30))
def test_no_text_raises_anything_else(pattern: str, name: str) -> None:
    try:
        covers(pattern, "/work/app/" + name)
        catches(pattern, "/work/app/" + name)
    except RuleError:
        pass


NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=("Cs",)), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..")
)


@steady
@given(st.lists(NAMES, min_size=1, max_size=4), st.lists(NAMES, min_size=1, max_size=4))
def test_a_literal_pattern_matches_its_path_alone(names: list[str], others: list[str]) -> None:
    pattern = glob.escape("/".join(names))
    assert glob.read(pattern).is_exact
    assert covers(pattern, "/work/app/" + "/".join(names))
    assert covers(pattern, "/work/app/" + "/".join(others)) is (names == others)


@steady
@given(st.lists(st.sampled_from(["a", "b", "*", "**", "a*", "?"]), min_size=1, max_size=5), st.lists(NAMES, max_size=5))
def test_what_a_pattern_allows_it_would_also_deny(pattern: list[str], names: list[str]) -> None:
    path = "/work/app/" + "/".join(names)
    if covers("/".join(pattern), path):
        assert catches("/".join(pattern), path)


def test_hostile_patterns_are_matched_without_backtracking() -> None:
    """A moment. A matcher that tries every combination would not end before the test's timeout."""
    assert not catches("*a" * 200 + "b", "/work/app/" + "a" * 4000)
    assert not catches("**/a/" * 200 + "b", "/work/app/" + "a/" * 2000)
