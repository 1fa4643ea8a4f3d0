"""Makes what speaks with a provider: loads its library, the only heavy import of a session, and a client for it.

All of it blocks, for a second or more the first time: it is called in a thread."""

from __future__ import annotations

import importlib
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from accord.coder.models.base import ModelError
from accord.coder.models.services import Service

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as Speaker

CONNECT = 10.0
"""How long a provider may take to accept a connection, in seconds."""

lines: ContextVar[list[httpx2.Response]] = ContextVar("lines")
"""The lines to a provider that whoever asks now has open, so that they can be hung up: not every library does it."""


class Made(NamedTuple):
    """What speaks with a provider, and the connections it uses."""

    speaker: Speaker
    client: httpx2.AsyncClient


def make(service: Service, name: str, key: str | None, patience: float) -> Made:
    """What speaks with a provider's model. `patience` bounds each silence of the provider."""
    try:
        importlib.import_module("pydantic_ai.direct")  # here, since the loop that asks next must not wait for it
        client = _client(service, patience)
        speaker = _SPEAKERS[service.api](service, name, key, client)
    except ImportError as error:
        raise ModelError(
            f"models of {service.title} need more than is installed ({error.name}): pip install 'accord[coder]'"
        ) from None
    return Made(speaker, client)


def _client(service: Service, patience: float) -> httpx2.AsyncClient:
    import httpx2
    from pydantic_ai.models import create_async_httpx2_client

    # A proxy that the environment names has no business between us and our own machine, and where there is no TLS the
    # certificates of the world need not be read.
    plain = service.base_url.startswith("http://")
    transport = httpx2.AsyncHTTPTransport(verify=not plain) if service.local else None
    client = create_async_httpx2_client(timeout=httpx2.Timeout(patience, connect=CONNECT), transport=transport)
    client.event_hooks["response"].append(_is_open)
    return client


async def _is_open(line: httpx2.Response) -> None:
    lines.get([]).append(line)


def _anthropic(service: Service, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    models: Any = importlib.import_module("pydantic_ai.models.anthropic")
    providers: Any = importlib.import_module("pydantic_ai.providers.anthropic")
    provider = providers.AnthropicProvider(api_key=key or "none", base_url=service.base_url, http_client=client)
    speaker: Speaker = models.AnthropicModel(name, provider=provider)
    return speaker


def _google(service: Service, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    models: Any = importlib.import_module("pydantic_ai.models.google")
    providers: Any = importlib.import_module("pydantic_ai.providers.google")
    provider = providers.GoogleProvider(api_key=key or "none", base_url=service.base_url, http_client=client)
    speaker: Speaker = models.GoogleModel(name, provider=provider)
    return speaker


def _responses(service: Service, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    models: Any = importlib.import_module("pydantic_ai.models.openai")
    speaker: Speaker = models.OpenAIResponsesModel(name, provider=_openai_provider(service, key, client))
    return speaker


def _chat(service: Service, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
    models: Any = importlib.import_module("pydantic_ai.models.openai")
    speaker: Speaker = models.OpenAIChatModel(name, provider=_openai_provider(service, key, client))
    return speaker


def _openai_provider(service: Service, key: str | None, client: httpx2.AsyncClient) -> Any:
    if service.name == "openai":
        own: Any = importlib.import_module("pydantic_ai.providers.openai")
        return own.OpenAIProvider(api_key=key or "none", base_url=service.base_url, http_client=client)
    others: Any = importlib.import_module("pydantic_ai.providers.openai_compatible")
    kind = others.OpenAICompatibleProvider
    family = service.family
    # What a family of models can do is looked up under its vendor, which only some providers put into the name.
    profile = (lambda name: kind.model_profile(f"{family}/{name}")) if family else None
    return kind(service.name, base_url=service.base_url, api_key=key, http_client=client, profile=profile)


_SPEAKERS = {"anthropic": _anthropic, "google": _google, "responses": _responses, "chat": _chat}
