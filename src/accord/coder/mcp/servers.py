"""All MCP servers of one session. The package's docstring shows how they are used."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from accord.coder.mcp import prompts
from accord.coder.mcp.deadlines import Deadlines
from accord.coder.mcp.errors import McpServerError
from accord.coder.mcp.resources import ListResources, ReadResource, has_resources
from accord.coder.mcp.server import RESTART_SECONDS, Server, ServerState
from accord.coder.mcp.tool import McpTool
from accord.model.mcp_status import McpServerStatus

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.coder.tools.base import Tool
    from accord.model.content import Content
    from accord.model.session import Command

MAX_NAME = 64
MAX_LABEL = 24
_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_-]")


class Names:
    """Assigns unique names that every provider accepts, stable for the session."""

    def __init__(self) -> None:
        self._given: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()

    def label(self, index: int, server: str) -> str:
        """Return a server's name in its tools, commands and rules."""
        return self._assign(("server", str(index)), shorten_name(server, MAX_LABEL) or "server", server, MAX_LABEL)

    def tool(self, label: str, tool: str) -> str:
        """Return a tool's name for the model."""
        return self._assign((label, tool), shorten_name(f"mcp__{label}__{tool}", MAX_NAME), tool, MAX_NAME)

    def command(self, label: str, prompt: str) -> str:
        """Return a prompt's slash command, without the slash."""
        name = f"mcp:{label}:{shorten_name(prompt, MAX_NAME) or 'prompt'}"
        return self._assign((label, f"/{prompt}"), name, prompt, MAX_NAME + MAX_LABEL)

    def _assign(self, what: tuple[str, str], wanted: str, whole: str, longest: int) -> str:
        name = self._given.get(what)
        if name is None:
            name, number = wanted, 1
            while name in self._taken:
                number += 1
                mark = f"_{number}"
                name = wanted[: longest - len(mark)] + mark
            self._taken.add(name)
            self._given[what] = name
        return name


def shorten_name(name: str, longest: int) -> str:
    """Replace characters that providers reject. A name that is too long ends in a hash of the whole."""
    plain = _NOT_ALLOWED.sub("_", name)
    if len(plain) <= longest:
        return plain
    mark = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{plain[: longest - 9]}_{mark}"


class Servers:
    """The MCP servers of one session. Nothing is shared between sessions."""

    def __init__(
        self, session: Session, *, deadlines: Deadlines | None = None, pauses: tuple[float, ...] = RESTART_SECONDS
    ) -> None:
        self.session = session
        self.deadlines: Deadlines = deadlines or Deadlines()
        self.changed: Callable[[], None] | None = None
        """Called when the tools or commands have changed."""
        self._names = Names()
        self._servers = [
            Server(
                config,
                self._names.label(index, config.name),
                session,
                deadlines=self.deadlines,
                pauses=pauses,
                tell=self._tell,
                changed=self._on_change,
            )
            for index, config in enumerate(session.mcp_servers)
        ]
        self._starting: list[asyncio.Task[None]] = []
        self._tools_by_server: dict[str, tuple[list[dict[str, Any]] | None, dict[str, Tool[Any]]]] = {}
        self._pending_notices: list[str] = []
        self._waited = False
        self._closed = False

    def start(self) -> None:
        """Start connecting to all servers, and return at once."""
        if not self._starting and not self._closed:
            self._starting = [asyncio.create_task(server.start()) for server in self._servers]

    async def ready(self) -> None:
        """Wait for servers that are still starting, up to a deadline, and only once.

        If the client has no notices, the servers' status is shown as a thought."""
        late = [server for server in self._servers if not server.settled.is_set()]
        if late and self._starting and not self._waited:
            self._waited = True
            limit = self.deadlines.first_prompt
            await asyncio.wait(self._starting, timeout=limit)
            for server in late:
                if not server.settled.is_set():
                    self._tell(
                        f"MCP server {server.label}: still starting after {limit:g} s (deadline: first prompt); "
                        f"its tools will be available once it has started",
                        "warning",
                        McpServerStatus(
                            name=server.config.name, state="starting", detail=f"still starting after {limit:g} s"
                        ),
                    )
        if self._pending_notices:
            texts, self._pending_notices = self._pending_notices, []
            await self.session.think("\n".join(texts) + "\n")

    async def close(self) -> None:
        """Stop all servers and wait until they have exited. Can be called again."""
        self._closed = True
        for task in self._starting:
            task.cancel()
        if self._starting:
            await asyncio.wait(self._starting)
        await asyncio.gather(*(server.close() for server in self._servers))

    async def restart(self, name: str) -> None:
        """Restart one, whatever its state. Raises `McpServerError`."""
        await self._server(name).restart()

    # -- tools and commands

    def states(self) -> list[ServerState]:
        """Return the status of each server."""
        return [server.state() for server in self._servers]

    def tools(self) -> dict[str, Tool[Any]]:
        """Return all tools, by the names that the model uses."""
        found: dict[str, Tool[Any]] = {}
        for server in self._servers:
            found |= self._tools_of(server)
        if any(has_resources(server) for server in self._servers):
            found |= {tool.name: tool for tool in (ListResources(self._servers), ReadResource(self._servers))}
        return found

    def _tools_of(self, server: Server) -> dict[str, Tool[Any]]:
        """Return a server's tools, built again only after it has listed them again."""
        listing, made = self._tools_by_server.get(server.label, (None, {}))
        if listing is not server.tools:
            made = {}
            for listed in server.tools:
                if isinstance(listed.get("name"), str):
                    name = self._names.tool(server.label, listed["name"])
                    made[name] = McpTool(server, name, listed)
            self._tools_by_server[server.label] = (server.tools, made)
        return made

    def commands(self) -> list[Command]:
        """Return all prompts as slash commands."""
        return [prompts.command(name, server.label, listed) for name, (server, listed) in self._prompts().items()]

    async def prompt_messages(self, name: str, argument: str) -> list[Content]:
        """Return the content of a prompt's command, to be used as if the user had sent it. Raises `McpServerError`."""
        found = self._prompts().get(name.removeprefix("/"))
        if found is None:
            raise McpServerError(name, "unknown prompt; its server may have removed it")
        server, listed = found
        arguments = prompts.parse_arguments(server.label, listed, argument)
        return prompts.messages(await server.request("prompt", name=listed["name"], arguments=arguments or None))

    def _prompts(self) -> dict[str, tuple[Server, dict[str, Any]]]:
        return {
            self._names.command(server.label, listed["name"]): (server, listed)
            for server in self._servers
            for listed in server.prompts
            if isinstance(listed.get("name"), str)
        }

    def _server(self, name: str) -> Server:
        for server in self._servers:
            if name in (server.label, server.config.name):
                return server
        raise McpServerError(name, "this session has no server with that name")

    # -- notices

    def _tell(self, words: str, severity: str, status: McpServerStatus) -> None:
        if self._closed or self.session.closed:
            return
        if self.session.client.offers.notices:
            self.session.notice(words, severity=severity, meta=status.to_meta())
        else:
            self._pending_notices.append(words)

    def _on_change(self) -> None:
        if self.changed is not None and not self._closed:
            self.changed()
