"""An MCP server's tool as one of the agent's own: its schema, its permission check, its progress and its result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from accord.coder.mcp.content import contents_of, for_model, truncate
from accord.coder.models.base import ToolSpec
from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.model.tool import ToolKind
from accord.policy.action import Action

if TYPE_CHECKING:
    from accord.coder.mcp.connection import Progress
    from accord.coder.mcp.server import Server

MAX_DESCRIPTION = 4_000
MAX_SHOWN = 4_000
MIN_PROGRESS_SECONDS = 0.1
"""The least time between two progress updates that are shown."""
_SEARCH_PREFIXES = ("search", "find", "query", "grep", "lookup")


class McpTool(Tool[dict[str, Any]]):
    """One tool of a server. The server's hints are shown but not trusted: rules name the server and tool."""

    polls = True
    records_changes = False

    def __init__(self, server: Server, name: str, listed: dict[str, Any]) -> None:
        hints = listed.get("annotations") if isinstance(listed.get("annotations"), dict) else None
        self.server = server
        self.tool: str = listed["name"]
        """Its name on the server."""
        self.name = name
        said = listed.get("description") or listed.get("title") or self.tool
        self.description: str = truncate(f"{said}\n(From the MCP server {server.label}.)", MAX_DESCRIPTION)
        self.kind: str = kind_of(self.tool, hints or {})
        self.changes: bool = not (hints or {}).get("readOnlyHint")
        given = listed.get("inputSchema")
        self._parameters = inline_references(given if isinstance(given, dict) else {})

    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.description, parameters=self._parameters)

    def read(self, arguments: dict[str, Any]) -> dict[str, Any]:
        required = self._parameters.get("required")
        missing = [key for key in required if key not in arguments] if isinstance(required, list) else []
        if missing:
            raise ToolError(f"{self.name}: missing argument {missing[0]!r}")
        try:
            msgspec.json.encode(arguments)
        except (UnicodeError, TypeError) as error:
            raise ToolError(f"{self.name}: the arguments can't be encoded: {error}") from None
        return arguments

    def name_title(self) -> str:
        return self.title({})

    def title(self, args: dict[str, Any]) -> str:
        return f"{self.server.label}: {self.tool}"

    async def prepare(self, args: dict[str, Any], ctx: ToolContext) -> None:
        if args:
            text = json.dumps(args, indent=2, ensure_ascii=False)
            await ctx.call.show(f"```json\n{truncate(text, MAX_SHOWN)}\n```")

    def actions(self, args: dict[str, Any], ctx: ToolContext) -> Sequence[Action]:
        return [action(self.server, self.tool, self.kind, self.title(args), ctx)]

    async def run(self, args: dict[str, Any], ctx: ToolContext) -> Outcome:
        answer = await self.server.request(
            "call", turn=ctx.turn, progress=show_progress(ctx), name=self.tool, arguments=args
        )
        blocks, structured = answer.get("content") or [], answer.get("structuredContent")
        result = for_model(blocks, structured)
        await ctx.call.set_content(*contents_of(blocks))
        failed = bool(answer.get("isError"))
        text = result.text or ("failed with no message" if failed else "completed with no output")
        return Outcome(text=text, images=result.images, raw=structured, failed=failed)


def action(server: Server, tool: str, kind: ToolKind, title: str, ctx: ToolContext) -> Action:
    """Return the action for the policy, with the fields that rules can match."""
    return Action(
        kind="mcp",
        mcp=f"{server.label}/{tool}",
        tool_kind=kind,
        title=title,
        session=ctx.session.id,
        project=ctx.session.cwd,
    )


def kind_of(name: str, hints: dict[str, Any]) -> ToolKind:
    """Return the kind to display, from the tool's own hints."""
    if hints.get("readOnlyHint") is True:
        return "search" if name.lower().startswith(_SEARCH_PREFIXES) else "read"
    if hints.get("destructiveHint") is True:
        return "delete"
    return "edit" if hints.get("destructiveHint") is False else "other"


def show_progress(ctx: ToolContext) -> Progress:
    """Return a callback that shows progress in the call, at a limited rate."""
    from asyncio import get_running_loop

    clock = get_running_loop().time
    before = list(ctx.call.content)
    last = float("-inf")

    async def show(done: float, total: float | None, message: str | None) -> None:
        nonlocal last
        if clock() - last < MIN_PROGRESS_SECONDS:
            return
        last = clock()
        await ctx.call.set_content(*before, describe_progress(done, total, message))

    return show


def describe_progress(done: float, total: float | None, message: str | None) -> str:
    """Format progress: "3 of 10: reading"."""
    count = f"{done:g} of {total:g}" if total else f"{done:g}"
    return f"{count}: {truncate(message, MAX_SHOWN)}" if message else count


MAX_NODES = 5_000
MAX_DEPTH = 64


class _TooLarge(Exception):
    """The schema without references would be too large."""


def inline_references(schema: dict[str, Any]) -> dict[str, Any]:
    """Replace references in a server's schema with their definitions, as every provider requires.

    Recursive references become open schemas. A schema that would grow too large is returned unchanged."""
    left = MAX_NODES

    def inline(value: Any, within: tuple[str, ...], depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0 or depth > MAX_DEPTH:
            raise _TooLarge
        if isinstance(value, list):
            return [inline(item, within, depth + 1) for item in value]
        if not isinstance(value, dict):
            return value
        reference = value.get("$ref")
        if isinstance(reference, str):
            beside = {key: item for key, item in value.items() if key != "$ref"}
            if reference in within:
                return beside
            target = _target(schema, reference)
            found = inline(target, (*within, reference), depth + 1)
            return {**found, **beside} if isinstance(found, dict) else beside
        return {
            key: inline(item, within, depth + 1)
            for key, item in value.items()
            if key not in ("$defs", "definitions", "$schema", "$id") or depth > 0
        }

    try:
        whole: dict[str, Any] = inline(schema, (), 0)
    except _TooLarge:
        whole = dict(schema)
    if whole.get("type") != "object":
        whole["type"] = "object"
    whole.setdefault("properties", {})
    return whole


def _target(schema: dict[str, Any], reference: str) -> Any:
    """Look up a reference in the same document; the open schema if it is invalid."""
    if not reference.startswith("#/"):
        return {}
    here: Any = schema
    for step in reference[2:].split("/"):
        step = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(here, dict) or step not in here:
            return {}
        here = here[step]
    return here
