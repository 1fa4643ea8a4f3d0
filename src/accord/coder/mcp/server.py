"""One MCP server of a session: its tools, its status, and restarts after a failure."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from accord.coder.mcp.connection import Connection, Progress
from accord.coder.mcp.deadlines import Deadlines
from accord.coder.mcp.errors import McpServerError, describe
from accord.coder.mcp.sdk import MissingSdk, load
from accord.model.mcp_status import McpServerStatus
from accord.model.record import Record

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.model.requests import McpServer

Status = Literal["starting", "connected", "failed", "lost", "closed"]
RESTART_SECONDS = (0.0, 1.0, 2.0, 4.0, 8.0)
"""How long to wait before restarting a server after its first failure in a row, its second, and so on. After the last,
it is not restarted."""
MAX_PAGES = 100
MAX_LISTED = 2_000
MIN_LIST_SECONDS = 0.2
"""The least time between two listings, however often the server reports changes."""


class ServerState(Record):
    """A server's status for display."""

    name: str
    """Its name in the client's configuration."""
    label: str
    """Its name in tools, commands and rules."""
    transport: str
    status: Status
    words: str
    """Details: "connected, 12 tools, 3 prompts", or the error and a remedy."""
    tools: int = 0
    prompts: int = 0
    resources: int = 0
    pid: int | None = None


