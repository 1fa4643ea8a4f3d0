"""What one session of the coding agent has on its desk: its files, its rules, its plan, its model, its memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING

from accord.coder import modes
from accord.coder.files import DeskFiles
from accord.coder.fitting import size
from accord.coder.history import KIND, Message, ModelSaid, Result, Summary, answers, from_note, mended, to_note
from accord.coder.models.base import ModelError, Spent
from accord.errors import AuthRequired, RequestFailed
from accord.model.session import PlanEntry, Tokens
from accord.model.statement import Noted, PlanGone, PlanSet, UsageIs

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.coder.mcp.servers import Servers
    from accord.coder.models.base import Model
    from accord.coder.recipes import Recipe
    from accord.model.requests import McpServer
    from accord.policy.engine import Policy
    from accord.store.base import SessionStore


class Desk:
    """One session's things. Tools find here whatever outlives a call."""

    def __init__(self, session: Session, policy: Policy) -> None:
        self.session = session
        self.place = session.roots
        """Where it works."""
        self.policy = policy
        self.files = DeskFiles(session)
        """The project's files: through the client where it offers them, else from the disk, inside the roots."""
        self.history: list[Message] = []
        """What the model is told of the session."""
        self.plan: list[PlanEntry] = []
        self.planning = False
        """Whether this turn is for a plan alone, whatever mode the session is in."""
        self.recipes: dict[str, Recipe] = {}
        """The project's own slash commands."""
        self.model: Model | None = None
        """Whom to ask, once somebody has been asked."""
        self.model_named = ("", 0)
        """By which choice it was made, and after how many logins: keys may have changed."""
        self.choosing = asyncio.Lock()
        self.asking = asyncio.Lock()
        """Held while the user is asked for permission."""
        self.servers: Servers | None = None
        """The session's MCP servers, when it has any."""
        self.servers_named: list[McpServer] = []
        """What they were made of."""
        self.allow_private = False
        """Whether addresses inside the user's own network may be fetched."""
        self._models_left: list[Model] = []
        self._news: list[str] = []
        self._told_of_no_undo = False
        self.used = 0
        """How many tokens the context held when the model last answered."""
        self.cost: float | None = None
        """What the session has cost so far, in US dollars; None while nothing is known of it."""

    @property
    def mode(self) -> str:
        """Which of "ask", "architect" and "code" counts now: the session's, unless only a plan was asked for."""
        return modes.ARCHITECT.id if self.planning else str(self.session.mode)

    async def switch_mode(self, mode: str) -> None:
        """Goes over to another mode."""
        self.planning = False
        await self.session.set_mode(mode)

    async def set_plan(self, entries: list[PlanEntry]) -> None:
        """Publishes what is to be done."""
        self.plan = entries
        await self.session.plan(entries)

    def move(self, policy: Policy) -> None:
        """The session works in other directories now, by their rules."""
        self.files.close()
        self.files = DeskFiles(self.session)
        self.place = self.session.roots
        self.policy = policy

    async def change_model(self) -> None:
        """Another model was chosen. A turn that is running goes on with the one it began with."""
        if self.model is not None:
            self._models_left.append(self.model)
            self.model = None
        if self.session.turns.working is None:
            await self._close_models()

    async def _close_models(self) -> None:
        left, self._models_left = self._models_left, []
        for model in left:
            await model.close()

    # -- memory

    def remember(self, message: Message) -> None:
        """Adds to what the model is told, for good."""
        self.history.append(message)
        self.session.keep(Noted(kind=KIND, data=to_note(message)))

    def answer_open_calls(self, otherwise: str, results: Iterable[Result] = ()) -> None:
        """Gives every call of the last answer a result, whatever became of it: providers insist on that."""
        last = self.history[-1] if self.history else None
        if isinstance(last, ModelSaid) and last.calls:
            self.remember(answers(last.calls, results, otherwise))

    def begin_again(self, messages: list[Message]) -> None:
        """Lets a summary, and what follows it, take the place of everything before."""
        self.history = []
        for message in messages:
            self.remember(message)

    async def restore(self, store: SessionStore) -> None:
        """Takes up a stored session where it stopped."""
        found: list[Message] = []
        async for statement in store.history(self.session.id):
            match statement:
                case Noted(kind=kind, data=data) if kind == KIND:
                    message = from_note(data)
                    if isinstance(message, Summary):
                        found.clear()
                    if message is not None:
                        found.append(message)
                case PlanSet(plan=plan):
                    self.plan = list(plan.entries)
                case PlanGone():
                    self.plan = []
                case UsageIs(usage=usage):
                    self.used = usage.used
                    self.cost = usage.cost.amount if usage.cost is not None else self.cost
        self.history = mended(found)

    # -- accounts

    async def account(self, spent: Spent, context: int, turn: Turn) -> None:
        """Tells what a request used, and adds it up."""
        # Some providers do not count; then it is estimated, since room must be made in time all the same.
        self.used = spent.input + spent.output if spent.input else size(self.history) // 4
        self.spend(spent, turn)
        await self.session.usage(min(self.used, context), context, cost=self.cost)

    def spend(self, spent: Spent, turn: Turn) -> None:
        """Adds up what a request cost, whatever it was for."""
        if spent.cost is not None:
            self.cost = (self.cost or 0.0) + spent.cost
        turn.tokens = _sum(turn.tokens, spent)

    async def tell_user(self, title: str, description: str | None = None, *, severity: str = "info") -> None:
        """Tells a person something, by a notice where the client shows them, else as a thought in a turn."""
        if self.session.client.notices:
            await self.session.notice(title, description, severity=severity)
            return
        self._news.append(f"{title}\n{description}\n" if description else f"{title}\n")
        if self.session.turns.working is not None:
            await self.tell_news()

    async def tell_news(self) -> None:
        """Tells what was not told yet, because no turn was running."""
        news, self._news = self._news, []
        for text in news:
            await self.session.think(text)

    # -- changes, and taking them back

    async def before_change(self, turn: Turn) -> None:
        """Called before a tool changes something: what the files are like now can be brought back.

        Where that cannot be kept, the work goes on, and the user knows."""
        try:
            await self.files.checkpoint(turn)
        except (OSError, ValueError) as error:
            if not self._told_of_no_undo:
                self._told_of_no_undo = True
                await self.tell_user("What is changed cannot be taken back with /undo", str(error), severity="warning")

    async def turn_over(self) -> None:
        """Changes after the turn are not the turn's."""
        self.files.end_checkpoint()
        await self._close_models()

    async def close(self) -> None:
        """Lets go of everything."""
        self.files.close()
        try:
            if self.servers is not None:
                await self.servers.close()
        finally:
            await self.change_model()
            await self._close_models()


def failure(error: ModelError) -> RequestFailed:
    """What the client is told when the model cannot be asked."""
    if error.kind == "key":
        return AuthRequired(str(error))
    return RequestFailed(str(error), data={"kind": error.kind or "provider", "retry": error.retry})


def _sum(before: Tokens | None, spent: Spent) -> Tokens:
    if before is None:
        before = Tokens(total=0, input=0, output=0)
    return Tokens(
        total=before.total + spent.input + spent.output,
        input=before.input + spent.input,
        output=before.output + spent.output,
        thought=(before.thought or 0) + spent.thought or None,
        cached_read=(before.cached_read or 0) + spent.cached_read or None,
        cached_write=(before.cached_write or 0) + spent.cached_write or None,
    )
