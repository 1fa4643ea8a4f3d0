"""Run the model's tool calls: show each one, check permission, run it and collect its result.

Read-only calls run concurrently. A call that may change something runs alone, in its place in the order."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from accord.coder import modes, permission
from accord.coder.history import Call, Result, replace_surrogates
from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.coder.tools.names import describe_unknown, find_tool, implied_arguments
from accord.coder.tools.project.paths import from_cwd
from accord.coder.tools.text import one_line
from accord.errors import AccordError, ConnectionClosed, RequestFailed
from accord.model.tool import Location
from accord.workspace.place import MAX_MOVES, Moved

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.tool import Tool as ToolCallHandle
    from accord.agent.turn import Turn
    from accord.coder.session import CoderSession
    from accord.coder.streamed_calls import StreamedCalls

log: logging.Logger = logging.getLogger("accord.coder")
MAX_CONCURRENT = 8
MAX_TITLE = 300
"""Long enough to decide about a call, although the model chooses the paths and patterns in it."""
MAX_NAME = 100
"""Names of unknown tools are truncated to this length."""
MAX_NOTE = 300
"""Notes about arguments are truncated to this length: they contain names that the model chose."""

Tools = Mapping[str, Tool[Any]]


async def run_calls(
    calls: Sequence[Call],
    turn: Turn,
    state: CoderSession,
    tools: Tools,
    results: list[Result],
    *,
    streamed: StreamedCalls | None = None,
    model: str = "",
) -> None:
    """Run calls and append their results, in the order of the calls.

    `model` is the id of the model that made them; errors name only tools that it has.
    `streamed` has the calls that are announced already. `results` is the caller's list, so that it has the finished
    ones even after a cancellation."""
    with state.secrets.protect_cuts():
        await _run_calls(calls, turn, state, tools, results, streamed, model)


async def _run_calls(
    calls: Sequence[Call],
    turn: Turn,
    state: CoderSession,
    tools: Tools,
    results: list[Result],
    streamed: StreamedCalls | None,
    model: str,
) -> None:
    order = {call.id: index for index, call in enumerate(calls)}
    slots = asyncio.Semaphore(MAX_CONCURRENT)
    offered = [name for name, tool in tools.items() if modes.offers(state.mode, tool) and tool.suits(model)]

    async def run(call: Call) -> None:
        async with slots:
            tool = find_tool(call.name, call.arguments, tools)
            shown = streamed.take(call) if streamed is not None else None
            results.append(await _run_call(call, turn, state, tool, offered, shown))

    for is_change, group in groupby(calls, key=lambda call: _changes(find_tool(call.name, call.arguments, tools))):
        if is_change:
            for call in group:
                await run(call)
        else:
            await _run_concurrently([run(call) for call in group])
    results.sort(key=lambda result: order[result.id])
    await state.background.inspect()


def _changes(tool: Tool[Any] | None) -> bool:
    return tool is not None and tool.changes


async def _run_concurrently(coroutines: Sequence[Any]) -> None:
    tasks = [asyncio.ensure_future(each) for each in coroutines]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run_call(
    call: Call,
    turn: Turn,
    state: CoderSession,
    tool: Tool[Any] | None,
    offered: Iterable[str],
    shown: ToolCallHandle | None,
) -> Result:
    try:
        if tool is None:
            raise ToolError(describe_unknown(call.name, offered, call.arguments))
        if call.fault is not None:
            raise ToolError(f"{call.name}: {call.fault}")
        coerced = tool.coerce({**implied_arguments(call.name, tool), **call.arguments})
        notes = "".join(f"[{one_line(note, MAX_NOTE)}]\n" for note in coerced.notes)
        try:
            args = tool.read(coerced.arguments)
        except ToolError as error:
            raise ToolError(notes + str(error), kind=error.kind) from None
        locations = tool.locations(args)
        title = one_line(with_short_paths(tool.title(args), locations, turn.session), MAX_TITLE)
    except ToolError as error:
        message = state.secrets.redact(replace_surrogates(str(error)))
        named = one_line(call.name, MAX_NAME)
        if shown is None:
            shown = turn.tool(named or "unknown tool", raw_input=call.arguments, name=named)
        else:
            await shown.update(raw_input=call.arguments, name=named)
        async with shown:
            await shown.fail(message)
        return Result(id=call.id, name=call.name, text=message, failed=True)
    about: dict[str, Any] = {"kind": tool.kind_of(args), "locations": locations, "raw_input": coerced.arguments}
    if shown is None:
        shown = turn.tool(title, name=tool.name, **about)
        await shown.announce()
    else:
        await shown.update(title=title, name=tool.name, **about)
    outcome = await _run_announced(tool, args, ToolContext(turn, state, shown), shown)
    text = replace_surrogates(notes) + outcome.text
    if not outcome.failed:
        paths = [location if isinstance(location, str) else location.path for location in locations]
        await state.nested_instructions.collect(paths)
    result = Result(id=call.id, name=call.name, text=text, images=outcome.images, failed=outcome.failed)
    if outcome.failed:
        result.data = {"problem": outcome.problem}
    elif isinstance(outcome.raw, dict):
        result.data = outcome.raw
    return result


def with_short_paths(title: str, locations: Sequence[str | Location], session: Session) -> str:
    """Make the paths in a title relative to the working directory."""
    for location in locations:
        path = location if isinstance(location, str) else location.path
        if os.path.isabs(path):
            title = title.replace(path, from_cwd(session, path))
    return title


async def _run_announced(tool: Tool[Any], args: Any, ctx: ToolContext, shown: ToolCallHandle) -> Outcome:
    """Run an announced call and show its outcome."""
    redact = ctx.state.secrets.redact
    try:
        outcome = await _prepare_and_run(tool, args, ctx, shown)
        outcome.text, outcome.raw = redact(replace_surrogates(outcome.text)), redact(replace_surrogates(outcome.raw))
    except asyncio.CancelledError:
        await shown.update(status="cancelled")
        raise
    except ConnectionClosed:
        raise
    except (AccordError, OSError) as error:
        problem = error.kind if isinstance(error, ToolError) else ""
        outcome = Outcome(text=redact(replace_surrogates(_message(error))), failed=True, problem=problem)
        await shown.show(outcome.text)
    except Exception as error:  # a bug in one tool ends the call, not the turn
        log.exception("%s failed", tool.name)
        text = redact(replace_surrogates(f"{tool.name} failed: {type(error).__name__}: {error}"))
        outcome = Outcome(text=text, failed=True)
        await shown.show(outcome.text)
    if outcome.is_in_background:
        return outcome
    raw = outcome.text if outcome.raw is None else outcome.raw
    await shown.update(status="failed" if outcome.failed else "completed", raw_output=raw)
    return outcome


async def _prepare_and_run(tool: Tool[Any], args: Any, ctx: ToolContext, shown: ToolCallHandle) -> Outcome:
    """Prepare, authorize and run a call on the same files. If one of its paths changes its target in between, start
    over."""
    for _ in range(MAX_MOVES):
        try:
            await permission.check_early(tool, args, ctx)
            await tool.prepare(args, ctx)
            await permission.check(tool, args, ctx)
            if tool.changes:
                await ctx.state.before_change(ctx.turn, is_recorded=tool.records_changes)
            await shown.start()
            return await _run(tool, args, ctx)
        except Moved:
            ctx.reached.clear()
            if shown.content:
                await shown.set_content()
    raise ToolError("a path in this call keeps changing its target; try again later")


async def _run(tool: Tool[Any], args: Any, ctx: ToolContext) -> Outcome:
    """Run a tool. Report when its changes have ended, unless it continues in the background."""
    is_over = True
    try:
        outcome = await tool.run(args, ctx)
        is_over = not outcome.is_in_background
        return outcome
    finally:
        if tool.changes and not tool.records_changes and is_over:
            ctx.state.files.end_change()


def _message(error: Exception) -> str:
    message = error.message if isinstance(error, RequestFailed) else str(error)
    return message or type(error).__name__
