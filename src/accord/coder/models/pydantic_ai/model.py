"""A provider's model, called over the network.

The provider's library only translates the wire format: retries, permissions, cancellation and the history are ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from accord.coder.models.base import Model, Piece, Request
from accord.coder.models.catalog import describe
from accord.coder.models.errors import ProviderErrors
from accord.coder.models.local_window import Window, find_window, has_window
from accord.coder.models.providers import Provider
from accord.coder.models.pydantic_ai.clients import Connected, connect, open_responses
from accord.coder.models.pydantic_ai.events import EventTranslator
from accord.coder.models.pydantic_ai.messages import MessageTranslator, definitions
from accord.coder.models.pydantic_ai.settings import build_settings
from accord.process.thread import run_in_thread

if TYPE_CHECKING:
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
        self.price_step: int | None = info.price_step
        self._price = info.price
        self._provider = service
        self._model = name
        self._key = key
        self._timeout = timeout
        self._retention = (settings.cache if settings else None) or "5m"
        self._summaries = True
        """Whether to ask for summaries of the model's reasoning. OpenAI refuses them to unverified organizations."""
        self._errors = ProviderErrors(service, name, key, settings)
        self._connecting: asyncio.Task[Connected] | None = None
        self._window: Window | None = None
        """The window that a local server has reported."""

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Request the next reply; see `Model.stream`."""
        connected = await self._connect()
        events = EventTranslator(self.id, self._price)
        ours: list[Any] = []
        open_responses.set(ours)
        try:
            async with aclosing(self._pieces(request, connected.speaker, events)) as pieces:
                async for piece in pieces:
                    yield piece
        except Exception as error:
            if events.started or not self._summaries or not _refuses_summaries(error):
                # Three libraries raise all kinds of exceptions for a response that breaks their protocol.
                raise self._errors.translate(error, started=events.started) from error
            self._summaries = False
        else:
            return
        finally:
            for response in ours:
                await response.aclose()
        async with aclosing(self.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def _pieces(self, request: Request, speaker: Speaker, events: EventTranslator) -> AsyncGenerator[Piece, None]:
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.models import ModelRequestParameters

        messages = MessageTranslator(self.id, speaker.system, images=self.images)
        async with model_request_stream(
            speaker,
            messages.translate(request.messages, request.instructions),
            model_settings=self._settings(request, speaker),
            model_request_parameters=ModelRequestParameters(function_tools=definitions(request.tools)),
            instrument=False,
        ) as answer:
            async for event in answer:
                for piece in events.translate(event):
                    yield piece
            for piece in events.finish(answer.get()):
                yield piece

    def _settings(self, request: Request, speaker: Speaker) -> Any:
        return build_settings(
            request,
            self._provider,
            self._model,
            speaker.profile,
            efforts=self.efforts,
            retention=self._retention,
            summaries=self._summaries,
            window=self._window.size if self._window is not None and self._window.is_chosen else None,
        )

    async def find_window(self) -> None:
        """Ask a local server for the true context window, until it is known; see `Model.find_window`."""
        if self._window is not None or not has_window(self._provider, self._model):
            return
        if self._provider.cassette is not None:  # the same requests whether it records or replays, and no others
            return
        key = self._key.value if self._key else None
        window = await run_in_thread(find_window, self._provider, self._model, key)
        if window is None:
            return
        self._window = window
        self.context = min(window.size, self._provider.context or window.size)
        self.window_advice: str = window.advice or "choose a model with a larger one"

    def warm(self) -> None:
        """Start loading the provider's library in a thread, because it takes seconds."""
        if self._connecting is not None and not (self._connecting.done() and _failed(self._connecting)):
            return

        key = self._key.value if self._key else None
        self._connecting = asyncio.create_task(run_in_thread(connect, self._provider, self._model, key, self._timeout))
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


def _refuses_summaries(error: Exception) -> bool:
    """Return whether OpenAI refused the request because of its summaries, which only some accounts may see."""
    from pydantic_ai.exceptions import ModelHTTPError

    return (
        isinstance(error, ModelHTTPError) and error.status_code == 400 and "reasoning summar" in str(error.body).lower()
    )
