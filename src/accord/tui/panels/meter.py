"""How full the context is and what was spent, in words. Agents send any number; only those that make sense are told."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from accord.tui.plain import one_line

if TYPE_CHECKING:
    from accord.model.session import Cost, Usage

_MOST_TOKENS = 10**10
"""More than any context holds: an agent that tells more means that it does not know, or that there is no limit."""
_MOST_SPENT = 10**7
"""An amount from which on hundredths say nothing, and digits take more room than there is."""
_LEAST_SPENT = 0.01


def used_of(usage: Usage) -> int | None:
    """The tokens in the context; None where that is not known."""
    return usage.used if 0 <= usage.used <= _MOST_TOKENS else None


def size_of(usage: Usage) -> int | None:
    """The tokens that the context can hold; None where that is not known."""
    return usage.size if 0 < usage.size <= _MOST_TOKENS else None


def share_of(usage: Usage) -> float | None:
    """Which part of the context is full. More than 1 says that more was used than there is room for."""
    used, size = used_of(usage), size_of(usage)
    return None if used is None or size is None else used / size


def percent(share: float) -> str:
    """A part of the context, as people say it."""
    return ">100%" if share > 1 else f"{share:.0%}"


def tokens(usage: Usage) -> str:
    """How many tokens are in the context, and how many it holds; nothing where neither is known."""
    used, size = used_of(usage), size_of(usage)
    if used is None:
        return "" if size is None else f"room for {size:,} tokens"
    if size is None:
        return f"{used:,} tokens" if used else ""
    return f"{used:,} of {size:,} tokens"


def spent(cost: Cost | None, most: int) -> str:
    """An amount with its unit, which takes at most so many columns; nothing where nothing was spent, or where the
    amount makes no sense."""
    if cost is None or not math.isfinite(cost.amount) or cost.amount <= 0:
        return ""
    amount = f"{cost.amount:.2f}" if cost.amount < _MOST_SPENT else f"{cost.amount:.2g}"
    amount = "<0.01" if cost.amount < _LEAST_SPENT else amount
    return f"{amount} {one_line(cost.currency, most)}".rstrip()
