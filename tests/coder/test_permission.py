"""Nothing is changed against the rules: by any path, in any mode, or by an answer to another request."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.scripted_model import ScriptedModel, ScriptedResources
from coder.test_loop import Change, Look, call

from accord.agent.session import Session
from accord.coder.agent import Coder
from accord.coder.history import Call
from accord.coder.session import CoderSession
from accord.model.requests import PermissionRequest
from accord.policy.sources import parse_flags
from accord.store.memory import MemoryStore
from accord.testing import ScriptedClient

Join = Callable[..., Any]


class User:
    """Answers permission requests, and records them."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers) or [True]
        self.asked: list[PermissionRequest] = []
        self.before_answer: Callable[[], Any] = lambda: None

    async def __call__(self, request: PermissionRequest) -> Any:
        self.asked.append(request)
        done = self.before_answer()
        if asyncio.iscoroutine(done):
            await done
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class ObservableCoder(Coder):
    """Exposes the state of its sessions to a test."""

    def __init__(self, *answers: Any, tools: Any = None, allow: list[str] | None = None) -> None:
        kit = ScriptedResources(ScriptedModel(*answers), tools, rules=parse_flags(allow=allow or []))
        super().__init__(store=MemoryStore(), shared=kit)
        self.opened: list[Session] = []

    @property
    def last(self) -> CoderSession:
        return self.state(self.opened[-1])

    async def session_opened(self, session: Session, how: Any) -> None:
        self.opened.append(session)
        await super().session_opened(session, how)


def decisions(home: Path) -> list[dict[str, Any]]:
    path = home / "data" / "accord" / "decisions.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


PROTECTED = [
    "accord.toml",
    ".accord/commands/x.md",
    ".git/config",
    "sub/../accord.toml",
    "link.txt",
    "folder/commands/x.md",
]


@pytest.mark.parametrize("path", PROTECTED)
@pytest.mark.parametrize("change", ["write_file", "move_file"])
async def test_files_that_define_the_rules_need_permission_in_every_mode_and_by_every_name(
    joined: Join, project: Path, path: str, change: str
) -> None:
    (project / ".accord" / "commands").mkdir(parents=True)
    (project / "folder").symlink_to(".accord")
    (project / "sub").mkdir()
    (project / "note.txt").write_text("note\n")
    if path == "link.txt" and change == "write_file":
        (project / "accord.toml").write_text("")
        (project / "link.txt").symlink_to("accord.toml")
    elif path == "link.txt":
        return  # a move never replaces a link
    arguments = (
        {"path": path, "content": "x\n"} if change == "write_file" else {"source": "note.txt", "destination": path}
    )
    agent = ObservableCoder([call(change, **arguments)], ["ok"])
    user = User("reject_once")
    async with joined(agent, permissions=user) as client:
        session = await client.new_session()
        await session.set_mode("code")
        turn = await session.prompt("go")
    assert turn.tool_calls[0].status == "failed"
    assert len(user.asked) == 1
    kinds = {option.kind for option in user.asked[0].options}
    assert change == "move_file" or "allow_always" not in kinds, "this can't be allowed permanently"
    assert (project / "accord.toml").exists() is (path == "link.txt")
    assert not (project / ".accord" / "commands" / "x.md").exists()


@pytest.mark.parametrize("path", ["AGENTS.md", "sub/claude.md"])
async def test_files_with_instructions_for_agents_need_permission(joined: Join, project: Path, path: str) -> None:
    agent = ObservableCoder([call("write_file", file_path=path, content="obey\n")], ["ok"])
    user = User("reject_once")
    async with joined(agent, permissions=user) as client:
        session = await client.new_session()
        await session.set_mode("code")
        turn = await session.prompt("go")
    assert turn.tool_calls[0].status == "failed"
    assert len(user.asked) == 1
    assert not (project / path).exists()


