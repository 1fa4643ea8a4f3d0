"""One turn: ask the model, run the tools it calls, and repeat until it calls none.

Cancellation is asyncio cancellation: the stream to the provider is closed, running tools stop, and everything said and
done so far stays in the history."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Union

from accord.coder import context
from accord.coder.history import Call, Reminder, Result, Text, Thought, UserSaid, filter_supported, replace_surrogates
from accord.coder.history import ModelSaid as Answer
from accord.coder.model_choice import to_request_error
from accord.coder.models.base import (
    CallArguments,
    CallBegins,
    CallReady,
    Ended,
    ModelError,
    SaidPiece,
    ThoughtPiece,
)
from accord.coder.repetition import STOP_AT, WARN_AT, RepeatedCalls
from accord.coder.streamed_calls import PREVIEW_SECONDS, StreamedCalls
from accord.coder.tool_calls import run_calls
from accord.coder.tools.base import Tool
from accord.errors import ConnectionClosed
from accord.model.content import Content, Image
from accord.model.session import NOT_UNDERSTOOD, StopReason

if TYPE_CHECKING:
    from accord.agent.turn import Prompt, Turn
    from accord.coder.models.base import Model, Request
    from accord.coder.session import CoderSession

log: logging.Logger = logging.getLogger("accord.coder")
MAX_REQUESTS = 250
"""The most requests to the model in one turn, by default."""
MAX_CONTINUED = 2
"""How many truncated answers in a row the model may continue."""
RETRY_SECONDS = (1.0, 3.0, 8.0, 20.0)
"""How long to wait before each retry when a provider can't answer."""
JITTER = 0.25
"""The largest random share that is added to such a pause."""
MAX_AFTER_SECONDS = 120.0
"""The longest pause that a provider can ask for."""
NOT_STARTED = "The turn ended before this call was started; it was not done."
NOT_RUN = "The answer was truncated because it was too long; this call was not run."
INTERRUPTED = "The answer ended before this call was complete; it was not run."
CONTINUE = (
    "Your last answer reached the output limit and was truncated. Continue where it stopped. Write large files in "
    "several smaller steps."
)
EMPTY = "Your last answer was empty. Continue with the task, or tell the user the result."
CHANGE_COURSE = (
    "You have made the same failing call {} times, and nothing has changed in between. Don't repeat it: read the "
    "error and try a different approach, or tell the user what is in the way."
)
REPEATED = (
    "You have made the same call {} times with the same result, and nothing has changed in between. You have that "
    "result already: use it, try a different approach, or tell the user what is in the way."
)
SUM_UP = (
    "{} Call no more tools. Summarize for the user what is done and verified, what is missing, and what to do next."
)

Expand = Callable[["Prompt"], Awaitable[Union[list[Content], None]]]


