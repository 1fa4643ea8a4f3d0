"""The server: it listens, authenticates clients, and passes each connection to the hub, until it is stopped.

Stopping is graceful: the server refuses new clients, lets turns finish while their clients still receive them, ends the
streams, and then closes the sockets. A second signal skips the wait."""

from __future__ import annotations

import asyncio
import functools
import signal
import time
from collections.abc import Awaitable, Callable, Container
from contextlib import ExitStack, suppress
from typing import NamedTuple, Protocol

import msgspec

from accord.config.served_agents import ServedAgents, serve_directory
from accord.hub.hub import Hub
from accord.hub.principal import Principal
from accord.server.application import Application, Gatekeepers, Routes
from accord.server.authentication import Authenticator
from accord.server.connections import Connections, Ending
from accord.server.identity import Identity
from accord.server.limits import ServerLimits
from accord.server.listener import Address, Listener
from accord.server.logs import ServerLog, open_sink
from accord.server.metered_transport import MeteredTransport
from accord.server.metrics import Metrics
from accord.server.request import Refusal
from accord.server.tickets import Tickets
from accord.server.tokens import TokenFile, Tokens, generate_token
from accord.server.web import HostCheck, OriginCheck
from accord.transports.base import Transport
from accord.transports.http.asgi import Endpoint, Peer
from accord.transports.http.limits import HttpLimits
from accord.version import __version__

