"""The agent processes of a hub: one per session, one per principal, or one for all."""

from __future__ import annotations

import asyncio
from typing import Literal, NamedTuple

from msgspec import Raw

from accord.connection.handshake import requested_version
from accord.connection.relay_connection import RelayConnection
from accord.hub.agent_process import AgentProcess
from accord.hub.dialect import Dialect
from accord.hub.principal import Principal
from accord.hub.raw_params import decode, remove_meta, write_object
from accord.hub.spawner import Spawner
from accord.hub.v1 import DialectV1
from accord.hub.v2 import DialectV2

Isolation = Literal["session", "principal", "shared"]
DIALECTS: dict[int, Dialect] = {1: DialectV1(), 2: DialectV2()}


class Offer(NamedTuple):
    """A client's `initialize` params."""

    version: int
    """The requested protocol version, or the highest that the hub knows."""
    params: dict[str, Raw]


def read_offer(params: bytes) -> Offer:
    """Read a client's `initialize` params. Raises `Unreadable`."""
    from accord.hub.raw_params import read_object

    requested = requested_version(decode(params))
    # Each version has its own agent process: a client that requests 65 535 versions must not start that many.
    version = min(requested, max(DIALECTS))
    fields = read_object(remove_meta(params, "accord/resume"))
    return Offer(version, fields if version == requested else {**fields, "protocolVersion": Raw(b"%d" % version)})


class Introduction(NamedTuple):
    """An agent's response to `initialize`: the negotiated version, and the raw result."""

    version: int
    result: dict[str, Raw]


class AgentHost:
    """Starts, finds and ends agent processes."""

    def __init__(self, spawner: Spawner, isolation: Isolation, root: str, *, has_workspace: bool) -> None:
        self._spawner = spawner
        self._isolation = isolation
        self._root = root
        self._has_workspace = has_workspace
        self._introductions: dict[int, Introduction] = {}
        self._shared: dict[tuple[str, int], AgentProcess] = {}
        self._locks: dict[tuple[str, int], asyncio.Lock] = {}
        self.processes: set[AgentProcess] = set()
        self._offers: dict[AgentProcess, bytes] = {}  # the client that each process was initialized for
        self.spawned: int = 0
        """The number of processes started so far."""
        self._is_held = False

    async def introduce(self, principal: Principal, offer: Offer) -> Introduction:
        """Return the agent's response to `initialize`. The agent is started for the first client of each version."""
        known = self._introductions.get(offer.version)
        if known is None:
            await self.lobby(principal, offer)
            known = self._introductions[offer.version]
        return known

    async def lobby(self, principal: Principal, offer: Offer) -> AgentProcess:
        """Return the process that serves a principal's requests outside sessions, and start it if necessary."""
        key = ("" if self._isolation == "shared" else principal.name, offer.version)
        async with self._locks.setdefault(key, asyncio.Lock()):
            process = self._shared.get(key)
            if process is None or not process.is_open:
                process = self._shared[key] = await self._spawn(self._root, principal, offer)
        return process

    async def start_session(self, cwd: str, principal: Principal, offer: Offer) -> AgentProcess:
        """Return the process for a session, and start it if necessary."""
        if self._isolation != "session":
            return await self.lobby(principal, offer)
        key = (principal.name, offer.version)
        lobby = self._shared.get(key)
        if (
            lobby is not None
            and lobby.is_open
            and lobby.cwd == cwd
            and self._offers[lobby] == write_object(offer.params)
        ):
            del self._shared[key]  # it was started for `initialize`, and no session uses it yet
            return lobby
        return await self._spawn(cwd, principal, offer)

    async def end_session(self, process: AgentProcess) -> None:
        """End the process of a session that was closed, unless others share it."""
        if self._isolation == "session" and not process.sessions:  # a fork runs in the process of its source
            await process.close()

    async def _spawn(self, cwd: str, principal: Principal, offer: Offer) -> AgentProcess:
        process = AgentProcess(await self._spawner.spawn(cwd, principal), principal, cwd)
        process.on_ended = self._forget
        self.processes.add(process)
        self._offers[process] = write_object(offer.params)
        self.spawned += 1
        try:
            await process.initialize(self._params(offer), DIALECTS)
        except BaseException:
            await process.close()
            raise
        process.hold(self._is_held)
        self._introductions[offer.version] = Introduction(process.version, process.result)
        return process

    def _params(self, offer: Offer) -> bytes:
        params = offer.params
        for dialect in DIALECTS.values():  # a client of version 2 may send the fields of both
            if dialect.version <= offer.version:
                params = dialect.offer_capabilities(params, has_workspace=self._has_workspace)
        return write_object(params)

    def hold(self, is_held: bool) -> None:
        """Stop reading from the agents, which then have to wait, or continue."""
        self._is_held = is_held
        for process in self.processes:
            process.hold(is_held)

    def client_left(self, connection: RelayConnection) -> None:
        """Inform the agents about a client that has disconnected: they may wait for its responses."""
        for process in list(self.processes):
            process.client_left(connection)

    def _forget(self, process: AgentProcess) -> None:
        self.processes.discard(process)
        self._offers.pop(process, None)
        self._shared = {key: each for key, each in self._shared.items() if each is not process}

    async def close(self) -> None:
        """End all processes."""
        await asyncio.gather(*(process.close() for process in list(self.processes)))
