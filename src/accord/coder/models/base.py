"""The interface of a model: requests, and the pieces of a streamed reply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from typing import Any, Literal, Union

from accord.coder.history import Call, Message, ModelSaid
from accord.errors import AccordError
from accord.model.record import Record

EndReason = Literal["end", "calls", "length", "refusal", "not_understood"]
"""Why a reply ended. Only the offline model doesn't understand prompts."""


class ToolSpec(Record):
    """A tool as described to a model."""

    name: str
    description: str
    parameters: dict[str, Any]
    """The JSON schema of its arguments, an object."""


class Request(Record):
    """Everything a model needs for its next reply."""

    instructions: str
    messages: list[Message]
    tools: list[ToolSpec] = []
    effort: str | None = None
    """Reasoning effort, one of the model's `efforts`; None for the default of its family."""
    max_tokens: int | None = None
    session: str = ""
    """The id of the session. Providers that spread requests over machines find the cached prefix by it."""


class Spent(Record):
    """Token usage of one request."""

    input: int = 0
    """All input tokens, including cached ones."""
    output: int = 0
    cached_read: int = 0
    cached_write: int = 0
    thought: int = 0
    cost: float | None = None
    """In US dollars, if the price is known."""
    saved: float | None = None
    """US dollars that the provider's cache saved, if the prices are known. Negative if writing to it cost more."""


class SaidPiece(Record):
    """A piece of the model's text."""

    text: str


class ThoughtPiece(Record):
    """A piece of the model's reasoning."""

    text: str


class CallBegins(Record):
    """The model starts a tool call; its arguments are still streaming."""

    id: str
    name: str


class CallArguments(Record):
    """A piece of a call's arguments, as JSON text. Providers that send arguments whole send none of these."""

    id: str
    text: str


class CallReady(Record):
    """A tool call is complete."""

    call: Call


class Ended(Record):
    """The reply is complete. Always the last piece."""

    message: ModelSaid
    reason: EndReason
    spent: Spent


Piece = Union[SaidPiece, ThoughtPiece, CallBegins, CallArguments, CallReady, Ended]


class ModelError(AccordError):
    """A provider failed to reply. The message names the provider, the problem, and what to do."""

    def __init__(
        self,
        message: str,
        *,
        retry: bool = False,
        after: float | None = None,
        kind: Literal["", "key", "context", "model"] = "",
        max_retries: int | None = None,
        details: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.retry = retry
        """Whether a retry may succeed: the server is overloaded, or the connection was lost."""
        self.after = after
        """Seconds that the provider asked us to wait."""
        self.kind = kind
        """The kind of problem, if the agent can react to it: the key, a full context, or the model's name."""
        self.max_retries = max_retries
        """How many retries are worth it; None if only the agent's own limit applies."""
        self.details: dict[str, Any] = details or {}
        """Details for clients, in the error's `data`."""


class Model(ABC):
    """A model. One object serves many requests, sequentially or concurrently."""

    id: str
    """Provider and name: `anthropic:claude-sonnet-4-5`, or `offline`."""
    name: str
    """The name shown to users."""
    context: int
    """Size of the context window, in tokens."""
    efforts: tuple[str, ...] = ()
    """Supported reasoning efforts."""
    images: bool = False
    """Whether it accepts images."""
    price_step: int | None = None
    """The size of a request, in tokens, above which all of it costs more."""
    window_advice: str = ""
    """How the user can enlarge the context window; empty if they can't."""
    reads_data: bool = False
    """Whether it uses `Result.data`."""

    @abstractmethod
    def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        """Request the next reply. Closing the generator closes the connection to the provider immediately.

        Raises `ModelError` if the reply is incomplete, possibly after some pieces."""

    async def find_window(self) -> None:
        """Correct `context` if the server decides about it. Called before each request; asks until it is known."""

    def warm(self) -> None:
        """Start loading what the first request needs, in the background."""

    async def close(self) -> None:
        """Close connections."""
