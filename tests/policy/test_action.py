"""Actions from permission requests, files and terminals."""

from __future__ import annotations

from typing import Any

import pytest

from accord.model.requests import PermissionOption, PermissionRequest
from accord.model.tool import Diff, Location, ToolCall
from accord.policy.action import Action


def request(call: ToolCall | None = None, **fields: Any) -> PermissionRequest:
    options = [PermissionOption(id="yes", name="Yes", kind="allow_once")]
    return PermissionRequest(session_id="s1", title="May I?", options=options, tool_call=call, **fields)


def of(call: ToolCall | None = None, **fields: Any) -> Action:
    return Action.of_request(request(call, **fields), agent="scribe", project="/work/app")


def test_a_request_about_a_command_names_it() -> None:
    action = of(command="git status", cwd="/work/app/sub")
    assert (action.kind, action.command, action.cwd, action.unclear) == (
        "permission",
        "git status",
        "/work/app/sub",
        None,
    )
    assert (action.agent, action.session, action.project, action.asked) == ("scribe", "s1", "/work/app", True)
    assert (action.title, action.tool_kind) == ("May I?", "execute")


def test_a_request_about_nothing_is_unclear() -> None:
    assert of().unclear == "the request doesn't say what it will do"


def test_an_edit_is_about_the_files_of_its_diff_its_locations_and_its_input() -> None:
    call = ToolCall(
        id="1",
        kind="edit",
        content=[Diff.of("/work/app/a.py", "x", "y")],
        locations=[Location(path="/work/app/b.py"), Location(path="/work/app/a.py")],
        raw_input={"file_path": "c.py"},
    )
    action = of(call)
    assert action.paths == ("/work/app/a.py", "/work/app/b.py", "/work/app/c.py")
    assert action.unclear is None


def test_a_move_is_about_both_names() -> None:
    diff = Diff.of("/work/app/new.py", "x", "y")
    diff.changes[0].old_path = "/work/app/old.py"
    assert set(of(ToolCall(id="1", kind="move", content=[diff])).paths) == {"/work/app/new.py", "/work/app/old.py"}


@pytest.mark.parametrize(
    "raw, command, argv",
    [
        ({"command": "git status"}, "git status", ()),
        ({"cmd": "git status"}, "git status", ()),
        ({"command": ["bash", "-lc", "git status"]}, None, ("bash", "-lc", "git status")),
    ],
)
def test_older_agents_say_the_command_in_the_input(raw: dict[str, Any], command: str | None, argv: tuple[str]) -> None:
    action = of(ToolCall(id="1", kind="execute", raw_input=raw))
    assert (action.command, action.argv, action.unclear) == (command, argv, None)


def test_a_shell_tool_of_no_particular_kind_is_read_as_its_command() -> None:
    action = of(ToolCall(id="1", kind="other", raw_input={"command": "printf x", "timeout_secs": 5, "cwd": "sub"}))
    assert (action.command, action.cwd, action.unclear) == ("printf x", "/work/app/sub", None)


def test_a_change_described_in_the_input_is_recognized() -> None:
    written = of(ToolCall(id="1", kind="other", raw_input={"path": "/work/app/a", "content": "new\n"}))
    assert written.changes == (Diff.of("/work/app/a", None, "new\n"),) and written.unclear
    edited = of(ToolCall(id="1", kind="edit", raw_input={"file_path": "a", "old_string": "x", "new_string": "y"}))
    assert edited.changes == (Diff.of("/work/app/a", "x", "y"),)


def test_changed_files_are_distinguished_from_mentioned_files() -> None:
    call = ToolCall(id="1", kind="edit", locations=[Location(path="/work/app/a")], raw_input={"path": "b"})
    action = of(call)
    assert (action.paths, action.mentioned) == (("/work/app/a", "/work/app/b"), ("/work/app/b",))


def test_the_directory_may_be_in_the_input() -> None:
    assert of(ToolCall(id="1", kind="execute", raw_input={"command": "ls", "cwd": "sub"})).cwd == "/work/app/sub"


@pytest.mark.parametrize(
    "call",
    [
        ToolCall(id="1", kind="execute"),
        ToolCall(id="1", kind="execute", raw_input={"command": 5}),
        ToolCall(id="1", kind="execute", raw_input={"command": ["ls", 5]}),
        ToolCall(id="1", kind="edit"),
        ToolCall(id="1", kind="edit", raw_input={"file_path": "a", "command": "rm x"}),
        ToolCall(id="1", kind="other", raw_input={"path": "/work/app/a"}),
        ToolCall(id="1", kind="other", raw_input={"command": "write", "path": "a", "file_text": "x"}),
        ToolCall(id="1", kind="other", raw_input={"command": "status", "server": "production"}),
        ToolCall(id="1", kind="other", raw_input={"command": ["git", "status"]}),
        ToolCall(id="1", kind="think"),
        ToolCall(id="1", kind="switch_mode"),
        ToolCall(id="1", kind="fetch"),
        ToolCall(id="1", kind="fetch", raw_input={"url": ["a"]}),
        ToolCall(id="1", kind="_new", locations=[Location(path="/work/app/a")]),
    ],
    ids=lambda call: f"{call.kind} {call.raw_input}",
)
def test_a_tool_call_that_does_not_say_what_it_does_is_unclear(call: ToolCall) -> None:
    assert of(call).unclear


def test_two_commands_in_one_request_are_unclear() -> None:
    call = ToolCall(id="1", kind="execute", raw_input={"command": "rm x"})
    assert of(call, command="git status").unclear
    assert of(call, command="rm x").unclear is None


def test_a_fetch_is_about_its_address() -> None:
    assert of(ToolCall(id="1", kind="fetch", raw_input={"url": "https://a.b"})).url == "https://a.b"


def test_a_command_is_a_line_for_a_shell_or_words_without_one() -> None:
    line = Action.of_terminal("git status | cat", shell=True, project="/work/app", env={"A": "1"})
    assert (line.command, line.argv, line.cwd, line.env) == ("git status | cat", (), "/work/app", (("A", "1"),))
    words = Action.of_terminal("git", ["log", "a b"], shell=False, cwd="/work/app/x")
    assert (words.command, words.argv, words.cwd, words.line) == (
        None,
        ("git", "log", "a b"),
        "/work/app/x",
        "git log 'a b'",
    )
    assert Action.of_terminal("git", ["log", "a b"], shell=True).command == "git log 'a b'"


def test_files_are_read_or_written_unasked() -> None:
    assert (Action.of_read("/a").kind, Action.of_write("/a").kind) == ("read", "write")
    assert not Action.of_write("/a", session="s", agent="x", project="/p").asked
