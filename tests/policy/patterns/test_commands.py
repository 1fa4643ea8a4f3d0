"""Patterns for commands, to allow and to deny."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.properties import steady

from accord.errors import RuleError
from accord.policy.patterns import commands
from accord.policy.shell.parser import parse_line
from accord.policy.shell.script import SimpleCommand, Word


def simple(line: str) -> SimpleCommand:
    script = parse_line(line)
    assert script.problem is None
    return script.commands[-1]


@pytest.mark.parametrize(
    "pattern, line, allowed",
    [
        ("git status", "git status", True),
        ("git status", "git 'status'", True),
        ("git status", "git status -s", False),
        ("git status", "git", False),
        ("git status", "/tmp/git status", False),
        ("git status", "./git status", False),
        ("git status", "gіt status", False),
        ("git status", "GIT status", False),
        ("git status", "PATH=/tmp git status", False),
        ("git status", "NO_COLOR=1 PAGER=cat git status", True),
        ("git status", "PAGER=evil git status", False),
        ("git status", "LANG=../../x git status", False),
        ("A=1 make", "A=1 make", True),
        ("npm run *", "npm run build", True),
        ("npm run *", "npm run", True),
        ("npm run *", "npm run build -- --watch", True),
        ("npm run *", "npm run $SCRIPT", True),
        ("npm run *", "npm $SCRIPT", False),
        ("npm run *", "npm install", False),
        ("npm run test:*", "npm run test:unit", True),
        ("npm run test:*", "npm run test:unit x", False),
        ("npm run test:*", "npm run $X", False),
        ("npm * build", "npm run build", True),
        ("npm * build", "npm run x build", False),
        ("git commit -m *", "git commit -m 'a; b'", True),
        ("git commit -m 'a b'", "git commit -m 'a b'", True),
        ("git commit -m 'a b'", "git commit -m a b", False),
        ("echo '*'", "echo '*'", True),
        ("echo '*'", "echo x", False),
        ("echo '*'", "echo *", False),
        ("*", "anything at all", True),
        # options that do more than it seems
        ("git log *", "git log --oneline -5", True),
        ("git log *", "git log --output=/etc/x", False),
        ("git log *", "git log --outp=/etc/x", False),
        ("git log *", "git log --ext-diff", False),
        ("git log *", "git log $X", False),
        ("git log *", "git log *", False),
        ("git log *", "git log -- src/*.py", True),
        ("git log --output=*", "git log --output=x", True),
        ("git *", "git status", True),
        ("git *", "git --no-pager log", True),
        ("git *", "git -c core.pager=evil log", False),
        ("git *", "git -C /other status", False),
        ("git -C x *", "git -C x status", True),
        ("git *", "git grep -Oevil x", False),
        ("find *", "find . -name '*.py'", True),
        ("find *", "find . -delete", False),
        ("find . -delete", "find . -delete", True),
        ("find *", "find *", False),
        ("find *", "find src/*", True),
        ("sort *", "sort -u x", True),
        ("sort *", "sort -o /etc/x x", False),
        ("sort *", "sort -uo/etc/x x", False),
        ("sed *", "sed -n 5p x", True),
        ("sed *", "sed -i s/a/b/ x", False),
        ("tar *", "tar xf a --checkpoint-action=exec=evil", False),
        ("rg *", "rg --pre evil x", False),
        ("ls *", "ls *", True),
    ],
)
def test_to_allow_every_word_has_to_match(pattern: str, line: str, allowed: bool) -> None:
    assert commands.covers(pattern, simple(line)) is allowed


def test_a_name_with_signs_in_it_is_never_allowed() -> None:
    assert not commands.covers("*", SimpleCommand((Word("git status; rm x"),)))
    assert not commands.covers("git*", SimpleCommand((Word("git status; rm x"),)))
    assert not commands.covers("*", SimpleCommand(()))


@pytest.mark.parametrize(
    "pattern, line, caught",
    [
        ("rm", "rm -rf /", True),
        ("rm", "/bin/rm x", True),
        ("rm", "RM x", True),
        ("rm", "A=1 rm x", True),
        ("rm", "grep rm x", False),
        ("rm *", "rm", True),
        ("git push", "git push --force", True),
        ("git push", "git -C x push", True),
        ("git push", "git -c a=b push origin", True),
        ("git push", "git status", False),
        ("git push --force", "git push origin --force", True),
        ("git push --force", "git push origin", False),
        ("npm run deploy*", "npm run deploy:live", True),
        ("PATH=* *", "PATH=/evil ls", True),
        ("*", "anything", True),
    ],
)
def test_to_deny_the_words_in_order_are_enough(pattern: str, line: str, caught: bool) -> None:
    assert commands.catches(pattern, simple(line)) is caught


@pytest.mark.parametrize(
    "pattern", ["", "  ", "git 'status", 'git "status', "git \\", "a; b", "a && b", "a $X", 'a "$X"']
)
def test_an_invalid_pattern_is_refused_with_an_explanation(pattern: str) -> None:
    with pytest.raises(RuleError, match="command pattern"):
        commands.read(pattern)


@steady
@given(st.text(max_size=40))
def test_reading_a_pattern_raises_nothing_else(text: str) -> None:
    with contextlib.suppress(RuleError):
        commands.read(text)


@steady
@given(st.lists(st.text(min_size=0, max_size=8), min_size=1, max_size=4))
def test_words_written_as_a_pattern_match_themselves_alone(words: list[str]) -> None:
    pattern = commands.read(commands.exact_pattern(words))
    assert pattern.is_exact
    assert [pieces[0] for pieces in pattern.words] == words


@steady
@given(st.lists(st.sampled_from(["git", "rm", "x", "-o", "*", "--output=a", "a*"]), min_size=1, max_size=4))
def test_what_a_pattern_allows_it_would_also_deny(words: list[str]) -> None:
    command = SimpleCommand(tuple(Word(word) for word in ("git", "x", "--output=a")))
    pattern = " ".join(words)
    if commands.covers(pattern, command):
        assert commands.catches(pattern, command)
