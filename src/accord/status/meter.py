"""Tracks the usage of one agent's sessions, saves it, and compares it with the budgets."""

from __future__ import annotations

from msgspec.structs import replace

from accord.config.budget import Exceeded, Limits, Spent, parse_budget
from accord.config.settings import Settings
from accord.status.spending_log import SpendingLog

DOLLARS = ("USD", "$", "")
MAX_TOKENS = 10**12
"""The maximum number of tokens of a turn. Larger numbers don't fit into the database."""


class SessionMeter:
    """The usage of one session. Agents report the cost of the whole session, so differences are counted."""

    def __init__(self, *, is_new: bool) -> None:
        """`is_new` is whether the session starts now. The earlier cost of an older session isn't counted."""
        self._cost: float | None = 0.0 if is_new else None
        self.turn: Spent = Spent()
        """The usage of the current turn."""

    def start_turn(self) -> None:
        self.turn = Spent()

    def add_cost(self, total: float, currency: str) -> Spent:
        """Update the total cost of the session; return the increase. Other currencies aren't counted."""
        if currency.upper() not in DOLLARS or not 0 <= total < 1e9:
            return Spent()
        before = total if self._cost is None else self._cost
        self._cost = total
        return self._add(Spent(cost=max(0.0, total - before)))

    def add_tokens(self, tokens: int) -> Spent:
        """Add the tokens of a turn that has ended; return the increase. Impossible numbers aren't counted."""
        if tokens > MAX_TOKENS:
            return Spent()
        return self._add(Spent(tokens=max(0, tokens - self.turn.tokens)))

    def _add(self, more: Spent) -> Spent:
        self.turn = Spent(self.turn.tokens + more.tokens, self.turn.cost + more.cost)
        return more


class BudgetMeter:
    """Compares the spending of an agent with its own budget and the one for all agents."""

    def __init__(self, agent: str, spending: SpendingLog, own: Limits | None, common: Limits | None) -> None:
        self.agent = agent
        self._spending = spending
        self._own = own
        self._common = common
        self._extra: dict[str, float] = {}
        """Limits that the user has raised for this process."""

    @property
    def has_limits(self) -> bool:
        return self._own is not None or self._common is not None

    def save(self, more: Spent) -> None:
        """Save an increase of the usage. Blocks."""
        if more != Spent():
            self._spending.add(self.agent, more)

    def check(self, turn: Spent) -> Exceeded | None:
        """Return the first limit that was reached. Blocks."""
        if not self.has_limits:
            return None
        today = self._spending.read_today()
        total = Spent(sum(each.tokens for each in today.values()), sum(each.cost for each in today.values()))
        for limits, day in ((self._own, today.get(self.agent, Spent())), (self._common, total)):
            found = self._add_extra(limits).find_exceeded(turn, day) if limits is not None else None
            if found is not None:
                return found
        return None

    def raise_limit(self, exceeded: Exceeded) -> None:
        """Allow the same amount again in this process, because the user chose to continue."""
        self._extra[exceeded.name] = exceeded.used

    def _add_extra(self, limits: Limits) -> Limits:
        changed = {}
        for name, used in self._extra.items():
            limit = getattr(limits, name)
            if limit is not None:
                changed[name] = used + limit
        return replace(limits, **changed)


def build_meter(agent: str, settings: Settings) -> BudgetMeter:
    """Return the meter for an agent, with the budgets of the configuration."""
    own, common = settings.budgets.get(agent), settings.budget
    return BudgetMeter(
        agent, SpendingLog(), parse_budget(own) if own else None, parse_budget(common) if common else None
    )
