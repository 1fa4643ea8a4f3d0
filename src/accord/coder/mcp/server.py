"""One server of a session: what it has, how it is doing, and how it comes back when it has gone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from accord.coder.mcp.connection import Connection, Progress
from accord.coder.mcp.faults import ServerFault, plain
from accord.coder.mcp.sdk import MissingSdk, load
from accord.coder.mcp.silence import Deadlines
from accord.model.noun import Noun

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.model.requests import McpServer

Status = Literal["starting", "connected", "failed", "lost", "closed"]
PAUSES = (0.0, 1.0, 2.0, 4.0, 8.0)
"""How long to wait, in seconds, before a server is started again: after its first failure in a row, its second, …
After as many failures as there are pauses it is left alone."""
MOST_PAGES = 100
MOST_LISTED = 2_000
BETWEEN_LISTS = 0.2
"""How many seconds lie at least between two looks at what a server has, however often it says that it has changed."""


class ServerState(Noun):
    """How a server is doing, for a person."""

    name: str
    """As the client calls it."""
    label: str
    """As it is called in tools, commands and rules."""
    transport: str
    status: Status
    words: str
    """The status in words: "connected, 12 tools, 3 prompts", or what went wrong and what to do."""
    tools: int = 0
    prompts: int = 0
    resources: int = 0
    pid: int | None = None


class Server:
    """One server. Its tools are known from its first hello on, and stay known while it is being started again."""

    def __init__(
        self,
        config: McpServer,
        label: str,
        session: Session,
        *,
        deadlines: Deadlines,
        pauses: tuple[float, ...] = PAUSES,
        tell: Callable[[str, str], None],
        changed: Callable[[], None],
    ) -> None:
        self.config = config
        self.label = label
        self.deadlines = deadlines
        self.tools: list[dict[str, Any]] = []
        """What it listed, as it came."""
        self.prompts: list[dict[str, Any]] = []
        self.resources: list[dict[str, Any]] = []
        self.templates: list[dict[str, Any]] = []
        self.status: Status = "starting"
        self.words = "starting"
        self.settled = asyncio.Event()
        """Whether its first start is over, well or not."""
        self._session = session
        self._pauses = pauses
        self._tell = tell
        self._changed = changed
        self._connection: Connection | None = None
        self._starting = asyncio.Lock()
        self._failures = 0
        self._again = 0.0
        self._last_fault = ""
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

    # -- starting and ending

    async def start(self) -> None:
        """Connects for the first time, and tells the user what came of it. Never raises."""
        try:
            await self._live()
        except ServerFault:
            pass  # told where it happened
        except Exception as error:
            self._failed(ServerFault(self.label, plain(error)))
        finally:
            self.settled.set()

    async def restart(self) -> None:
        """Starts it again, whatever became of it. Raises `ServerFault`."""
        if self._connection is not None:
            await self._connection.close()
        self._failures, self._again = 0, 0.0
        await self._live()

    async def close(self) -> None:
        """Ends it. Repeating changes nothing."""
        self.status, self.words = "closed", "closed with the session"
        if self._listing is not None:
            self._listing.cancel()
        if self._connection is not None:
            await self._connection.close()
        self.settled.set()

    async def _live(self) -> Connection:
        """The running server; started first when it does not run."""
        async with self._starting:
            if self._connection is not None and self._connection.is_open:
                return self._connection
            await self._pause()
            try:
                sdk = await load()
            except MissingSdk as error:
                raise self._failed(ServerFault(self.label, str(error))) from None
            if self.status == "closed":
                raise ServerFault(self.label, "the session is closed")
            self.status, self.words = "starting", "starting"
            self._connection = connection = Connection(
                sdk,
                self.config,
                self.label,
                self._session,
                on_notification=self._heard,
                on_end=self._ended,
            )
            try:
                await connection.opened(self.deadlines.starting)
                await self._list(connection)
            except BaseException as error:
                self._connection = None
                await connection.close()
                if isinstance(error, ServerFault):
                    raise self._failed(error) from None
                raise
            self.status, self.words = "connected", self._inventory()
            self._tell(f"MCP server {self.label}: {self.words}", "info")
            self._changed()
            return connection

    async def _pause(self) -> None:
        if self._failures > len(self._pauses):
            raise ServerFault(
                self.label,
                f"it failed {self._failures} times in a row and is not started again ({self._last_fault}); "
                f"mend it, and open the session again",
            )
        left = self._again - asyncio.get_running_loop().time()
        if left > 0:
            await asyncio.sleep(left)

    def _failed(self, fault: ServerFault) -> ServerFault:
        if self.status != "closed":
            self.status, self.words = "failed", f"failed because {fault.why}"
            self._count(fault)
            self._tell(f"MCP server {self.label}: failed because {fault.why}", "error")
        return fault

    def _count(self, fault: ServerFault) -> None:
        self._last_fault = fault.why
        self._failures += 1
        pause = self._pauses[min(self._failures, len(self._pauses)) - 1] if self._pauses else 0.0
        self._again = asyncio.get_running_loop().time() + pause

    def _ended(self, connection: Connection) -> None:
        """A connection is over: by itself, if it says why."""
        if connection is not self._connection or connection.fault is None or self.status != "connected":
            return
        self.status, self.words = "lost", f"{connection.fault.why}; it is started again when it is next used"
        self._count(connection.fault)
        self._tell(f"MCP server {self.label}: {self.words}", "warning")

    # -- what it has

    async def _list(self, connection: Connection) -> None:
        try:
            async with asyncio.timeout(2 * self.deadlines.listing):
                await self._list_all(connection)
        except TimeoutError:
            why = f"its lists have no end within {2 * self.deadlines.listing:g} s (deadline: listing)"
            raise ServerFault(self.label, why) from None

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
        for _ in range(MOST_PAGES):
            params = connection.sdk.types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None

            def make(params: Any = params, **_: Any) -> Any:
                return request(params=params)

            try:
                answer = await connection.request(make, self.deadlines.listing, deadline="listing")
            except ServerFault as fault:
                if key == "resourceTemplates" and not fault.lost:
                    return []  # servers that have resources and no word for templates are common
                raise
            found += [each for each in answer.get(key) or () if isinstance(each, dict)]
            cursor = answer.get("nextCursor")
            if not cursor or len(found) > MOST_LISTED:
                break
        return found[:MOST_LISTED]

    def _inventory(self) -> str:
        resources = len(self.resources) + len(self.templates)
        counts = ((self.tools, "tool"), (self.prompts, "prompt"))
        said = [f"{len(what)} {name}{'' if len(what) == 1 else 's'}" for what, name in counts if what]
        if resources:
            said.append(f"{resources} resource{'' if resources == 1 else 's'}")
        return ", ".join(["connected", *(said or ["nothing to use"])])

    def _heard(self, notification: Any) -> None:
        if notification.method.endswith("/list_changed"):
            self._stale = True
            if self._listing is None or self._listing.done():
                self._listing = asyncio.create_task(self._list_again())

    async def _list_again(self) -> None:
        while self._stale and self._connection is not None and self._connection.is_open:
            self._stale = False
            try:
                await self._list(self._connection)
            except ServerFault as fault:
                self._tell(f"{fault}; its tools are those it had before", "warning")
                return
            if self.status == "connected":
                self.words = self._inventory()
            self._changed()
            await asyncio.sleep(BETWEEN_LISTS)

    # -- using it

    async def request(
        self, method: str, *, turn: Turn | None = None, progress: Progress | None = None, **params: Any
    ) -> dict[str, Any]:
        """Calls a tool ("call"), reads a resource ("read") or gets a prompt ("prompt"). Raises `ServerFault`."""
        for attempt in (1, 2):
            connection = await self._live()
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
            except ServerFault as fault:
                if fault.lost and connection.forgotten and attempt == 1:
                    await connection.close()  # it knows us no longer, and did nothing: we say hello again
                    continue
                raise
            self._failures = 0
            return answer
        raise AssertionError("unreachable")