@pytest.mark.parametrize("name", ["write_file", "edit_file", "delete_file", "move_file", "run_command"])
async def test_architect_mode_changes_nothing_whatever_the_rules_allow(joined: Join, project: Path, name: str) -> None:
    (project / "a.txt").write_text("old\n")
    arguments: dict[str, Any] = {
        "write_file": {"file_path": "a.txt", "content": "new\n"},
        "edit_file": {"file_path": "a.txt", "edits": [{"old_string": "old", "new_string": "new"}]},
        "delete_file": {"file_path": "a.txt"},
        "move_file": {"source": "a.txt", "destination": "b.txt"},
        "run_command": {"command": "rm a.txt"},
    }
    change, read = [call(name, **arguments[name])], [call("read_file", file_path="a.txt")]
    agent = ObservableCoder(change, ["ok"], read, change, ["ok"], allow=["all"])
    async with joined(agent) as client:
        session = await client.new_session()
        await session.set_mode("architect")
        turn = await session.prompt("go")
        assert turn.tool_calls[0].status == "failed"
        assert (project / "a.txt").read_text() == "old\n"
        await session.set_mode("ask")
        assert (await session.prompt("go")).tool_calls[-1].status == "completed"


async def test_a_mode_is_switched_only_with_the_users_consent(joined: Join) -> None:
    switch = call("switch_mode", mode="code", reason="it is time")
    agent = ObservableCoder([switch], ["no?"], [switch], ["gone?"], [switch], ["yes"], allow=["all"])
    user = User("reject_once", None, "allow_once")
    async with joined(agent, permissions=user) as client:
        session = await client.new_session()
        await session.set_mode("architect")
        for mode in ("architect", "architect", "code"):
            await session.prompt("go")
            assert agent.last.mode == mode
    assert len(user.asked) == 3


async def test_a_mode_switched_while_a_question_is_open_counts(joined: Join, project: Path) -> None:
    agent = ObservableCoder([call("write_file", file_path="a.txt", content="x")], ["ok"])
    user = User(True)
    user.before_answer = lambda: agent.opened[-1].set_mode("architect") and None
    async with joined(agent, permissions=user) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.tool_calls[0].status == "failed"
    assert not (project / "a.txt").exists()


async def test_permission_for_one_session_does_not_apply_to_another(joined: Join, project: Path) -> None:
    read = [call("read_file", file_path="a.txt")]
    write = [call("write_file", file_path="a.txt", content="x\n")]
    agent = ObservableCoder(
        write, ["1"], [call("write_file", file_path="a.txt", content="y\n")], ["2"], read, write, ["3"]
    )
    user = User("allow_session", "reject_once")
    async with joined(agent, permissions=user) as client:
        first, second = await client.new_session(), await client.new_session()
        await first.prompt("go")
        await first.prompt("go")
        assert (len(user.asked), (project / "a.txt").read_text()) == (1, "y\n")
        await second.prompt("go")
        assert (len(user.asked), (project / "a.txt").read_text()) == (2, "y\n")


async def test_one_answer_settles_the_same_question_of_concurrent_calls(joined: Join, home: Path) -> None:
    config = home / "config" / "accord" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[permissions]\nask = ["read:*.txt"]\n')

    class Peek(Look):
        name = "peek"
        actions = Change.actions

    calls = [Call(id=str(number), name="peek", arguments={"path": "a.txt"}) for number in range(4)]
    agent = ObservableCoder(calls, ["ok"], tools=[Peek()])
    user = User("allow_session")
    async with joined(agent, permissions=user) as client:
        turn = await (await client.new_session()).prompt("go")
    assert [each.status for each in turn.tool_calls] == ["completed"] * 4
    assert len(user.asked) == 1


async def test_a_path_whose_target_changed_since_the_permission_request_is_refused(joined: Join, project: Path) -> None:
    agent = ObservableCoder([call("write_file", file_path="new.txt", content="evil\n")], ["ok"])
    user = User(True)
    user.before_answer = lambda: (project / "new.txt").symlink_to("accord.toml")
    async with joined(agent, permissions=user) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.tool_calls[0].status == "failed"
    assert not (project / "accord.toml").exists()


async def test_a_file_that_changed_since_its_edit_was_shown_is_left_alone(joined: Join, project: Path) -> None:
    (project / "a.txt").write_text("one\n")
    agent = ObservableCoder(
        [call("edit_file", file_path="a.txt", edits=[{"old_string": "one", "new_string": "two"}])], ["ok"]
    )
    user = User(True)
    user.before_answer = lambda: (project / "a.txt").write_text("one, mine\n") and None
    async with joined(agent, permissions=user) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.tool_calls[0].status == "failed"
    assert (project / "a.txt").read_text() == "one, mine\n"


