"""Asks a model of a fake provider, on each of the wires."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from coder.providers.server import FakeProvider

from accord.coder.history import Message, UserSaid
from accord.coder.keys import Key
from accord.coder.models.base import Ended, Model, ModelError, Piece, Request, SaidPiece, ThoughtPiece, ToolSpec
from accord.coder.models.provider import ProviderModel
from accord.coder.models.services import services
from accord.config.coder import CoderSettings, ProviderEntry
from accord.model.content import TextContent

NAMES = {
    "anthropic": ("anthropic", "claude-sonnet-5-5"),
    "chat": ("vllm", "qwen3-coder"),
    "responses": ("openai", "gpt-6.1-sol"),
    "google": ("google", "gemini-3.8-flash"),
}
their_warnings = pytest.mark.filterwarnings("ignore:invalid escape sequence")
"""A provider's library is compiled when it is first imported, and Python has something to say about its text."""
every_wire = pytest.mark.parametrize("wire", list(NAMES))


@asynccontextmanager
async def asked(fake: FakeProvider, wire: str, **entry: Any) -> AsyncIterator[Model]:
    """A model of the fake provider; it is closed at the end."""
    provider, name = NAMES[wire]
    settings = CoderSettings(
        providers={provider: ProviderEntry(base_url=fake.base_url(wire), api=wire, **entry)}  # type: ignore[arg-type]
    )
    key = Key(value="secret-key-of-mine", source="MY_KEY")
    model = ProviderModel(services(settings, {})[provider], name, key, settings=settings, patience=30)
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
    return Request(messages=list(messages) or [said("Hello?")], **fields)


def said(text: str) -> UserSaid:
    return UserSaid(content=[TextContent(text)])


async def pieces(model: Model, wanted: Request | None = None) -> list[Piece]:
    return [piece async for piece in model.stream(wanted or request())]


async def ended(model: Model, wanted: Request | None = None) -> Ended:
    last = (await pieces(model, wanted))[-1]
    assert isinstance(last, Ended)
    return last


async def failure(model: Model, wanted: Request | None = None) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await pieces(model, wanted)
    return caught.value


async def until_it_fails(model: Model) -> tuple[list[Piece], ModelError]:
    """The pieces that came, and the error that came after them."""
    heard = []
    try:
        async for piece in model.stream(request()):
            heard.append(piece)  # noqa: PERF401  (what came before the error is wanted)
    except ModelError as error:
        return heard, error
    pytest.fail(f"it did not fail; it gave {heard}")


def text_of(found: list[Piece]) -> str:
    return "".join(piece.text for piece in found if isinstance(piece, SaidPiece))


def thoughts_of(found: list[Piece]) -> str:
    return "".join(piece.text for piece in found if isinstance(piece, ThoughtPiece))
