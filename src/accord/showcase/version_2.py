"""What only version 2 can show: states, work that outlives its turn, and stopping one thing alone."""

from __future__ import annotations

import asyncio

from accord.agent.agent import command
from accord.agent.session import Session
from accord.agent.terminals import DisplayTerminal
from accord.agent.turn import Turn
from accord.errors import ConnectionClosed
from accord.showcase.stage import Stage


class Version2(Stage):
    """States, background work, single cancellations."""

    topic = "Version 2"

    @command("v2-state", "Running, then waiting for you, then running, then idle")
    async def show_state(self, turn: Turn) -> None:
        await turn.say("The session is running. ")
        await self.pause(5)
        answer = await turn.permit("Go on?", description="While this is open, the session requires action.")
        await turn.say(f"It {'required' if turn.client.version > 1 else 'would have required'} action; you said ")
        await turn.say(f"{answer.option.name if answer.option else 'nothing'}. Soon it will be idle.")

    @command("v2-cancel", "A tool call that can be cancelled on its own", hint="seconds it would take, 60 unless said")
    async def show_cancel(self, turn: Turn) -> None:
        seconds = await self.number(turn, "seconds", 60, 3600)
        if turn.client.version == 1:
            await turn.say("Version 1 can only cancel a whole turn: try /slow.")
            return
        stops = turn.session.data.setdefault("stops", {})
        async with turn.tool("Count to a million", kind="execute", can_cancel=True) as tool:
            stop = stops[tool.id] = asyncio.Event()
            try:
                async with asyncio.timeout(seconds):
                    await stop.wait()
                await tool.update(status="cancelled")
            except TimeoutError:
                await tool.show("Nobody cancelled it.")
            finally:
                del stops[tool.id]
        await turn.say("The tool call was cancelled; the turn goes on." if stop.is_set() else "Counted.")

    async def cancel_tool_call(self, session: Session, tool_call_id: str) -> None:
        stop = session.data.get("stops", {}).get(tool_call_id)
        if stop is not None:
            stop.set()

    @command(
        "v2-background", "A terminal that goes on after its turn, and can be cancelled", hint="seconds, 5 unless said"
    )
    async def show_background(self, turn: Turn) -> None:
        seconds = await self.number(turn, "seconds", 5, 3600)
        session = turn.session
        async with turn.tool("Start something that goes on", kind="execute") as tool:
            terminal = turn.display_terminal("showcase --watch", can_cancel=True)
            await tool.show(terminal)
        stop = session.data.setdefault("stops", {})[terminal.id] = asyncio.Event()
        work = asyncio.create_task(_watch(session, terminal, stop, seconds), name=f"background of {session.id}")
        running = session.data.setdefault("running", {})
        running[terminal.id] = work
        work.add_done_callback(lambda done: running.pop(terminal.id, None))
        _tell_background(session)
        await turn.say(f"This turn ends; the terminal goes on for {seconds:g} seconds.")

    async def cancel_terminal(self, session: Session, terminal_id: str) -> None:
        stop = session.data.get("stops", {}).get(terminal_id)
        if stop is not None:
            stop.set()

    async def close_session(self, session: Session) -> None:
        for work in list(session.data.get("running", {}).values()):
            work.cancel()


async def _watch(session: Session, terminal: DisplayTerminal, stop: asyncio.Event, seconds: float) -> None:
    """Prints five times, unless it is stopped before; then says between turns how it ended."""
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
        _tell_background(session)
        session.end_message()
        await session.say("The terminal was stopped." if stop.is_set() else "The terminal has ended by itself.")
    except ConnectionClosed:
        return  # nobody is left to show it to
    finally:
        session.data["stops"].pop(terminal.id, None)


def _tell_background(session: Session) -> None:
    session.set_background([("terminal", id) for id in session.data["running"]])
