"""One connection to a server. A restarted server gets a new one.

A separate task owns it, because the SDK's context managers must be closed by the task that opened them. Each request
runs in its own task too, so that a caller who gives up returns at once, while the server is still being notified."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from accord.coder.mcp import remote, server_requests, stdio
from accord.coder.mcp.deadlines import SilenceTimer
from accord.coder.mcp.errors import McpServerError, describe
from accord.config.redaction import redact_values, secret_values
from accord.errors import AccordError, LaunchError
from accord.version import __version__

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.coder.mcp.sdk import Sdk
    from accord.model.requests import McpServer

CLOSING_SECONDS = 5.0
"""How long closing may take before the connection is cancelled."""
MAX_ROUNDS = 10
"""How often a server may ask for more input before it answers."""

Progress = Callable[[float, "float | None", "str | None"], Awaitable[None]]


class Connection:
    """A connection to one running server."""

    def __init__(
        self,
        sdk: Sdk,
        server: McpServer,
        label: str,
        session: Session,
        *,
        on_notification: Callable[[Any], None],
        on_end: Callable[[Connection], None],
    ) -> None:
        self.sdk = sdk
        self.label = label
        self.error: McpServerError | None = None
        """Why it ended, if we didn't close it."""
        self._server = server
        self._session = session
        self._on_notification = on_notification
        self._on_end = on_end
        self._client: Any = None
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._broken = asyncio.Event()
        self._lines: stdio.Lines | None = None
        self._response_status: remote.ResponseStatus | None = None
        self._calls: list[SilenceTimer] = []
        self._requests: set[asyncio.Task[Any]] = set()
        self._owner = asyncio.create_task(self._run(), name=f"mcp {label}")

    @property
    def is_open(self) -> bool:
        return self._client is not None and not self._broken.is_set() and not self._closing.is_set()

    @property
    def pid(self) -> int | None:
        """The process id of a stdio server."""
        return self._lines.transport.child.pid if self._lines is not None else None

    @property
    def is_expired(self) -> bool:
        """Whether the server no longer knows this MCP session: it was restarted, or has expired it."""
        return self._response_status is not None and self._response_status.status == 404

    @property
    def capabilities(self) -> Any:
        return self._client.server_capabilities

    async def wait_open(self, limit: float) -> None:
        """Wait until the server is initialized. Raises `McpServerError`."""
        try:
            async with asyncio.timeout(limit):
                await asyncio.shield(self._opened)
        except TimeoutError:
            said = f"; {self._lines.why()}" if self._lines is not None else ""
            raise self._error_for(f"no response within {limit:g} s (deadline: starting){said}", lost=True) from None

    async def close(self) -> None:
        """Close the connection and stop a stdio server. Can be called again."""
        self._closing.set()
        for task in self._requests:
            task.cancel()
        if self._owner is asyncio.current_task():
            return
        if self._client is None:
            self._owner.cancel()  # not initialized: there is no session to end
        await asyncio.wait({self._owner}, timeout=CLOSING_SECONDS)
        self._owner.cancel()
        await asyncio.wait({self._owner})

    # -- lifetime

    async def _run(self) -> None:
        error_found: McpServerError | None = None
        try:
            async with self._streams() as (reader, writer), self._client_session(reader, writer) as client:
                await self._unless_broken(self._initialize(client))
                self._client = client
                self._opened.set_result(None)
                await self._wait_for_end(client)
            if not self._closing.is_set():
                error_found = self._error_for(self._why("the connection broke"), lost=True)
        except LaunchError as error:
            error_found = self._error_for(str(error), lost=True)
        except asyncio.CancelledError:
            error_found = self._error_for("it was stopped", lost=True)
            if not self._closing.is_set():
                raise
        except Exception as error:
            error_found = self._error_for(self._why(describe(error)), lost=True)
        finally:
            self._broken.set()
            if not self._closing.is_set():
                self.error = error_found
            if not self._opened.done():
                self._opened.set_exception(error_found or self._error_for("it was stopped", lost=True))
                self._opened.exception()  # mark it as retrieved: no caller may be waiting
            self._on_end(self)

    async def _unless_broken(self, ctx: Coroutine[Any, Any, None]) -> None:
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(ctx), asyncio.create_task(self._broken.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not tasks[0].done():
                raise ConnectionError("the connection broke")
            tasks[0].result()
        finally:
            for task in tasks:
                task.cancel()

    async def _wait_for_end(self, client: Any) -> None:
        ends: list[asyncio.Task[Any]] = [asyncio.create_task(event.wait()) for event in (self._closing, self._broken)]
        if client.discover_result is not None:
            ends.append(asyncio.create_task(self._listen(client)))
        try:
            await asyncio.wait(ends[:2], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in ends:
                task.cancel()

    @asynccontextmanager
    async def _streams(self) -> AsyncIterator[tuple[Any, Any]]:
        server = self._server
        match server.transport:
            case "stdio":
                async with stdio.run_server(self.sdk, server, self._session.cwd, self._broken.set) as self._lines:
                    yield self._lines, self._lines
            case "http" | "sse":
                # Over SSE the SDK doesn't report a rejected message, and its response would never come.
                is_http = server.transport == "http"
                self._response_status = remote.ResponseStatus(server.url, None if is_http else self._broken.set)
                how = remote.streamable if is_http else remote.events
                async with how(server, self._response_status) as (reader, writer):
                    yield remote.WatchedStream(reader, self._broken.set), writer
            case "acp":
                async with self._session.mcp_transport(server) as (reader, writer):
                    yield remote.WatchedStream(reader, self._broken.set), writer
            case other:
                raise self._error_for(f"the transport {other!r} is not supported; use stdio, http, sse or acp")

    def _client_session(self, reader: Any, writer: Any) -> Any:
        return self.sdk.ClientSession(
            reader,
            writer,
            elicitation_callback=self._elicit,
            list_roots_callback=self._roots,
            message_handler=self._on_message,
            client_info=self.sdk.types.Implementation(name="accord", version=__version__),
        )

    async def _initialize(self, client: Any) -> None:
        """Use the handshake that nearly all servers support, or the newer one if the server requires it."""
        types = self.sdk.types
        if self._server.transport == "acp":  # servers behind the client have no handshake
            await client.discover()
            return
        try:
            await client.initialize()
        except self.sdk.MCPError as error:
            if error.code not in (types.UNSUPPORTED_PROTOCOL_VERSION, types.METHOD_NOT_FOUND):
                raise
            if self._response_status is not None and self._response_status.status in (401, 403, 404):
                raise
            await client.discover()

    async def _listen(self, client: Any) -> None:
        """Subscribe to changes, which the newer handshake requires."""
        from mcp.client.subscriptions import listen

        with suppress(self.sdk.MCPError, RuntimeError):
            async with listen(
                client, tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
            ) as changes:
                async for _ in changes:
                    pass  # each also arrives as a notification

    # -- messages from the server

    async def _on_message(self, message: Any) -> None:
        if isinstance(message, self.sdk.types.ElicitCompleteNotification):
            id = server_requests.page_id(self.label, message.params.elicitation_id)
            if id is not None and not self._session.closed:
                await self._session.page_done(id)
        elif not isinstance(message, Exception):
            self._on_notification(message)

    async def _roots(self, context: Any) -> Any:
        return server_requests.roots(self.sdk, self._session)

    async def _elicit(self, context: Any, params: Any) -> Any:
        call = next((call for call in reversed(self._calls) if call.turn is not None), None)
        if call is None or call.turn is None:
            return server_requests.cancel_elicitation(self.sdk)
        asking = server_requests.elicit(self.sdk, call.turn, self.label, params)
        return await call.while_asking(asking, server_requests.cancel_elicitation(self.sdk))

    # -- requests to the server

    async def request(
        self,
        make: Callable[..., Any],
        limit: float,
        *,
        deadline: str,
        turn: Turn | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Send a request and return the raw result. `make` builds it, with answers if the server asks for input.

        Raises `McpServerError`. Cancelling notifies the server and returns at once."""
        if not self.is_open:
            raise self.error or self._error_for("the connection is closed", lost=True)
        timer = SilenceTimer(limit, turn)

        async def on_progress(done: float, total: float | None, message: str | None) -> None:
            timer.reset()
            if progress is not None and not task.done():
                await progress(done, total, message)

        task = asyncio.create_task(self._answer(make, on_progress))
        self._requests.add(task)
        task.add_done_callback(self._forget)
        self._calls.append(timer)
        try:
            if not await timer.wait_for(task):
                raise self._error_for(f"no response within {limit:g} s (deadline: {deadline})")
            if task.cancelled():
                raise self._error_for("the connection was closed", lost=True)
            return task.result()
        except self.sdk.MCPError as error:
            raise await self._request_error(error) from None
        except AccordError:
            raise
        except Exception as error:
            raise self._error_for(f"invalid response: {describe(error)}") from None
        finally:
            self._calls.remove(timer)
            timer.stop()
            task.cancel()

    async def _answer(self, make: Callable[..., Any], progress: Progress) -> dict[str, Any]:
        from mcp.client.session import ClientRequestContext

        types, client = self.sdk.types, self._client
        more: dict[str, Any] = {}
        for _ in range(MAX_ROUNDS):
            answer: dict[str, Any] = await client.send_request(
                make(**more), self.sdk.anything, progress_callback=progress
            )
            if answer.get("resultType") != "input_required":
                return answer
            wanted = types.InputRequiredResult.model_validate(answer)
            given = {}
            for key, question in (wanted.input_requests or {}).items():
                context = ClientRequestContext(session=client, request_id=key)
                given[key] = await client.dispatch_input_request(context, question)
                if isinstance(given[key], types.ErrorData):
                    raise self.sdk.MCPError.from_error_data(given[key])
            more = {"input_responses": given or None, "request_state": wanted.request_state}
        raise self._error_for(f"it asked for more input {MAX_ROUNDS} times without answering")

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._requests.discard(task)
        if not task.cancelled():
            task.exception()  # the caller gave up; mark the exception as retrieved

    async def _request_error(self, error: Any) -> McpServerError:
        """Distinguish an error response from a lost connection."""
        if self._response_status is not None and self._response_status.status is not None:
            return self._error_for(self._why(error.error.message), lost=self.is_expired)
        if error.code == self.sdk.types.CONNECTION_CLOSED:
            self._broken.set()
            await asyncio.wait({self._owner}, timeout=stdio.DIAGNOSIS_SECONDS)
            return self.error or self._error_for(self._why("the connection broke"), lost=True)
        return self._error_for(f"{error.error.message} (code {error.code})")

    def _why(self, error: str) -> str:
        if self._lines is not None:
            return self._lines.why()
        return self._response_status.why(error) if self._response_status is not None else error

    def _error_for(self, why: str, *, lost: bool = False) -> McpServerError:
        given = self._server
        secrets = {*secret_values(given.env), *given.headers.values()}
        return McpServerError(self.label, redact_values(why, secrets), lost=lost)
