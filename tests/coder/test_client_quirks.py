"""The coding agent with clients that have quirks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.scripted_model import coder
from coder.test_loop import Change, call

from accord.client.local_workspace import LocalWorkspace
from accord.coder.history import Call, UserSaid
from accord.model.content import TextContent
from accord.model.requests import Implementation, PermissionRequest
from accord.policy.engine import Policy
from accord.policy.sources import parse_flags
from accord.testing import ScriptedClient, link, wire_client

Join = Callable[..., Any]
CONTINUING = "<system_context>Continuing from previous session with 2 recent user messages</system_context>"


def previous(text: str) -> str:
    return f"<previous_user_message>{text}</previous_user_message>"


async def test_avantes_prompt_is_its_first_message(joined: Join) -> None:
    agent, model = coder(["Hello."])
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt([previous("find the bug"), previous("hello"), CONTINUING])
        assert session.transcript.title == "find the bug"
        turn = await session.prompt([previous("/usage"), previous("find the bug"), CONTINUING])
    assert model.requests[0].messages == [UserSaid(content=[TextContent("find the bug")])]
    assert "Model: Scripted" in turn.text


async def test_a_cancelled_request_is_not_repeated_with_the_next_one(joined: Join) -> None:
    agent, model = coder(["Well,", asyncio.Event()], ["Done."])
    async with joined(agent) as client:
        session = await client.new_session()
        cancelled = session.prompt("run make")
        async with asyncio.timeout(300):
            await model.waiting.wait()
        await session.cancel()
        assert (await cancelled).stop_reason == "cancelled"
        await session.prompt(["run make", "list files"])
        assert model.requests[1].messages[-1] == UserSaid(content=[TextContent("list files")])
        await session.prompt(["list files", "and again"])
    assert model.requests[2].messages[-1] == UserSaid(content=[TextContent("list files"), TextContent("and again")])


async def test_a_title_keeps_text_blocks_apart(joined: Join) -> None:
    agent, _ = coder(["Hello."])
    async with joined(agent) as client:
        session = await client.new_session()
        await session.prompt(["list files", "help"])
    assert session.transcript.title == "list files"


async def test_other_clients_are_offered_one_option_of_each_kind_by_its_kind(joined: Join, home: Path) -> None:
    agent, _ = coder([call("change")], ["one"], [call("change")], ["two"], tools=[Change()])
    client = ScriptedClient(permissions=["allow_always"])
    async with joined(agent, client, info=Implementation(name="CodeCompanion.nvim", version="1.0.0")) as connected:
        session, other = await connected.new_session(), await connected.new_session()
        await session.prompt("go")
        await session.prompt("again")
        assert len(client.asked) == 1, "the session remembers it"
        await other.prompt("go")
    options = client.asked[0].options
    assert [(option.id, option.kind) for option in options] == [
        ("allow_once", "allow_once"),
        ("allow_always", "allow_always"),
        ("reject_once", "reject_once"),
    ]
    assert options[1].name == "Allow for this session"
    assert not (home / "data" / "accord" / "permissions.toml").exists()


async def test_accords_own_clients_are_offered_allow_always(joined: Join) -> None:
    agent, _ = coder([call("change")], ["one"], tools=[Change()])
    client = ScriptedClient(permissions=["reject_once"])
    async with joined(agent, client) as connected:
        await (await connected.new_session()).prompt("go")
    assert [option.id for option in client.asked[0].options] == [
        "allow_once",
        "allow_session",
        "allow_always",
        "reject_once",
    ]


def always(request: PermissionRequest) -> bool:
    return True


class Lossy(LocalWorkspace):
    """A client that reports success for new files without writing them, as marimo does."""

    async def write(self, session_id: str, path: str, text: str) -> None:
        if await asyncio.to_thread(Path(path).exists):
            await super().write(session_id, path, text)


@pytest.mark.parametrize("text", ["A note.\n", ""])
async def test_a_new_file_that_the_client_did_not_write_is_written_directly(project: Path, text: str) -> None:
    agent, _ = coder([call("write_file", file_path="notes.md", content=text)], ["ok"], tools=None)
    workspace = Lossy(project, policy=Policy(project, flags=parse_flags(allow=["all"])))
    async with link(agent, cwd=str(project), workspace=workspace, permissions=always) as client:
        turn = await (await client.new_session()).prompt("go")
    assert turn.tool_calls[0].status == "completed"
    assert (project / "notes.md").read_text() == text


async def test_a_file_that_the_client_keeps_unsaved_is_not_written_behind_its_back(project: Path) -> None:
    agent, _ = coder([call("write_file", file_path="notes.md", content="A note.\n")], ["ok"], tools=None)
    client = ScriptedClient()  # keeps what is written in memory, like an editor's buffer
    async with link(agent, client, cwd=str(project)) as connected:
        turn = await (await connected.new_session()).prompt("go")
    assert turn.tool_calls[0].status == "completed"
    assert client.files == {str(project / "notes.md"): "A note.\n"}
    assert not (project / "notes.md").exists()


async def test_a_new_file_can_be_made_where_a_missing_one_is_answered_with_a_list(project: Path) -> None:
    agent, _ = coder([call("write_file", file_path="notes.md", content="A note.\n")], ["ok"], tools=None)
    answers = {
        "fs/read_text_file": [],
        "fs/write_text_file": {},
        "session/request_permission": {"outcome": {"outcome": "selected", "optionId": "allow_once"}},
    }
    async with wire_client(agent) as peer:
        capabilities = {"fs": {"readTextFile": True, "writeTextFile": True}}
        await peer.call("initialize", {"protocolVersion": 1, "clientCapabilities": capabilities})
        opened = await peer.call("session/new", {"cwd": str(project), "mcpServers": []})
        prompt = {"sessionId": opened["result"]["sessionId"], "prompt": [{"type": "text", "text": "go"}]}
        asked = await peer.ask("session/prompt", prompt)
        while (message := await peer.receive()).get("id") != asked or "method" in message:
            if message.get("method") in answers:
                await peer.reply(message, answers[message["method"]])
    assert message["result"]["stopReason"] == "end_turn"
    assert (project / "notes.md").read_text() == "A note.\n"


async def test_titles_show_paths_from_the_working_directory(joined: Join, project: Path) -> None:
    absolute = str(project / "src" / "a.txt")
    calls = [
        Call(id="1", name="read_file", arguments={"file_path": absolute}),
        Call(id="2", name="list_files", arguments={"path": str(project)}),
        Call(id="3", name="move_file", arguments={"source": absolute, "destination": str(project / "b.txt")}),
        Call(id="4", name="run_command", arguments={"command": f"cat {absolute}"}),
        Call(id="5", name="read_file", arguments={"file_path": "/etc/passwd"}),
    ]
    agent, _ = coder(calls, ["ok"], tools=None)
    async with joined(agent) as client:
        turn = await (await client.new_session()).prompt("go")
    assert [each.title for each in turn.tool_calls] == [
        "Read src/a.txt",
        "List .",
        "Move src/a.txt to b.txt",
        f"Run cat {absolute}",
        "Read /etc/passwd (outside the project)",
    ]
