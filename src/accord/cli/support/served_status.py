"""The entries of a server's sessions in the attention list."""

from __future__ import annotations

import asyncio
import heapq
from typing import TYPE_CHECKING

from accord.status.attention_list import MAX_ENTRIES
from accord.status.entry import ORDER, SessionStatus, State, describe
from accord.status.publisher import Publisher

if TYPE_CHECKING:
    from accord.hub.hub import Hub, SessionView

PUBLISH_SECONDS = 1.0


class ServedStatus:
    """Publishes the sessions of a hub."""

    def __init__(self, hub: Hub, agent: str, publisher: Publisher) -> None:
        self._hub = hub
        self._agent = describe(agent)
        self._publisher = publisher
        self._states: dict[str, State] = {}
        self._titles: dict[str, str] = {}

    def publish(self) -> None:
        """Publish the most urgent sessions, if anything has changed."""
        states: dict[str, State] = {}

        def rank(session: SessionView) -> int:
            id = session.id
            state = states[id] = self._state(id, session)
            return ORDER[state]

        # A server has thousands of sessions: this asks each once, and keeps the views of those that are shown.
        shown = heapq.nsmallest(MAX_ENTRIES, self._hub.iterate_sessions(), key=rank)
        self._states = states
        # A server has thousands of sessions, and titles rarely change, while redaction takes long.
        known = self._titles
        titles = {each.title or "" for each in shown}
        self._titles = {title: known[title] if title in known else describe(title) for title in titles}
        self._publisher.publish(
            [
                SessionStatus(
                    id=each.id,
                    agent=self._agent,
                    cwd=each.cwd,
                    state=self._states[each.id],
                    title=self._titles[each.title or ""],
                    why="a client has to answer the agent" if each.is_asking else "",
                    client="serve",
                )
                for each in shown
            ]
        )

    def _state(self, id: str, session: SessionView) -> State:
        """Return the state of a session. A turn that ended without a client is finished until one attaches."""
        if session.is_asking:
            return "waiting"
        if session.is_busy:
            return "running"
        was_working = self._states.get(id) in ("running", "waiting", "finished")
        return "finished" if was_working and not session.clients else "idle"


async def publish_sessions(hub: Hub, agent: str) -> None:
    """Publish the sessions of a hub until cancelled."""
    publisher = Publisher()
    status = ServedStatus(hub, agent, publisher)
    try:
        while True:
            status.publish()
            await asyncio.sleep(PUBLISH_SECONDS)
    finally:
        publisher.close()
