"""Tools that list and read the resources of MCP servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from accord.coder.mcp.content import contents_of, for_model, resource_blocks, truncate
from accord.coder.mcp.tool import action
from accord.coder.tools.base import Outcome, Tool, ToolContext, ToolError
from accord.model.record import Record
from accord.policy.action import Action

if TYPE_CHECKING:
    from accord.coder.mcp.server import Server


class WhichServer(Record):
    """The server."""

    server: Annotated[str | None, Meta(description="The server's name; defaults to all servers.")] = None


class WhichResource(Record):
    """The server and the resource."""

    server: Annotated[str, Meta(description="The server's name, as list_mcp_resources shows it.")]
    uri: Annotated[str, Meta(description="The resource's URI; for a template, with its placeholders filled in.")]


class ListResources(Tool[WhichServer]):
    """Lists the resources and templates of MCP servers."""

    name = "list_mcp_resources"
    description = "Lists the resources of MCP servers, and URI templates to fill in."
    kind: str = "read"
    arguments = WhichServer

    def __init__(self, servers: Sequence[Server]) -> None:
        self._servers = servers

    def title(self, args: WhichServer) -> str:
        return f"List resources of {args.server or 'MCP servers'}"

    async def run(self, args: WhichServer, ctx: ToolContext) -> Outcome:
        chosen = [_find(self._servers, args.server)] if args.server else self._servers
        lines = [line for server in chosen for line in _describe(server)]
        text = truncate("\n".join(lines) or "No resources.")
        await ctx.call.show(text)
        return Outcome(text=text)


class ReadResource(Tool[WhichResource]):
    """Reads one resource."""

    name = "read_mcp_resource"
    description = "Reads a resource of an MCP server."
    kind: str = "read"
    arguments = WhichResource

    def __init__(self, servers: Sequence[Server]) -> None:
        self._servers = servers

    def title(self, args: WhichResource) -> str:
        return f"{args.server}: read {args.uri[:200]}"

    def actions(self, args: WhichResource, ctx: ToolContext) -> Sequence[Action]:
        return [action(_find(self._servers, args.server), self.name, self.kind, self.title(args), ctx)]

    async def run(self, args: WhichResource, ctx: ToolContext) -> Outcome:
        answer = await _find(self._servers, args.server).request("read", turn=ctx.turn, uri=args.uri)
        blocks = resource_blocks(answer.get("contents"))
        result = for_model(blocks)
        await ctx.call.show(*contents_of(blocks))
        return Outcome(text=result.text or "The resource is empty.", images=result.images)


def has_resources(server: Server) -> bool:
    return bool(server.resources or server.templates)


def _find(servers: Sequence[Server], name: str) -> Server:
    for server in servers:
        if name in (server.label, server.config.name):
            return server
    known = ", ".join(server.label for server in servers if has_resources(server))
    raise ToolError(f"no MCP server {name!r} with resources; available: {known or 'none'}")


def _describe(server: Server) -> list[str]:
    lines = [f"{server.label}: {each.get('uri')}{_about(each)}" for each in server.resources]
    return lines + [
        f"{server.label}: {each.get('uriTemplate')} (a template){_about(each)}" for each in server.templates
    ]


def _about(listed: dict[str, Any]) -> str:
    said = [str(listed[key]) for key in ("title", "name", "mimeType", "description") if listed.get(key)]
    return f" — {'; '.join(dict.fromkeys(said))}"[:400] if said else ""
