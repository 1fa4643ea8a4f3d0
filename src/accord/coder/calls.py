"""Carrying out what the model called: each call shown, judged, run, and answered.

Calls that change nothing run side by side; one that may change something runs alone, in its place."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from accord.coder import gate
from accord.coder.history import Call, Result, sound
from accord.coder.tools.base import Outcome, Tool, ToolFault, Work
from accord.coder.tools.text import one_line
from accord.errors import AccordError, ConnectionClosed

if TYPE_CHECKING:
    from accord.agent.tool import Tool as Shown
    from accord.agent.turn import Turn
    from accord.coder.desk import Desk

log = logging.getLogger("accord.coder")
AT_ONCE = 8
"""How many calls run side by side."""
LONG_TITLE = 300
"""How many letters of a title are shown: models choose the paths and patterns in it, and people decide by it."""
LONG = 100
"""How many letters of a tool's name are shown when there is no such tool."""

Tools = Mapping[str, Tool[Any]]


async def carry_out(calls: Sequence[Call], turn: Turn, desk: Desk, tools: Tools, results: list[Result]) -> None:
    """Runs some calls and adds their results, in the order of the calls. What is done is in `results` at any time."""
    order = {call.id: index for index, call in enumerate(calls)}
    room = asyncio.Semaphore(AT_ONCE)

    async def run(call: Call) -> None:
        async with room:
            results.append(await _one(call, turn, desk, tools.get(call.name)))

    for alone, group in groupby(calls, key=lambda call: _changes(tools.get(call.name))):
        if alone:
            for call in group:
                await run(call)
        else:
            await _side_by_side([run(call) for call in group])
    results.sort(key=lambda result: order[result.id])


def _changes(tool: Tool[Any] | None) -> bool:
    return tool is not None and tool.changes


async def _side_by_side(work: Sequence[Any]) -> None:
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _one(call: Call, turn: Turn, desk: Desk, tool: Tool[Any] | None) -> Result:
    try:
        if tool is None:
            raise ToolFault(f"there is no tool {call.name[:LONG]!r}")
        if call.fault is not None:
            raise ToolFault(f"{call.name}: {call.fault}")
        args = tool.read(call.arguments)
        title, places = one_line(tool.title(args), LONG_TITLE), tool.locations(args)
    except ToolFault as fault:
        words = sound(str(fault))
        named = one_line(call.name, LONG)
        async with turn.tool(named or "unknown tool", raw_input=call.arguments, name=named) as shown:
            await shown.fail(words)
        return Result(id=call.id, name=call.name, text=words, failed=True)
    shown = turn.tool(title, kind=tool.kind, locations=places, raw_input=call.arguments, name=tool.name)
    await shown.announce()
    outcome = await _shown(tool, args, Work(turn, desk, shown), shown)
    return Result(id=call.id, name=call.name, text=outcome.text, images=outcome.images, failed=outcome.failed)


async def _shown(tool: Tool[Any], args: Any, work: Work, shown: Shown) -> Outcome:
    """Takes a call from its announcement to its end."""
    try:
        await tool.prepare(args, work)
        await gate.passes(tool, args, work)
        if tool.changes:
            await work.desk.before_change(work.turn)
        await shown.start()
        outcome = await tool.run(args, work)
        outcome.text, outcome.raw = sound(outcome.text), sound(outcome.raw)
    except asyncio.CancelledError:
        await shown.update(status="cancelled")
        raise
    except ConnectionClosed:
        raise
    except (AccordError, OSError) as fault:
        outcome = Outcome(text=sound(_words(fault)), failed=True)
        await shown.show(outcome.text)
    except Exception as error:  # a fault of ours in one tool ends the call, not the turn
        log.exception("%s failed", tool.name)
        outcome = Outcome(text=sound(f"{tool.name} failed: {type(error).__name__}: {error}"), failed=True)
        await shown.show(outcome.text)
    raw = outcome.text if outcome.raw is None else outcome.raw
    await shown.update(status="failed" if outcome.failed else "completed", raw_output=raw)
    return outcome


def _words(fault: Exception) -> str:
    return getattr(fault, "message", None) or str(fault) or type(fault).__name__
