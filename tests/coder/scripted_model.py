"""A scripted model, and an agent that uses it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from accord.coder.agent import Coder
from accord.coder.history import Call, ModelSaid, Text
from accord.coder.models.base import (
    CallArguments,
    CallBegins,
    CallReady,
    Ended,
    EndReason,
    Model,
    ModelError,
    Piece,
    Request,
    SaidPiece,
    Spent,
    ThoughtPiece,
)
from accord.coder.models.catalog import ModelInfo
from accord.coder.shared_resources import SharedResources
from accord.coder.tools.base import Tool
from accord.model.requests import AuthMethod

Step = str | Call | ThoughtPiece | CallBegins | CallArguments | ModelError | asyncio.Event | EndReason


class ScriptedModel(Model):
    """Each answer is a list of steps: text, calls, thoughts; an error to raise; an event to wait for."""

    def __init__(self, *answers: Sequence[Any], context: int = 1000, efforts: tuple[str, ...] = ()) -> None:
        self.id = "test:scripted"
        self.name = "Scripted"
        self.context = context
        self.efforts = efforts
        self.answers = list(answers)
        self.requests: list[Request] = []
        self.closed_early = 0
        self.spent = Spent(input=10, output=5)
        self.waiting = asyncio.Event()
        """Set when the model waits for an event of the script."""

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        self.requests.append(request)
        parts: list[Any] = []
        reason: EndReason = "end"
        whole = False
        try:
            for step in self.answers.pop(0) if self.answers else ["done"]:
                match step:
                    case ModelError():
                        raise step
                    case asyncio.Event():
                        self.waiting.set()
                        await step.wait()
                    case Call():
                        parts.append(step)
                        reason = "calls"
                        yield CallReady(call=step)
                    case ThoughtPiece() | CallBegins() | CallArguments():
                        yield step
                    case "<refusal>" | "<length>":
                        reason = "refusal" if step == "<refusal>" else "length"
                    case str():
                        parts.append(Text(text=step))
                        yield SaidPiece(text=step)
            whole = True
            yield Ended(message=ModelSaid(parts=parts), reason=reason, spent=self.spent)
        finally:
            self.closed_early += not whole


class ScriptedResources(SharedResources):
    """Shared resources with one scripted model."""

    def __init__(self, model: Model, tools: Sequence[Tool[Any]] | None = (), **limits: Any) -> None:
        super().__init__(**{"pauses": (0.0, 0.0), **limits})
        self.scripted = model
        if tools is not None:
            self._tools = {tool.name: tool for tool in tools}

    def models(self, cwd: str) -> list[ModelInfo]:
        return [
            ModelInfo(id="test:scripted", name="Scripted", provider="test", context=1000, efforts=self.scripted.efforts)
        ]

    async def read_keys(self, cwd: str) -> None:
        pass

    def auth_methods(self) -> list[AuthMethod]:
        return []

    def default_model(self, cwd: str) -> str:
        return "test:scripted"

    async def model(self, cwd: str, id: str) -> Model:
        return self.scripted


def coder(
    *answers: Sequence[Any], tools: Sequence[Tool[Any]] | None = (), **limits: Any
) -> tuple[Coder, ScriptedModel]:
    """Return an agent with a scripted model."""
    model = ScriptedModel(*answers)
    return Coder(shared=ScriptedResources(model, tools, **limits)), model
