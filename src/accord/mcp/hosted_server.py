"""Runs one MCP server for an agent and answers the MCP requests that arrive through the ACP connection.

Agents use MCP 2026-07-28: there is no handshake, and each request has the version and the capabilities that it relies
on in `_meta`. For a server that requires the handshake, we perform it. That metadata is then removed from its requests,
and `server/discover` is answered with the result of the handshake."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from accord.errors import INTERNAL_ERROR, METHOD_NOT_FOUND, AccordError, ConnectionClosed, RequestFailed
from accord.mcp.link import Message, ServerLink
from accord.version import __version__

MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
"""The newest version with a handshake."""
PREFIX = "io.modelcontextprotocol/"
ENVELOPE = ("protocolVersion", "clientInfo", "clientCapabilities", "logLevel")
"""The keys (after `PREFIX`) in the `_meta` of each request, which replace the handshake."""
CACHEABLE = ("tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read")
"""The methods whose results must contain cache hints."""
SUBSCRIPTION = PREFIX + "subscriptionId"
UNSUPPORTED_PROTOCOL_VERSION = -32022

LIMIT_EXCEEDED = -33000
SERVER_UNAVAILABLE = -33001
SERVER_FAILED = -33002
"""The errors of the connection to a server. Those of the server itself are inside the response."""

PROBE_SECONDS = 10.0
"""How long a server may take to report whether it supports MCP without a handshake."""
STARTING_SECONDS = 60.0
"""How long a server may take to answer the handshake."""
MAX_STARTS = 5
"""The number of starts after which a server counts as unavailable."""

Notify = Callable[[str, "dict[str, Any] | None"], Awaitable[None]]
"""Called with the method and params of each notification that belongs to a request."""


class _Pending:
    """A request that the server hasn't answered."""

    def __init__(self, notify: Notify | None, request_id: str, token: Any) -> None:
        self.answer: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.notify = notify
        self.request_id = request_id
        self.token = token


