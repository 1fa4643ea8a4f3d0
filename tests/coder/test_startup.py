"""The agent as an editor starts it: capabilities, imported modules, and messages without a key."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.scripted_model import ScriptedModel, ScriptedResources, coder
from support.wire_client import hello as hello_to

import accord
from accord.coder.agent import NO_MODEL, Coder
from accord.model.requests import McpServer
from accord.store.memory import MemoryStore
from accord.testing import wire_client

Join = Callable[..., Any]
OURS = ("accord.coder.tools", "accord.coder.models", "accord.coder.session", "accord.policy", "accord.workspace")
HEAVY = ("pydantic_ai", "pydantic", "mcp", "httpx2", "anthropic", "openai", "keyring", "sqlite3", "rich", "textual")


def hello(version: int, **capabilities: Any) -> bytes:
    named = {"clientInfo": {"name": "t", "version": "1"}, "clientCapabilities": capabilities}
    if version == 2:
        named = {"info": {"name": "t", "version": "1"}, "capabilities": capabilities}
    call = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": version, **named}}
    return json.dumps(call).encode() + b"\n"


@pytest.mark.req("V1-REG-06")
@pytest.mark.parametrize("version", [1, 2])
def test_without_a_key_it_initializes_with_a_clean_stdout_and_offers_logins(version: int, project: Path) -> None:
    terminal = {"auth": {"terminal": True if version == 1 else {}}}
    done = subprocess.run(
        [sys.executable, "-m", "accord", "agent"],
        input=hello(version, **terminal),
        capture_output=True,
        cwd=project,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    (line,) = done.stdout.splitlines()
    result = json.loads(line)["result"]
    assert result["protocolVersion"] == version
    assert {method.get("type", "agent") for method in result["authMethods"]} == {"agent", "terminal"}
    for method in result["authMethods"]:
        assert method["id" if version == 1 else "methodId"] and method["name"]


@pytest.mark.parametrize("version", [1, 2])
def test_nothing_heavy_is_loaded_before_the_first_answer(version: int, project: Path) -> None:
    program = (
        "import sys, runpy\n"
        "sys.argv = ['accord', 'agent']\n"
        "try:\n    runpy.run_module('accord', run_name='__main__')\n"
        "finally:\n    sys.stderr.write(' '.join(sorted(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=hello(version),
        capture_output=True,
        cwd=project,
        timeout=300,
        check=False,
    )
    loaded = set(done.stderr.decode().split())
    assert "accord.coder.agent" in loaded
    assert loaded.isdisjoint(HEAVY), sorted(loaded & set(HEAVY))
    early = [name for name in loaded if name.startswith(OURS)]
    assert not early, f"needed by sessions, not by the first answer: {sorted(early)}"


async def test_a_session_without_a_key_uses_the_offline_model_and_shows_a_notice(joined: Join) -> None:
    async with joined(Coder()) as client:
        await client.login("keys")
        session = await client.new_session()
        assert session.option("model").value == "offline"
        events = [event async for event in session.prompt("please write me a poem about the sea")]
        transcript = session.transcript
    thoughts = [event.text for event in events if isinstance(event, accord.Thought)]
    assert any(NO_MODEL in text for text in [*thoughts, *(notice.title for notice in session.transcript.notices)])
    assert "accord login" in transcript.text


@pytest.mark.parametrize("chosen", [False, True])
async def test_after_a_login_open_sessions_offer_the_newly_available_models(
    joined: Join, monkeypatch: pytest.MonkeyPatch, chosen: bool
) -> None:
    async with joined(Coder()) as client:
        session = await client.new_session()
        before = [choice.value for choice in session.option("model").choices]
        if chosen:
            await session.set_option("model", "offline")
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a-key")
        async with session.events() as events:
            await client.login("keys")
            await anext(events)
        option = session.option("model")
        assert len(option.choices) > len(before)
        assert any(choice.value.startswith("anthropic:") for choice in option.choices)
        assert (option.value == "offline") is chosen, "who made do with what there was gets something better"


async def test_a_login_that_finds_no_key_is_reported_in_open_sessions(joined: Join) -> None:
    async with joined(Coder()) as client:
        session = await client.new_session()
        await client.login("keys")
        events = [event async for event in session.prompt("help")]
        thoughts = "".join(event.text for event in events if isinstance(event, accord.Thought))
        notices = [notice.title for notice in session.transcript.notices]
        assert "No key found" in [*notices, *thoughts.splitlines()]


BAD = {
    "a relative cwd": ("session/new", {"cwd": "project", "mcpServers": []}, "cwd must be an absolute path"),
    "a missing directory": (
        "session/new",
        {"cwd": "/no/such/place", "mcpServers": []},
        "does not exist; choose an existing directory",
    ),
    "an unknown session": ("session/prompt", {"sessionId": "nobody", "prompt": []}, "there is no session 'nobody'"),
    "a session that was never saved": (
        "session/load",
        {"sessionId": "lost", "mcpServers": []},
        "there is no session 'lost'",
    ),
    "an unknown mode": ("session/set_mode", {"modeId": "wild"}, "may be ask, code, architect"),
    "an unknown model": ("session/set_model", {"modelId": "nobody:x"}, "there is no model 'nobody:x'"),
    "an unknown option": ("session/set_config_option", {"configId": "x", "value": "y"}, "there is no option 'x'"),
    "a content type it did not offer": (
        "session/prompt",
        {"prompt": [{"type": "audio", "data": "", "mimeType": "audio/wav"}]},
        "prompt[0].type is 'audio'; this agent supports text, resource_link, image, resource",
    ),
}


@pytest.mark.parametrize("name", BAD)
async def test_bad_input_gets_a_helpful_answer_and_the_session_stays_usable(name: str, project: Path) -> None:
    method, params, words = BAD[name]
    model = ScriptedModel(["Still here."])
    async with wire_client(Coder(store=MemoryStore(), shared=ScriptedResources(model, ()))) as peer:
        await hello_to(peer, 1)
        place = {"cwd": str(project), "mcpServers": []}
        session = (await peer.call("session/new", place))["result"]["sessionId"]
        answer = await peer.call(
            method, {"sessionId": session, **(place if method == "session/load" else {}), **params}
        )
        assert words in answer["error"]["message"]
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "hello?"}]}
        assert (await peer.call("session/prompt", prompt))["result"]["stopReason"] == "end_turn"


async def test_an_mcp_server_with_a_missing_command_is_reported_and_the_session_works(
    joined: Join, project: Path
) -> None:
    agent, _ = coder(["Still here."])
    server = McpServer(name="ghost", command="/no/such/server")
    async with joined(agent) as client:
        session = await client.new_session(mcp_servers=[server])
        events = [event async for event in session.prompt("hello?")]
        told = [event.text for event in events if isinstance(event, accord.Thought)]
        told += [notice.title for notice in session.transcript.notices]
    assert session.last_turn.text == "Still here."
    assert any("ghost" in text and "/no/such/server" in text for text in told), told


async def test_each_client_is_notified_once_that_there_is_no_model(joined: Join) -> None:
    agent = Coder()
    for _ in range(2):
        async with joined(agent) as client:
            await client.login("keys")
            told = []
            for _ in range(2):
                session = await client.new_session()
                events = [event async for event in session.prompt("/help")]
                thoughts = [event.text for event in events if isinstance(event, accord.Thought)]
                notices = [notice.title for notice in session.transcript.notices]
                told.append(sum(NO_MODEL in text for text in [*thoughts, *notices]))
            assert told == [1, 0]