END_SECONDS = 3.0
"""How long streams may take to send their last messages."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


_HUB_METRICS = {
    "sessions": "Open sessions.",
    "agent_processes": "Running agent processes.",
    "running_turns": "Turns that are running.",
    "queued_bytes": "Bytes that slow clients have not received yet.",
    "turns_total": "Turns since the start.",
    "events_total": "Session events since the start.",
    "agent_processes_total": "Agent processes since the start.",
    "slow_clients_total": "Clients that were disconnected because they fell behind.",
}


class Backend(Protocol):
    """Serves the connections: a hub."""

    async def accept(self, transport: Transport, principal: Principal) -> None:
        """Serve one client connection until it ends."""

    async def close(self, *, drain_seconds: float = 0) -> None:
        """Wait for running turns, for at most this long, and end everything."""


class ServerOptions(NamedTuple):
    """Options of a server: how clients reach it, and its protection."""

    address: Address = Address()
    path: str = "/acp"
    aliases: tuple[str, ...] = ()
    prefix: str = ""
    behind_proxy: bool = False
    allow_hosts: tuple[str, ...] = ()
    allow_origins: tuple[str, ...] = ()
    trust_origins: tuple[str, ...] = ()
    limits: ServerLimits = ServerLimits()
    drain_seconds: float = 30.0
    access_log: str = ""
    """A file, `-` for standard output, or `none`; empty for the default file."""
    audit_log: str = ""


class Server:
    """The HTTP server around a backend."""

    def __init__(
        self,
        backend: Backend,
        options: ServerOptions,
        *,
        token_file: TokenFile | None = None,
        served: ServedAgents | None = None,
        on_problem: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.metrics: Metrics = Metrics()
        self.listener: Listener = Listener(options.address, options.limits)
        self.url: str = ""
        """The URL of the agent, once the server listens."""
        self._backend = backend
        self._options = options
        self._served = served or ServedAgents()
        self.local_token: str = generate_token()
        """The token of clients of the same user."""
        self._stops = 0
        self._is_stopping = asyncio.Event()
        self._is_stopped_at_once = asyncio.Event()
        logs = serve_directory()
        self._access = ServerLog(open_sink(options.access_log, logs / "access.jsonl"), on_problem=on_problem)
        self._audit = ServerLog(open_sink(options.audit_log, logs / "audit.jsonl"), on_problem=on_problem)
        self._tokens = Tokens(token_file or TokenFile(), local=self.local_token)
        self.connections: Connections = Connections(options.limits, self._tokens, self.metrics, self._audit)
        self._routes = Routes(options.path, options.aliases, options.prefix)
        self._endpoint = Endpoint(self._accept, path=options.path, limits=_http_limits(options.limits), origins={"*"})
        self.application: Application = self._build_application()
        self._add_gauges()

    def _build_application(self) -> Application:
        options = self._options
        origins = OriginCheck(options.allow_origins, options.trust_origins)
        authenticator = Authenticator(self._tokens, Tickets(), origins, options.limits)
        hosts = HostCheck(options.address.host, options.allow_hosts)
        return Application(
            self._endpoint,
            self._routes,
            Gatekeepers(hosts, origins, authenticator, self.connections),
            options.limits,
            self.metrics,
            self._access,
            self._audit,
            trust_proxy=options.behind_proxy,
            is_ready=lambda: not self._is_stopping.is_set(),
        )

    def _add_gauges(self) -> None:
        self.metrics.gauge("accord_sockets", "Open TCP connections.", lambda: self.listener.gate.count)
        self.metrics.gauge(
            "accord_sockets_refused_total", "Refused TCP connections.", lambda: self.listener.gate.refused
        )
        self.metrics.gauge("accord_draining", "1 while the server shuts down.", lambda: int(self._is_stopping.is_set()))
        self.metrics.gauge("accord_build_info", "The version of Accord.", lambda: {__version__: 1.0}, "version")

    def add_hub_metrics(self, hub: Hub) -> None:
        """Add the numbers of a hub to the metrics."""
        for name, help in _HUB_METRICS.items():
            self.metrics.gauge(f"accord_{name}", help, functools.partial(_read_stat, hub, name))

    def stop(self) -> None:
        """Shut down gracefully; called a second time, at once."""
        self._stops += 1
        self._is_stopping.set()
        if self._stops > 1:
            self._is_stopped_at_once.set()

    async def run(self, on_listening: Callable[[], None] = lambda: None, *, signals: bool = True) -> None:
        """Serve until `stop`, or a signal. `on_listening` is called once clients can connect."""
        self.listener.check_certificate()
        port = self.listener.bind()
        address = self._options.address
        host = f"[{address.host}]" if ":" in address.host else address.host
        self.url = f"{address.scheme}://{host}:{port}{self._routes.path}"
        with ExitStack() as stack:
            if signals:
                stack.callback(_handle_signals(self.stop))
            stack.enter_context(self._served.publish(self._local_url(), self.local_token))
            self._audit.record("started", url=self.url, version=__version__)
            try:
                await self._serve(on_listening)
            finally:
                self._audit.record("stopped", url=self.url)

    def _local_url(self) -> str:
        """Return the URL for clients on this machine: without TLS, and with the address, because a name may be
        ambiguous."""
        if self._options.address.scheme == "https":
            return self.url
        host, port = self.listener.address
        return f"http://{f'[{host}]' if ':' in host else host}:{port}{self._routes.path}"

    async def _serve(self, on_listening: Callable[[], None]) -> None:
        closed = asyncio.Event()
        serving = asyncio.create_task(self.listener.serve(self.application, _waiter(closed)))
        watching = asyncio.create_task(self.connections.watch(self._close_connections))
        stopping = asyncio.create_task(self._is_stopping.wait())
        try:
            on_listening()
            await asyncio.wait({serving, watching, stopping}, return_when=asyncio.FIRST_COMPLETED)
            await self._drain()
        finally:
            watching.cancel()
            stopping.cancel()
            closed.set()
            await asyncio.gather(serving, watching, stopping, return_exceptions=True)
        for task in (serving, watching):
            if not task.cancelled() and (error := task.exception()) is not None:
                raise error

    async def _drain(self) -> None:
        """Finish running turns, then end the streams; a second `stop` skips both."""
        self._audit.record("draining", connections=len(self.connections))
        at_once = asyncio.create_task(self._is_stopped_at_once.wait())
        started = time.monotonic()
        closing = asyncio.create_task(self._backend.close(drain_seconds=self._options.drain_seconds))
        await asyncio.wait({closing, at_once}, return_when=asyncio.FIRST_COMPLETED)
        at_once.cancel()
        if not closing.done():
            closing.cancel()
            await asyncio.gather(closing, return_exceptions=True)
            await self._backend.close()
        self._audit.record("drained", seconds=round(time.monotonic() - started, 3))
        await self._endpoint.close(END_SECONDS)

    async def _accept(self, transport: Transport, peer: Peer) -> None:
        identity: Identity = peer.principal
        address = peer.address.rpartition(":")[0]
        try:
            with self.connections.open(peer.connection_id, peer.kind, address, identity) as connection:
                metered = MeteredTransport(transport, connection, self.metrics, time.monotonic)
                await self._backend.accept(metered, identity.principal)
        except Refusal:
            await transport.close()  # the limit was reached in the meantime

    def _close_connections(self, ended: dict[str, Ending]) -> None:
        for ending in set(ended.values()):
            ids = {id for id, why in ended.items() if why == ending}
            self._endpoint.close_connections(functools.partial(_is_one_of, ids), reason=ending.message)


def _read_stat(hub: Hub, name: str) -> float:
    return float(msgspec.structs.asdict(hub.stats)[name])


def _is_one_of(ids: Container[str], peer: Peer) -> bool:
    return peer.connection_id in ids


def _http_limits(limits: ServerLimits) -> HttpLimits:
    return HttpLimits(
        body_bytes=limits.max_body_bytes, body_seconds=limits.body_seconds, connections=limits.max_connections
    )


def _waiter(event: asyncio.Event) -> Callable[[], Awaitable[None]]:
    async def wait() -> None:
        await event.wait()

    return wait


def _handle_signals(stop: Callable[[], None]) -> Callable[[], None]:
    """Call `stop` for SIGINT and SIGTERM. Returns a function that restores the previous handlers."""
    loop = asyncio.get_running_loop()
    previous = {number: signal.getsignal(number) for number in _SIGNALS}
    for number in _SIGNALS:
        try:
            loop.add_signal_handler(number, stop)
        except NotImplementedError:  # Windows
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(stop))

    def restore() -> None:
        for number, handler in previous.items():
            with suppress(NotImplementedError):
                loop.remove_signal_handler(number)
            signal.signal(number, handler)

    return restore