class HostedServer:
    """One server of one session. The first request starts it."""

    def __init__(self, name: str, make_link: Callable[[], ServerLink]) -> None:
        self.name = name
        self._make_link = make_link
        self._link: ServerLink | None = None
        self._links: set[ServerLink] = set()
        """All open links: the one in use, and those that are starting or closing."""
        self._readers: set[asyncio.Task[None]] = set()
        self._starting = asyncio.Lock()
        self._starts = 0
        self._is_closed = False
        self._handshake: Message | None = None
        """The result of the handshake, if the server needed one."""
        self._pending: dict[int, _Pending] = {}
        self._last_id = 0

    async def request(self, request_id: str, method: str, params: dict[str, Any] | None, notify: Notify) -> Message:
        """Send a request. Returns `{"result": …}` or `{"error": …}`, whichever the server sent.

        Raises `RequestFailed` with the code of the outer error if the server can't be reached or fails."""
        link = await self._ready()
        if method == "initialize":
            return _error(
                UNSUPPORTED_PROTOCOL_VERSION,
                "MCP through ACP has no handshake; send server/discover",
                {"supported": [MODERN]},
            )
        if self._handshake is not None:
            if method == "server/discover":
                return {"result": _discover_result(self._handshake)}
            params = _without_envelope(params)
        return _complete(method, await self._send(link, method, params, notify, request_id))

    async def close(self) -> None:
        """Stop the server. Open requests fail."""
        self._is_closed = True
        for link in list(self._links):
            await link.close()  # which ends its reader, and the handshake if it was starting
        if self._readers:
            await asyncio.wait(self._readers)

    # -- start

    async def _ready(self) -> ServerLink:
        async with self._starting:
            if self._is_closed:
                raise self._unavailable("its session has ended")
            if self._link is not None:
                return self._link
            if self._starts >= MAX_STARTS:
                raise self._unavailable(f"it ended {MAX_STARTS} times")
            self._starts += 1
            link = self._make_link()
            try:
                await link.start()
                if self._is_closed:
                    raise self._unavailable("its session has ended")
                self._links.add(link)
                reader = asyncio.get_running_loop().create_task(self._read(link))
                self._readers.add(reader)
                reader.add_done_callback(self._readers.discard)
                self._handshake = None if link.is_modern else await self._negotiate(link)
            except (AccordError, TimeoutError) as error:
                await link.close()
                late = f"no response within {STARTING_SECONDS:g} s"
                raise self._unavailable(late if isinstance(error, TimeoutError) else str(error)) from None
            except BaseException:
                await link.close()
                raise
            self._link = link
            return link

    async def _negotiate(self, link: ServerLink) -> Message | None:
        """Do the handshake if the server needs one. Returns its result; None without a handshake."""
        meta = {PREFIX + "protocolVersion": MODERN, PREFIX + "clientInfo": _US, PREFIX + "clientCapabilities": {}}
        with suppress(TimeoutError):
            async with asyncio.timeout(PROBE_SECONDS):
                found = await self._send(link, "server/discover", {"_meta": meta})
                versions = found["result"].get("supportedVersions") if isinstance(found.get("result"), dict) else None
                if isinstance(versions, list) and MODERN in versions:
                    return None
        params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": _US}
        async with asyncio.timeout(STARTING_SECONDS):
            answer = await self._send(link, "initialize", params)
        result = answer.get("result")
        if not isinstance(result, dict):
            raise self._unavailable(f"it rejected the handshake: {_words(answer)}")
        await link.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    # -- requests

    async def _send(
        self,
        link: ServerLink,
        method: str,
        params: dict[str, Any] | None,
        notify: Notify | None = None,
        request_id: str = "",
    ) -> Message:
        self._last_id += 1
        id = self._last_id
        params, token = _with_token(params, id)
        pending = self._pending[id] = _Pending(notify, request_id, token)
        message: Message = {"jsonrpc": "2.0", "id": id, "method": method}
        if params is not None:
            message["params"] = params
        try:
            await link.send(message)
            return await pending.answer
        except ConnectionClosed:
            raise self._failure(link.why()) from None
        except asyncio.CancelledError:
            with suppress(ConnectionClosed):
                params = {"requestId": id, "reason": "cancelled"}
                await link.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
            raise
        finally:
            self._pending.pop(id, None)

    # -- messages of the server

    async def _read(self, link: ServerLink) -> None:
        why = "it was closed"
        try:
            while (message := await link.receive()) is not None:
                await self._handle(link, message)
            why = link.why()
        except ConnectionClosed as error:
            why = str(error)
        finally:
            if self._link is link:
                self._link = None
            self._fail_all(why)
            await link.close()
            self._links.discard(link)

    async def _handle(self, link: ServerLink, message: Message) -> None:
        method = message.get("method")
        if not isinstance(method, str):
            self._settle(message)
        elif "id" in message:
            await link.send({"jsonrpc": "2.0", "id": message["id"], **_answer_server(method)})
        else:
            params = message.get("params")
            await self._pass_on(link, message, method, params if isinstance(params, dict) else None)

    def _settle(self, message: Message) -> None:
        id = message.get("id")
        pending = self._pending.get(id) if isinstance(id, int) else None
        if pending is None or pending.answer.done():
            return
        if "result" in message:
            pending.answer.set_result({"result": message["result"]})
        elif isinstance(message.get("error"), dict):
            error = message["error"]
            code = error.get("code")
            is_code = type(code) is int and -(2**31) <= code < 2**31
            data = {"data": error["data"]} if "data" in error else {}
            text = str(error.get("message", ""))
            fault = {"code": code if is_code else INTERNAL_ERROR, "message": text, **data}
            pending.answer.set_result({"error": fault})
        else:
            pending.answer.set_exception(self._failure("its response can't be read"))

    async def _pass_on(self, link: ServerLink, message: Message, method: str, params: dict[str, Any] | None) -> None:
        """Pass a notification to the agent as part of its request. Notifications without a request are dropped."""
        related = link.related_request(message)
        meta = params.get("_meta") if params is not None else None
        if related is None and isinstance(meta, dict):
            related = meta.get(SUBSCRIPTION)
        if related is None and method == "notifications/progress" and params is not None:
            related = params.get("progressToken")
        if related is None and len(self._pending) == 1:  # a log message, or a change while a single call is running
            related = next(iter(self._pending))
        pending = self._pending.get(_as_id(related))
        if pending is None or pending.notify is None or pending.answer.done() or method == "notifications/cancelled":
            return
        if params is not None and "progressToken" in params:
            params = {**params, "progressToken": pending.token}
        if params is not None and isinstance(meta, dict) and SUBSCRIPTION in meta:
            params = {**params, "_meta": {**meta, SUBSCRIPTION: pending.request_id}}
        await pending.notify(method, params)

    def _fail_all(self, why: str) -> None:
        for pending in list(self._pending.values()):
            if not pending.answer.done():
                pending.answer.set_exception(self._failure(why))

    # -- errors

    def _unavailable(self, why: str) -> RequestFailed:
        return RequestFailed(f"the MCP server {self.name!r} isn't available: {why}", code=SERVER_UNAVAILABLE)

    def _failure(self, why: str) -> RequestFailed:
        return RequestFailed(f"the MCP server {self.name!r} failed: {why}", code=SERVER_FAILED)


