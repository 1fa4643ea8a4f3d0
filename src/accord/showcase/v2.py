"""Features that only version 2 has: session states, work that outlives its turn, and cancelling a single tool call."""

from __future__ import annotations

import asyncio

from accord.agent.agent import command
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.agent.workspace import DisplayTerminal
from accord.errors import ConnectionClosed
from accord.showcase.topic import Topic


class Version2(Topic):
    """Session states, background work and single cancellations."""

    title = "Version 2"

    @command("v2-state", "Running, then requiring action, then running, then idle")
    async def show_state(self, turn: Turn) -> None:
        await turn.say("The session is running. ")
        await self.pause(5)
        answer = await turn.permit("Continue?", description="While this is open, the session requires action.")
        await turn.say(f"It {'required' if turn.client.version > 1 else 'would have required'} action; you chose ")
        await turn.say(f"{answer.option.name if answer.option else 'nothing'}. It will be idle soon.")

    @command("v2-cancel", "A tool call that can be cancelled on its own", hint="seconds (default 60)")
    async def show_cancel(self, turn: Turn) -> None:
        seconds = await self.number(turn, "seconds", 60, 3600)
        if turn.client.version == 1:
            await turn.say("Version 1 can only cancel a whole turn; try /slow.")
            return
        stops = turn.session.data.setdefault("stops", {})
        async with turn.tool("Count to a million", kind="execute", can_cancel=True) as tool:
            stop = stops[tool.id] = asyncio.Event()
            try:
                async with asyncio.timeout(seconds):
                    await stop.wait()
                await tool.update(status="cancelled")
            except TimeoutError:
                await tool.show("It wasn't cancelled.")
            finally:
                del stops[tool.id]
        await turn.say("The tool call was cancelled; the turn continues." if stop.is_set() else "Finished counting.")

    def cancel(self, session: Session, id: str) -> None:
        """Stop a tool call or terminal."""
        stop = session.data.get("stops", {}).get(id)
        if stop is not None:
            stop.set()

    @command(
        "v2-background",
        "A terminal that outlives its turn, and can be cancelled",
        hint="seconds (default 5)",
    )
    async def show_background(self, turn: Turn) -> None:
        seconds = await self.number(turn, "seconds", 5, 3600)
        session = turn.session
        async with turn.tool("Start a background command", kind="execute") as tool:
            terminal = turn.display_terminal("showcase --watch", size=(80, 24), can_cancel=True)
            await tool.show(terminal)
        stop = session.data.setdefault("stops", {})[terminal.id] = asyncio.Event()
        work = asyncio.create_task(_watch(session, terminal, stop, seconds), name=f"background of {session.id}")
        running = session.data.setdefault("running", {})
        running[terminal.id] = work
        work.add_done_callback(lambda done: running.pop(terminal.id, None))
        _report_background(session)
        await turn.say(f"This turn ends now; the terminal keeps running for {seconds:g} seconds.")

    def close_session(self, session: Session) -> None:
        for work in list(session.data.get("running", {}).values()):
            work.cancel()


async def _watch(session: Session, terminal: DisplayTerminal, stop: asyncio.Event, seconds: float) -> None:
    """Print five times, unless stopped earlier; then report how it ended, outside of any turn."""
    try:
        for number in range(1, 6):
            await terminal.write(f"still here ({number})\r\n")
            try:
                async with asyncio.timeout(seconds / 5):
                    await stop.wait()
                break
            except TimeoutError:
                continue
        await terminal.exit(None if stop.is_set() else 0, "SIGTERM" if stop.is_set() else None)
        session.data["running"].pop(terminal.id, None)
        _report_background(session)
        async with session.work():  # version 2 reports the session as running until then
            await session.say("The terminal was stopped." if stop.is_set() else "The terminal finished by itself.")
    except ConnectionClosed:
        return  # the client has disconnected
    finally:
        session.data["stops"].pop(terminal.id, None)


def _report_background(session: Session) -> None:
    session.set_background([("terminal", id) for id in session.data["running"]])
