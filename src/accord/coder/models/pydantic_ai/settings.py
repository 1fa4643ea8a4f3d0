"""The settings of one request: reasoning, the prompt cache, and the particular needs of each provider.

The abilities of a model come from its profile in pydantic-ai, so a new model needs no change here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from accord.coder.models.families import family

if TYPE_CHECKING:
    from accord.coder.models.base import Request
    from accord.coder.models.providers import Provider

INTERLEAVED = "interleaved-thinking-2025-05-14"
"""The beta that lets a Claude model with a thinking budget also think between tool calls. Newer models always do."""
DEFAULT_EFFORTS = {"claude": "high", "gpt": "medium"}
"""The effort if the user chose none. The providers' own defaults differ: some models don't think unless asked to."""
BUDGETS = {"low": 2048, "medium": 10_000, "high": 16_384}
"""The thinking budgets of older Claude models, in tokens: those of pydantic-ai, which adds an effort where Anthropic's
API takes one."""
COPILOT_TOKENS = 32_000
"""The longest answer that all of Copilot's Claude models can give; the library would ask for what Anthropic's can."""
CACHE_KEYED = ("openai", "azure", "openrouter", "chatgpt")
"""Providers known to accept `prompt_cache_key`. Other servers may reject a field they don't know."""


def build_settings(
    request: Request,
    provider: Provider,
    name: str,
    profile: Mapping[str, Any],
    *,
    efforts: tuple[str, ...] = (),
    retention: str = "5m",
    summaries: bool = True,
    window: int | None = None,
) -> dict[str, Any]:
    """Return the settings for a request.

    `efforts` are those that the model supports. `retention` is how long the provider should cache tools and
    instructions. `summaries` is False if the account may not see summaries of the model's reasoning.
    `window` is the context window to ask Ollama for."""
    settings: dict[str, Any] = {}
    if provider.api != "bedrock":  # its client is created without retries
        settings["max_retries"] = 0  # the agent loop retries, and reports it
    if request.max_tokens is not None:
        settings["max_tokens"] = request.max_tokens
    if provider.headers:
        settings["extra_headers"] = dict(provider.headers)
    if request.session and provider.name in CACHE_KEYED:
        settings["openai_prompt_cache_key"] = request.session
    if window is not None:
        settings["extra_body"] = {"num_ctx": window}
    effort = request.effort if request.effort in efforts else None
    match provider.find_api(name):
        case "anthropic" if provider.api != "anthropic":
            settings |= _cache("anthropic", retention, messages="anthropic_cache_messages")
            settings |= _gateway_claude(provider, effort, profile)
            if provider.api == "copilot":
                settings.setdefault("max_tokens", COPILOT_TOKENS)
        case "anthropic":
            settings |= _cache("anthropic", retention, messages="anthropic_cache")
            settings |= _claude(name, effort, profile)
        case "openrouter":
            settings |= _cache("openrouter", retention, messages="openrouter_cache_messages")
            settings |= _openrouter(name, effort)
        case "bedrock":
            settings |= _cache("bedrock", retention, messages="bedrock_cache_messages")
            if profile.get("supports_thinking") and (level := effort or DEFAULT_EFFORTS.get(family(name))):
                settings["thinking"] = level
        case "responses" | "azure" | "chatgpt":
            settings["openai_store"] = False  # the history is ours; nothing needs to be stored there
            settings |= _responses(effort, profile, summaries=summaries)
        case "google" | "vertex":
            if profile.get("supports_thinking"):
                settings["thinking"] = effort or True  # True also asks for the thoughts
        case "copilot":
            if effort:
                settings["thinking"] = effort
        case "vercel":
            settings["extra_body"] = {"providerOptions": {"gateway": {"caching": "auto"}}}
            thinks = family(name) != "gpt" or profile.get("openai_supports_reasoning")
            if thinks and (reasoning := _build_reasoning(name, effort)):
                settings["extra_body"]["reasoning"] = reasoning
        case _:
            if effort:  # the library drops a level for models that it doesn't know
                settings["openai_reasoning_effort"] = effort
    return settings


def _cache(prefix: str, retention: str, *, messages: str) -> dict[str, Any]:
    """Cache the tools, the instructions and the conversation. The conversation changes with each request, so a long
    retention, which costs more to write, only pays off for the parts before it."""
    return {f"{prefix}_cache_tool_definitions": retention, f"{prefix}_cache_instructions": retention, messages: "5m"}


def _claude(name: str, effort: str | None, profile: Mapping[str, Any]) -> dict[str, Any]:
    if family(name) != "claude" or not profile.get("supports_thinking"):
        return {"thinking": effort} if effort else {}
    level = effort or DEFAULT_EFFORTS["claude"]
    if profile.get("anthropic_supports_adaptive_thinking"):
        thinking: dict[str, Any] = {"type": "adaptive", "display": "summarized"}
        if profile.get("anthropic_binds_thinking_blocks"):
            # Such a model rejects thoughts of a conversation whose beginning has changed since, for instance because
            # an MCP server offers other tools. Dropping them beats failing.
            thinking["block_binding"] = {"prefix_mismatch_behavior": "drop_block"}
        settings: dict[str, Any] = {"anthropic_thinking": thinking}
        if profile.get("anthropic_supports_effort"):
            settings["anthropic_effort"] = level
        return settings
    # The library turns a level into a budget, and into an effort if the model has both.
    return {"thinking": level, "anthropic_betas": [INTERLEAVED]}


def _responses(effort: str | None, profile: Mapping[str, Any], *, summaries: bool) -> dict[str, Any]:
    if not profile.get("openai_supports_reasoning"):
        return {}
    settings: dict[str, Any] = {"thinking": effort or DEFAULT_EFFORTS["gpt"]}
    if summaries:
        settings["openai_reasoning_summary"] = "auto"
    return settings


def _gateway_claude(provider: Provider, effort: str | None, profile: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a Claude model at a gateway, which may support less than Anthropic: only what it is
    known to accept."""
    settings: dict[str, Any] = {}
    if profile.get("anthropic_supports_adaptive_thinking"):
        settings["anthropic_thinking"] = {"type": "adaptive", "display": "summarized"}
        # Copilot has refused the field for some models. Without it, they think with high effort as well.
        if level := effort or (None if provider.api == "copilot" else DEFAULT_EFFORTS["claude"]):
            settings["anthropic_effort"] = level
    elif profile.get("supports_thinking"):
        budget = BUDGETS.get(effort or "", BUDGETS["high"])
        settings["anthropic_thinking"] = {"type": "enabled", "budget_tokens": budget}
        settings["anthropic_betas"] = [INTERLEAVED]
    return settings


def _openrouter(name: str, effort: str | None) -> dict[str, Any]:
    settings: dict[str, Any] = {"openrouter_usage": {"include": True}}
    if reasoning := _build_reasoning(name, effort):
        settings["openrouter_reasoning"] = reasoning
    return settings


def _build_reasoning(name: str, effort: str | None) -> dict[str, Any]:
    """Return the `reasoning` object of OpenRouter and Vercel."""
    kind = family(name)
    if level := effort or DEFAULT_EFFORTS.get(kind):
        return {"effort": level}
    return {"enabled": True} if kind == "gemini" else {}
