"""A client of a fake provider, for each wire format."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from coder.providers.server import FakeProvider

from accord.coder.credentials import Key
from accord.coder.history import Message, UserSaid
from accord.coder.models.base import Ended, Model, ModelError, Piece, Request, SaidPiece, ThoughtPiece, ToolSpec
from accord.coder.models.providers import known_providers
from accord.coder.models.pydantic_ai.model import ProviderModel
from accord.config.settings import CoderSettings, ProviderEntry, Retention
from accord.model.content import TextContent

NAMES = {
    "anthropic": ("anthropic", "claude-sonnet-5-5"),
    "chat": ("vllm", "qwen3-coder"),
    "responses": ("openai", "gpt-6.1-sol"),
    "google": ("google", "gemini-3.8-flash"),
    "openrouter": ("openrouter", "anthropic/claude-sonnet-5.5"),
}
GATEWAYS = {
    "vercel": ("vercel", "anthropic/claude-sonnet-5.5"),
    "copilot": ("copilot", "claude-sonnet-4.6"),
}
"""Providers that have APIs of several vendors."""
their_warnings = pytest.mark.filterwarnings("ignore:invalid escape sequence")
"""Python warns about a provider's library when it is first imported and compiled."""
every_wire = pytest.mark.parametrize("wire", list(NAMES))


@asynccontextmanager
async def connect_model(
    fake: FakeProvider,
    wire: str,
    *,
    timeout: float = 300.0,
    name: str | None = None,
    cache: Retention | None = None,
    **entry: Any,
) -> AsyncIterator[Model]:
    """A model of the fake provider; it is closed at the end."""
    provider, usual = {**NAMES, **GATEWAYS}[wire]
    name = name or usual
    if wire in NAMES:
        entry |= {"api": wire, "base_url": fake.base_url(wire)}
    settings = CoderSettings(providers={provider: ProviderEntry(**entry)}, cache=cache)
    service = known_providers(settings, {})[provider]
    if wire in GATEWAYS:  # not as a setting: nothing is known about the models at another address
        service = msgspec.structs.replace(service, base_url=fake.base_url(wire))
    key = Key(value="secret-key-of-mine", source="MY_KEY")
    model = ProviderModel(service, name, key, settings=settings, timeout=timeout)
    try:
        yield model
    finally:
        await model.close()


def tool(name: str = "read_file") -> ToolSpec:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return ToolSpec(name=name, description="Reads a file.", parameters=parameters)


def request(*messages: Message, **fields: Any) -> Request:
    fields.setdefault("instructions", "Be brief.")
    fields.setdefault("tools", [tool()])
    return Request(messages=list(messages) or [user_message("Hello?")], **fields)


def user_message(text: str) -> UserSaid:
    return UserSaid(content=[TextContent(text)])


async def read_pieces(model: Model, wanted: Request | None = None) -> list[Piece]:
    return [piece async for piece in model.stream(wanted or request())]


async def read_end(model: Model, wanted: Request | None = None) -> Ended:
    last = (await read_pieces(model, wanted))[-1]
    assert isinstance(last, Ended)
    return last


async def read_error(model: Model, wanted: Request | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await read_pieces(model, wanted)
    return caught.value


async def read_until_error(model: Model) -> tuple[list[Piece], ModelError]:
    """Return the pieces of an answer, and the error after them."""
    heard = []
    try:
        async for piece in model.stream(request()):
            heard.append(piece)  # noqa: PERF401  (the pieces before the error are needed)
    except ModelError as error:
        return heard, error
    pytest.fail(f"no error; received {heard}")


def text_of(found: list[Piece]) -> str:
    return "".join(piece.text for piece in found if isinstance(piece, SaidPiece))


def thoughts_of(found: list[Piece]) -> str:
    return "".join(piece.text for piece in found if isinstance(piece, ThoughtPiece))
