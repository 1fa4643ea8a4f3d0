"""A conversation with the offline model, tool by tool: what it says and calls is seen, what tools say is given."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from accord.coder.history import Message, ModelSaid, Result, ToolsSaid, UserSaid
from accord.coder.models.base import CallBegins, CallReady, Ended, Piece, Request, SaidPiece, ToolSpec
from accord.coder.models.offline.brain import OfflineModel
from accord.coder.tools import standard_tools
from accord.model.content import TextContent

TOOLS = frozenset(standard_tools()) | {"fetch_url"}
LOOKING = frozenset(name for name, tool in standard_tools().items() if not tool.changes)


class Talk:
    """One session's history, and the model that goes on with it."""

    def __init__(self, *messages: Message, tools: frozenset[str] = TOOLS, instructions: str = "Be good.") -> None:
        self.messages: list[Message] = list(messages)
        self.tools = tools
        self.instructions = instructions
        self.max_tokens: int | None = None
        self.pieces: list[Piece] = []

    def request(self) -> Request:
        specs = [ToolSpec(name=name, description="", parameters={}) for name in sorted(self.tools)]
        return Request(
            instructions=self.instructions, messages=list(self.messages), tools=specs, max_tokens=self.max_tokens
        )

    async def answer(self) -> ModelSaid:
        """The model's next answer, which joins the history."""
        async with aclosing(OfflineModel().stream(self.request())) as stream:
            self.pieces = [piece async for piece in stream]
        ended = self.pieces[-1]
        assert isinstance(ended, Ended)
        assert "".join(piece.text for piece in self.pieces if isinstance(piece, SaidPiece)) == ended.message.text
        begun = [piece.id for piece in self.pieces if isinstance(piece, CallBegins)]
        ready = [piece.call for piece in self.pieces if isinstance(piece, CallReady)]
        assert ready == ended.message.calls
        assert begun == [call.id for call in ready]
        self.messages.append(ended.message)
        return ended.message

    async def ask(self, text: str, *content: Any) -> ModelSaid:
        """A prompt, and the first answer to it."""
        self.messages.append(UserSaid(content=[TextContent(text), *content] if text else list(content)))
        return await self.answer()

    async def tools_say(self, *texts: str | tuple[str, bool]) -> ModelSaid:
        """What the tools say that the last answer called, plans left out; and the next answer. (text, False) failed."""
        said = self.messages[-1]
        assert isinstance(said, ModelSaid)
        given = iter(texts)
        results = []
        for call in said.calls:
            text = "The plan is now: …" if call.name == "set_plan" else next(given)
            words, good = (text, True) if isinstance(text, str) else text
            results.append(Result(id=call.id, name=call.name, text=words, failed=not good))
        assert next(given, None) is None, "more was said than called for"
        self.messages.append(ToolsSaid(results=results))
        return await self.answer()


def called(said: ModelSaid, *, plans: bool = False) -> list[tuple[str, dict[str, Any]]]:
    """What an answer calls; plans only where they are the subject."""
    return [(call.name, call.arguments) for call in said.calls if plans or call.name != "set_plan"]


def plan(said: ModelSaid) -> list[tuple[str, str]]:
    """The plan that an answer publishes first."""
    call = said.calls[0]
    assert call.name == "set_plan"
    return [(step["content"], step["status"]) for step in call.arguments["steps"]]
