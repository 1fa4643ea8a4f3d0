"""Reasoning and its effort, as each provider receives them, and the thoughts that come back."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from coder.models.provider_client import (
    connect_model,
    read_end,
    read_error,
    read_pieces,
    request,
    their_warnings,
    thoughts_of,
    user_message,
)
from coder.providers.script import Calls, Says, Thinks
from coder.providers.server import Asked, FakeProvider

from accord.coder.credentials import Key
from accord.coder.history import ModelSaid, Text, Thought
from accord.coder.models.providers import known_providers
from accord.coder.models.pydantic_ai.model import ProviderModel
from accord.config.settings import CoderSettings

pytestmark = [their_warnings, pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")]


async def send(wire: str, name: str, effort: str | None = None) -> Asked:
    """Return a request of a model as the provider receives it."""
    async with FakeProvider() as fake, connect_model(fake, wire, name=name) as model:
        await read_end(model, request(effort=effort))
        return fake.asked[0]


@pytest.mark.parametrize("name", ["claude-sonnet-5-5", "claude-opus-4-8", "claude-sonnet-4-6", "claude-haiku-5-5"])
async def test_claude_thinks_and_shows_it_without_being_asked(name: str) -> None:
    body = (await send("anthropic", name)).body
    assert body["thinking"]["type"] == "adaptive"
    assert body["thinking"]["display"] == "summarized"
    assert body["output_config"] == {"effort": "high"}


@pytest.mark.parametrize("name", ["claude-sonnet-4-5", "claude-haiku-4-5", "claude-opus-4-5"])
async def test_older_claude_models_think_between_tool_calls_too(name: str) -> None:
    asked = await send("anthropic", name)
    assert asked.body["thinking"] == {"type": "enabled", "budget_tokens": 16384}
    assert asked.body["max_tokens"] > 16384
    assert "interleaved-thinking-2025-05-14" in asked.headers["anthropic-beta"]


async def test_another_vendors_model_behind_anthropics_api_gets_no_thinking_settings() -> None:
    assert "thinking" not in (await send("anthropic", "kimi-k3")).body


@pytest.mark.parametrize("name", ["gpt-6.1-sol", "gpt-5.6-sol", "gpt-5.4", "gpt-5.1", "gpt-5"])
async def test_gpt_reasons_with_medium_effort_and_a_summary(name: str) -> None:
    body = (await send("responses", name)).body
    assert body["reasoning"]["effort"] == "medium"
    assert body["reasoning"]["summary"] == "auto"
    assert body["include"] == ["reasoning.encrypted_content"]


async def test_a_gpt_model_without_reasoning_gets_no_settings_for_it() -> None:
    assert "reasoning" not in (await send("responses", "gpt-4.1")).body


@pytest.mark.parametrize("name", ["gemini-3.8-flash", "gemini-2.5-pro"])
async def test_gemini_returns_its_thoughts(name: str) -> None:
    config = (await send("google", name)).body["generationConfig"]["thinkingConfig"]
    assert config == {"include_thoughts": True}


@pytest.mark.parametrize(
    ("name", "reasoning"),
    [
        ("anthropic/claude-sonnet-5.5", {"effort": "high"}),
        ("openai/gpt-6.1-sol", {"effort": "medium"}),
        ("google/gemini-3.8-flash", {"enabled": True}),
    ],
)
async def test_models_at_openrouter_think_as_they_do_at_their_vendor(name: str, reasoning: dict[str, Any]) -> None:
    body = (await send("openrouter", name)).body
    assert body["reasoning"] == reasoning
    assert body["usage"] == {"include": True}


async def test_other_models_at_openrouter_decide_for_themselves() -> None:
    assert "reasoning" not in (await send("openrouter", "qwen/qwen3-coder")).body


@pytest.mark.parametrize("wire", ["vercel", "copilot"])
async def test_claude_behind_a_gateway_thinks_and_shows_it_without_being_asked(wire: str) -> None:
    asked = await send(wire, "anthropic/claude-sonnet-5.5" if wire == "vercel" else "claude-sonnet-5.5")
    assert (asked.path, asked.wire) == ("/v1/messages", "anthropic")
    assert asked.body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert asked.body.get("output_config") == ({"effort": "high"} if wire == "vercel" else None)


@pytest.mark.parametrize(
    ("wire", "name"),
    [("vercel", "anthropic/claude-opus-4.5"), ("vercel", "anthropic/claude-haiku-4.5"), ("copilot", "claude-opus-4.5")],
)
async def test_older_claude_models_behind_a_gateway_think_between_tool_calls_too(wire: str, name: str) -> None:
    asked = await send(wire, name)
    assert asked.body["thinking"] == {"type": "enabled", "budget_tokens": 16384}
    assert asked.body["max_tokens"] > 16384
    assert "output_config" not in asked.body, "Copilot refuses it for these models"
    assert "interleaved-thinking-2025-05-14" in asked.headers["anthropic-beta"]


@pytest.mark.parametrize("wire", ["vercel", "copilot"])
async def test_a_signed_thought_goes_back_to_the_gateway_unchanged(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Thinks("Look.", signature="seal-1"), Calls("read_file", {"path": "a"}, id="c1"))
        first = await read_end(model)
        await read_end(model, request(user_message("Hello?"), first.message))
        said = fake.asked[1].body["messages"][1]["content"]
    assert said[0] == {"type": "thinking", "thinking": "Look.", "signature": "seal-1"}


async def test_a_thought_that_another_vendors_model_had_at_copilot_is_not_sent_to_claude() -> None:
    thought = Thought(text="hm", extra={"id": "reasoning_text", "signature": "seal-1"})
    said = ModelSaid(parts=[thought, Text(text="Yes.")], model="copilot:gemini-3.8-flash")
    async with FakeProvider() as fake, connect_model(fake, "copilot") as model:
        await read_end(model, request(user_message("One"), said, user_message("Two")))
        assert fake.asked[0].body["messages"][1]["content"] == [{"type": "text", "text": "Yes."}]


async def test_an_unsigned_thought_of_an_older_session_is_not_sent_to_claude() -> None:
    thought = Thought(text="hm", extra={"id": "reasoning"})
    said = ModelSaid(parts=[thought, Text(text="Yes.")], model="vercel:anthropic/claude-sonnet-5.5")
    async with FakeProvider() as fake, connect_model(fake, "vercel") as model:
        await read_end(model, request(user_message("One"), said, user_message("Two")))
        assert fake.asked[0].body["messages"][1]["content"] == [{"type": "text", "text": "Yes."}]


@pytest.mark.parametrize(
    ("name", "reasoning"),
    [
        ("openai/gpt-6.1-sol", {"effort": "medium"}),
        ("google/gemini-3.8-flash", {"enabled": True}),
        ("zai/glm-5.3", None),
        ("openai/gpt-4.1", None),
    ],
)
async def test_other_models_at_vercel_think_as_they_do_at_their_vendor(
    name: str, reasoning: dict[str, Any] | None
) -> None:
    asked = await send("vercel", name)
    assert asked.wire == "chat"
    assert asked.body.get("reasoning") == reasoning


@pytest.mark.parametrize(
    ("wire", "name", "effort", "mark"),
    [
        ("anthropic", "claude-sonnet-5-5", "xhigh", '"effort": "xhigh"'),
        ("anthropic", "claude-sonnet-5-5", "max", '"effort": "max"'),
        ("anthropic", "claude-sonnet-4-5", "low", '"budget_tokens": 2048'),
        ("responses", "gpt-6.1-sol", "max", '"effort": "max"'),
        ("responses", "gpt-5.5", "xhigh", '"effort": "xhigh"'),
        ("responses", "gpt-5", "minimal", '"effort": "minimal"'),
        ("google", "gemini-3.8-flash", "low", '"thinking_level": "LOW"'),
        ("openrouter", "anthropic/claude-sonnet-5.5", "xhigh", '"effort": "xhigh"'),
        ("vercel", "anthropic/claude-sonnet-5.5", "xhigh", '"effort": "xhigh"'),
        ("vercel", "anthropic/claude-sonnet-4.5", "low", '"budget_tokens": 2048'),
        ("vercel", "openai/gpt-6.1-sol", "low", '"reasoning": {"effort": "low"}'),
        ("copilot", "claude-sonnet-5.5", "max", '"effort": "max"'),
    ],
)
async def test_each_effort_of_a_model_arrives_as_chosen(wire: str, name: str, effort: str, mark: str) -> None:
    assert mark in json.dumps((await send(wire, name, effort)).body)


async def test_a_request_is_repeated_without_summaries_if_the_account_may_not_see_them() -> None:
    message = "Your organization must be verified to generate reasoning summaries."
    async with FakeProvider() as fake, connect_model(fake, "responses") as model:
        fake.refuses(400, message)
        fake.says(Says("Yes."))
        assert (await read_end(model)).message.text == "Yes."
        await read_end(model)
        assert ["summary" in asked.body["reasoning"] for asked in fake.asked] == [True, False, False]


async def test_another_refusal_is_not_repeated() -> None:
    async with FakeProvider() as fake, connect_model(fake, "responses") as model:
        fake.refuses(400, "Invalid value")
        assert "Invalid value" in str(await read_error(model))
        assert len(fake.asked) == 1


@pytest.mark.parametrize("wire", ["anthropic", "responses", "google", "openrouter", "chat", "vercel", "copilot"])
async def test_thoughts_are_shown_as_they_arrive(wire: str) -> None:
    async with FakeProvider() as fake, connect_model(fake, wire) as model:
        fake.says(Thinks("Let me ", "see."), Says("Yes."))
        assert thoughts_of(await read_pieces(model)) == "Let me see."


async def test_geminis_signature_goes_back_with_its_call() -> None:
    async with FakeProvider() as fake, connect_model(fake, "google") as model:
        fake.says(Thinks("Look.", signature="seal-1"), Calls("read_file", {"path": "a"}, id="c1"))
        first = await read_end(model)
        await read_end(model, request(user_message("Hello?"), first.message))
        sent = json.dumps(fake.asked[1].body)
    assert '"thoughtSignature": "c2VhbC0x"' in sent


async def test_a_signature_never_goes_to_another_vendor_at_openrouter() -> None:
    thought = Thought(text="hm", extra={"id": "reasoning", "signature": "seal-1"})
    said = ModelSaid(parts=[thought, Text(text="Yes.")], model="openrouter:openai/gpt-6.1-sol")
    async with FakeProvider() as fake, connect_model(fake, "openrouter") as model:
        await read_end(model, request(user_message("One"), said, user_message("Two")))
        sent = json.dumps(fake.asked[0].body)
    assert "Yes." in sent
    assert "seal-1" not in sent


async def test_an_effort_that_the_user_chose_reaches_a_model_that_the_library_does_not_know() -> None:
    provider = known_providers(CoderSettings(), {})["groq"]
    async with FakeProvider() as fake:
        moved = msgspec.structs.replace(provider, base_url=fake.base_url("chat"))
        model = ProviderModel(moved, "openai/gpt-oss-120b", Key(value="key", source="KEY"))
        await read_end(model, request(effort="high"))
        await read_end(model, request())
        await model.close()
    assert [asked.body.get("reasoning_effort") for asked in fake.asked] == ["high", None]
