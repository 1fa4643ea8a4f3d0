"""One connection to a server, from its start to its end. A server that is started again has another one.

A task of its own holds it, because what the SDK opens has to be closed by the task that opened it. Requests come from
other tasks; each is a task itself, so that whoever gives up a request is free at once, while the server is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from accord.coder.mcp import hosting, remote, stdio
from accord.coder.mcp.faults import ServerFault, plain
from accord.coder.mcp.silence import Silence
from accord.config.mask import secret_values, without
from accord.errors import AccordError, LaunchError
from accord.version import __version__

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.coder.mcp.sdk import Sdk
    from accord.model.requests import McpServer

CLOSING_SECONDS = 5.0
"""How long a server may take to be told that it is over."""
INQUEST_SECONDS = 4.0
"""How long to wait for the reason when a connection has broken."""
MOST_ROUNDS = 10
"""How many times a server may ask for more before it answers."""

Progress = Callable[[float, "float | None", "str | None"], Awaitable[None]]


class Connection:
    """A running server that has said hello."""

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
        self.fault: ServerFault | None = None
        """Why it is over, when it ended by itself."""
        self._server = server
        self._session = session
        self._on_notification = on_notification
        self._on_end = on_end
        self._client: Any = None
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._closing = asyncio.Event()
        self._broken = asyncio.Event()
        self._lines: stdio.Lines | None = None
        self._answers: remote.Answers | None = None
        self._calls: list[Silence] = []
        self._requests: set[asyncio.Task[Any]] = set()
        self._owner = asyncio.create_task(self._live(), name=f"mcp {label}")

    @property
    def is_open(self) -> bool:
        return self._client is not None and not self._broken.is_set() and not self._closing.is_set()

    @property
    def pid(self) -> int | None:
        """The process of a server that runs here."""
        return self._lines.transport.child.pid if self._lines is not None else None

    @property
    def forgotten(self) -> bool:
        """Whether the server does not know this connection any more: it was restarted, or has tidied up."""
        return self._answers is not None and self._answers.status == 404

    @property
    def capabilities(self) -> Any:
        return self._client.server_capabilities

    async def opened(self, limit: float) -> None:
        """Waits until the server has said hello. Raises `ServerFault`."""
        try:
            async with asyncio.timeout(limit):
                await asyncio.shield(self._opened)
        except TimeoutError:
            said = f"; {self._lines.why()}" if self._lines is not None else ""
            raise self._said(f"no hello within {limit:g} s (deadline: starting){said}", lost=True) from None

    async def close(self) -> None:
        """Ends the connection, and the server if it runs here. Repeating changes nothing."""
        self._closing.set()
        for task in self._requests:
            task.cancel()
        if self._owner is asyncio.current_task():
            return
        if self._client is None:
            self._owner.cancel()  # there is nothing to be said to somebody who has not said hello
        await asyncio.wait({self._owner}, timeout=CLOSING_SECONDS)
        self._owner.cancel()
        await asyncio.wait({self._owner})

    # -- its life

    async def _live(self) -> None:
        fault: ServerFault | None = None
        try:
            async with self._streams() as (reader, writer), self._speaking(reader, writer) as client:
                await self._unless_broken(self._hello(client))
                self._client = client
                self._opened.set_result(None)
                await self._until_over(client)
            if not self._closing.is_set():
                fault = self._said(self._why("the connection broke"), lost=True)
        except LaunchError as error:
            fault = self._said(str(error), lost=True)
        except asyncio.CancelledError:
            fault = self._said("it was ended", lost=True)
            if not self._closing.is_set():
                raise
        except Exception as error:
            fault = self._said(self._why(plain(error)), lost=True)
        finally:
            self._broken.set()
            if not self._closing.is_set():
                self.fault = fault
            if not self._opened.done():
                self._opened.set_exception(fault or self._said("it was ended", lost=True))
                self._opened.exception()  # told to whoever waits, if anybody does
            self._on_end(self)

    async def _unless_broken(self, work: Coroutine[Any, Any, None]) -> None:
        tasks: list[asyncio.Task[Any]] = [asyncio.create_task(work), asyncio.create_task(self._broken.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not tasks[0].done():
                raise ConnectionError("the connection broke")
            tasks[0].result()
        finally:
            for task in tasks:
                task.cancel()

    async def _until_over(self, client: Any) -> None:
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
                async with stdio.running(self.sdk, server, self._session.cwd, self._broken.set) as self._lines:
                    yield self._lines, self._lines
            case "http" | "sse":
                # Over SSE the SDK tells nobody of a message that was refused: its answer would be waited for in vain.
                is_http = server.transport == "http"
                self._answers = remote.Answers(server.url, None if is_http else self._broken.set)
                how = remote.streamable if is_http else remote.events
                async with how(server, self._answers) as (reader, writer):
                    yield remote.Watched(reader, self._broken.set), writer
            case other:
                raise self._said(f"servers cannot be reached over {other!r} here; use stdio, http or sse")

    def _speaking(self, reader: Any, writer: Any) -> Any:
        return self.sdk.ClientSession(
            reader,
            writer,
            elicitation_callback=self._elicit,
            list_roots_callback=self._roots,
            message_handler=self._heard,
            client_info=self.sdk.types.Implementation(name="accord", version=__version__),
        )

    async def _hello(self, client: Any) -> None:
        """The handshake that nearly all servers know; the newer one with those that insist on it."""
        types = self.sdk.types
        try:
            await client.initialize()
        except self.sdk.MCPError as error:
            if error.code not in (types.UNSUPPORTED_PROTOCOL_VERSION, types.METHOD_NOT_FOUND):
                raise
            if self._answers is not None and self._answers.status in (401, 403, 404):
                raise
            await client.discover()

    async def _listen(self, client: Any) -> None:
        """With the newer handshake, a server tells of changes only when asked to."""
        from mcp.client.subscriptions import listen

        with suppress(self.sdk.MCPError, RuntimeError):
            async with listen(
                client, tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
            ) as changes:
                async for _ in changes:
                    pass  # each arrives as a notification too

    # -- what it tells and asks us

    async def _heard(self, message: Any) -> None:
        if isinstance(message, self.sdk.types.ElicitCompleteNotification):
            id = hosting.page_id(self.label, message.params.elicitation_id)
            if id is not None and not self._session.closed:
                await self._session.page_done(id)
        elif not isinstance(message, Exception):
            self._on_notification(message)

    async def _roots(self, context: Any) -> Any:
        return hosting.roots(self.sdk, self._session)

    async def _elicit(self, context: Any, params: Any) -> Any:
        call = next((call for call in reversed(self._calls) if call.turn is not None), None)
        if call is None or call.turn is None:
            return hosting.nobody(self.sdk)
        asking = hosting.elicit(self.sdk, call.turn, self.label, params)
        return await call.while_asking(asking, hosting.nobody(self.sdk))

    # -- what we ask it

    async def request(
        self,
        make: Callable[..., Any],
        limit: float,
        *,
        deadline: str,
        turn: Turn | None = None,
        progress: Progress | None = None,
    ) -> dict[str, Any]:
        """Asks something, and gives the answer as it came. `make` makes the request, with the answers to what the
        server asked back. Raises `ServerFault`; giving it up tells the server so and returns at once."""
        if not self.is_open:
            raise self.fault or self._said("the connection is over", lost=True)
        silence = Silence(limit, turn)

        async def on_progress(done: float, total: float | None, message: str | None) -> None:
            silence.broken()
            if progress is not None and not task.done():
                await progress(done, total, message)

        task = asyncio.create_task(self._answer(make, on_progress))
        self._requests.add(task)
        task.add_done_callback(self._forget)
        self._calls.append(silence)
        try:
            if not await silence.waits_for(task):
                raise self._said(f"no answer within {limit:g} s (deadline: {deadline})")
            if task.cancelled():
                raise self._said("the connection was closed", lost=True)
            return task.result()
        except self.sdk.MCPError as error:
            raise await self._failed(error) from None
        except AccordError:
            raise
        except Exception as error:
            raise self._said(f"what it answered is not understood: {plain(error)}") from None
        finally:
            self._calls.remove(silence)
            silence.over()
            task.cancel()

    async def _answer(self, make: Callable[..., Any], progress: Progress) -> dict[str, Any]:
        from mcp.client.session import ClientRequestContext

        types, client = self.sdk.types, self._client
        more: dict[str, Any] = {}
        for _ in range(MOST_ROUNDS):
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
        raise self._said(f"it asked {MOST_ROUNDS} times for more, and never answered")

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._requests.discard(task)
        if not task.cancelled():
            task.exception()  # whoever gave it up does not want to know

    async def _failed(self, error: Any) -> ServerFault:
        """What an error means: the server's own no, or the end of the connection."""
        if self._answers is not None and self._answers.status is not None:
            return self._said(self._why(error.error.message), lost=self.forgotten)
        if error.code == self.sdk.types.CONNECTION_CLOSED:
            self._broken.set()
            await asyncio.wait({self._owner}, timeout=INQUEST_SECONDS)
            return self.fault or self._said(self._why("the connection broke"), lost=True)
        return self._said(f"{error.error.message} (code {error.code})")

    def _why(self, error: str) -> str:
        if self._lines is not None:
            return self._lines.why()
        return self._answers.why(error) if self._answers is not None else error

    def _said(self, why: str, *, lost: bool = False) -> ServerFault:
        given = self._server
        secrets = {*secret_values(given.env), *given.headers.values()}
        return ServerFault(self.label, without(why, secrets), lost=lost)
