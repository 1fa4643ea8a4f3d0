"""An answer covers what the user was shown, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from policy.fixtures import PROJECT, policy, read, request, run, write
from policy.test_engine_answer import Person

from accord.model.tool import Diff, Location, ToolCall
from accord.policy.action import Action
from accord.policy.remembered_rules import RememberedRules
from accord.policy.rule import format_rule


def call(kind: str, *paths: str, diffs: tuple[Diff, ...] = (), **given: Any) -> ToolCall:
    locations = [Location(path=f"{PROJECT}/{path}") for path in paths]
    return ToolCall(id="1", kind=kind, locations=locations, content=list(diffs), raw_input=given or None)


def diff(path: str, old: str | None, new: str) -> Diff:
    return Diff.of(f"{PROJECT}/{path}", old, new)


def by(*argv: str, **fields: Any) -> Action:
    return Action.of_terminal(
        argv[0], argv[1:], shell=False, session="s1", project=PROJECT, **{"cwd": PROJECT, **fields}
    )


async def after(asked: ToolCall, then: Action, *flags: str) -> str:
    """Decide about an action after a request has been allowed."""
    judged = policy(*flags)
    assert (await judged.answer(request(asked), ask=Person(True))).effect == "allow"
    return judged.decide(then).effect


@pytest.mark.parametrize(
    "asked, then",
    [
        (call("execute", ".git/hooks/pre-commit", command="make test"), write(".git/hooks/pre-commit")),
        (call("fetch", "accord.toml", url="https://example.com/"), write("accord.toml")),
        (call("fetch", "notes.txt", url="https://example.com/"), write("notes.txt")),
        (call("execute", "notes.txt", command="make test"), write("notes.txt")),
        (call("read", "notes.txt"), write("notes.txt")),
        (call("search", "notes.txt"), write("notes.txt")),
        (call("edit", "notes.txt", path="src/b.py"), write("src/b.py")),
        (call("edit", "src/b.py", diffs=(diff("notes.txt", "a", "b"),)), write("src/b.py")),
        (call("edit", ".git/config"), write(".git/config")),
        (call("edit", diffs=(diff("accord.toml", None, "x"),)), write("accord.toml", new="x")),
        (call("other", "notes.txt"), write("notes.txt")),
        (call("think", "notes.txt"), write("notes.txt")),
        (call("execute", command="make > log"), write("log")),
        (call("execute", command="cd sub && rm -rf build"), run("rm -rf build")),
        (call("execute", command="make test && make clean"), run("make clean")),
        (call("execute", command="make test"), run("make test", env={"PATH": "/evil"})),
        (call("execute", command="make test"), run("make test", cwd=f"{PROJECT}/sub")),
        (call("execute", command="make test"), by("sh", "-c", "make test; make clean")),
        (call("execute", command="tee .git/hooks/post-merge"), run("tee .git/hooks/post-merge")),
        (call("edit", "a.txt"), run("tee a.txt")),
        (call("edit", diffs=(diff("a.txt", "one", "two"),)), write("a.txt", old="one", new="rm -rf ~")),
        (call("edit", diffs=(diff("a.txt", "one", "two"),)), write("a.txt", old="0\none\n", new="0\ntwo\nmore\n")),
        (call("edit", diffs=(diff("a.txt", "one", "two"),)), write("a.txt", old="0\none\n", new="two")),
        (call("edit", diffs=(diff("a.txt", "one", ""),)), write("a.txt", old="0\none\n", new="")),
        (call("edit", path="a.txt", content="shown"), write("a.txt", new="other")),
    ],
    ids=lambda value: f"{value.kind} {value.raw_input or ''}" if isinstance(value, ToolCall) else value.kind,
)
async def test_an_answer_opens_nothing_that_was_not_shown(asked: ToolCall, then: Action) -> None:
    assert await after(asked, then) == "ask"


@pytest.mark.parametrize(
    "asked, then",
    [
        (call("edit", "notes.txt"), write("notes.txt", old="a", new="b")),
        (call("edit", "notes.txt", path="notes.txt"), write("notes.txt")),
        (call("edit", diffs=(diff("a.txt", "one", "two"),)), write("a.txt", old="0\none\none\n", new="0\ntwo\none\n")),
        (call("edit", diffs=(diff("a.txt", "one", "two"),)), write("a.txt", old="0\none\none\n", new="0\ntwo\ntwo\n")),
        (
            call("edit", diffs=(diff("a.txt", "one", "two"), diff("a.txt", "0", "9"))),
            write("a.txt", old="0\none\n", new="9\ntwo\n"),
        ),
        (call("edit", diffs=(diff("a.txt", None, "text"),)), write("a.txt", new="text\n")),
        (call("edit", diffs=(diff("a.txt", "one", "two"),)), write("a.txt", old="one\n", new="two\n")),
        (call("execute", command="make | tee x"), run("make | tee x")),
        (call("execute", command="printf 'in-%s' 42"), by("printf", "in-%s", "42")),
        (call("execute", command="printf x"), run("printf x", env={"CLAUDECODE": "1"})),
        (call("execute", command="printf x"), run("printf x", env={"AGENT_SESSION_ID": "20261116_6"})),
        (call("other", command="printf x"), by("/bin/bash", "-c", "printf x")),
    ],
    ids=lambda value: f"{value.kind} {value.raw_input or ''}" if isinstance(value, ToolCall) else value.kind,
)
async def test_an_action_shown_in_a_permission_request_is_allowed_once(asked: ToolCall, then: Action) -> None:
    assert await after(asked, then) == "allow"


async def test_a_request_to_read_grants_reading() -> None:
    assert await after(call("read", "notes.txt"), read("notes.txt"), "ask read:notes.txt") == "allow"


@pytest.mark.parametrize(
    "asked, remembered",
    [
        (call("read", "src/a.py"), ["allow read:src/a.py"]),
        (call("search", "src"), ["allow read:src"]),
        (call("edit", "src/a.py"), ["allow write:src/a.py"]),
        (call("edit", "src/a.py", path="src/b.py"), ["allow write:src/a.py"]),
        (call("execute", "src/a.py", command="make test"), ["allow command:make test"]),
        (call("execute", "accord.toml", command="make test"), []),
        (call("edit", ".git/config"), []),
        (call("fetch", "src/a.py", url="https://a.b/c"), ["allow url:https://a.b/c"]),
    ],
    ids=lambda value: f"{value.kind} {value.raw_input or ''}" if isinstance(value, ToolCall) else None,
)
async def test_always_remembers_what_the_answer_said(asked: ToolCall, remembered: list[str], tmp_path: Path) -> None:
    memory = RememberedRules(tmp_path / "permissions.toml")
    person = Person("id-allow_always")
    await policy(remembered=memory).answer(request(asked), ask=person)
    assert [format_rule(rule) for rule in memory.rules(PROJECT)] == remembered
    [choice] = [choice for choice in person.asked[0].choices if choice.kind == "allow_always"]
    assert [format_rule(rule) for rule in choice.rules] == remembered


@pytest.mark.parametrize(
    "asked",
    [
        call("execute", ".git/hooks/pre-commit", command="make test"),
        call("edit", "notes.txt", path=".git/hooks/pre-commit"),
        call("fetch", ".git/hooks/pre-commit", url="https://example.com/"),
        call("other", ".git/hooks/pre-commit"),
    ],
    ids=lambda value: value.kind,
)
async def test_a_protected_file_is_the_reason_wherever_it_is_mentioned(asked: ToolCall) -> None:
    person = Person(False)
    await policy("allow command:make test").answer(request(asked), ask=person)
    assert person.asked[0].why == f".git always needs approval ({PROJECT}/.git/hooks/pre-commit)"


@pytest.mark.parametrize(
    "name, value",
    [
        *(("PATH", "x"), ("LD_PRELOAD", "x"), ("DYLD_INSERT_LIBRARIES", "x"), ("BASH_ENV", "x"), ("ENV", "x")),
        *(("PYTHONPATH", "x"), ("PYTHONSTARTUP", "x"), ("NODE_OPTIONS", "x"), ("GIT_DIR", "x"), ("GIT_CONFIG", "x")),
        *(("PERL5OPT", "x"), ("RUBYOPT", "x"), ("EDITOR", "x"), ("PAGER", "x"), ("VISUAL", "x"), ("BROWSER", "x")),
        *(("HOME", "x"), ("IFS", "x"), ("CC", "x"), ("MAKEFLAGS", "x"), ("RUSTC_WRAPPER", "x"), ("GOFLAGS", "x")),
        *(("PYTEST_ADDOPTS", "x"), ("SHELL", "/tmp/sh"), ("XDG_CONFIG_HOME", "x"), ("npm_config_script_shell", "x")),
        *(("CLAUDECODE", "/tmp/x"), ("CLAUDECODE", "$(x)"), ("CLAUDECODE", "-x"), ("CLAUDECODE", "a b"), ("A-B", "1")),
        *(("BASH_FUNC_make%%", "x"), ("", "x")),
    ],
)
def test_a_variable_that_could_change_what_runs_is_named_and_asked_about(name: str, value: str) -> None:
    decision = policy("allow command:make *", "allow line:make test").decide(run("make test", env={name: value}))
    assert decision.effect == "ask"
    assert decision.why == f"no rule covers this (make test, sets {name})"


@pytest.mark.parametrize(
    "env",
    [
        {"CLAUDECODE": "1"},
        {"AGENT_SESSION_ID": "20261116_6"},
        {"NO_COLOR": "1", "TERM": "xterm-256color", "GIT_TERMINAL_PROMPT": "0", "SHELL": "/bin/bash"},
        {"CI": ""},
    ],
)
async def test_a_variable_that_cannot_does_not_matter_to_rules_and_answers(env: dict[str, str]) -> None:
    assert policy("allow command:make *").decide(run("make test", env=env)).effect == "allow"
    assert policy("allow line:make test").decide(run("make test", env=env)).effect == "allow"
    person = Person("allow_always")
    judged = policy()
    await judged.answer(run("make test", env=env), ask=person)
    assert judged.decide(run("make test", env=env)).effect == "allow"