async def test_a_command_is_asked_about_whole_and_where_it_runs_and_run_as_asked(joined: Join, project: Path) -> None:
    (project / "sub").mkdir()
    line = "pwd > where.txt\n" + "true # " + "x" * 500 + "\nprintf end >> where.txt"
    agent = ObservableCoder([call("run_command", command=line, cwd="sub")], ["ok"])
    user = User(True)
    async with joined(agent, permissions=user) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.tool_calls[0].status == "completed"
    (asked,) = user.asked
    where = str((project / "sub").resolve())
    if joined.version == 1:
        assert asked.tool_call.raw_input == {"command": line, "cwd": where}
    else:
        assert (asked.command, asked.cwd) == (line, where)
    assert (project / "sub" / "where.txt").read_text() == f"{where}\nend"


@pytest.mark.parametrize("rule", ["kind:edit", "title:Write*", "write:**", "write:** agent:accord"])
async def test_rules_know_what_the_agents_own_tools_do_by_every_name(
    joined: Join, project: Path, home: Path, rule: str
) -> None:
    config = home / "config" / "accord" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[permissions]\ndeny = ['{rule}']\n")
    agent = ObservableCoder([call("write_file", file_path="a.txt", content="x")], ["ok"])
    user = User(True)
    async with joined(agent, permissions=user) as client:
        session = await client.new_session()
        await session.set_mode("code")
        turn = await session.prompt("go")
    assert (turn.tool_calls[0].status, user.asked) == ("failed", [])
    assert not (project / "a.txt").exists()


async def test_additional_directories_are_read_without_asking_and_changed_with_permission(
    joined: Join, project: Path
) -> None:
    other = project.parent / "other"
    other.mkdir()
    (other / "a.txt").write_text("there\n")
    path = str(other / "a.txt")
    read, write = call("read_file", file_path=path), call("write_file", file_path=path, content="changed\n")
    agent = ObservableCoder([read], ["ok"], [write], ["ok"], [call("read_file", file_path="/etc/hostname")], ["ok"])
    user = User("reject_once")
    async with joined(agent, permissions=user) as client:
        session = await client.new_session(additional_directories=[str(other)])
        assert (await session.prompt("go")).tool_calls[0].status == "completed"
        assert user.asked == []
        assert (await session.prompt("go")).tool_calls[0].status == "failed"
        assert len(user.asked) == 1
        assert (await session.prompt("go")).tool_calls[0].status == "failed"
    assert (other / "a.txt").read_text() == "there\n"


async def test_every_change_is_in_the_audit_log_whatever_allowed_it(joined: Join, project: Path, home: Path) -> None:
    config = home / "config" / "accord" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[permissions]\nallow = ["write:docs/**"]\ndeny = ["write:*.lock"]\n[coder]\nsandbox = "off"\n')
    calls = [
        call("write_file", id="1", file_path="docs/a.md", content="x"),
        call("write_file", id="2", file_path="a.lock", content="x"),
        call("write_file", id="3", file_path="a.txt", content="x"),
        call("run_command", id="4", command="true"),
    ]
    agent = ObservableCoder(calls, ["ok"])
    async with joined(agent, permissions=User(True)) as client:
        session = await client.new_session()
        await session.set_mode("code")
        await session.prompt("go")
    told = [(each["effect"], each["by"]) for each in decisions(home)]
    assert told == [("allow", "rule"), ("deny", "rule"), ("allow", "default"), ("allow", "person")]
    assert "code mode" in decisions(home)[2]["why"]


async def test_a_read_only_command_is_logged_although_it_needs_no_permission(
    joined: Join, project: Path, home: Path
) -> None:
    (project / "a.txt").write_text("here\n")
    user = User(False)
    async with joined(ObservableCoder([call("run_command", command="cat a.txt")], ["ok"]), permissions=user) as client:
        session = await client.new_session()
        turn = await session.prompt("go")
    assert turn.tool_calls[0].status == "completed"
    assert user.asked == []
    [logged] = decisions(home)
    assert (logged["effect"], logged["by"], logged["source"], logged["command"]) == (
        *("allow", "rule", "built in"),
        "cat a.txt",
    )


