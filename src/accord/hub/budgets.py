"""Budgets: the sessions, turns, tokens and costs that each principal may use."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from accord.config.budget import Limits
from accord.config.budget import Spent as Amount
from accord.errors import RequestFailed
from accord.hub.event_log import EventLog, Spent, format_time

BUDGET_EXCEEDED = -31002
"""Accord's own error code; −32099 to −32000 are reserved for the protocol."""
DAY_SECONDS = 24 * 3600


class BudgetExceeded(RequestFailed):
    """A principal has reached a limit. `data` has the limit, the usage, and the time when it resets."""

    default_code = BUDGET_EXCEEDED


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one principal; None means no limit."""

    sessions: int | None = None
    """Open sessions."""
    turns: int | None = None
    """Turns that run at the same time."""
    tokens_per_day: int | None = None
    cost_per_day: float | None = None
    """In the agent's currency. Days are those of UTC."""


class Budgets:
    """The budgets of all principals: one for each name in `by_principal`, else the default."""

    def __init__(
        self,
        default: Budget | None = None,
        by_principal: Mapping[str, Budget] | None = None,
        *,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._default = default or Budget()
        self._by_principal = dict(by_principal or {})
        self._clock = clock

    def budget_of(self, principal: str) -> Budget:
        """Return the limits of a principal."""
        return self._by_principal.get(principal, self._default)

    def check_session(self, principal: str, open_sessions: int) -> None:
        """Raise `BudgetExceeded` if a principal may not open another session."""
        limit = self.budget_of(principal).sessions
        if limit is not None and open_sessions >= limit:
            text = f"you have {open_sessions} open sessions, and the limit is {limit}; close one first"
            raise _refuse("sessions", limit, open_sessions, text)

    def check_turn(self, principal: str, count_running: Callable[[], int], log: EventLog) -> None:
        """Raise `BudgetExceeded` if a principal may not start another turn.

        Its turns are counted only if there is a limit: with many sessions, counting takes longer than a prompt."""
        budget = self.budget_of(principal)
        if budget.turns is not None and (running := count_running()) >= budget.turns:
            text = f"{running} of your turns are running, and the limit is {budget.turns}; wait until one has ended"
            raise _refuse("turns", budget.turns, running, text)
        if budget.tokens_per_day is None and budget.cost_per_day is None:
            return
        spent = log.read_spent(principal, self.today())
        resets = format_time((self._clock() // DAY_SECONDS + 1) * DAY_SECONDS)
        limits = Limits(tokens_per_day=budget.tokens_per_day, cost_per_day=budget.cost_per_day)
        found = limits.find_exceeded(Amount(), Amount(spent.tokens, spent.cost))
        if found is None:
            return
        used = f"used {found.used} of {found.limit} tokens"
        if found.name == "cost_per_day":
            used = f"spent {found.used:g} of {found.limit:g}"
        raise _refuse(found.name, found.limit, found.used, f"you {used} today; the limit resets at {resets}", resets)

    def add(self, principal: str, tokens: int, cost: float, log: EventLog) -> None:
        """Add the usage of a turn."""
        log.add_spent(principal, self.today(), tokens, cost)

    def read_spent(self, principal: str, log: EventLog) -> Spent:
        """Return a principal's usage today."""
        return log.read_spent(principal, self.today())

    def today(self) -> str:
        """Return the current day in UTC."""
        return time.strftime("%Y-%m-%d", time.gmtime(self._clock()))


def _refuse(limit: str, maximum: float, used: float, text: str, resets: str = "") -> BudgetExceeded:
    data: dict[str, Any] = {"limit": limit, "max": maximum, "used": used}
    if resets:
        data["resetsAt"] = resets
    return BudgetExceeded(f"Budget exceeded: {text}", data=data)
