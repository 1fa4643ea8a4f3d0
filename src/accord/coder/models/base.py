"""What the loop asks of a model, and what a model says back, piece by piece."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from typing import Any, Literal, Union

from accord.coder.history import Call, Message, ModelSaid
from accord.errors import AccordError
from accord.model.noun import Noun

EndReason = Literal["end", "calls", "length", "refusal"]


class ToolSpec(Noun):
    """A tool as a model is told of it."""

    name: str
    description: str
    parameters: dict[str, Any]
    """A JSON schema of an object."""


class Request(Noun):
    """Everything a model needs for its next answer."""

    instructions: str
    messages: list[Message]
    tools: list[ToolSpec] = []
    effort: str | None = None
    """How hard to think: "low", "medium", "high"; None as the provider sees fit."""
    max_tokens: int | None = None


class Spent(Noun):
    """The tokens of one request."""

    input: int = 0
    """All that was read, what came from a cache included."""
    output: int = 0
    cached_read: int = 0
    cached_write: int = 0
    thought: int = 0
    cost: float | None = None
    """In US dollars, when the price is known."""


class SaidPiece(Noun):
    """The model says something."""

    text: str


class ThoughtPiece(Noun):
    """The model thinks something."""

    text: str


class CallBegins(Noun):
    """The model begins to call a tool; its arguments are still being written."""

    id: str
    name: str


class CallReady(Noun):
    """A call is complete."""

    call: Call


class Ended(Noun):
    """The answer is complete. Always the last piece."""

    message: ModelSaid
    reason: EndReason
    spent: Spent


Piece = Union[SaidPiece, ThoughtPiece, CallBegins, CallReady, Ended]


class ModelError(AccordError):
    """A provider did not answer as it should. The message says who, what, and what to do."""

    def __init__(
        self,
        message: str,
        *,
        retry: bool = False,
        after: float | None = None,
        kind: Literal["", "key", "context", "model"] = "",
    ) -> None:
        super().__init__(message)
        self.retry = retry
        """Whether the same request may succeed later: an overloaded server, a broken line."""
        self.after = after
        """How many seconds the provider asked us to wait."""
        self.kind = kind
        """What is wrong, where the agent can do something about it: the key, a full context, the model's name."""


class Model(ABC):
    """Somebody who can be asked. One object serves many requests, one after the other or at once."""

    id: str
    """Provider and name: `anthropic:claude-sonnet-4-5`, or `offline`."""
    name: str
    """What people call it."""
    context: int
    """How many tokens it can read at once."""
    efforts: tuple[str, ...] = ()
    """How hard it can be told to think."""
    images: bool = False
    """Whether it sees pictures."""
    streams_tools: bool = True

    @abstractmethod
    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Asks for the next answer. Closing the generator closes the line to the provider at once.

        Raises `ModelError` when there is no whole answer; pieces may have come by then."""

    def warm(self) -> None:
        """Begins to load what the first request needs, without waiting for it."""

    async def close(self) -> None:
        """Lets go of connections."""
