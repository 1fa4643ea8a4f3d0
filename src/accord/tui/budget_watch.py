"""Budgets in the terminal client: when one is reached, the agent is stopped and the user decides whether it continues.

An agent can't be paused, so it is cancelled. Costs are compared when the agent reports them, and at the beginning and
end of each turn."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from accord.config.budget import Exceeded, Spent
from accord.errors import AccordError
from accord.process.thread import run_in_thread
from accord.status.meter import BudgetMeter, SessionMeter, build_meter
from accord.tui.errors import run_in_background

if TYPE_CHECKING:
    from accord.client.session import Session
    from accord.tui.app import AccordApp
    from accord.tui.session.turns import Turns
    from accord.tui.tab.tab import Tab

CONTINUE = "Continue where you stopped."


class BudgetWatch:
    """Compares the tokens and costs of this client's sessions with the budgets."""

    def __init__(self, app: AccordApp) -> None:
        self._app = app
        self._meters: dict[str, BudgetMeter] = {}
        self._sessions: WeakKeyDictionary[Session, SessionMeter] = WeakKeyDictionary()
        self._tokens: WeakKeyDictionary[Turns, int] = WeakKeyDictionary()
        """The tokens of ended turns that have been counted."""
        self._turns: WeakKeyDictionary[Session, float] = WeakKeyDictionary()
        """When the turn being counted began."""
        self._busy: set[Tab] = set()
        """Tabs whose costs are being saved, or whose user is being asked."""
        self._questions: dict[Tab, str] = {}

    def find_question(self, tab: Tab) -> str | None:
        """Return the question about a tab's budget that waits for the user."""
        return self._questions.get(tab)

    def check(self, tab: Tab) -> None:
        """Count a tab's tokens and costs since the last check, and stop its agent if it has reached a budget."""
        session = tab.controller.session
        if session is None or session.closed or session.parent is not None or tab in self._busy:
            return
        meter = self._sessions.get(session)
        usage = session.transcript.usage
        if meter is None:
            meter = self._sessions[session] = SessionMeter(is_new=tab.controller.opener.is_new)
        more = self._add_tokens(tab.controller.turns, meter)
        began = tab.controller.turns.turn_began
        is_new_turn = self._turns.get(session) != began
        if is_new_turn:
            self._turns[session] = began
            meter.start_turn()
        cost = usage.cost if usage is not None else None
        if cost is not None:
            more = Spent(more.tokens, meter.add_cost(cost.amount, cost.currency).cost)
        if more != Spent() or (is_new_turn and session.busy):
            self._busy.add(tab)
            run_in_background(self._app, self._compare(tab, meter, more))

    def _add_tokens(self, turns: Turns, meter: SessionMeter) -> Spent:
        """Count the tokens of the turns that have ended since the last check."""
        more = turns.tokens_used - self._tokens.get(turns, 0)
        self._tokens[turns] = turns.tokens_used
        return meter.add_tokens(meter.turn.tokens + more)

    async def _compare(self, tab: Tab, session: SessionMeter, more: Spent) -> None:
        try:
            meter = await self._find_meter(tab)
            if meter is None:
                return
            with suppress(OSError):  # a data directory that isn't writable
                await run_in_thread(meter.save, more, finishes=True)
            exceeded = await run_in_thread(meter.check, session.turn)
            if exceeded is not None and tab.controller.state in ("running", "waiting"):
                await self._stop_and_ask(tab, meter, exceeded)
        finally:
            self._busy.discard(tab)
        self.check(tab)  # for what was reported meanwhile

    async def _stop_and_ask(self, tab: Tab, meter: BudgetMeter, exceeded: Exceeded) -> None:
        tab.controller.turns.hold()
        await tab.controller.turns.cancel()
        words = str(exceeded)
        question = f"{words[:1].upper()}{words[1:]}"
        tab.controller.say("warning", question, "The agent was stopped.")
        self._questions[tab] = words
        self._app.announcements.call(tab, words)
        try:
            about = f"{tab.controller.title}: the agent was stopped."
            again = await self._app.dialogs.confirm(
                question, "Continue, and allow as much again", no="Stop here", about=about
            )
        finally:
            del self._questions[tab]
        if again:
            meter.raise_limit(exceeded)
            tab.prompt_input.submit(CONTINUE, is_urgent=False)

    async def _find_meter(self, tab: Tab) -> BudgetMeter | None:
        name = self._app.host.resolve_name(tab.controller.process.target)
        if name not in self._meters:
            try:
                settings = (await run_in_thread(self._app.host.configuration)).settings
            except AccordError:
                return None  # reported when the agent was started
            self._meters[name] = build_meter(name, settings)
        return self._meters[name]
