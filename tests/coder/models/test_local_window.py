"""The context windows of local servers: asked for, set where possible, or warned about."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from coder.models.provider_client import their_warnings
from coder.providers.script import Calls, Cuts, Fails, Says, Thinks, Usage
from coder.providers.server import FakeProvider

from accord.coder.agent import Coder
from accord.coder.models.local_window import OLLAMA_DEFAULT, WANTED, Window, find_window
from accord.coder.models.providers import known_providers
from accord.coder.shared_resources import SharedResources
from accord.config.settings import CoderSettings, ProviderEntry
from accord.errors import RequestFailed

pytestmark = their_warnings
Join = Callable[..., Any]
SHOW = {"model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960}, "parameters": "stop <|end|>"}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch) -> Any:
    async with FakeProvider() as server:
        for name in ("OLLAMA_HOST", "LMSTUDIO_BASE_URL", "VLLM_BASE_URL", "LLAMACPP_BASE_URL"):
            monkeypatch.setenv(name, server.url if name == "OLLAMA_HOST" else f"{server.url}/v1")
        yield server


async def window_of(provider: str, name: str = "qwen3:8b", context: int | None = None) -> Window | None:
    from accord.process.thread import run_in_thread

    settings = CoderSettings(providers={provider: ProviderEntry(context=context)} if context else {})
    return await run_in_thread(find_window, known_providers(settings)[provider], name)


@pytest.mark.parametrize(
    ("show", "loaded", "context", "size"),
    [
        ({}, [], None, WANTED),
        ({"model_info": {"llama.context_length": 8192}}, [], None, 8192),
        ({"parameters": "num_ctx                        65536\nstop x"}, [], None, 65536),
        ({}, [{"name": "qwen3:8b", "model": "qwen3:8b", "context_length": 262144}], None, 262144),
        ({}, [{"name": "qwen3:8b", "model": "qwen3:8b", "context_length": OLLAMA_DEFAULT}], None, WANTED),
        ({}, [{"name": "other", "model": "other", "context_length": 262144}], None, WANTED),
        ({}, [], 16384, 16384),
        ({"model_info": {"llama.context_length": 8192}}, [], 16384, 8192),
    ],
)
async def test_ollama_gets_a_window_that_the_model_supports(
    fake: FakeProvider, show: Any, loaded: Any, context: int | None, size: int
) -> None:
    fake.documents = {"/api/show": {**SHOW, **show}, "/api/ps": {"models": loaded}}
    assert await window_of("ollama", context=context) == Window(size=size, is_chosen=True)


async def test_lm_studio_llamacpp_and_vllm_say_which_window_they_have(fake: FakeProvider) -> None:
    fake.documents = {
        "/api/v0/models/qwen3%3A8b": {"state": "loaded", "loaded_context_length": 4096, "max_context_length": 40960},
        "/props": {"default_generation_settings": {"n_ctx": 8192}},
        "/v1/models": {"data": [{"id": "qwen3:8b", "max_model_len": 16384}]},
    }
    assert [(await window_of(name)).size for name in ("lmstudio", "llamacpp", "vllm")] == [4096, 8192, 16384]  # type: ignore[union-attr]
    assert "up to 40,960" in (await window_of("lmstudio")).advice  # type: ignore[union-attr]


@pytest.mark.parametrize("provider", ["ollama", "lmstudio", "llamacpp", "vllm"])
@pytest.mark.parametrize(
    "answer", [None, [], {}, "text", {"model_info": 7, "data": [7]}, {"loaded_context_length": -1}]
)
async def test_a_server_that_does_not_say_keeps_the_assumed_window(
    fake: FakeProvider, provider: str, answer: Any
) -> None:
    paths = ("/api/show", "/api/ps", "/api/v0/models/qwen3%3A8b", "/props", "/v1/models")
    fake.documents = dict.fromkeys(paths, answer)
    found = await window_of(provider)
    is_chosen = provider == "ollama" and answer in ({}, {"loaded_context_length": -1})
    assert found == (Window(size=WANTED, is_chosen=True) if is_chosen else None)


# -- in the agent


def agent_on(model: str) -> Coder:
    return Coder(shared=SharedResources(model=model, pauses=()))


async def test_a_turn_on_ollama_sends_the_window_with_every_request(
    fake: FakeProvider, joined: Join, project: Path
) -> None:
    (project / "a.py").write_text("print('of a')\n")
    fake.documents = {"/api/show": SHOW, "/api/ps": {"models": []}}
    fake.says(Thinks("Hm."), Says("I look."), Calls("read_file", {"file_path": "a.py"}))
    fake.says(Says("It ", "prints."), usage=Usage(input=700, output=9))
    async with joined(agent_on("ollama:qwen3:8b")) as client:
        session = await client.new_session()
        turn = await session.prompt("What does a.py do?")
        usage = session.transcript.usage
    assert (turn.stop_reason, turn.text) == ("end_turn", "I look.It prints.")
    assert [call.status for call in turn.tool_calls] == ["completed"]
    assert (usage.used, usage.size) == (709, WANTED)
    requests = [asked for asked in fake.asked if asked.path == "/api/chat"]
    assert [asked.body["options"]["num_ctx"] for asked in requests] == [WANTED, WANTED]
    assert [asked.path for asked in fake.asked].count("/api/show") == 1
    system, prompt, said, result = requests[1].body["messages"]
    assert (system["role"], prompt["role"]) == ("system", "user")
    assert said["tool_calls"] == [{"function": {"name": "read_file", "arguments": {"file_path": "a.py"}}}]
    assert (result["role"], result["tool_name"]) == ("tool", "read_file")
    assert "of a" in result["content"]
    assert {tool["function"]["name"] for tool in requests[0].body["tools"]} >= {"read_file", "edit_file"}


async def test_errors_of_ollama_are_reported(fake: FakeProvider, joined: Join) -> None:
    fake.documents = {"/api/show": SHOW, "/api/ps": {"models": []}}
    fake.refuses(404, "model 'qwen3:8b' not found")
    fake.says(Says("Half"), Fails(message="model runner has stopped"))
    fake.says(Says("Half"), Cuts())
    async with joined(agent_on("ollama:qwen3:8b")) as client:
        session = await client.new_session()
        with pytest.raises(RequestFailed, match=r"Ollama has no model 'qwen3:8b' \(404: model 'qwen3:8b' not found\)"):
            await session.prompt("go")
        with pytest.raises(RequestFailed, match="model runner has stopped"):
            await session.prompt("go")
        with pytest.raises(RequestFailed, match="Ollama dropped the connection"):
            await session.prompt("go")


async def test_an_image_is_sent_to_ollama_as_base64(fake: FakeProvider, joined: Join, tmp_path: Path) -> None:
    from accord.model.content import Image

    (tmp_path / "home/config/accord").mkdir(parents=True)
    (tmp_path / "home/config/accord/config.toml").write_text("[coder.providers.ollama]\nimages = true\n")
    fake.documents = {"/api/show": SHOW, "/api/ps": {"models": []}}
    async with joined(agent_on("ollama:qwen3-vl")) as client:
        session = await client.new_session()
        fake.says(Says("A dot."))
        await session.prompt(["What is it?", Image(data=PNG, mime_type="image/png")])
    message = fake.asked[-1].body["messages"][-1]
    assert message["images"] == [PNG]
    assert "What is it?" in message["content"]


async def test_a_server_that_only_speaks_openais_api_gets_that(fake: FakeProvider, joined: Join) -> None:
    fake.says(Says("Hi."))
    async with joined(agent_on("ollama:qwen3:8b")) as client:
        session = await client.new_session()
        assert (await session.prompt("go")).text == "Hi."
    assert fake.asked[-1].path == "/v1/chat/completions"
    assert "num_ctx" not in json.dumps(fake.asked[-1].body)


async def test_a_small_window_is_reported_before_the_first_answer_and_once(fake: FakeProvider, joined: Join) -> None:
    about = {"state": "loaded", "loaded_context_length": 4096, "max_context_length": 40960}
    fake.documents = {"/api/v0/models/qwen3": about}
    async with joined(agent_on("lmstudio:qwen3")) as client:
        session = await client.new_session()
        transcript = session.transcript
        counts = []
        for _ in range(2):
            await session.prompt("go")
            shown = repr(transcript.timeline) + repr(transcript.notices)
            counts.append(shown.count("has a context window of only 4,096 tokens"))
        usage = transcript.usage
    assert counts[0] > 0
    assert counts[1] == counts[0]
    assert "load the model with a larger context length (up to 40,960) in LM Studio" in shown
    assert usage.size == 4096


async def test_a_window_that_is_large_enough_is_not_mentioned(fake: FakeProvider, joined: Join) -> None:
    fake.documents = {"/props": {"default_generation_settings": {"n_ctx": 65536}}}
    async with joined(agent_on("llamacpp:qwen3")) as client:
        session = await client.new_session()
        await session.prompt("go")
        shown = repr(session.transcript.timeline) + repr(session.transcript.notices)
    assert "context window" not in shown
