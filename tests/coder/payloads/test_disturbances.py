"""Requests of a session in which much goes wrong: each one still extends the one before it."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from coder.mcp.host import small
from coder.models.provider_client import their_warnings
from coder.payloads.sessions import KEY, MODELS, Conversation, configure, open_agent
from coder.providers.script import Calls, Holds, Says, Thinks
from coder.providers.server import FakeProvider
from support.link import until

from accord.client.session import Session
from accord.errors import RequestFailed
from accord.store.sqlite import SqliteStore
from accord.testing import link

pytestmark = their_warnings


@pytest.mark.parametrize("wire", MODELS)
async def test_each_request_extends_the_one_before_it_whatever_happens(
    wire: str, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    async with FakeProvider() as provider:
        configure(wire, home / "config", provider)
        store = SqliteStore(home / "sessions.sqlite")
        async with link(open_agent(wire, store), cwd=str(project), permissions=lambda request: True) as client:
            session = await client.new_session()
            await _call_badly(session, provider)
            await _switch_modes(session, provider)
            await _end_early(session, provider)
            await _change_files(session, provider, project)
        async with link(open_agent(wire, store), cwd=str(project)) as client:
            await (await client.load_session(session.id)).prompt("I am back.")
        await store.close()
        asked = [Conversation.of(wire, each.body) for each in provider.asked if each.method == "POST"]
    assert len(asked) == 19
    for earlier, later in pairwise(asked):
        assert later.prefix() == earlier.prefix()
        assert _extends(earlier.messages, later.messages)
        assert json.dumps(later.messages) != json.dumps(earlier.messages)


@pytest.mark.parametrize("wire", MODELS)
async def test_another_set_of_mcp_tools_changes_the_tools_alone(
    wire: str, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    async with FakeProvider() as provider:
        configure(wire, home / "config", provider)
        store = SqliteStore(home / "sessions.sqlite")
        agent = open_agent(wire, store)
        async with link(agent, cwd=str(project), permissions=lambda request: True) as client:
            session = await client.new_session(mcp_servers=[small()])
            provider.says(Calls("mcp__small__echo", {"a": 1}, id="c1"))
            provider.says(Calls("mcp__small__grow", {}, id="c2"))
            provider.says(Says("Grown."))
            await session.prompt("Grow.")
            (state,) = agent._states.values()
            await until(lambda: "mcp__small__grown" in state.tools())
            provider.says(Says("There is one more."))
            await session.prompt("What is there?")
        for servers in ([], [small()]):
            async with link(open_agent(wire, store), cwd=str(project)) as client:
                provider.says(Says("Yes."))
                await (await client.load_session(session.id, mcp_servers=servers)).prompt("Are you there?")
        await store.close()
        asked = [Conversation.of(wire, each.body) for each in provider.asked if each.method == "POST"]
    first, *_, grown, without, again = asked
    for earlier, later in pairwise(asked):
        assert later.system == earlier.system
        assert _extends(earlier.messages, later.messages)
    assert grown.prefix() != first.prefix() != without.prefix(), "the model gets no tool that doesn't exist"
    assert [tool for tool in _names(grown) if tool != "mcp__small__grown"] == _names(first)
    assert _names(without) == [tool for tool in _names(first) if not tool.startswith("mcp__")]
    assert again.prefix() == first.prefix(), "the same servers bring back the same prefix, in another process too"


OTHER_MODELS = {
    "anthropic": "anthropic:claude-opus-5-5",
    "responses": "openai:gpt-6-luna",
    "chat": "vllm:glm-5",
    "google": "google:gemini-3.5-flash",
    "vercel": "vercel:anthropic/claude-opus-5.5",
    "copilot": "copilot:claude-opus-4.8",
}


@pytest.mark.parametrize("wire", MODELS)
async def test_another_model_gets_the_same_history_and_a_prefix_that_differs_in_its_name(
    wire: str, home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("THE_KEY", KEY)
    async with FakeProvider() as provider:
        configure(wire, home / "config", provider)
        store = SqliteStore(home / "sessions.sqlite")
        async with link(open_agent(wire, store), cwd=str(project), permissions=lambda request: True) as client:
            session = await client.new_session()
            for model in (MODELS[wire], OTHER_MODELS[wire], MODELS[wire]):
                await session.set_option("model", model, unlisted=True)
                provider.says(Thinks("Hm.", signature="seal-1"), Calls("read_file", {"path": "absent"}, id="c1"))
                provider.says(Says("It is absent."))
                await session.prompt("Read.")
        await store.close()
        asked = [Conversation.of(wire, each.body) for each in provider.asked if each.method == "POST"]
    first, _, other, _, back, _ = asked
    for earlier, later in pairwise(asked):
        assert _without_model(later.prefix()) == _without_model(earlier.prefix())
        assert _extends(earlier.messages, later.messages)
    # No provider shares its cache between models, so the other model may see its own name.
    assert other.prefix() != first.prefix() == back.prefix()


def _without_model(prefix: str) -> str:
    return re.sub(r"(?<=\\nModel: )[^\\]*", "", prefix)


def _names(conversation: Conversation) -> list[str]:
    return re.findall(r'"name": "([a-z]\w+)", "(?:desc|input|param)', json.dumps(conversation.tools))


def _extends(earlier: list[Any], later: list[Any]) -> bool:
    """Return whether messages begin with those of an earlier request. Its last one may have become longer: a prompt
    that gets no answer is joined with the next."""
    *before, last = earlier
    same = later[len(before)]
    content = "parts" if "parts" in last else "content"
    if isinstance(last.get(content), list):
        same = {**same, content: same[content][: len(last[content])]}
    return json.dumps([*later[: len(before)], same]) == json.dumps(earlier)


async def _call_badly(session: Session, provider: FakeProvider) -> None:
    provider.says(Thinks("Hm.", signature="seal-1"), Calls("read_file", text='{"a": "b"}{"a": "c"}', id="c1"))
    provider.says(Calls("frobnicate", {"a": 1}, id="c2"), Calls("functions.read_file", {"path": "absent"}, id="c3"))
    provider.says(Calls("edit_file", {"file_path": "a.py", "edits": "none"}, id="c4"))
    provider.says(Calls("set_plan", {"steps": ["look", "change"]}, id="c5"))
    provider.says(Says("That was hard."))
    await session.prompt("Begin.")


async def _switch_modes(session: Session, provider: FakeProvider) -> None:
    provider.says(Calls("switch_mode", {"mode": "architect"}, id="c6"))
    provider.says(Says("A plan."))
    await session.prompt("Plan.")
    for mode in ("code", "ask", "architect", "ask"):
        await session.set_mode(mode)
    provider.says(Says("As before."))
    await session.prompt("And now?")


async def _end_early(session: Session, provider: FakeProvider) -> None:
    provider.says()
    provider.says(Says("Cut "), end="length")
    provider.says(Says("off."))
    await session.prompt("Say something.")  # empty, then truncated, then complete
    provider.refuses(400, "no")
    with pytest.raises(RequestFailed):
        await session.prompt("This gets no answer.")
    provider.says(Holds())
    before = _count_requests(provider)
    turn = session.prompt("This is cancelled before the answer.")
    while _count_requests(provider) == before:
        await provider.is_asked(len(provider.asked) + 1)
    await session.cancel()
    await turn
    provider.says(Says("Yes?"))
    await session.prompt("Are you there?")


def _count_requests(provider: FakeProvider) -> int:
    return sum(each.method == "POST" for each in provider.asked)


async def _change_files(session: Session, provider: FakeProvider, project: Path) -> None:
    provider.says(Calls("write_file", {"file_path": "a.txt", "content": "one"}, id="c7"))
    provider.says(Says("Written."))
    await session.prompt("Write.")
    (project / "a.txt").write_text("two")
    provider.says(Calls("read_file", {"file_path": "a.txt"}, id="c8"))
    provider.says(Says("It says two."))
    await session.prompt("Read.")
