"""The coding agent on models of providers, over real sockets: as an editor starts it, and joined in memory."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.models.provider_client import their_warnings
from coder.providers.script import Calls, Cuts, Holds, Says, Thinks
from coder.providers.server import FakeProvider

import accord
from accord.coder.agent import Coder
from accord.coder.shared_resources import SharedResources
from accord.errors import AuthRequired, RequestFailed

pytestmark = their_warnings
Join = Callable[..., Any]
MODELS = {"anthropic": "anthropic:claude-haiku-4-5", "chat": "openai:gpt-5", "google": "google:gemini-2.5-flash"}
every_provider = pytest.mark.parametrize("wire", list(MODELS))


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch) -> Any:
    async with FakeProvider() as provider:
        for name, value in provider.environment().items():
            monkeypatch.setenv(name, value)
        yield provider


def agent_on(wire: str) -> Coder:
    return Coder(shared=SharedResources(model=MODELS[wire], pauses=(0.0, 0.0)))


@pytest.mark.slow
@every_provider
async def test_the_agent_that_an_editor_starts_works_on_a_providers_model(
    wire: str, fake: FakeProvider, project: Path
) -> None:
    (project / "a.py").write_text("print('the secret of a')\n")
    fake.says(Thinks("I must look."), Says("I look."), Calls("read_file", {"path": "a.py"}, id="c1"))
    fake.says(Says("It prints."))
    command = [sys.executable, "-m", "accord", "agent", "--memory", "--model", MODELS[wire]]
    async with accord.connect(command, cwd=str(project)) as agent:
        session = await agent.new_session()
        turn = await session.prompt("What does a.py do?")
        assert turn.stop_reason == "end_turn"
        assert turn.text == "I look.It prints."
        assert [call.status for call in turn.tool_calls] == ["completed"]
        assert session.transcript.usage is not None
        assert session.transcript.usage.cost is not None
        assert "the secret of a" in json.dumps(fake.asked[1].body)

        fake.says(Says("One, two"), Holds())
        turn = session.prompt("Count to a million.")
        async for event in turn:
            if isinstance(event, accord.Text):
                await session.cancel()
        await fake.asked[2].gone.wait()
        assert session.last_turn is not None
        assert session.last_turn.stop_reason == "cancelled"

        fake.says(Says("Still here."))
        assert (await session.prompt("And now?")).text == "Still here."
    assert {asked.wire for asked in fake.asked} == {wire}


@every_provider
async def test_a_request_to_an_overloaded_provider_is_retried_and_nothing_is_lost(
    wire: str, fake: FakeProvider, joined: Join
) -> None:
    fake.refuses(429, "slow down")
    fake.says(Says("Half of"), Cuts())
    fake.says(Says("The whole answer."))
    async with joined(agent_on(wire)) as client:
        session = await client.new_session()
        turn = await session.prompt("Speak.")
        assert turn.stop_reason == "end_turn"
        assert turn.text.endswith("The whole answer.")
    assert len(fake.asked) == 3
    assert fake.asked[0].body == fake.asked[2].body


@every_provider
async def test_a_rejected_key_is_an_error_with_advice_and_the_session_stays_usable(
    wire: str, fake: FakeProvider, joined: Join
) -> None:
    fake.refuses(401, "bad key")
    async with joined(agent_on(wire)) as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed, match="accord login") as caught:
            await session.prompt("Speak.")
        assert (await session.prompt("Again.")).text == "Hello."
    assert isinstance(caught.value, AuthRequired)
    assert caught.value.data["rejected"] is True
    assert caught.value.data["provider"] == MODELS[wire].partition(":")[0]
    assert [action["id"] for action in caught.value.data["actions"]] == ["enter_key", "choose_model"]


async def test_a_rejected_key_is_reported_before_any_login(fake: FakeProvider, joined: Join) -> None:
    fake.refuses(401, "bad key")
    offered: list[Any] = []
    async with joined(agent_on("anthropic"), login=offered.append) as client:
        session = await client.new_session()
        with pytest.raises(AuthRequired, match="Anthropic rejected the key in ANTHROPIC_API_KEY"):
            await session.prompt("Speak.")
    assert offered == []


@every_provider
@pytest.mark.parametrize(("end", "reason"), [("refusal", "refusal"), ("length", "max_tokens")])
async def test_a_turn_stops_for_the_reason_that_its_model_gave(
    wire: str, end: Any, reason: str, fake: FakeProvider, joined: Join
) -> None:
    for _ in range(3 if end == "length" else 1):  # a truncated answer is continued twice
        fake.says(Says("Well"), end=end)
    async with joined(agent_on(wire)) as client:
        session = await client.new_session()
        assert (await session.prompt("Speak.")).stop_reason == reason


async def test_a_session_continues_with_another_providers_model(
    fake: FakeProvider, joined: Join, project: Path
) -> None:
    (project / "a.py").write_text("print(1)\n")
    fake.says(Thinks("Hm.", signature="seal"), Calls("read_file", {"path": "a.py"}, id="c1"))
    fake.says(Says("It prints 1."))
    async with joined(agent_on("anthropic")) as client:
        session = await client.new_session()
        await session.prompt("Look.")
        await session.set_option("model", MODELS["google"])
        fake.says(Says("As was said."))
        turn = await session.prompt("And again?")
        assert turn.text == "As was said."
    told = json.dumps(fake.asked[2].body)
    assert fake.asked[2].wire == "google"
    assert "It prints 1." in told
    assert "seal" not in told


PATCH = """\
*** Begin Patch
*** Update File: a.py
@@ def greet():
-    return "hi"
+    return "hello"
*** Add File: b.py
+LIMIT = 10
*** End Patch"""


@pytest.mark.parametrize("model", ["gpt-6.1-sol", "gpt-4o"])
async def test_gpt_edits_with_a_patch_over_the_responses_api(
    fake: FakeProvider, joined: Join, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    (tmp_path / "config.toml").write_text(
        f'[coder.providers.openai]\nbase_url = "{fake.base_url("responses")}"\napi = "responses"\n'
    )
    monkeypatch.setenv("ACCORD_CONFIG", str(tmp_path / "config.toml"))
    (project / "a.py").write_text('def greet():\n    return "hi"\n')
    fake.says(Thinks("I patch it."), Calls("apply_patch", {"patch": PATCH}, id="c1"))
    fake.says(Says("Done."))
    agent = Coder(shared=SharedResources(model=f"openai:{model}", pauses=()))
    async with joined(agent, permissions=lambda request: True) as client:
        session = await client.new_session()
        turn = await session.prompt("Greet better.")
    assert turn.text == "Done."
    assert (project / "a.py").read_text() == 'def greet():\n    return "hello"\n'
    assert (project / "b.py").read_text() == "LIMIT = 10\n"
    assert [len(call.diffs) for call in turn.tool_calls] == [2]
    assert {asked.wire for asked in fake.asked} == {"responses"}
    names = {tool["name"] for tool in fake.asked[0].body["tools"]}
    assert ("apply_patch" in names, "edit_file" in names) == (model == "gpt-6.1-sol", model == "gpt-4o")
    assert "Success. Updated the following files:\\nM a.py\\nA b.py" in json.dumps(fake.asked[1].body)