_US = {"name": "accord", "version": __version__}


def _answer_server(method: str) -> Message:
    """Answer a server's own request. MCP over ACP can't pass it to the agent."""
    if method == "ping":
        return {"result": {}}
    return {"error": {"code": METHOD_NOT_FOUND, "message": f"Method not found: {method[:100]}"}}


def _with_token(params: dict[str, Any] | None, id: int) -> tuple[dict[str, Any] | None, Any]:
    """Replace the progress token with our id, because several agents could use the same one. Returns the old one
    too."""
    meta = params.get("_meta") if params is not None else None
    if params is None or not isinstance(meta, dict) or "progressToken" not in meta:
        return params, None
    return {**params, "_meta": {**meta, "progressToken": id}}, meta["progressToken"]


def _without_envelope(params: dict[str, Any] | None) -> dict[str, Any] | None:
    meta = params.get("_meta") if params is not None else None
    if params is None or not isinstance(meta, dict):
        return params
    remaining = {key: value for key, value in meta.items() if key.removeprefix(PREFIX) not in ENVELOPE}
    rest = {key: value for key, value in params.items() if key != "_meta"}
    return {**rest, "_meta": remaining} if remaining else rest


def _discover_result(handshake: Message) -> Message:
    """Describe a server with a handshake as `server/discover` does."""
    info = handshake.get("serverInfo")
    result = {
        "resultType": "complete",
        "supportedVersions": [MODERN],
        "capabilities": handshake.get("capabilities") or {},
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {PREFIX + "serverInfo": info} if isinstance(info, dict) else {},
    }
    instructions = handshake.get("instructions")
    return {**result, "instructions": instructions} if isinstance(instructions, str) else result


def _complete(method: str, answer: Message) -> Message:
    """Add the fields that results must have since 2026-07-28, and that older servers leave out."""
    result = answer.get("result")
    if not isinstance(result, dict):
        return answer
    cache = {"ttlMs": 0, "cacheScope": "private"} if method in CACHEABLE else {}
    return {"result": {"resultType": "complete", **cache, **result}}


def _error(code: int, message: str, data: Any) -> Message:
    return {"error": {"code": code, "message": message, "data": data}}


def _as_id(value: Any) -> int:
    """Read the id of one of our requests; some servers send numbers as text."""
    if type(value) is int:
        return value
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16 else -1


def _words(answer: Message) -> str:
    error = answer.get("error")
    return str(error.get("message", "no reason")) if isinstance(error, dict) else "no reason"
