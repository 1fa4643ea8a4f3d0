"""The coding agent with clients on the official SDKs: complete and cancelled turns, and a restart in between."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from coder.providers.script import Calls, Holds, Says, Thinks
from coder.providers.server import FakeProvider
from peers import commands
from support.prerequisites import require

pytestmark = pytest.mark.peer

AGENT = [sys.executable, "-m", "accord", "agent"]
APP = 'def greet(name):\n    return "hello " + name\n'
WORK = (
    "read app.py then search for greet then replace hello with goodbye in app.py then run `cat app.py` "
    "then list the files"
)


@pytest.fixture(params=["py-client-v1", "ts-client-v1", "ts-client-v2"])
def client(request: pytest.FixtureRequest) -> list[str]:
    language, _, version = request.param.split("-")
    require(commands.missing(language))
    return commands.client(language, int(version[1:]))


@pytest.fixture
def app(project: Path) -> Path:
    (project / "app.py").write_text(APP)
    return project


def use(fake: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    """Configure only OpenAI, whose library loads fastest."""
    for name, value in fake.environment().items():
        if name.startswith("OPENAI"):
            monkeypatch.setenv(name, value)


async def play(client: list[str], cwd: Path, *steps: dict[str, Any]) -> list[list[dict[str, Any]]]:
    return await asyncio.to_thread(commands.play, client, AGENT, *steps, cwd=cwd, within=300)


def updates(seen: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    found = [line["update"] for line in seen if line["saw"] == "update"]
    return [update for update in found if update["sessionUpdate"] in kinds]


def calls(seen: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the final state of the tool calls, by title."""
    by_id: dict[str, dict[str, Any]] = {}
    for update in updates(seen, "tool_call", "tool_call_update", "tool_call_content_chunk"):
        call = by_id.setdefault(update["toolCallId"], {"content": []})
        if update["sessionUpdate"] == "tool_call_content_chunk":
            call["content"] = [*call["content"], update["content"]]
        else:
            call.update(update)
    return {call["title"]: call for call in by_id.values()}


def join_text(seen: list[dict[str, Any]]) -> str:
    """Join the agent's text: chunks, or whole messages in a replay of version 2."""
    contents = (update["content"] for update in updates(seen, "agent_message_chunk", "agent_message"))
    items = (item for content in contents for item in (content if isinstance(content, list) else [content]))
    return "".join(item["text"] for item in items)


def session_of(seen: list[list[dict[str, Any]]]) -> str:
    return next(line["id"] for step in seen for line in step if line["saw"] == "session")


async def test_a_turn_plans_reads_searches_edits_and_runs_and_the_session_continues_in_a_new_process(
    client: list[str], app: Path
) -> None:
    seen = await play(
        client, app, {"do": "new"}, {"do": "prompt", "text": WORK, "permission": "allow_once"}, {"do": "close"}
    )
    turn = seen[2]
    assert [line["reason"] for line in turn if line["saw"] == "stop"] == ["end_turn"]
    assert (app / "app.py").read_text() == APP.replace("hello", "goodbye")

    plans = updates(turn, "plan", "plan_update")
    entries = [plan.get("entries") or plan["plan"]["entries"] for plan in plans]
    assert len(entries[0]) == 5 and {entry["status"] for entry in entries[-1]} == {"completed"}
    done = calls(turn)
    kinds = {call["kind"] for call in done.values()}
    assert {"read", "search", "edit", "execute"} <= kinds
    assert {call["status"] for call in done.values()} == {"completed"}
    (edit,) = [call for call in done.values() if call["kind"] == "edit"]
    assert any(item["type"] == "diff" for item in edit["content"])
    asked = [line for line in turn if line["saw"] == "permission"]
    assert len(asked) == 1, "only for the edit: cat only reads"
    (command,) = [call for call in done.values() if call["kind"] == "execute"]
    assert any(item["type"] == "terminal" for item in command["content"])
    if "v1" in client[-1]:
        requests = [line["method"] for line in turn if line["saw"] == "request"]
        assert {"fs/read_text_file", "fs/write_text_file", "terminal/create", "terminal/release"} <= set(requests)

    again = await play(
        client,
        app,
        {"do": "load", "session": session_of(seen)},
        {"do": "prompt", "text": "read app.py"},
        {"do": "list"},
    )
    replayed = again[1]
    assert list(calls(replayed)) == list(done)
    assert join_text(replayed) == join_text(turn)
    assert any(WORK in json.dumps(update) for update in updates(replayed, "user_message_chunk", "user_message"))
    assert "goodbye" in json.dumps(again[2])
    (listed,) = [line["result"]["sessions"] for line in again[3] if line["saw"] == "answer"]
    assert [each["sessionId"] for each in listed] == [session_of(seen)]


async def test_a_running_command_is_stopped_with_its_turn_and_the_session_stays_usable(
    client: list[str], app: Path
) -> None:
    started = app / "started"
    text = f"run `touch {started} && exec sleep 300`"
    seen = await play(
        client,
        app,
        {"do": "new"},
        {"do": "prompt", "text": text, "permission": "allow_once", "cancel": "in_progress"},
        {"do": "prompt", "text": "read app.py"},
    )
    assert [line["reason"] for line in seen[2] if line["saw"] == "stop"] == ["cancelled"]
    assert not [line for line in seen[2] if line["saw"] == "error"]
    (call,) = calls(seen[2]).values()
    assert call["status"] in ("failed", "cancelled")
    assert [line["reason"] for line in seen[3] if line["saw"] == "stop"] == ["end_turn"]


async def test_a_model_in_the_middle_of_its_answer_is_hung_up_on(
    client: list[str], app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeProvider() as fake:
        use(fake, monkeypatch)
        fake.says(Says("Let me think"), Holds())
        fake.says(Says("Here I am."))
        seen = await play(
            client,
            app,
            {"do": "new"},
            {"do": "prompt", "text": "hello", "cancel": True},
            {"do": "prompt", "text": "so?"},
        )
        await asyncio.wait_for(fake.asked[0].gone.wait(), 300)
    assert [line["reason"] for line in seen[2] if line["saw"] == "stop"] == ["cancelled"]
    assert join_text(seen[3]) == "Here I am."
    assert "Let me think" in json.dumps(fake.asked[1].body), "the model knows what it had said"


async def test_a_language_model_drives_the_same_tools(
    client: list[str], app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeProvider() as fake:
        use(fake, monkeypatch)
        edit = {"path": "app.py", "edits": [{"old_string": "hello", "new_string": "bye"}]}
        fake.says(Thinks("It greets."), Says("I read it. "), Calls("read_file", {"path": "app.py"}))
        fake.says(Calls("edit_file", edit))
        fake.says(Says("Changed."))
        seen = await play(client, app, {"do": "new"}, {"do": "prompt", "text": "say bye", "permission": "allow_once"})
    assert join_text(seen[2]) == "I read it. Changed."
    assert (app / "app.py").read_text() == APP.replace("hello", "bye")
    assert {call["kind"] for call in calls(seen[2]).values()} == {"read", "edit"}
    assert "def greet(name)" in json.dumps(fake.asked[1].body), "the model was told what the file holds"