class Server:
    """One server. Its tools stay known while it restarts."""

    def __init__(
        self,
        config: McpServer,
        label: str,
        session: Session,
        *,
        deadlines: Deadlines,
        pauses: tuple[float, ...] = RESTART_SECONDS,
        tell: Callable[[str, str, McpServerStatus], None],
        changed: Callable[[], None],
    ) -> None:
        self.config = config
        self.label = label
        self.deadlines = deadlines
        self.tools: list[dict[str, Any]] = []
        """Its tools as it listed them, unparsed."""
        self.prompts: list[dict[str, Any]] = []
        self.resources: list[dict[str, Any]] = []
        self.templates: list[dict[str, Any]] = []
        self.status: Status = "starting"
        self.words: str = "starting"
        self.settled: asyncio.Event = asyncio.Event()
        """Set when its first start has succeeded or failed."""
        self._session = session
        self._pauses = pauses
        self._tell = tell
        self._changed = changed
        self._connection: Connection | None = None
        self._starting = asyncio.Lock()
        self._failures = 0
        self._restart_at = 0.0
        self._last_error = ""
        self._listing: asyncio.Task[None] | None = None
        self._stale = False

    def state(self) -> ServerState:
        return ServerState(
            name=self.config.name,
            label=self.label,
            transport=self.config.transport,
            status=self.status,
            words=self.words,
            tools=len(self.tools),
            prompts=len(self.prompts),
            resources=len(self.resources) + len(self.templates),
            pid=self._connection.pid if self._connection is not None and self.status == "connected" else None,
        )

    # -- start and stop

    async def start(self) -> None:
        """Connect for the first time and report the result. Never raises."""
        try:
            await self._connect()
        except McpServerError:
            pass  # already reported
        except Exception as error:
            self._record_failure(McpServerError(self.label, describe(error)))
        finally:
            self.settled.set()

    async def restart(self) -> None:
        """Restart it, whatever its state. Raises `McpServerError`."""
        if self._connection is not None:
            await self._connection.close()
        self._failures, self._restart_at = 0, 0.0
        await self._connect()

    async def close(self) -> None:
        """Stop it. Can be called again."""
        self.status, self.words = "closed", "closed with the session"
        if self._listing is not None:
            self._listing.cancel()
        if self._connection is not None:
            await self._connection.close()
        self.settled.set()

    async def _connect(self) -> Connection:
        """Return the open connection; connect if there is none."""
        async with self._starting:
            if self._connection is not None and self._connection.is_open:
                return self._connection
            await self._pause()
            try:
                sdk = await load()
            except MissingSdk as error:
                raise self._record_failure(McpServerError(self.label, str(error))) from None
            if self.status == "closed":
                raise McpServerError(self.label, "the session is closed")
            self.status, self.words = "starting", "starting"
            self._connection = connection = Connection(
                sdk,
                self.config,
                self.label,
                self._session,
                on_notification=self._on_notification,
                on_end=self._on_end,
            )
            try:
                await connection.wait_open(self.deadlines.starting)
                await self._list(connection)
            except BaseException as error:
                self._connection = None
                await connection.close()
                if isinstance(error, McpServerError):
                    raise self._record_failure(error) from None
                raise
            self.status, self.words = "connected", self._inventory()
            self._report("info")
            self._changed()
            return connection

    def _report(self, severity: str) -> None:
        """Tell the user the current status."""
        self._tell(f"MCP server {self.label}: {self.words}", severity, self._status())

    def _status(self) -> McpServerStatus:
        return McpServerStatus(name=self.config.name, state=self.status, detail=self.words)

    async def _pause(self) -> None:
        if self._failures > len(self._pauses):
            raise McpServerError(
                self.label,
                f"failed {self._failures} times in a row and won't be restarted ({self._last_error}); "
                f"fix it, then reopen the session",
            )
        left = self._restart_at - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.sleep(left)

    def _record_failure(self, error: McpServerError) -> McpServerError:
        if self.status != "closed":
            self.status, self.words = "failed", f"failed: {error.why}"
            self._count(error)
            self._report("error")
        return error

    def _count(self, error: McpServerError) -> None:
        self._last_error = error.why
        self._failures += 1
        pause = self._pauses[min(self._failures, len(self._pauses)) - 1] if self._pauses else 0.0
        self._restart_at = asyncio.get_running_loop().time() + pause

    def _on_end(self, connection: Connection) -> None:
        """Handle the end of a connection; it has an error if we didn't close it."""
        if connection is not self._connection or connection.error is None or self.status != "connected":
            return
        self.status, self.words = "lost", f"{connection.error.why}; restarts when it is next used"
        self._count(connection.error)
        self._report("warning")

    # -- tools, prompts and resources

    async def _list(self, connection: Connection) -> None:
        try:
            async with asyncio.timeout(2 * self.deadlines.listing):
                await self._list_all(connection)
        except TimeoutError:
            why = f"listing did not finish within {2 * self.deadlines.listing:g} s (deadline: listing)"
            raise McpServerError(self.label, why) from None

    async def _list_all(self, connection: Connection) -> None:
        types, can = connection.sdk.types, connection.capabilities
        found: dict[str, list[dict[str, Any]]] = {"tools": [], "prompts": [], "resources": [], "resourceTemplates": []}
        if can.tools is not None:
            found["tools"] = await self._pages(connection, types.ListToolsRequest, "tools")
        if can.prompts is not None:
            found["prompts"] = await self._pages(connection, types.ListPromptsRequest, "prompts")
        if can.resources is not None:
            found["resources"] = await self._pages(connection, types.ListResourcesRequest, "resources")
            key = "resourceTemplates"
            found[key] = await self._pages(connection, types.ListResourceTemplatesRequest, key)
        self.tools, self.prompts, self.resources, self.templates = found.values()

    async def _pages(self, connection: Connection, request: Any, key: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            params = connection.sdk.types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None

            def make(params: Any = params, **_: Any) -> Any:
                return request(params=params)

            try:
                answer = await connection.request(make, self.deadlines.listing, deadline="listing")
            except McpServerError as error:
                if key == "resourceTemplates" and not error.lost:
                    return []  # many servers with resources don't support templates
                raise
            found += [each for each in answer.get(key) or () if isinstance(each, dict)]
            cursor = answer.get("nextCursor")
            if not cursor or len(found) > MAX_LISTED:
                break
        return found[:MAX_LISTED]

    def _inventory(self) -> str:
        resources = len(self.resources) + len(self.templates)
        counts = ((self.tools, "tool"), (self.prompts, "prompt"))
        said = [f"{len(what)} {name}{'' if len(what) == 1 else 's'}" for what, name in counts if what]
        if resources:
            said.append(f"{resources} resource{'' if resources == 1 else 's'}")
        return ", ".join(["connected", *(said or ["no tools"])])

    def _on_notification(self, notification: Any) -> None:
        if notification.method.endswith("/list_changed"):
            self._stale = True
            if self._listing is None or self._listing.done():
                self._listing = asyncio.create_task(self._refresh())

    async def _refresh(self) -> None:
        while self._stale and self._connection is not None and self._connection.is_open:
            self._stale = False
            try:
                await self._list(self._connection)
            except McpServerError as error:
                self._tell(f"{error}; keeping its previous tools", "warning", self._status())
                return
            if self.status == "connected":
                self.words = self._inventory()
            self._changed()
            await asyncio.sleep(MIN_LIST_SECONDS)

    # -- requests

    async def request(
        self, method: str, *, turn: Turn | None = None, progress: Progress | None = None, **params: Any
    ) -> dict[str, Any]:
        """Call a tool ("call"), read a resource ("read") or get a prompt ("prompt"). Raises `McpServerError`."""
        for attempt in (1, 2):
            connection = await self._connect()
            types = connection.sdk.types
            request, of = {
                "call": (types.CallToolRequest, types.CallToolRequestParams),
                "read": (types.ReadResourceRequest, types.ReadResourceRequestParams),
                "prompt": (types.GetPromptRequest, types.GetPromptRequestParams),
            }[method]

            def make(request: Any = request, of: Any = of, **more: Any) -> Any:
                return request(params=of(**params, **more))

            try:
                answer = await connection.request(
                    make, self.deadlines.silence, deadline="silence", turn=turn, progress=progress
                )
            except McpServerError as error:
                if error.lost and connection.is_expired and attempt == 1:
                    await connection.close()  # the server dropped our MCP session and ran nothing: connect again
                    continue
                raise
            self._failures = 0
            return answer
        raise AssertionError("unreachable")
