"""The client's `initialize`: offers versions and capabilities, and falls back to a lower version.

The two versions name these fields differently, and only the response tells which version the agent uses. A client that
supports both versions sends both sets of fields; each side ignores the fields it doesn't know.

The `_meta` keys follow Zed's conventions: version 1 has no fields for terminals that the agent runs itself, or for
logins that run another command than the agent's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from accord.client.workspace import TERMINAL_METHODS
from accord.connection.handshake import INITIALIZE, version_to_retry
from accord.errors import UNSUPPORTED_VERSION, DeadlineExceeded, RequestFailed, VersionError

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent


async def negotiate(agent: ConnectedAgent) -> dict[str, Any]:
    """Send `initialize`, once more with a lower version if the agent asks for that. Returns the response."""
    version: int | None = max(agent.versions)
    is_retry = False
    while version is not None:
        try:
            response: dict[str, Any] = msgspec.json.decode(await _send(agent, initialize_params(version, agent)))
            return response
        except RequestFailed as error:
            version = None if is_retry else version_to_retry(error, agent.versions, version)
            is_retry = True
            if version is None:
                if error.code == UNSUPPORTED_VERSION:
                    ours = " and ".join(map(str, sorted(agent.versions)))
                    raise VersionError(f"the agent supports none of our protocol versions ({ours}): {error}") from error
                raise
    raise AssertionError("unreachable")


async def _send(agent: ConnectedAgent, params: Any) -> Any:
    """Send `initialize` and wait for the response, but not longer than the first deadline for any output at all."""
    connection, first = agent.connection, agent.deadline("first byte")
    asking = asyncio.ensure_future(connection.call(INITIALIZE, params, deadline=agent.deadline("initialize")))
    try:
        await asyncio.wait([asking], timeout=first.seconds if first is not None else None)
        if not asking.done() and not connection.has_received and first is not None:
            raise DeadlineExceeded(
                f"{connection.transport.describe()} sent nothing within {first.seconds:g} s of initialize"
                f" (stage first byte){connection.transport.describe_stderr()}",
                stage=first.stage,
                seconds=first.seconds,
            )
        return await asking
    except DeadlineExceeded as error:
        if not connection.first_stray:
            raise
        text = f"{error}; its output isn't a protocol message: {connection.first_stray}"
        raise DeadlineExceeded(text, stage=error.stage, seconds=error.seconds) from None
    finally:
        asking.cancel()


def initialize_params(version: int, agent: ConnectedAgent) -> dict[str, Any]:
    """Build the params of `initialize`."""
    info: dict[str, Any] = {"name": agent.client_info.name, "version": agent.client_info.version}
    if agent.client_info.title:
        info["title"] = agent.client_info.title
    if agent.client_info.meta:
        info["_meta"] = agent.client_info.meta
    params: dict[str, Any] = {"protocolVersion": version}
    if agent.meta:
        params["_meta"] = agent.meta
    if version >= 2:
        params["info"] = info
        params["capabilities"] = {**_elicitation(agent), **_login(agent, {})}
        if agent.capability_meta:
            params["capabilities"]["_meta"] = agent.capability_meta
    if 1 in agent.versions:
        params["clientInfo"] = info
        params["clientCapabilities"] = _v1_capabilities(agent)
    return params


def _v1_capabilities(agent: ConnectedAgent) -> dict[str, Any]:
    workspace = agent.workspace
    capabilities: dict[str, Any] = {
        "fs": {
            "readTextFile": workspace is not None and workspace.offers("read"),
            "writeTextFile": workspace is not None and workspace.offers("write"),
        },
        "terminal": workspace is not None and workspace.offers(*TERMINAL_METHODS),
        "_meta": {
            "terminal_output": True,
            **({"terminal-auth": True} if agent.logins.in_terminal is not None else {}),
            **agent.capability_meta,
        },
        "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
        **_elicitation(agent),
        **_login(agent, True),
    }
    if agent.unstable:
        capabilities["plan"] = {}
        capabilities["subagents"] = {}
    return capabilities


def _elicitation(agent: ConnectedAgent) -> dict[str, Any]:
    modes = agent.handlers.elicitation_modes
    return {"elicitation": {mode: {} for mode in modes}} if modes else {}


def _login(agent: ConnectedAgent, yes: Any) -> dict[str, Any]:
    """Terminal logins are supported only by clients that can run one."""
    return {"auth": {"terminal": yes}} if agent.logins.in_terminal is not None else {}
