"""Summaries of stored sessions for a list: the number of messages, and the latest prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from accord.model.record import Record

if TYPE_CHECKING:
    from sqlite3 import Connection

MAX_PREVIEW = 200
_BATCH = 500
"""The number of sessions per query: SQLite limits the number of placeholders in a statement."""


class Summary(Record):
    """The messages of a stored session."""

    messages: int
    """The number of messages of the user and the agent."""
    prompts: int
    """The number of messages of the user."""
    preview: str
    """The beginning of the user's latest message."""


def summarize(ids: Sequence[str]) -> Callable[[Connection], dict[str, Summary]]:
    """Summarize sessions from the search index, which has their messages by id."""

    def read(connection: Connection) -> dict[str, Summary]:
        found: dict[str, Summary] = {}
        for start in range(0, len(ids), _BATCH):
            some = ids[start : start + _BATCH]
            rows = connection.execute(
                f"""SELECT s.id, count(DISTINCT p.kind || p.name),
                    count(DISTINCT CASE p.kind WHEN 'user' THEN p.name END),
                    (SELECT substr(text, 1, {MAX_PREVIEW}) FROM passages
                     WHERE session = s.key AND kind = 'user' ORDER BY id DESC LIMIT 1)
                FROM sessions s JOIN passages p ON p.session = s.key AND p.kind IN ('user', 'agent')
                WHERE s.id IN ({", ".join("?" * len(some))}) GROUP BY s.key""",
                some,
            )
            for id, messages, prompts, preview in rows:
                found[id] = Summary(messages=messages, prompts=prompts, preview=preview or "")
        return found

    return read
