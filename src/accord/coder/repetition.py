"""Notice a model that repeats a failing tool call instead of changing course."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from accord.coder.history import Call, Result

WARN_AT = 3
"""The model is told to change course after this many identical failures."""
STOP_AT = 5
"""The turn ends after this many."""


class FailedCalls:
    """Counts identical failures in one turn: the same tool, arguments and error, while nothing has changed."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, bytes, str]] = Counter()

    def add(self, calls: Sequence[Call], results: Iterable[Result], *, changing: Iterable[str]) -> int:
        """Add the calls of an answer. Return how often the most frequent failure among them has happened.

        `changing` are the names of tools that can change something. After such a call has succeeded, another attempt
        may succeed too, so counting starts over."""
        changing = frozenset(changing)
        arguments = {call.id: msgspec.json.encode(call.arguments, order="sorted") for call in calls}
        highest = 0
        for result in results:
            if not result.failed:
                if result.name in changing:
                    self._counts.clear()
                continue
            key = (result.name, arguments.get(result.id, b""), result.text)
            self._counts[key] += 1
            highest = max(highest, self._counts[key])
        return highest
