"""Detect a model that repeats a tool call instead of changing course."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import msgspec

from accord.coder.history import Call, Result

WARN_AT = 3
"""The model is told to change course after this many identical calls with identical results."""
STOP_AT = 5
"""The turn ends after this many identical failures."""


class Repeated(NamedTuple):
    """The number of times that a call has been made with the same result."""

    failures: int
    """If it failed."""
    others: int
    """If it succeeded, or ran a command that did not."""


class RepeatedCalls:
    """Counts calls in one turn: the same tool, arguments and result, while nothing has changed."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, bytes, str]] = Counter()

    def add(
        self, calls: Sequence[Call], results: Iterable[Result], *, changing: Collection[str], polling: Collection[str]
    ) -> Repeated:
        """Add the calls of an answer. Return how often the most frequent among them have been made.

        `changing` are the names of tools that can change something. After a new call of one has succeeded, another
        attempt may succeed too, so counting starts over. `polling` are the tools whose results change with time."""
        arguments = {call.id: msgspec.json.encode(call.arguments, order="sorted") for call in calls}
        failures = others = 0
        for result in results:
            key = (result.name, arguments.get(result.id, b""), result.text)
            if not result.failed and result.name in changing and key not in self._counts:
                self._counts.clear()
            self._counts[key] += 1
            if result.failed:
                failures = max(failures, self._counts[key])
            elif result.name not in polling:
                others = max(others, self._counts[key])
        return Repeated(failures, others)
