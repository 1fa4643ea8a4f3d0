"""One turn: the model is asked, its tools are used, it is asked again, until it has nothing more to do.

Being cancelled is ordinary asyncio cancellation: the stream to the provider is closed, running tools stop, and what was
said and done by then stays in the model's memory."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Union

from accord.coder import compaction, modes
from accord.coder.calls import carry_out
from accord.coder.desk import failure
from accord.coder.history import Call, Result, Text, Thought, UserSaid, known, sound
from accord.coder.history import ModelSaid as Answer
from accord.coder.models.base import (
    CallBegins,
    CallReady,
    Ended,
    ModelError,
    Request,
    SaidPiece,
    ThoughtPiece,
    ToolSpec,
)
from accord.coder.tools.base import Tool
from accord.model.content import Content, Image
from accord.model.session import StopReason

if TYPE_CHECKING:
    from accord.agent.turn import Prompt, Turn
    from accord.coder.desk import Desk
    from accord.coder.models.base import Model

log = logging.getLogger("accord.coder")
MAX_REQUESTS = 60
"""How often the model is asked in one turn, unless configured otherwise."""
PAUSES = (1.0, 3.0, 8.0, 20.0)
"""How long we wait before asking a provider again that could not answer, in seconds."""
UNDONE = "The turn ended before this was begun; it was not done."

Meaning = Callable[["Prompt"], Awaitable[Union[list[Content], None]]]


class Loop:
    """One turn of one session."""

    def __init__(
        self,
        turn: Turn,
        desk: Desk,
        model: Model,
        tools: Callable[[], Mapping[str, Tool[Any]]],
        instructions: Callable[[], Awaitable[str]],
        *,
        effort: str | None = None,
        max_requests: int = MAX_REQUESTS,
        pauses: tuple[float, ...] = PAUSES,
        meaning: Meaning | None = None,
    ) -> None:
        """`tools` are looked up for each request, `instructions` for each mode: servers come, modes are switched.

        `meaning` gives what a prompt stands for when it is not meant as it is; else None."""
        self.turn = turn
        self.desk = desk
        self.model = model
        self.tools: Mapping[str, Tool[Any]] = {}
        self._find_tools = tools
        self._instructions = instructions
        self._told = ""
        self._told_in = ""
        """In which mode."""
        self._effort = effort if effort in model.efforts else None
        self._max_requests = max_requests
        self._pauses = pauses
        self._meaning = meaning or _itself
        self._asked: list[UserSaid] = []
        """What the user wants in this turn: it stays word for word, however much is shortened."""
        self._cannot_shorten = False

    async def run(self, content: list[Content] | None = None) -> StopReason | None:
        """Handles what the user said, or `content` in its place, until the model is done."""
        if not self._hear(content or self.turn.content):
            return None
        try:
            return await self._work()
        finally:
            self.desk.answer_open_calls(UNDONE)

    async def _work(self) -> StopReason | None:
        if not self.model.images and any(isinstance(piece, Image) for piece in self._asked[0].content):
            await self.desk.tell_user(f"{self.model.name} cannot see pictures; it is told that there is one")
        for _ in range(self._max_requests):
            self.tools = self._find_tools()
            await self._take_inserted()
            await self._make_room()
            ended = await self._ask()
            if ended.reason == "refusal":
                return "refusal"
            if ended.reason == "length":
                self.desk.answer_open_calls("The answer was too long and was cut off; this was not done.")
                return "max_tokens"
            if ended.message.calls:
                await self._use_tools(ended.message.calls)
            elif not await self._take_inserted():
                return None
        await self.desk.tell_user(f"Stopped after {self._max_requests} requests to the model in one turn")
        return "max_turn_requests"

    # -- what comes in between

    def _hear(self, content: list[Content]) -> bool:
        said = UserSaid(content=known(content))
        if said.content:
            self._asked.append(said)
            self.desk.remember(said)
        return bool(said.content)

    async def _take_inserted(self) -> bool:
        """Hears what the user said meanwhile, where the version makes it part of the running turn."""
        heard = False
        prompts = deque(await self.turn.inserted())
        try:
            while prompts:
                content = await self._meaning(prompts[0])
                prompt = prompts.popleft()
                heard |= self._hear(prompt.content if content is None else content)
        finally:
            for prompt in prompts:  # cancelled in between: they are part of the conversation all the same
                self._hear(prompt.content)
        return heard

    async def _make_room(self) -> None:
        """Shortens what is about to be too long. A model that cannot do that may still answer."""
        if self._cannot_shorten or not compaction.is_due(self.desk, self.model):
            return
        try:
            self._cannot_shorten = not await self._shorten()
        except ModelError as error:
            self._cannot_shorten = True
            await self.desk.tell_user("What the model remembers could not be shortened", str(error), severity="warning")

    async def _shorten(self) -> bool:
        return await compaction.compact(self.desk, self.model, self.turn, self._asked, tools=self._offered())

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
                    await self._shorten_for(error)
                    continue
                pause = next(pauses, None) if error.retry else None
                if pause is None:
                    raise failure(error) from error
                pause = max(pause, min(error.after or 0.0, 120.0))
                await self.desk.tell_user(
                    "The model did not answer; asking again", f"{error} (in {pause:g} s)", severity="warning"
                )
                await asyncio.sleep(pause)

    async def _shorten_for(self, error: ModelError) -> None:
        """Shortens what the provider found too long."""
        try:
            if await self._shorten():
                return
        except ModelError as why:
            raise failure(ModelError(f"{error} It could not be shortened either: {why}", kind="context")) from why
        raise failure(ModelError(f"{error} There is nothing left to shorten: send less at once.", kind="context"))

    async def _stream(self) -> Ended:
        """One request. What was said before a cancel is remembered; before an error, it is only seen."""
        turn = self.turn
        said: list[str] = []
        ended: Ended | None = None
        turn.session.end_message()
        try:
            async with aclosing(self.model.stream(await self._request())) as pieces:
                async for piece in pieces:
                    match piece:
                        case SaidPiece(text=text):
                            said.append(text)
                            await turn.say(sound(text))
                        case ThoughtPiece(text=text):
                            await turn.think(sound(text))
                        case CallBegins() | CallReady():
                            pass  # shown once it is whole: a title needs its arguments
                        case Ended():
                            ended = piece  # and to the end: a line that is not broken off can be used again
        except ModelError:
            if ended is None:
                raise
        except asyncio.CancelledError:
            self._remember(ended.message if ended is not None else Answer(parts=[Text(text="".join(said))]))
            raise
        if ended is None:
            raise ModelError(f"{self.model.name} ended its answer in the middle", retry=True)
        self._remember(ended.message)
        await self.desk.account(ended.spent, self.model.context, turn)
        return ended

    def _remember(self, answer: Answer) -> None:
        """Keeps an answer as every provider takes it back: nothing empty in it, and no two calls of one id."""
        answer.parts = [part for part in answer.parts if not isinstance(part, Text) or part.text.strip() or part.extra]
        if all(isinstance(part, Thought) for part in answer.parts):
            return
        for part in answer.parts:
            if not isinstance(part, Call):
                part.text = sound(part.text)
        seen: set[str] = set()
        for call in answer.calls:
            call.name, call.arguments = sound(call.name), sound(call.arguments)
            if not call.id or call.id in seen:
                call.id = self.turn.session.new_id("call")
            seen.add(call.id)
        answer.model = self.model.id
        self.desk.remember(answer)

    async def _request(self) -> Request:
        if self._told_in != self.desk.mode:  # else they stay what they were: providers remember what does not change
            self._told_in, self._told = self.desk.mode, await self._instructions()
        return Request(
            instructions=self._told,
            messages=list(self.desk.history),
            tools=self._offered(),
            effort=self._effort,
        )

    def _offered(self) -> list[ToolSpec]:
        return [tool.spec() for tool in self.tools.values() if modes.offers(self.desk.mode, tool)]

    # -- using tools

    async def _use_tools(self, calls: list[Call]) -> None:
        results: list[Result] = []
        try:
            await carry_out(calls, self.turn, self.desk, self.tools, results)
        finally:
            self.desk.answer_open_calls("This was cancelled by the user; it may have had an effect.", results)


async def _itself(prompt: Prompt) -> list[Content] | None:
    return None
