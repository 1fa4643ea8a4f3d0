"""Budgets: limits on the tokens and the cost of one turn, or of all turns of a day."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

import msgspec

LimitName = Literal["cost_per_turn", "cost_per_day", "tokens_per_turn", "tokens_per_day"]
_COST = re.compile(r"\$\s*(\d+(?:\.\d+)?)\s*/\s*(turn|day)")
_TOKENS = re.compile(r"(\d+(?:\.\d+)?)\s*([kM]?)\s*tokens\s*/\s*(turn|day)")
EXPECTED = 'expected amounts such as "$2/turn, $20/day" or "500k tokens/day"'


class Spent(NamedTuple):
    """The tokens and the money (in US dollars) that were used."""

    tokens: int = 0
    cost: float = 0.0


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of a budget; None means no limit."""

    cost_per_turn: float | None = None
    cost_per_day: float | None = None
    tokens_per_turn: int | None = None
    tokens_per_day: int | None = None

    def find_exceeded(self, turn: Spent, day: Spent) -> Exceeded | None:
        """Return the first limit that was reached."""
        used: dict[LimitName, float] = {
            "tokens_per_turn": turn.tokens,
            "cost_per_turn": turn.cost,
            "tokens_per_day": day.tokens,
            "cost_per_day": day.cost,
        }
        for name, amount in used.items():
            limit = getattr(self, name)
            if limit is not None and amount >= limit:
                return Exceeded(name, limit, amount)
        return None


class Exceeded(NamedTuple):
    """A limit that was reached."""

    name: LimitName
    limit: float
    used: float

    @property
    def is_daily(self) -> bool:
        return self.name.endswith("day")

    def __str__(self) -> str:
        per = "day" if self.is_daily else "turn"
        if self.name.startswith("cost"):
            return f"the budget of {_dollars(self.limit)} per {per} is reached (${self.used:.2f})"
        return f"the budget of {self.limit:,.0f} tokens per {per} is reached ({self.used:,.0f})"


def _dollars(amount: float) -> str:
    """Format an amount: whole dollars, cents, or the first digits of less than a cent."""
    if amount == int(amount):
        return f"${amount:.0f}"
    return f"${amount:.2f}" if amount >= 0.01 else f"${amount:.6f}".rstrip("0")


def parse_budget(text: str) -> Limits:
    """Parse a budget such as `$2/turn, $20/day`. Raises `ValueError`."""
    limits: dict[str, float] = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        if (money := _COST.fullmatch(part)) is not None:
            name, amount = f"cost_per_{money[2]}", float(money[1])
        elif (tokens := _TOKENS.fullmatch(part)) is not None:
            name = f"tokens_per_{tokens[3]}"
            amount = int(float(tokens[1]) * {"": 1, "k": 1000, "M": 1_000_000}[tokens[2]])
        else:
            raise ValueError(f"found {part!r}; {EXPECTED}")
        if name in limits:
            raise ValueError(f"found two limits per {name.rpartition('_')[2]}; {EXPECTED}")
        limits[name] = amount
    if not limits:
        raise ValueError(f"empty; {EXPECTED}")
    return msgspec.convert(limits, Limits)
