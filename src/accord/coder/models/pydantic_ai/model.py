"""A provider's model, called over the network.

The provider's library only translates the wire format: retries, permissions, cancellation and the history are ours."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncGenerator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from accord.coder.models.base import Model, ModelError, Piece, Request
from accord.coder.models.catalog import describe
from accord.coder.models.errors import ProviderErrors
from accord.coder.models.providers import Provider
from accord.coder.models.pydantic_ai.events import EventTranslator
from accord.coder.models.pydantic_ai.messages import MessageTranslator, definitions
from accord.process.thread import run_in_thread
from accord.version import install_command

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as Speaker

    from accord.coder.credentials import Key
    from accord.config.settings import CoderSettings


READ_TIMEOUT_SECONDS = 300.0
"""Maximum silence of a provider: some models think for minutes before the first token."""


class ProviderModel(Model):
    """One model of one provider. The first request loads the provider's library."""

    def __init__(
        self,
        service: Provider,
        name: str,
        key: Key | None = None,
        *,
        settings: CoderSettings | None = None,
        timeout: float = READ_TIMEOUT_SECONDS,
    ) -> None:
        info = describe(service, name)
        self.id: str = info.id
        self.name: str = info.name
        self.context: int = info.context
        self.efforts: tuple[str, ...] = info.efforts
        self.images: bool = info.images
        self._provider = service
        self._model = name
        self._key = key
        self._timeout = timeout
        self._errors = ProviderErrors(service, name, key, settings)
        self._connecting: asyncio.Task[Connected] | None = None

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Request the next reply; see `Model.stream`."""
        connected = await self._connect()
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.models import ModelRequestParameters

        messages = MessageTranslator(self._provider.name, connected.speaker.system, images=self.images)
        events = EventTranslator(self.id)
        ours: list[Any] = []
        open_responses.set(ours)
        try:
            async with model_request_stream(
                connected.speaker,
                messages.translate(request.messages, request.instructions),
                model_settings=self._settings(request),
                model_request_parameters=ModelRequestParameters(function_tools=definitions(request.tools)),
                instrument=False,
            ) as answer:
                async for event in answer:
                    for piece in events.translate(event):
                        yield piece
                for piece in events.finish(answer.get()):
                    yield piece
        except Exception as error:
            # Three libraries raise all kinds of exceptions for a response that breaks their protocol.
            raise self._errors.translate(error, started=events.started) from error
        finally:
            for response in ours:
                await response.aclose()

    def _settings(self, request: Request) -> Any:
        settings: dict[str, Any] = {"max_retries": 0}  # the agent loop retries, and reports it
        if request.max_tokens is not None:
            settings["max_tokens"] = request.max_tokens
        if request.effort in self.efforts:
            settings["thinking"] = request.effort
        if self._provider.headers:
            settings["extra_headers"] = dict(self._provider.headers)
        if self._provider.api == "anthropic":
            settings["cache"] = True
        elif self._provider.api == "responses":
            settings["openai_store"] = False  # the history is ours; nothing needs to be stored there
        return settings

    def warm(self) -> None:
        """Start loading the provider's library in a thread, because it takes seconds."""
        if self._connecting is not None and not (self._connecting.done() and _failed(self._connecting)):
            return

        key = self._key.value if self._key else None
        self._connecting = asyncio.create_task(run_in_thread(make, self._provider, self._model, key, self._timeout))
        self._connecting.add_done_callback(_failed)

    async def _connect(self) -> Connected:
        """Return the client, created once for all requests."""
        self.warm()
        assert self._connecting is not None
        return await asyncio.shield(self._connecting)

    async def close(self) -> None:
        """Close the connections."""
        making, self._connecting = self._connecting, None
        # A client that is still being created has no connections yet.
        if making is not None and making.done() and not _failed(making):
            await making.result().client.aclose()


def _failed(task: asyncio.Task[Connected]) -> bool:
    """Return whether creating the client failed. Retrieving the exception keeps asyncio from logging it."""
    return task.cancelled() or task.exception() is not None


CONNECT_TIMEOUT_SECONDS = 10.0

open_responses: ContextVar[list[httpx2.Response]] = ContextVar("open_responses")
"""Open responses of the current request, to be closed when it ends: not every library does that."""


class Connected(NamedTuple):
    """A model of pydantic-ai, and the HTTP client it uses."""

    speaker: Speaker
    client: httpx2.AsyncClient


def make(service: Provider, name: str, key: str | None, timeout: float) -> Connected:
    """Load the provider's library and create a client for a model. Blocks for a second or more the first time.

    `timeout` is the maximum silence of the provider."""
    try:
        importlib.import_module("pydantic_ai.direct")  # imported here, in the thread, to keep the event loop responsive
        client = _client(service, timeout)
        speaker = _SPEAKERS[service.api](service, name, key, client)
    except ImportError as error:
        raise ModelError(
            f"{service.title} models need a package that is not installed ({error.name}): {install_command('coder')}"
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
    client = create_async_httpx2_client(
        timeout=httpx2.Timeout(timeout, connect=CONNECT_TIMEOUT_SECONDS), transport=transport
    )
    client.event_hooks["response"].append(_track)
    return client


async def _track(response: httpx2.Response) -> None:
    open_responses.get([]).append(response)


def _anthropic(service: Provider, name: str, key: str | None, client: httpx2.AsyncClient) -> Speaker:
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


_SPEAKERS = {"anthropic": _anthropic, "google": _google, "responses": _responses, "chat": _chat}
