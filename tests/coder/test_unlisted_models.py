"""Models that aren't in the catalog: chosen by name, and passed to their provider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from accord.coder.agent import Coder
from accord.errors import InvalidParams

Join = Callable[..., Any]
NO_KEY = "Anthropic needs a key: set ANTHROPIC_API_KEY, or run: accord login anthropic"


@pytest.mark.parametrize("model", ["anthropic:claude-sonnet-5-5", "anthropic:not-released-yet", "anthropic"])
async def test_a_model_without_a_key_says_what_its_provider_needs(joined: Join, model: str) -> None:
    async with joined(Coder()) as client:
        session = await client.new_session()
        with pytest.raises(InvalidParams) as caught:
            await session.set_option("model", model, unlisted=True)
        assert caught.value.message == NO_KEY
        assert session.option("model").value == "offline"
        assert (await session.prompt("help")).stop_reason == "end_turn"


async def test_a_provider_that_needs_no_key_takes_any_name(joined: Join) -> None:
    async with joined(Coder()) as client:
        session = await client.new_session()
        await session.set_option("model", "ollama:qwen3", unlisted=True)
        option = session.option("model")
        assert option.value == "ollama:qwen3"
        assert [choice.value for choice in option.choices] == ["ollama:qwen3", "offline"]
        await session.set_option("model", "offline")
        await session.set_option("model", "ollama:qwen3")


async def test_a_name_that_is_not_listed_goes_to_its_provider(joined: Join, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-0123456789")
    async with joined(Coder()) as client:
        session = await client.new_session()
        await session.set_option("model", "anthropic:not-released-yet", unlisted=True)
        assert session.option("model").value == "anthropic:not-released-yet"
        assert session.option("effort") is not None
        await session.set_option("model", "claude-opus-5-5", unlisted=True)
        assert session.option("model").value == "anthropic:claude-opus-5-5", "the provider can be left out"


@pytest.mark.parametrize("model", ["nonsense", "nobody:model", "offlin"])
async def test_a_name_without_a_provider_is_refused(joined: Join, model: str) -> None:
    async with joined(Coder()) as client:
        session = await client.new_session()
        with pytest.raises(InvalidParams, match=f"there is no model '{model}'"):
            await session.set_option("model", model, unlisted=True)
        with pytest.raises(InvalidParams, match="nothing was sent"):
            await session.set_option("model", model)
