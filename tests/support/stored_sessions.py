"""Agents with stored sessions, and comparisons of sessions."""

from __future__ import annotations

from typing import Any

from accord import MemoryStore
from accord.client.session import Session
from accord.testing import ScriptedAgent, WirePeer


class Kept(ScriptedAgent):
    """A scripted agent that saves its sessions."""

    def __init__(self, *turns: Any) -> None:
        super().__init__(*turns)
        self.store = MemoryStore()


async def reopen(peer: WirePeer, version: int, session: str, *, replay: bool, **more: Any) -> Any:
    """Open a session again, and return the response of that version."""
    params: dict[str, Any] = {"sessionId": session, "cwd": "/project", "mcpServers": [], **more}
    if version == 1:
        return await peer.call("session/load" if replay else "session/resume", params)
    return await peer.call("session/resume", {**params, **({"replayFrom": {"type": "start"}} if replay else {})})


def picture(session: Session) -> list[Any]:
    """Return what a user sees of a session, live or replayed."""
    seen: list[Any] = []
    for item in session.transcript.timeline:
        if hasattr(item, "role"):
            seen.append((item.role, item.text))
        elif hasattr(item, "kind"):
            seen.append((item.title, item.kind, item.status, item.content, item.locations, item.raw_output))
        else:
            seen.append(item)
    return seen
