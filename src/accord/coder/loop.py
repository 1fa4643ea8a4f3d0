"""One turn: the model is asked, its tools are used, it is asked again, until it has nothing more to do.

Being cancelled is ordinary asyncio cancellation: the stream to the provider is closed, running tools stop, and what was
said and done by then stays in the model's memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from accord.coder import compaction, modes
from accord.coder.calls import carry_out
from accord.coder.history import ModelSaid as Answer
from accord.coder.history import Result, Text, Thought, ToolsSaid, UserSaid, known
from accord.coder.models.base import CallBegins, CallReady, Ended, ModelError, Request, SaidPiece, ThoughtPiece
from accord.coder.tools.base import Tool
from accord.errors import AuthRequired, RequestFailed
from accord.model.content import Content
from accord.model.session import StopReason

if TYPE_CHECKING:
    from accord.agent.turn import Turn
    from accord.coder.desk import Desk
    from accord.coder.models.base import Model

log = logging.getLogger("accord.coder")
MAX_REQUESTS = 60
"""How often the model is asked in one turn, unless configured otherwise."""
PAUSES = (1.0, 3.0, 8.0, 20.0)
"""How long we wait before asking a provider again that could not answer, in seconds."""


class Loop:
    """One turn of one session."""

    def __init__(
        self,
        turn: Turn,
        desk: Desk,
        model: Model,
        tools: Mapping[str, Tool[Any]],
        instructions: str,
        *,
        effort: str | None = None,
        max_requests: int = MAX_REQUESTS,
        pauses: tuple[float, ...] = PAUSES,
    ) -> None:
        self.turn = turn
        self.desk = desk
        self.model = model
        self.tools = tools
        self.instructions = instructions
        self._effort = effort if effort in model.efforts else None
        self._max_requests = max_requests
        self._pauses = pauses

    async def run(self, content: list[Content] | None = None) -> StopReason | None:
        """Handles what the user said, or `content` in its place, until the model is done."""
        self.desk.remember(UserSaid(content=known(content or self.turn.content)))
        for _ in range(self._max_requests):
            await self._take_inserted()
            await self._make_room()
            ended = await self._ask()
            if ended.reason == "refusal":
                return "refusal"
            if ended.reason == "length":
                self._answer_unrun(ended)
                return "max_tokens"
            calls = ended.message.calls
            if calls:
                await self._use_tools(ended)
            elif not await self._take_inserted():
                return None
        await self.desk.tell_user(f"Stopped after {self._max_requests} requests to the model in one turn")
        return "max_turn_requests"

    # -- what comes in between

    async def _take_inserted(self) -> bool:
        """Hears what the user said meanwhile, where the version makes it part of the running turn."""
        prompts = await self.turn.inserted()
        for prompt in prompts:
            self.desk.remember(UserSaid(content=known(prompt.content)))
        return bool(prompts)

    async def _make_room(self) -> None:
        if compaction.is_due(self.desk, self.model):
            await compaction.compact(self.desk, self.model, self.turn)

    # -- asking the model

    async def _ask(self) -> Ended:
        """The model's next answer, asked for again when its provider could not give it."""
        shortened = False
        pauses = iter(self._pauses)
        while True:
            try:
                return await self._stream()
            except ModelError as error:
                if error.kind == "context" and not shortened:
                    shortened = True
                    await compaction.compact(self.desk, self.model, self.turn)
                    continue
                pause = next(pauses, None) if error.retry else None
                if pause is None:
                    raise _as_failure(error) from error
                pause = max(pause, min(error.after or 0.0, 120.0))
                await self.desk.tell_user(
                    "The model did not answer; asking again", f"{error} (in {pause:g} s)", severity="warning"
                )
                await asyncio.sleep(pause)

    async def _stream(self) -> Ended:
        """One request. What was said before a cancel is remembered; before an error, it is only seen."""
        turn = self.turn
        said: list[str] = []
        turn.session.end_message()
        try:
            async with aclosing(self.model.stream(self._request())) as pieces:
                async for piece in pieces:
                    match piece:
                        case SaidPiece(text=text):
                            said.append(text)
                            await turn.say(text)
                        case ThoughtPiece(text=text):
                            await turn.think(text)
                        case CallBegins() | CallReady():
                            pass  # shown once it is whole: a title needs its arguments
                        case Ended():
                            return await self._ended(piece)
        except asyncio.CancelledError:
            if said:
                self.desk.remember(Answer(parts=[Text(text="".join(said))], model=self.model.id))
            raise
        raise ModelError(f"{self.model.name} ended its answer in the middle", retry=True)

    def _request(self) -> Request:
        offered = [tool.spec() for tool in self.tools.values() if modes.offers(self.desk.mode, tool)]
        return Request(
            instructions=self.instructions, messages=list(self.desk.history), tools=offered, effort=self._effort
        )

    async def _ended(self, ended: Ended) -> Ended:
        if any(not isinstance(part, Thought) for part in ended.message.parts):
            ended.message.model = self.model.id
            self.desk.remember(ended.message)
        await self.desk.account(ended.spent, self.model.context, self.turn)
        return ended

    # -- using tools

    async def _use_tools(self, ended: Ended) -> None:
        results: list[Result] = []
        try:
            await carry_out(ended.message.calls, self.turn, self.desk, self.tools, results)
        finally:
            self._remember_results(ended, results, "This was cancelled by the user; it may have had an effect.")

    def _answer_unrun(self, ended: Ended) -> None:
        if ended.message.calls:
            self._remember_results(ended, [], "The answer was too long and was cut off; this was not done.")

    def _remember_results(self, ended: Ended, results: list[Result], otherwise: str) -> None:
        """Every call has an answer, whatever became of it: providers insist on that."""
        done = {result.id: result for result in results}
        self.desk.remember(
            ToolsSaid(
                results=[
                    done.get(call.id) or Result(id=call.id, name=call.name, text=otherwise, failed=True)
                    for call in ended.message.calls
                ]
            )
        )


def _as_failure(error: ModelError) -> RequestFailed:
    """What the client is told when the model cannot be asked."""
    if error.kind == "key":
        return AuthRequired(str(error))
    return RequestFailed(str(error), data={"kind": error.kind or "provider", "retry": error.retry})
