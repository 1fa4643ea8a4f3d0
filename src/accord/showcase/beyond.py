"""What few clients know: kinds that nobody has heard of, methods outside the protocol, and subagents."""

from __future__ import annotations

import asyncio
import json

from accord.agent.agent import command
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.errors import RequestFailed
from accord.model.content import UnknownContent
from accord.model.session import Subagent
from accord.showcase.stage import Stage

UPDATE = {"sessionUpdate": "_accord.showcase/novelty", "text": "an update of a kind that nobody knows", "n": 1}
ECHO = "_accord.showcase/echo"
NOTE = "_accord.showcase/note"
UNKNOWN_REASON = "_accord.showcase/curtain"


class Beyond(Stage):
    """Extensions, unknown kinds, subagents."""

    topic = "Beyond"

    @command("unknown", "An update of a kind nobody knows; in version 2 also content, a tool kind and a stop reason")
    async def show_unknown(self, turn: Turn) -> str | None:
        await turn.session.update(turn.client.version, UPDATE)
        if turn.client.version == 1:
            # Its other unions are closed: anything unknown in them would be a fault, not a feature.
            await turn.say("An update that you do not know went by; it must do no harm.")
            return None
        content = {"type": "_accord.showcase/smell", "data": "rose"}
        await turn.say(UnknownContent(type=content["type"], data=content))
        async with turn.tool("A tool of an unknown kind", kind="_accord.showcase/juggle"):
            await self.pause()
        await turn.say("An update, a content block, a tool kind and a stop reason that you do not know.")
        return UNKNOWN_REASON

    @command("extension", "A notification and a request that the protocol does not know")
    async def show_extension(self, turn: Turn) -> None:
        await turn.notify(NOTE, {"sessionId": turn.session.id, "text": "for your information"})
        try:
            answer = await turn.request(ECHO, {"sessionId": turn.session.id, "text": "hello"})
        except RequestFailed as error:
            await turn.say(f"{ECHO} was answered with error {error.code}, as it should be by those who do not know it.")
        else:
            await turn.say(f"{ECHO} was answered with {json.dumps(answer, ensure_ascii=False)}.")

    @command("subagent", "A child session that speaks, uses tools and can be cancelled (unstable)", hint="seconds")
    async def show_subagent(self, turn: Turn) -> None:
        seconds = await self.number(turn, "seconds", self.pace * 20, 3600) if turn.argument else self.pace * 20
        if not turn.client.subagents:
            await turn.say("This client shows no subagents; nothing of one was sent.")
            return
        session, id = turn.session, f"{turn.session.id}-child-{turn.message_id}"
        told = Subagent(
            session_id=id,
            title="A search",
            description="Looks for something that is not there",
            cwd=session.cwd,
            state="running",
            can_cancel=True,
        )
        child = session.child(told)
        stopped = child.data["stopped"] = asyncio.Event()
        try:
            await child.think("I am the child.")
            await child.say("I look for it. ")
            async with child.tool("Search everywhere", kind="search") as tool:
                try:
                    async with asyncio.timeout(seconds):
                        await stopped.wait()
                    await tool.update(status="cancelled")
                except TimeoutError:
                    await tool.show("Nothing found.")
            await child.say("That was that.")
        except asyncio.CancelledError:  # with the turn ends whoever worked for it
            await session.subagent(Subagent(session_id=id, state="idle", stop_reason="cancelled"))
            raise
        await session.subagent(Subagent(session_id=id, state="idle"))
        await turn.say("The child was cancelled." if stopped.is_set() else "The child has done its work.")

    async def cancel_subagent(self, session: Session) -> None:
        if "stopped" in session.data:
            session.data["stopped"].set()
