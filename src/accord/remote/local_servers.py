"""The editor's stdio MCP servers, run on this machine for a remote agent.

Sits between an editor and a remote agent: stdio servers of a session become servers behind the ACP connection
(`mcp/message`) if the agent supports that, and the agent's requests to them are answered here; otherwise they are left
out. The agent learns the names of the servers, but neither their commands nor their environment, which may hold
secrets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw

from accord.errors import INVALID_PARAMS, REQUEST_CANCELLED, ConnectionClosed, RequestFailed
from accord.mcp.offered_server import OfferedServer
from accord.mcp.served_requests import ServedRequests
from accord.model.requests import McpServer
from accord.remote.message import Fields, notification, raw, read_fields, read_id, read_text, read_value, write
from accord.schema.common.mcp import MessageMcpNotification, MessageMcpRequest

Where = Literal["local", "remote", "none"]
"""The place where the editor's stdio servers run: this machine, the agent's machine, or none."""

_OPENING = (b'"session/new"', b'"session/load"', b'"session/resume"', b'"session/fork"')
_WATCHED = (*_OPENING, b'"session/close"', b'"session/delete"', b'"initialize"')
_ESCAPED = b"\\/"
"""The escaped slash that some encoders write in the name of a method."""
MCP_MESSAGE = "mcp/message"
CANCEL = "$/cancel_request"


class _Opening:
    """A request whose response has to be processed: one that opens or closes a session, or `initialize`."""

    def __init__(self, method: str, session_id: str, servers: list[str]) -> None:
        self.method = method
        self.session_id = session_id
        self.servers = servers


class LocalServers:
    """The stdio servers of all sessions between one editor and one agent."""

    def __init__(self, where: Where, report: Callable[[str], None]) -> None:
        self.send: Callable[[bytes], Awaitable[None]] | None = None
        """Sends lines to the agent; set once it is connected."""
        self._where = where
        self._report = report
        self._served = ServedRequests(self._notify)
        self._is_supported = False
        self._requests: dict[Any, _Opening] = {}
        self._by_session: dict[str, list[str]] = {}
        self._ours: set[str] = set()
        self._open: dict[Any, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

    # -- from the editor to the agent

    def change_outgoing(self, block: bytes) -> bytes:
        """Convert lines of the editor for the agent."""
        if not any(mark in block for mark in _WATCHED) and _ESCAPED not in block:
            return block
        return b"\n".join(self._change_request(line) if line else line for line in block.split(b"\n"))

    def _change_request(self, line: bytes) -> bytes:
        message = read_fields(line)
        method, id = read_text(message, "method"), read_id(message)
        params = read_fields(message.get("params", UNSET)) if message is not None else None
        if message is None or id is None or f'"{method}"'.encode() not in _WATCHED:
            return line
        opening = self._requests[id] = _Opening(method, read_text(params, "sessionId"), [])
        if params is None or f'"{method}"'.encode() not in _OPENING:
            return line
        servers = self._change_servers(opening, read_value(params, "mcpServers"), read_text(params, "cwd"))
        if servers is None:
            return line
        return write({**message, "params": raw({**params, "mcpServers": raw(servers)})}).rstrip(b"\n")

    def _change_servers(self, opening: _Opening, servers: Any, cwd: str) -> list[Any] | None:
        """Return the servers for the agent; None if they don't change."""
        stdio = [each for each in servers if _is_stdio(each)] if isinstance(servers, list) else []
        if not stdio or self._where == "remote":
            return None
        if self._where == "local" and not self._is_supported:
            names = ", ".join(str(each.get("name")) for each in stdio)
            why = "the agent can't use MCP servers of this machine"
            self._report(f"{why}; left out: {names} (--mcp remote sends their commands to the agent)")
        if self._where == "none" or not self._is_supported:
            return [each for each in servers if not _is_stdio(each)]
        return [self._declare(opening, each, cwd) if _is_stdio(each) else each for each in servers]

    def _declare(self, opening: _Opening, server: dict[str, Any], cwd: str) -> dict[str, Any]:
        args = server.get("args")
        env = server.get("env")
        variables = [each for each in env if isinstance(each, dict)] if isinstance(env, list) else []
        config = McpServer(
            name=str(server.get("name")),
            command=str(server.get("command")),
            args=[str(each) for each in args] if isinstance(args, list) else [],
            env={str(each.get("name")): str(each.get("value")) for each in variables},
        )
        declared = self._served.declare(OfferedServer(config), cwd)
        opening.servers.append(declared.server_id)
        self._ours.add(declared.server_id)
        return {"type": "acp", "name": declared.name, "serverId": declared.server_id}

    # -- from the agent to the editor

    def change_incoming(self, block: bytes) -> bytes:
        """Convert lines of the agent for the editor, without requests that are answered here."""
        if not self._requests and not self._ours:
            return block
        lines = [line for line in block.split(b"\n") if line and not self._take(line)]
        return b"".join(line + b"\n" for line in lines)

    def _take(self, line: bytes) -> bool:
        """Handle a message for us. Returns True if the editor must not get it."""
        is_candidate = b'"mcp/message"' in line or b'"$/cancel_request"' in line or _ESCAPED in line or self._requests
        message = read_fields(line) if is_candidate else None
        if message is None:
            return False
        method, id = read_text(message, "method"), read_id(message)
        if not method:
            self._note_response(id, message)
            return False
        params = read_fields(message.get("params", UNSET))
        if method == CANCEL:
            request_id = read_value(params, "requestId")
            task = self._open.get(request_id) if isinstance(request_id, (str, int, float)) else None
            if task is not None:
                task.cancel()
            return task is not None
        if method != MCP_MESSAGE or id is None or read_text(params, "serverId") not in self._ours:
            return False
        task = self._open[id] = self._start(self._serve(id, message["params"]))
        task.add_done_callback(lambda _: self._open.pop(id, None))
        return True

    def _note_response(self, id: Any, message: Fields) -> None:
        request = self._requests.pop(id, None)
        result = read_fields(message.get("result", UNSET))
        if request is None:
            return
        if result is None:
            self._release(request.servers)
        elif request.method == "initialize":
            v1 = read_value(result, "agentCapabilities", "mcpCapabilities", "acp")
            v2 = read_value(result, "capabilities", "session", "mcp", "acp")
            self._is_supported = v1 is True or isinstance(v2, dict)
        elif request.method in ("session/close", "session/delete"):
            self._release(self._by_session.pop(request.session_id, []))
        else:
            id = read_text(result, "sessionId") or request.session_id
            self._release(self._by_session.pop(id, []))
            self._by_session[id] = request.servers

    async def _serve(self, id: Any, params: Raw) -> None:
        answer: dict[str, Any]
        try:
            answer = {"result": await self._served.serve(msgspec.json.decode(params, type=MessageMcpRequest))}
        except RequestFailed as error:
            answer = {"error": {"code": error.code, "message": error.message}}
        except (ValueError, RecursionError) as error:  # params that can't be decoded
            answer = {"error": {"code": INVALID_PARAMS, "message": f"mcp/message: {error}"}}
        except asyncio.CancelledError:
            answer = {"error": {"code": REQUEST_CANCELLED, "message": "Request cancelled"}}
        await self._send(write({"jsonrpc": "2.0", "id": id, **answer}))

    async def _notify(self, message: MessageMcpNotification) -> None:
        await self._send(notification(MCP_MESSAGE, message))

    async def _send(self, line: bytes) -> None:
        if self.send is not None:
            with suppress(ConnectionClosed):
                await self.send(line)

    # -- the end

    def _release(self, ids: list[str]) -> None:
        if ids:
            self._ours.difference_update(ids)
            self._start(self._served.release(ids))

    def _start(self, work: Any) -> asyncio.Task[Any]:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def close(self) -> None:
        """Stop all servers."""
        for task in list(self._open.values()):
            task.cancel()
        await self._served.close()
        if self._tasks:
            await asyncio.wait(self._tasks)


def _is_stdio(server: Any) -> bool:
    """Return whether a server is started as a process. In version 1 such servers have no type."""
    return (
        isinstance(server, dict) and server.get("type", "stdio") == "stdio" and isinstance(server.get("command"), str)
    )
