"""Lost and resumed network connections, as the users of a remote agent see them.

The transport reconnects and resumes by itself (`accord.remote`), so requests stay open and turns continue. It may be in
this process or in another one (`accord connect`), which reports interruptions with notifications. The agent and its
sessions get `Disconnected` and `Resumed` events. If the server no longer knows which messages were received here, it
replays a session's whole history, and the transcript starts over."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from accord.remote.relay import INTERRUPTION
from accord.transcript.events import Disconnected, Resumed
from accord.transports.base import Interruption

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent

SNAPSHOT = "_accord/snapshot"
SNAPSHOT_END = "_accord/snapshot_end"


class _Params(msgspec.Struct):
    """An interruption in a notification. msgspec reads named tuples only from arrays."""

    state: Literal["lost", "resumed", "gone"]
    detail: str
    attempts: int
    seconds: float


class Interruptions:
    """Reports the interruptions of one agent's connection."""

    def __init__(self, agent: ConnectedAgent) -> None:
        self._agent = agent

    def report(self, change: Interruption) -> None:
        """Report to the agent and every session. A connection that is lost for good ends them elsewhere."""
        match change.state:
            case "lost":
                event: Disconnected | Resumed = Disconnected(change.detail)
            case "resumed":
                event = Resumed(change.attempts, change.seconds)
            case "gone":
                return
        self._agent.push(event, 0)
        for session in list(self._agent.sessions.values()):
            session.push(event)

    def notification(self, method: str, params: Any) -> Any:
        """Handle the notifications about interruptions, and pass all others on to the user's handlers."""
        if method == INTERRUPTION:
            with suppress(msgspec.ValidationError):
                self.report(Interruption(*msgspec.structs.astuple(msgspec.convert(params, _Params))))
            return None
        if method not in (SNAPSHOT, SNAPSHOT_END):
            return self._agent.handlers.notification(method, params)
        session = self._agent.sessions.get(params.get("sessionId", "")) if isinstance(params, dict) else None
        if session is not None:
            if method == SNAPSHOT:
                session.start_restoring()
            else:
                session.finish_restoring()
        return None
