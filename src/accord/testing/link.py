"""Connect an agent and a client in memory, with real protocol messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Unpack

from accord.agent.agent import Agent
from accord.agent.side import AgentSide
from accord.client.connect import Connecting, ConnectOptions, connect
from accord.client.launch import Launched
from accord.errors import InvalidValue
from accord.model.values import short
from accord.testing.machine import ScriptedMachine
from accord.transports.memory import pair

if TYPE_CHECKING:
    from accord.testing.script import ScriptedClient


class AgentLink(Protocol):
    """The type of the `acp_agent` fixture: connects to an agent in this process, with the options of `connect`."""

    def __call__(self, agent: Agent, **options: Unpack[ConnectOptions]) -> Connecting: ...


def link(
    agent: Agent, client: ScriptedClient | None = None, *, version: int = 1, **options: Unpack[ConnectOptions]
) -> Connecting:
    """Connect to an agent in this process. Both sides are complete; only the transport is in memory.

    `client` answers the agent's requests; `options` are those of `connect`. In version 2, where clients have no
    files and terminals, the agent still uses the script's."""
    if client is None:
        options.setdefault("versions", {version})
        return connect(agent, **options)
    from accord.testing.script import ScriptedClient

    if not isinstance(client, ScriptedClient):
        raise InvalidValue(
            f"client is {short(client)}; it must be a ScriptedClient, such as ScriptedClient(files={{…}})",
            argument="client",
        )
    script = client
    script.is_injected = True

    async def start() -> Launched:
        ours, theirs = pair()
        side = AgentSide(agent, theirs, make_machine=lambda session: ScriptedMachine(session, script))
        return Launched(ours, side.serve())

    merged: ConnectOptions = {**script.options(), **options}
    merged.setdefault("versions", {version})
    target: Any = start
    return connect(target, **merged)
