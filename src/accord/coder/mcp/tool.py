"""A server's tool as one of the agent's own: named, asked about, shown while it runs, and answered."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from accord.coder.mcp import schemas
from accord.coder.mcp.content import bounded, contents_of, for_model
from accord.coder.models.base import ToolSpec
from accord.coder.tools.base import Outcome, Tool, ToolFault, Work
from accord.model.tool import ToolKind
from accord.policy.action import Action

if TYPE_CHECKING:
    from accord.coder.mcp.connection import Progress
    from accord.coder.mcp.server import Server

MOST_DESCRIPTION = 4_000
MOST_SHOWN = 4_000
BETWEEN_SIGNS = 0.1
"""How many seconds lie at least between two signs of progress that are shown."""
_SEARCHING = ("search", "find", "query", "grep", "lookup")


class McpTool(Tool[dict[str, Any]]):
    """One tool of a server. What the server says of it is shown and not believed: the rules name server and tool."""

    def __init__(self, server: Server, name: str, listed: dict[str, Any]) -> None:
        hints = listed.get("annotations") if isinstance(listed.get("annotations"), dict) else None
        self.server = server
        self.tool: str = listed["name"]
        """What the server calls it."""
        self.name = name
        said = listed.get("description") or listed.get("title") or self.tool
        self.description = bounded(f"{said}\n(A tool of the MCP server {server.label}.)", MOST_DESCRIPTION)
        self.kind = kind_of(self.tool, hints or {})
        self.changes = not (hints or {}).get("readOnlyHint")
        given = listed.get("inputSchema")
        self._parameters = schemas.plain(given if isinstance(given, dict) else {})

    def spec(self) -> ToolSpec:
        return ToolSpec(name=self.name, description=self.description, parameters=self._parameters)

    def read(self, arguments: dict[str, Any]) -> dict[str, Any]:
        required = self._parameters.get("required")
        missing = [key for key in required if key not in arguments] if isinstance(required, list) else []
        if missing:
            raise ToolFault(f"{self.name}: the argument {missing[0]!r} is missing")
        try:
            msgspec.json.encode(arguments)
        except (UnicodeError, TypeError) as error:
            raise ToolFault(f"{self.name}: the arguments cannot be sent: {error}") from None
        return arguments

    def title(self, args: dict[str, Any]) -> str:
        return f"{self.server.label}: {self.tool}"

    async def prepare(self, args: dict[str, Any], work: Work) -> None:
        if args:
            text = json.dumps(args, indent=2, ensure_ascii=False)
            await work.shown.show(f"```json\n{bounded(text, MOST_SHOWN)}\n```")

    def actions(self, args: dict[str, Any], work: Work) -> Sequence[Action]:
        return [action(self.server, self.tool, self.kind, self.title(args), work)]

    async def run(self, args: dict[str, Any], work: Work) -> Outcome:
        answer = await self.server.request(
            "call", turn=work.turn, progress=shown_in(work), name=self.tool, arguments=args
        )
        blocks, structured = answer.get("content") or [], answer.get("structuredContent")
        told = for_model(blocks, structured)
        await work.shown.set_content(*contents_of(blocks))
        failed = bool(answer.get("isError"))
        text = told.text or ("it failed without a word" if failed else "it is done, and said nothing")
        return Outcome(text=text, images=told.images, raw=structured, failed=failed)


def action(server: Server, tool: str, kind: ToolKind, title: str, work: Work) -> Action:
    """What is about to happen, in the facts that rules can name."""
    return Action(
        kind="mcp",
        mcp=f"{server.label}/{tool}",
        tool_kind=kind,
        title=title,
        session=work.session.id,
        project=work.session.cwd,
    )


def kind_of(name: str, hints: dict[str, Any]) -> ToolKind:
    """The kind to show a tool under, from its own hints."""
    if hints.get("readOnlyHint") is True:
        return "search" if name.lower().startswith(_SEARCHING) else "read"
    if hints.get("destructiveHint") is True:
        return "delete"
    return "edit" if hints.get("destructiveHint") is False else "other"


def shown_in(work: Work) -> Progress:
    """Shows signs of progress in the call, not too many of them."""
    from asyncio import get_running_loop

    clock = get_running_loop().time
    before = list(work.shown.content)
    last = float("-inf")

    async def show(done: float, total: float | None, message: str | None) -> None:
        nonlocal last
        if clock() - last < BETWEEN_SIGNS:
            return
        last = clock()
        await work.shown.set_content(*before, progress_words(done, total, message))

    return show


def progress_words(done: float, total: float | None, message: str | None) -> str:
    """How far it has come: "3 of 10: reading"."""
    count = f"{done:g} of {total:g}" if total else f"{done:g}"
    return f"{count}: {bounded(message, MOST_SHOWN)}" if message else count
