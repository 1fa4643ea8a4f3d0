"""The models that can be offered: what is known of each, and which of them this machine has keys for.

Nothing here asks a provider: a session starts at once, with or without a network. `discover` asks one, when told to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.coder.models.services import Service, services
from accord.model.noun import Noun

if TYPE_CHECKING:
    from accord.coder.keys import Keys
    from accord.config.coder import CoderSettings

OFFLINE = "offline"
EFFORTS = ("low", "medium", "high")
UNKNOWN_CONTEXT = 128_000
"""What a model is taken to read at once when nobody says."""
LOCAL_CONTEXT = 32_000
"""The same for a model on this machine: compacting early costs less than what a small server silently cuts off."""


class ModelInfo(Noun):
    """A model as it is offered to a person."""

    id: str
    """`provider:name`."""
    name: str
    provider: str
    description: str = ""
    context: int = UNKNOWN_CONTEXT
    """How many tokens it reads at once."""
    efforts: tuple[str, ...] = ()
    """How hard it can be told to think."""
    images: bool = False


def _row(id: str, name: str, context: int, *, thinks: bool = True, images: bool = True, about: str = "") -> ModelInfo:
    provider = id.partition(":")[0]
    efforts = EFFORTS if thinks else ()
    return ModelInfo(
        id=id, name=name, provider=provider, description=about, context=context, efforts=efforts, images=images
    )


# A provider's first model is the one that is meant when only the provider is named.
MODELS = [
    _row("anthropic:claude-sonnet-5-5", "Claude Sonnet 5.5", 1_000_000, about="for everyday work"),
    _row("anthropic:claude-opus-5-5", "Claude Opus 5.5", 1_000_000, about="for hard problems"),
    _row("anthropic:claude-haiku-5-5", "Claude Haiku 5.5", 1_000_000, about="fast and cheap"),
    _row("anthropic:claude-opus-5", "Claude Opus 5", 1_000_000),
    _row("anthropic:claude-sonnet-5", "Claude Sonnet 5", 1_000_000),
    _row("anthropic:claude-opus-4-8", "Claude Opus 4.8", 1_000_000),
    _row("anthropic:claude-sonnet-4-6", "Claude Sonnet 4.6", 1_000_000),
    _row("anthropic:claude-opus-4-5", "Claude Opus 4.5", 200_000),
    _row("anthropic:claude-sonnet-4-5", "Claude Sonnet 4.5", 200_000),
    _row("anthropic:claude-haiku-4-5", "Claude Haiku 4.5", 200_000),
    _row("openai:gpt-6.1-sol", "GPT-6.1 Sol", 1_050_000, about="for everyday work"),
    _row("openai:gpt-6.1-terra", "GPT-6.1 Terra", 1_050_000, about="cheaper"),
    _row("openai:gpt-6-astra", "GPT-6 Astra", 1_050_000, about="for hard problems"),
    _row("openai:gpt-6-luna", "GPT-6 Luna", 1_050_000, about="fast and cheap"),
    _row("openai:gpt-5.6-sol", "GPT-5.6 Sol", 1_050_000),
    _row("openai:gpt-5.5", "GPT-5.5", 1_000_000),
    _row("openai:gpt-5.4", "GPT-5.4", 1_050_000),
    _row("openai:gpt-5.4-mini", "GPT-5.4 mini", 400_000),
    _row("openai:gpt-5.2", "GPT-5.2", 400_000),
    _row("openai:gpt-5.1", "GPT-5.1", 400_000),
    _row("openai:gpt-5", "GPT-5", 400_000),
    _row("openai:gpt-5-mini", "GPT-5 mini", 400_000),
    _row("openai:gpt-4.1", "GPT-4.1", 1_000_000, thinks=False),
    _row("google:gemini-3.8-flash", "Gemini 3.8 Flash", 1_000_000, about="for everyday work"),
    _row("google:gemini-4-argon", "Gemini 4 Argon", 1_048_576, about="for hard problems"),
    _row("google:gemini-3.5-flash-lite", "Gemini 3.5 Flash Lite", 1_000_000, about="fast and cheap"),
    _row("google:gemini-3.5-flash", "Gemini 3.5 Flash", 1_000_000),
    _row("google:gemini-3.1-pro-preview", "Gemini 3.1 Pro Preview", 1_048_576),
    _row("google:gemini-2.5-pro", "Gemini 2.5 Pro", 1_048_576),
    _row("google:gemini-2.5-flash", "Gemini 2.5 Flash", 1_048_576),
    _row("openrouter:anthropic/claude-sonnet-5.5", "Claude Sonnet 5.5 (OpenRouter)", 1_000_000),
    _row("openrouter:openai/gpt-6.1-sol", "GPT-6.1 Sol (OpenRouter)", 1_050_000),
    _row("openrouter:google/gemini-3.8-flash", "Gemini 3.8 Flash (OpenRouter)", 1_048_576),
    _row("mistral:mistral-large-latest", "Mistral Large", 128_000, thinks=False),
    _row("mistral:codestral-latest", "Codestral", 256_000, thinks=False, images=False),
    _row("mistral:mistral-small-latest", "Mistral Small", 128_000, thinks=False),
    _row("deepseek:deepseek-v4-pro", "DeepSeek V4 Pro", 1_000_000, thinks=False, images=False),
    _row("deepseek:deepseek-v4-flash", "DeepSeek V4 Flash", 1_000_000, thinks=False, images=False),
    _row("xai:grok-4.7", "Grok 4.7", 500_000),
    _row("xai:grok-code-fast-1", "Grok Code Fast 1", 256_000, thinks=False, images=False),
    _row("groq:openai/gpt-oss-120b", "GPT OSS 120B (Groq)", 131_072, images=False),
    _row("groq:llama-3.3-70b-versatile", "Llama 3.3 70B (Groq)", 128_000, thinks=False, images=False),
    _row("cerebras:gpt-oss-120b", "GPT OSS 120B (Cerebras)", 131_072, thinks=False, images=False),
    _row("moonshotai:kimi-k3", "Kimi K3", 1_048_576, thinks=False, images=False),
    _row("zai:glm-5.3", "GLM 5.3", 1_000_000, thinks=False, images=False),
]
BY_ID = {info.id: info for info in MODELS}

OFFLINE_MODEL = ModelInfo(
    id=OFFLINE,
    name="Offline",
    provider=OFFLINE,
    description="no language model: understands plain requests, needs no key and no network",
    context=200_000,
)


def available(settings: CoderSettings | None = None, keys: Keys | None = None) -> list[ModelInfo]:
    """The models to offer: those whose provider has a key or needs none, those configured, and the offline one."""
    from accord.coder.keys import Keys as AllKeys

    known = services(settings)
    keys = keys or AllKeys()
    offered: dict[str, ModelInfo] = {}
    for service in known.values():
        if service.needs_key and keys.find(service) is None:
            continue
        names = list(service.models)
        if not (names and service.moved):  # what a server elsewhere has is what the configuration says it has
            names += [each.id.partition(":")[2] for each in MODELS if each.provider == service.name]
        for name in names:
            offered.setdefault(f"{service.name}:{name}", described(service, name))
    chosen = settings.model if settings else None
    provider, _, name = (chosen or "").partition(":")
    if chosen and name and chosen not in offered and provider in known:
        offered[chosen] = described(known[provider], name)
    return [*offered.values(), OFFLINE_MODEL]


def described(service: Service, name: str) -> ModelInfo:
    """What is known of a provider's model; guesses on the safe side where nothing is."""
    id = f"{service.name}:{name}"
    known = BY_ID.get(id)
    context = service.context or (known.context if known else LOCAL_CONTEXT if service.local else UNKNOWN_CONTEXT)
    if known:
        images = known.images if service.images is None else service.images
        return ModelInfo(
            id=id,
            name=known.name,
            provider=service.name,
            description=known.description,
            context=context,
            efforts=known.efforts,
            images=images,
        )
    sees = service.images if service.images is not None else service.name in ("anthropic", "openai", "google")
    thinks = service.api in ("anthropic", "google", "responses")
    return ModelInfo(
        id=id,
        name=f"{name} ({service.title})",
        provider=service.name,
        context=context,
        efforts=EFFORTS if thinks else (),
        images=sees,
    )


def nearest(id: str, settings: CoderSettings | None = None) -> list[str]:
    """The ids that look most like one that is not known."""
    from accord.config.agents import nearest as alike

    ids = [*BY_ID, OFFLINE]
    for service in services(settings).values():
        ids += [f"{service.name}:{name}" for name in service.models]
    if found := alike(id, ids):
        return found
    # Somebody who leaves the provider out, or names the wrong one, means a name.
    bare = {each.partition(":")[2] or each: each for each in ids}
    return [bare[each] for each in alike(id.partition(":")[2] or id, bare)]
