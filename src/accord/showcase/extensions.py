"""Features that few clients support: unknown types, extension methods and subagents."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from accord.agent.agent import command
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.errors import RequestFailed
from accord.model.content import UnknownContent
from accord.model.session import Subagent
from accord.showcase.topic import Topic

UPDATE: dict[str, Any] = {"sessionUpdate": "_accord.showcase/novelty", "text": "an update of an unknown type", "n": 1}
ECHO = "_accord.showcase/echo"
NOTE = "_accord.showcase/note"
UNKNOWN_REASON = "_accord.showcase/curtain"


class Extensions(Topic):
    """Unknown types, extension methods and subagents."""

    title = "Extensions"

    @command("unknown", "An update of an unknown type; in version 2 also content, a tool kind and a stop reason")
    async def show_unknown(self, turn: Turn) -> str | None:
        await turn.session.update(turn.client.version, UPDATE)
        if turn.client.version == 1:
            # Its other unions are closed: an unknown variant would be an error, not an extension.
            await turn.say("Sent an update of an unknown type; clients must ignore it.")
            return None
        content = {"type": "_accord.showcase/smell", "data": "rose"}
        await turn.say(UnknownContent(type=content["type"], data=content))
        async with turn.tool("A tool of an unknown kind", kind="_accord.showcase/juggle"):
            await self.pause()
        await turn.say("Sent an update, a content block, a tool kind and a stop reason of unknown types.")
        return UNKNOWN_REASON

    @command("extension", "A notification and a request that aren't part of the protocol")
    async def show_extension(self, turn: Turn) -> None:
        await turn.notify(NOTE, {"sessionId": turn.session.id, "text": "for your information"})
        async with self.in_time(turn, ECHO):
            try:
                answer = await turn.request(ECHO, {"sessionId": turn.session.id, "text": "hello"})
            except RequestFailed as error:
                known = "as expected from a client that doesn't support it"
                await turn.say(f"{ECHO} was answered with error {error.code}, {known}.")
            else:
                await turn.say(f"{ECHO} was answered with {json.dumps(answer, ensure_ascii=False)}.")

    @command(
        "subagent",
        "A child session that replies, uses a tool and can be cancelled (unstable)",
        hint="seconds",
    )
    async def show_subagent(self, turn: Turn) -> None:
        seconds = await self.number(turn, "seconds", self.pace * 20, 3600) if turn.argument else self.pace * 20
        if not turn.client.offers.subagents:
            await turn.say("This client doesn't support subagents; none was started.")
            return
        session, id = turn.session, f"{turn.session.id}-child-{turn.message_id}"
        subagent = Subagent(
            session_id=id,
            title="A search",
            description="Searches for something that doesn't exist",
            cwd=session.cwd,
            state="running",
            can_cancel=True,
        )
        child = session.child(subagent)
        stopped = child.data["stopped"] = asyncio.Event()
        try:
            # Sent in the child's session, which isn't saved: a client without subagents never gets it on load.
            task = child.session_message("Look for ", sender=session, recipient=child)
            await child.session_message_chunk(task, "something that doesn't exist.")
            await child.think("I am the child.")
            await child.say("Searching for it. ")
            async with child.tool("Search everywhere", kind="search") as tool:
                try:
                    async with asyncio.timeout(seconds):
                        await stopped.wait()
                    await tool.update(status="cancelled")
                except TimeoutError:
                    await tool.show("Nothing found.")
            await child.say("The search is complete.")
        except asyncio.CancelledError:  # the child ends with its turn
            await session.subagent(Subagent(session_id=id, state="idle", stop_reason="cancelled"))
            raise
        await session.subagent(Subagent(session_id=id, state="idle"))
        await turn.say("The child was cancelled." if stopped.is_set() else "The child has finished.")

    def cancel_subagent(self, session: Session) -> None:
        if "stopped" in session.data:
            session.data["stopped"].set()
