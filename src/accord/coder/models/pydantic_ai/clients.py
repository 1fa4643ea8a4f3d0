"""Clients of providers: a model class of pydantic-ai and the HTTP connections it uses."""

from __future__ import annotations

import importlib
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from accord.coder.models.base import ModelError
from accord.coder.models.pydantic_ai import clouds
from accord.version import install_command

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as Speaker

    from accord.coder.models.providers import Provider

CONNECT_TIMEOUT_SECONDS = 10.0

open_responses: ContextVar[list[httpx2.Response]] = ContextVar("open_responses")
"""Open responses of the current request, to be closed when it ends: not every library does that."""


class Connected(NamedTuple):
    """A model of pydantic-ai, and the HTTP client it uses."""

    speaker: Speaker
    client: httpx2.AsyncClient


def connect(service: Provider, name: str, key: str | None, timeout: float) -> Connected:
    """Load the provider's library and create a client for a model. Blocks for a second or more the first time.

    `timeout` is the maximum silence of the provider."""
    try:
        importlib.import_module("pydantic_ai.direct")  # imported here, in the thread, to keep the event loop responsive
        client = _client(service, timeout)
        speaker = _SPEAKERS[service.find_api(name)](service, name, key, client)
    except ImportError as error:
        extra = "bedrock" if service.api == "bedrock" else "coder"
        name = f" ({error.name})" if error.name else ""
        raise ModelError(
            f"{service.title} models need a package that is not installed{name}: {install_command(extra)}"
        ) from None
    return Connected(speaker, client)


def _client(service: Provider, timeout: float) -> httpx2.AsyncClient:
    import httpx2
    from pydantic_ai.models import create_async_httpx2_client

    # Don't use a proxy from the environment for this machine, and don't load certificates if there is no TLS.
    plain = service.base_url.startswith("http://")
    transport: httpx2.AsyncBaseTransport | None = None
    if service.local:
        transport = httpx2.AsyncHTTPTransport(verify=not plain)
    if service.cassette is not None:
        from accord.coder.models.pydantic_ai.cassette_transport import cassette_transport

        transport = cassette_transport(service.cassette, transport, service.base_url)
    if service.api == "ollama":
        from accord.coder.models.pydantic_ai.cassette_transport import find_proxy
        from accord.coder.models.pydantic_ai.ollama_transport import OllamaTransport

        transport = OllamaTransport(transport or httpx2.AsyncHTTPTransport(proxy=find_proxy(service.base_url)))
    client = create_async_httpx2_client(
        timeout=httpx2.Timeout(timeout, connect=CONNECT_TIMEOUT_SECONDS), transport=transport
    )
    client.event_hooks["response"].append(_track)
    return client


async def _track(response: httpx2.Response) -> None:
    open_responses.get([]).append(response)


def _anthropic(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    if service.api != "anthropic":
        return clouds.connect_claude(service, name, key, client)
    models: Any = importlib.import_module("pydantic_ai.models.anthropic")
    providers: Any = importlib.import_module("pydantic_ai.providers.anthropic")
    provider = providers.AnthropicProvider(api_key=key or "none", base_url=service.base_url, http_client=client)
    speaker: Speaker = models.AnthropicModel(name, provider=provider)
    return speaker


def _google(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    models: Any = importlib.import_module("pydantic_ai.models.google")
    providers: Any = importlib.import_module("pydantic_ai.providers.google")
    provider = providers.GoogleProvider(api_key=key or "none", base_url=service.base_url, http_client=client)
    speaker: Speaker = models.GoogleModel(name, provider=provider)
    return speaker


def _responses(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    models: Any = importlib.import_module("pydantic_ai.models.openai")
    speaker: Speaker = models.OpenAIResponsesModel(name, provider=_openai_provider(service, key, client))
    return speaker


def _chat(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    models: Any = importlib.import_module("pydantic_ai.models.openai")
    speaker: Speaker = models.OpenAIChatModel(name, provider=_openai_provider(service, key, client))
    return speaker


def _openrouter(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    openai: Any = importlib.import_module("openai")
    models: Any = importlib.import_module("pydantic_ai.models.openrouter")
    providers: Any = importlib.import_module("pydantic_ai.providers.openrouter")
    # The provider only takes another URL as part of a client.
    own = openai.AsyncOpenAI(api_key=key or "none", base_url=service.base_url, http_client=client)
    speaker: Speaker = models.OpenRouterModel(name, provider=providers.OpenRouterProvider(openai_client=own))
    return speaker


def _openai_provider(service: Provider, key: str | None, client: httpx2.AsyncClient) -> Any:
    if service.name == "openai":
        own: Any = importlib.import_module("pydantic_ai.providers.openai")
        return own.OpenAIProvider(api_key=key or "none", base_url=service.base_url, http_client=client)
    others: Any = importlib.import_module("pydantic_ai.providers.openai_compatible")
    kind = others.OpenAICompatibleProvider
    family = service.family
    # Capabilities are looked up by vendor, which only some providers include in the model's name.
    profile = (lambda name: kind.model_profile(f"{family}/{name}")) if family else None
    return kind(service.name, base_url=service.base_url, api_key=key, http_client=client, profile=profile)


_SPEAKERS = {
    "anthropic": _anthropic,
    "google": _google,
    "responses": _responses,
    "chat": _chat,
    "openrouter": _openrouter,
    "ollama": _chat,
    "azure": clouds.connect_azure,
    "vercel": clouds.connect_vercel,
    "copilot": clouds.connect_copilot,
    "chatgpt": clouds.connect_chatgpt,
    "vertex": clouds.connect_vertex,
    "bedrock": clouds.connect_bedrock,
}
