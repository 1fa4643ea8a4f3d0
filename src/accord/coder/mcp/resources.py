"""Two tools for what servers have to read: one that lists it, one that reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from accord.coder.mcp.content import bounded, contents_of, for_model, resource_blocks
from accord.coder.mcp.tool import action
from accord.coder.tools.base import Outcome, Tool, ToolFault, Work
from accord.model.noun import Noun
from accord.policy.action import Action

if TYPE_CHECKING:
    from accord.coder.mcp.server import Server


class WhichServer(Noun):
    """Which server's resources."""

    server: Annotated[str | None, Meta(description="The server's name; all servers when left out.")] = None


class WhichResource(Noun):
    """Which resource."""

    server: Annotated[str, Meta(description="The server's name, as list_mcp_resources gives it.")]
    uri: Annotated[str, Meta(description="The resource's address; for a template, with its braces filled in.")]


class ListResources(Tool[WhichServer]):
    """Tells what servers have to read, as they listed it."""

    name = "list_mcp_resources"
    description = "Lists the resources that MCP servers have to read, and templates of addresses to fill in."
    kind = "read"
    arguments = WhichServer

    def __init__(self, servers: Sequence[Server]) -> None:
        self._servers = servers

    def title(self, args: WhichServer) -> str:
        return f"List resources of {args.server or 'MCP servers'}"

    async def run(self, args: WhichServer, work: Work) -> Outcome:
        chosen = [_find(self._servers, args.server)] if args.server else self._servers
        lines = [line for server in chosen for line in _listed(server)]
        text = bounded("\n".join(lines) or "There are no resources.")
        await work.shown.show(text)
        return Outcome(text=text)


class ReadResource(Tool[WhichResource]):
    """Reads one resource of a server."""

    name = "read_mcp_resource"
    description = "Reads a resource of an MCP server."
    kind = "read"
    arguments = WhichResource

    def __init__(self, servers: Sequence[Server]) -> None:
        self._servers = servers

    def title(self, args: WhichResource) -> str:
        return f"{args.server}: read {args.uri[:200]}"

    def actions(self, args: WhichResource, work: Work) -> Sequence[Action]:
        return [action(_find(self._servers, args.server), self.name, self.kind, self.title(args), work)]

    async def run(self, args: WhichResource, work: Work) -> Outcome:
        answer = await _find(self._servers, args.server).request("read", turn=work.turn, uri=args.uri)
        blocks = resource_blocks(answer.get("contents"))
        told = for_model(blocks)
        await work.shown.show(*contents_of(blocks))
        return Outcome(text=told.text or "The resource is empty.", images=told.images)


def has_resources(server: Server) -> bool:
    return bool(server.resources or server.templates)


def _find(servers: Sequence[Server], name: str) -> Server:
    for server in servers:
        if name in (server.label, server.config.name):
            return server
    known = ", ".join(server.label for server in servers if has_resources(server))
    raise ToolFault(f"there is no MCP server {name!r} with resources; there is {known or 'none'}")


def _listed(server: Server) -> list[str]:
    lines = [f"{server.label}: {each.get('uri')}{_about(each)}" for each in server.resources]
    return lines + [
        f"{server.label}: {each.get('uriTemplate')} (a template){_about(each)}" for each in server.templates
    ]


def _about(listed: dict[str, Any]) -> str:
    said = [str(listed[key]) for key in ("title", "name", "mimeType", "description") if listed.get(key)]
    return f" — {'; '.join(dict.fromkeys(said))}"[:400] if said else ""
