"""An agent played message by message, for tests of the client: one session, turn by turn."""

from __future__ import annotations

import asyncio
from typing import Any

from accord.client.agent import ConnectedAgent
from accord.client.session import Session
from accord.client.turn import Turn
from accord.testing import WirePeer


def chunk(text: str, id: str | None = None, kind: str = "agent_message_chunk") -> dict[str, Any]:
    update = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
    return update if id is None else {**update, "messageId": id}


async def tell(peer: WirePeer, session: str, *updates: dict[str, Any]) -> None:
    for update in updates:
        await peer.tell("session/update", {"sessionId": session, "update": update})


class Played:
    """A session with an agent that the test plays."""

    def __init__(self, peer: WirePeer, client: ConnectedAgent, version: int) -> None:
        self.peer, self.client, self.version = peer, client, version

    async def begin(self, id: str = "s", early: tuple[dict[str, Any], ...] = (), **answer: Any) -> Session:
        making = asyncio.ensure_future(self.client.new_session("/project"))
        request = await self.peer.next_call("session/new")
        await tell(self.peer, id, *early)
        await self.peer.reply(request, {"sessionId": id, **answer})
        return await making

    async def start_turn(self, session: Session, text: str) -> tuple[Turn, dict[str, Any]]:
        """Start a turn, and return it with its request (already answered in version 2)."""
        turn = session.prompt(text)
        request = await self.peer.next_call("session/prompt")
        if self.version == 2:
            id = f"user {text}"
            message = {"sessionUpdate": "user_message", "messageId": id, "content": [{"type": "text", "text": text}]}
            await self.peer.reply(request, {"messageId": id})
            await tell(self.peer, session.id, message, {"sessionUpdate": "state_update", "state": "running"})
        return turn, request

    async def end(self, session: Session, request: dict[str, Any], reason: str = "end_turn") -> None:
        if self.version == 1:
            await self.peer.reply(request, {"stopReason": reason})
        else:
            state = {"sessionUpdate": "state_update", "state": "idle", "stopReason": reason}
            await tell(self.peer, session.id, state)