async def test_an_untrusted_project_cannot_allow_its_own_commands(joined: Join, project: Path) -> None:
    (project / "accord.toml").write_text('[permissions]\nallow = ["command:touch *"]\n[coder]\nmodel = "offline"\n')
    agent = ObservableCoder([call("run_command", command="touch evil")], ["ok"])
    user = User("reject_once")
    async with joined(agent, permissions=user) as client:
        session = await client.new_session()
        await session.prompt("go")
        told = str(session.transcript.notices) + str(list(session.transcript.messages))
    assert len(user.asked) == 1
    assert "coder ignored until you trust this directory" in told, "and the user knows"
    assert "command:touch *" in told
    assert not (project / "evil").exists()


async def test_an_invalid_answer_allows_nothing(joined: Join, project: Path) -> None:
    agent = ObservableCoder([call("write_file", file_path="a.txt", content="x")], ["ok"])
    client = ScriptedClient(permissions=["allow_forever_and_ever"])
    async with joined(agent, permissions=client.permit) as connected:
        turn = await (await connected.new_session()).prompt("go")
    assert turn.tool_calls[0].status == "failed"
    assert not (project / "a.txt").exists()


async def test_two_questions_of_two_sessions_do_not_wait_for_each_other(joined: Join, project: Path) -> None:
    write = [call("write_file", file_path="a.txt", content="x")]
    agent = ObservableCoder(write, write, ["ok"], ["ok"])
    user = User(True)
    both = asyncio.Event()

    async def wait() -> None:
        if len(user.asked) == 2:
            both.set()
        await asyncio.wait_for(both.wait(), 300)

    user.before_answer = wait
    async with joined(agent, permissions=user) as client:
        first, second = await client.new_session(), await client.new_session()
        turns = [first.prompt("go"), second.prompt("go")]
        assert [(await turn).stop_reason for turn in turns] == ["end_turn", "end_turn"]


SECRET = "API_KEY=sk-live-0123456789abcdef"
GUESSES = {
    "similar": call(
        "edit_file",
        file_path="secrets.txt",
        edits=[{"old_string": "API_KEY=sk-live-0123456789abcdeX", "new_string": "y"}],
    ),
    "exact": call("edit_file", file_path="secrets.txt", edits=[{"old_string": SECRET, "new_string": "y"}]),
    "whole": call("write_file", file_path="secrets.txt", content=f"{SECRET}\n"),
}


@pytest.mark.parametrize("guess", GUESSES)
@pytest.mark.parametrize("rules", ["deny = ['read:secrets.txt']", "deny = ['write:secrets.txt']"])
async def test_a_change_of_a_denied_file_is_refused_before_it_is_read(
    joined: Join, project: Path, home: Path, guess: str, rules: str
) -> None:
    outcome = await try_to_guess(joined, project, home, guess, rules, User(True))
    assert "not allowed" in outcome
    assert SECRET not in outcome
    assert (project / "secrets.txt").read_text() == f"{SECRET}\n"


@pytest.mark.parametrize("guess", ["similar", "whole"])
async def test_errors_do_not_quote_a_file_that_needs_permission_to_be_read(
    joined: Join, project: Path, home: Path, guess: str
) -> None:
    user = User("reject_once")
    outcome = await try_to_guess(joined, project, home, guess, "ask = ['read:secrets.txt']", user)
    assert SECRET not in outcome
    assert "already" not in outcome


async def try_to_guess(joined: Join, project: Path, home: Path, guess: str, rules: str, user: User) -> str:
    config = home / "config" / "accord" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[permissions]\n{rules}\n")
    (project / "secrets.txt").write_text(f"{SECRET}\n")
    async with joined(ObservableCoder([GUESSES[guess]], ["ok"]), permissions=user) as client:
        session = await client.new_session()
        await session.set_mode("code")
        return str((await session.prompt("go")).tool_calls[0].raw_output)
