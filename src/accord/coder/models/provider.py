"""A model of a provider, asked over the network.

The provider's library only translates: retries, permissions, cancellation and the history are ours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from accord.coder.models.base import Model, Piece, Request
from accord.coder.models.catalog import described
from accord.coder.models.hearing import Hearing
from accord.coder.models.services import Service
from accord.coder.models.telling import Telling, definitions
from accord.coder.models.trouble import Trouble
from accord.process.aside import in_thread

if TYPE_CHECKING:
    from accord.coder.keys import Key
    from accord.coder.models.making import Made
    from accord.config.coder import CoderSettings

PATIENCE = 300.0
"""How long a provider may be silent, in seconds: some think for minutes before the first word."""


class ProviderModel(Model):
    """One model of one provider. Its library is loaded by the first request, not before."""

    def __init__(
        self,
        service: Service,
        name: str,
        key: Key | None = None,
        *,
        settings: CoderSettings | None = None,
        patience: float = PATIENCE,
    ) -> None:
        info = described(service, name)
        self.id = info.id
        self.name = info.name
        self.context = info.context
        self.efforts = info.efforts
        self.images = info.images
        self._service = service
        self._model = name
        self._key = key
        self._patience = patience
        self._trouble = Trouble(service, name, key, settings)
        self._making: asyncio.Task[Made] | None = None

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Asks for the next answer; see `Model.stream`."""
        made = await self._made()
        from pydantic_ai.direct import model_request_stream
        from pydantic_ai.models import ModelRequestParameters

        from accord.coder.models.making import lines

        telling = Telling(self._service.name, made.speaker.system, images=self.images)
        hearing = Hearing(self.id)
        ours: list[Any] = []
        lines.set(ours)
        try:
            async with model_request_stream(
                made.speaker,
                telling.messages(request.messages, request.instructions),
                model_settings=self._settings(request),
                model_request_parameters=ModelRequestParameters(function_tools=definitions(request.tools)),
                instrument=False,
            ) as answer:
                async for event in answer:
                    for piece in hearing.hear(event):
                        yield piece
                for piece in hearing.end(answer.get()):
                    yield piece
        except Exception as error:
            # What three libraries make of an answer that breaks their protocol cannot be listed.
            raise self._trouble.error(error, heard=hearing.heard) from error
        finally:
            for line in ours:
                await line.aclose()

    def _settings(self, request: Request) -> Any:
        settings: dict[str, Any] = {"max_retries": 0}  # the loop asks again itself, and says so
        if request.max_tokens is not None:
            settings["max_tokens"] = request.max_tokens
        if request.effort in self.efforts:
            settings["thinking"] = request.effort
        if self._service.headers:
            settings["extra_headers"] = dict(self._service.headers)
        if self._service.api == "anthropic":
            settings["cache"] = True
        elif self._service.api == "responses":
            settings["openai_store"] = False  # the history is ours; nothing need be kept elsewhere
        return settings

    def warm(self) -> None:
        """Begins to load the provider's library, which takes seconds, in a thread."""
        if self._making is not None and not (self._making.done() and _failed(self._making)):
            return
        from accord.coder.models.making import make

        key = self._key.value if self._key else None
        self._making = asyncio.create_task(in_thread(make, self._service, self._model, key, self._patience))
        self._making.add_done_callback(_failed)

    async def _made(self) -> Made:
        """What speaks with the provider; made once, for everybody who asks."""
        self.warm()
        assert self._making is not None
        return await asyncio.shield(self._making)

    async def close(self) -> None:
        """Lets go of the connections."""
        making, self._making = self._making, None
        # What is still being made has none; nobody need wait for it.
        if making is not None and making.done() and not _failed(making):
            await making.result().client.aclose()


def _failed(task: asyncio.Task[Made]) -> bool:
    """Whether something could not be made. To ask is to have heard of it: nobody need wait for what is warmed up."""
    return task.cancelled() or task.exception() is not None
