"""Context usage and cost as text. Agents may send any number; implausible ones are left out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from accord.terminal_text import one_line

if TYPE_CHECKING:
    from accord.model.session import Cost, Usage

_MAX_TOKENS = 10**10
"""More than any context holds: an agent that reports more means unknown or unlimited."""
_MAX_COST = 10**7
"""An amount from which on cents don't matter and digits take too much room."""
_MIN_COST = 0.01


def used_of(usage: Usage) -> int | None:
    """Return the tokens in the context; None if unknown."""
    return usage.used if 0 <= usage.used <= _MAX_TOKENS else None


def size_of(usage: Usage) -> int | None:
    """Return the size of the context in tokens; None if unknown."""
    return usage.size if 0 < usage.size <= _MAX_TOKENS else None


def share_of(usage: Usage) -> float | None:
    """Return the used share of the context; more than 1 if it is exceeded."""
    used, size = used_of(usage), size_of(usage)
    return None if used is None or size is None else used / size


def format_percent(share: float) -> str:
    """Format a share of the context."""
    return ">100%" if share > 1 else f"{share:.0%}"


def format_tokens(usage: Usage) -> str:
    """Used and total tokens; empty if both are unknown."""
    used, size = used_of(usage), size_of(usage)
    if used is None:
        return "" if size is None else f"room for {size:,} tokens"
    if size is None:
        return f"{used:,} tokens" if used else ""
    return f"{used:,} of {size:,} tokens"


def format_cost(cost: Cost | None, max_length: int) -> str:
    """Format a cost with its currency in few columns; empty if nothing was spent or the amount is implausible."""
    if cost is None or not math.isfinite(cost.amount) or cost.amount <= 0:
        return ""
    amount = f"{cost.amount:.2f}" if cost.amount < _MAX_COST else f"{cost.amount:.2g}"
    amount = "<0.01" if cost.amount < _MIN_COST else amount
    return f"{amount} {one_line(cost.currency, max_length)}".rstrip()