class Loop:
    """One turn of one session."""

    def __init__(
        self,
        turn: Turn,
        state: CoderSession,
        model: Model,
        tools: Callable[[], Mapping[str, Tool[Any]]],
        *,
        max_requests: int | None = None,
        pauses: tuple[float, ...] = RETRY_SECONDS,
        preview_seconds: float = PREVIEW_SECONDS,
        expand: Expand | None = None,
        sum_up: str = SUM_UP,
    ) -> None:
        """`tools` is called for each request, because servers connect and disconnect.

        `max_requests` limits the requests of this turn; None stands for the configured limit.
        `expand` returns the content that a slash command stands for, or None for any other prompt. `sum_up` asks for
        the last answer if the turn ends at a limit; `{}` stands for the reason."""
        self.turn = turn
        self.state = state
        self.model: Model = model
        self.tools: Mapping[str, Tool[Any]] = {}
        self._list_tools = tools
        self._max_requests = max_requests or state.settings.max_steps or MAX_REQUESTS
        self._pauses = pauses
        self._expand = expand or _expand_nothing
        self._asked: list[UserSaid] = []
        """The prompts of this turn. Compaction keeps them unchanged."""
        self._cannot_compact = False
        self._streamed = StreamedCalls(turn, state, preview_seconds)
        self._repeated_calls = RepeatedCalls()
        self._sum_up = sum_up
        state.usage.begin_turn()
        self._fallback = state.settings.fallback_model

    async def run(self, content: list[Content] | None = None) -> StopReason | None:
        """Work on the prompt, or on `content` in its place, until the model is done."""
        if not self._add_prompt(content or self.turn.content):
            return None
        try:
            return await self._work()
        finally:
            self.state.history.answer_open_calls(NOT_STARTED)
            with contextlib.suppress(ConnectionClosed):
                await self._streamed.end()

    async def _work(self) -> StopReason | None:
        if not self.model.images and any(isinstance(piece, Image) for piece in self._asked[0].content):
            await self.state.notices.show(f"{self.model.name} can't see images; it only knows that there is one")
        truncated = empty = 0
        for number in range(self._max_requests):
            self.tools = self._list_tools()
            await self._add_inserted()
            if not self.model.reads_data:  # the offline model reads files again before it changes them
                await self.state.announce_file_changes(ask_client=number == 0)
                self.state.announce_ended_commands()
            await self._compact_if_due()
            ended = await self._ask()
            if ended.reason == "refusal":
                return "refusal"
            truncated = truncated + 1 if ended.reason == "length" else 0
            empty = empty + 1 if _is_empty(ended) else 0
            if truncated:
                self.state.history.answer_open_calls(NOT_RUN)
                await self._streamed.end(NOT_RUN, "failed")
                if truncated > MAX_CONTINUED:
                    await self.state.notices.show("The answer was truncated at the model's output limit")
                    return "max_tokens"
                self._remind(CONTINUE)
            elif ended.message.calls:
                if await self._run_tools(ended.message.calls) >= STOP_AT:
                    await self._stop(f"Stopped because the same call failed {STOP_AT} times.")
                    return None
            elif await self._add_inserted():
                continue
            elif empty == 1 and not self.model.reads_data:
                self._remind(EMPTY)
            else:
                if empty:
                    await self.state.notices.show(f"{self.model.name} returned an empty answer", severity="warning")
                if ended.reason == "not_understood":
                    self.turn.response_meta = {NOT_UNDERSTOOD: True}
                return None
            if self.state.is_over_budget:
                limit = self.state.settings.max_cost
                await self._stop(f"Stopped because this turn has reached its cost limit of ${limit:g}.")
                return "max_turn_requests"
        await self._stop(f"Stopped after {self._max_requests} model requests in one turn.")
        return "max_turn_requests"

    def _remind(self, text: str) -> None:
        self.state.history.add(Reminder(text=text))

    async def _stop(self, why: str) -> None:
        """Tell the user that the turn ends here, and let the model sum up. Calls in that answer are not run.

        The tools stay in the request so that it extends the cached prefix."""
        await self.state.notices.show(why.rstrip("."), severity="warning")
        if self.model.reads_data:
            return
        self._remind(self._sum_up.format(why))
        try:
            await self._stream()
        except ModelError as error:
            log.warning("no summary at the end of the turn: %s", error)

    # -- prompts

    def _add_prompt(self, content: list[Content]) -> bool:
        said = UserSaid(content=filter_supported(content))
        if said.content:
            self._asked.append(said)
            self.state.history.add(said)
        return bool(said.content)

    async def _add_inserted(self) -> bool:
        """Add prompts sent during the turn, if the protocol version makes them part of it."""
        added = False
        prompts = deque(await self.turn.take_prompts())
        try:
            while prompts:
                content = await self._expand(prompts[0])
                prompt = prompts.popleft()
                added |= self._add_prompt(prompt.content if content is None else content)
        finally:
            for prompt in prompts:  # cancelled while expanding: they belong to the conversation anyway
                self._add_prompt(prompt.content)
        return added

    async def _compact_if_due(self) -> None:
        """Compact the history if the next request may not fit. If that fails, the model may still answer."""
        if self._cannot_compact or not context.is_due(self.state, self.model):
            return
        if context.prune(self.state, self.model) and not context.is_due(self.state, self.model):
            return
        try:
            self._cannot_compact = not await self._compact()
        except ModelError as error:
            self._cannot_compact = True
            await self.state.notices.show("Couldn't compact the conversation", str(error), severity="warning")

    async def _compact(self, *, is_too_long: bool = False) -> bool:
        return await context.compact(
            self.state, self.model, self.turn, self._asked, tools=self.tools.values(), is_too_long=is_too_long
        )

    # -- requests to the model

    async def _ask(self) -> Ended:
        """Return the model's next answer, with retries and compaction if necessary."""
        can_prune = can_compact = True
        pauses = iter(self._pauses)
        retries = 0
        while True:
            try:
                return await self._stream()
            except ModelError as error:
                if error.kind == "context" and can_compact:
                    if can_prune and context.prune(self.state, self.model, is_too_long=True):
                        can_prune = False
                        continue
                    can_compact = False
                    await self._compact_after(error)
                    continue
                is_worth_it = error.retry and (error.max_retries is None or retries < error.max_retries)
                pause = next(pauses, None) if is_worth_it else None
                if pause is None and error.retry and await self._fall_back(error):
                    can_prune = can_compact = True
                    pauses = iter(self._pauses)
                    retries = 0
                    continue
                if pause is None and error.kind == "context":
                    advice = "Start a new session, or choose a model with a larger context window."
                    too_long = ModelError(f"{error}. Compacting the conversation didn't help. {advice}", kind="context")
                    raise to_request_error(too_long) from error
                if pause is None:
                    raise to_request_error(error) from error
                retries += 1
                pause = choose_pause(pause, error.after)
                await self.state.notices.show(
                    "The model didn't answer. Retrying…", f"{error} (retry in {pause:g} s)", severity="warning"
                )
                await asyncio.sleep(pause)

    async def _fall_back(self, error: ModelError) -> bool:
        """Continue the turn with the fallback model, if there is one. The session keeps its own for the next turn."""
        id, self._fallback = self._fallback, None
        if id is None:
            return False
        try:
            model = await self.state.models.open_fallback(id)
        except ModelError as why:
            await self.state.notices.show("Couldn't use the fallback model", str(why), severity="warning")
            return False
        if model.id == self.model.id:
            return False
        await self.state.notices.show(
            f"{self.model.name} is unavailable. This turn continues with {model.name}.", str(error), severity="warning"
        )
        self.model = model
        return True

    async def _compact_after(self, error: ModelError) -> None:
        """Compact the history after the provider rejected it as too long."""
        try:
            if await self._compact(is_too_long=True):
                return
        except ModelError as why:
            raise to_request_error(
                ModelError(f"{error}. Compacting the conversation failed too: {why}", kind="context")
            ) from why
        raise to_request_error(
            ModelError(f"{error}. There is nothing left to compact: send a shorter prompt.", kind="context")
        )

    async def _stream(self) -> Ended:
        """Stream one answer. After a cancellation, partial text is saved; after an error, it is only shown."""
        turn = self.turn
        said: list[str] = []
        ended: Ended | None = None
        turn.session.end_message()
        await self.model.find_window()
        request = await context.build_request(self.state, self.model, self.tools.values())
        await self._warn_of_small_window(request)
        try:
            async with aclosing(self.model.stream(request)) as pieces:
                async for piece in pieces:
                    match piece:
                        case SaidPiece(text=text):
                            said.append(text)
                            await turn.say(replace_surrogates(text))
                        case ThoughtPiece(text=text):
                            await turn.think(replace_surrogates(text))
                        case CallBegins(id=id, name=name):
                            if not self.model.reads_data:  # the offline model has the arguments at once
                                await self._streamed.begin(id, name, self.tools)
                        case CallArguments(id=id, text=text):
                            await self._streamed.extend(id, text)
                        case CallReady():
                            pass  # calls run when the answer is complete
                        case Ended():
                            ended = piece  # read to the end, so that the connection can be reused
        except ModelError:
            if ended is None:
                await self._streamed.end(INTERRUPTED, "failed")
                raise
        except asyncio.CancelledError:
            self._remember(ended.message if ended is not None else Answer(parts=[Text(text="".join(said))]))
            raise
        if ended is None:
            await self._streamed.end(INTERRUPTED, "failed")
            raise ModelError(f"{self.model.name} stopped in the middle of its answer", retry=True)
        self._remember(ended.message)
        await self.state.record_usage(ended.spent, self.model.context, turn)
        return ended

    async def _warn_of_small_window(self, request: Request) -> None:
        """Tell the user, once for each model, if its window has no room for work.

        The server doesn't report it: it silently drops the beginning of a request that doesn't fit."""
        model, needed = self.model, context.prefix_size(request)
        if not model.window_advice or model.context >= needed + context.HEADROOM:
            return
        await self.state.notices.warn_once(
            f"{model.name} has a context window of only {model.context:,} tokens",
            f"Instructions and tools already need {needed:,}, so it may forget your request. To enlarge the window, "
            f"{model.window_advice}.",
            about=model.id,
        )

    def _remember(self, answer: Answer) -> None:
        """Save an answer in a form that every provider accepts: no empty text, no duplicate call ids."""
        answer.parts = [part for part in answer.parts if not isinstance(part, Text) or part.text.strip() or part.extra]
        if all(isinstance(part, Thought) for part in answer.parts):
            return
        for part in answer.parts:
            if not isinstance(part, Call):
                part.text = replace_surrogates(part.text)
        seen: set[str] = set()
        for call in answer.calls:
            call.name, call.arguments = replace_surrogates(call.name), replace_surrogates(call.arguments)
            if not call.id or call.id in seen:
                call.id = self.turn.session.new_id("call")
            seen.add(call.id)
        answer.model = self.model.id
        self.state.history.add(answer)

    # -- tool calls

    async def _run_tools(self, calls: list[Call]) -> int:
        """Run calls. Return how often one of them has failed in the same way in this turn; the model is warned."""
        results: list[Result] = []
        try:
            await run_calls(
                calls, self.turn, self.state, self.tools, results, streamed=self._streamed, model=self.model.id
            )
        finally:
            if not self.model.reads_data:  # then saving it would only make the history twice as large
                for result in results:
                    result.data = {}
            self.state.history.answer_open_calls("The user cancelled this call; it may have had an effect.", results)
            if nested := self.state.nested_instructions.take():
                self._remind(nested)  # not in a result, where a file could pretend to be one
        changing = {name for name, tool in self.tools.items() if tool.changes}
        polling = {name for name, tool in self.tools.items() if tool.polls}
        failures, others = self._repeated_calls.add(calls, results, changing=changing, polling=polling)
        if WARN_AT <= failures < STOP_AT:
            self._remind(CHANGE_COURSE.format(failures))
        elif others >= WARN_AT and not self.model.reads_data:
            self._remind(REPEATED.format(others))
        return failures


def choose_pause(pause: float, after: float | None, *, chance: Callable[[], float] = random.random) -> float:
    """Return how long to wait before a retry: up to a quarter longer than planned, and at least what the provider asked
    for. Without the random part, all clients that an outage disconnected would return at the same moment."""
    wanted = max(pause, min(after or 0.0, MAX_AFTER_SECONDS))
    return round(wanted * (1 + JITTER * chance()), 1)


def _is_empty(ended: Ended) -> bool:
    return ended.reason == "end" and not ended.message.calls and not ended.message.text.strip()


async def _expand_nothing(prompt: Prompt) -> list[Content] | None:
    return None
