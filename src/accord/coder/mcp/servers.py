"""All servers of one session. See the package for how they are used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from accord.coder.mcp import prompts
from accord.coder.mcp.faults import ServerFault
from accord.coder.mcp.names import Names
from accord.coder.mcp.resources import ListResources, ReadResource, has_resources
from accord.coder.mcp.server import PAUSES, Server, ServerState
from accord.coder.mcp.silence import Deadlines
from accord.coder.mcp.tool import McpTool

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.coder.tools.base import Tool
    from accord.model.content import Content
    from accord.model.session import Command


class Servers:
    """The servers that one session was opened with. Nothing in here is shared with another session."""

    def __init__(
        self, session: Session, *, deadlines: Deadlines | None = None, pauses: tuple[float, ...] = PAUSES
    ) -> None:
        self.session = session
        self.deadlines = deadlines or Deadlines()
        self.changed: Callable[[], None] | None = None
        """Called when the tools or commands are other than they were."""
        self._names = Names()
        self._servers = [
            Server(
                config,
                self._names.label(index, config.name),
                session,
                deadlines=self.deadlines,
                pauses=pauses,
                tell=self._tell,
                changed=self._is_changed,
            )
            for index, config in enumerate(session.mcp_servers)
        ]
        self._starting: list[asyncio.Task[None]] = []
        self._made: dict[str, tuple[list[dict[str, Any]] | None, dict[str, Tool[Any]]]] = {}
        self._untold: list[str] = []
        self._waited = False
        self._closed = False

    def start(self) -> None:
        """Begins to connect to all of them, and returns at once."""
        if not self._starting and not self._closed:
            self._starting = [asyncio.create_task(server.start()) for server in self._servers]

    async def ready(self) -> None:
        """Waits for those that are still starting, but not for ever, and not again once it has waited in vain.

        Where the client shows no notices, what became of the servers is told here, as a thought."""
        late = [server for server in self._servers if not server.settled.is_set()]
        if late and self._starting and not self._waited:
            self._waited = True
            limit = self.deadlines.first_prompt
            await asyncio.wait(self._starting, timeout=limit)
            for server in late:
                if not server.settled.is_set():
                    self._tell(
                        f"MCP server {server.label}: still starting after {limit:g} s (deadline: first prompt); "
                        f"its tools can be used once it is there",
                        "warning",
                    )
        if self._untold:
            untold, self._untold = self._untold, []
            await self.session.think("\n".join(untold) + "\n")

    async def close(self) -> None:
        """Ends all servers and waits until they are gone. Repeating changes nothing."""
        self._closed = True
        for task in self._starting:
            task.cancel()
        if self._starting:
            await asyncio.wait(self._starting)
        await asyncio.gather(*(server.close() for server in self._servers))

    async def restart(self, name: str) -> None:
        """Starts one again, whatever became of it. Raises `ServerFault`."""
        await self._server(name).restart()

    # -- what they have

    def states(self) -> list[ServerState]:
        """How each is doing."""
        return [server.state() for server in self._servers]

    def tools(self) -> dict[str, Tool[Any]]:
        """Their tools, by the names that the model uses."""
        found: dict[str, Tool[Any]] = {}
        for server in self._servers:
            found |= self._tools_of(server)
        if any(has_resources(server) for server in self._servers):
            found |= {tool.name: tool for tool in (ListResources(self._servers), ReadResource(self._servers))}
        return found

    def _tools_of(self, server: Server) -> dict[str, Tool[Any]]:
        """Made once for each list of the server's."""
        listing, made = self._made.get(server.label, (None, {}))
        if listing is not server.tools:
            made = {}
            for listed in server.tools:
                if isinstance(listed.get("name"), str):
                    name = self._names.tool(server.label, listed["name"])
                    made[name] = McpTool(server, name, listed)
            self._made[server.label] = (server.tools, made)
        return made

    def commands(self) -> list[Command]:
        """Their prompts, as slash commands."""
        return [prompts.command(name, server.label, listed) for name, (server, listed) in self._prompts().items()]

    async def prompt_messages(self, name: str, argument: str) -> list[Content]:
        """What a command stands for: content to go on with as if the user had sent it. Raises `ServerFault`."""
        found = self._prompts().get(name.removeprefix("/"))
        if found is None:
            raise ServerFault(name, "there is no such prompt; its server may have withdrawn it")
        server, listed = found
        arguments = prompts.filled_in(server.label, listed, argument)
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
        raise ServerFault(name, "this session has no such server")

    # -- telling

    def _tell(self, words: str, severity: str) -> None:
        if self._closed or self.session.closed:
            return
        if self.session.client.notices:
            self.session.notice(words, severity=severity)
        else:
            self._untold.append(words)

    def _is_changed(self) -> None:
        if self.changed is not None and not self._closed:
            self.changed()
