"""What a client says first: who it is, which version it would speak, and what it offers.

Version 1 and version 2 spell this differently, and which one the agent reads is known only from its answer. A client
that speaks both says both: each side ignores the keys it does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from accord.client.workspace import TERMINAL_METHODS

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent


def hello(version: int, agent: ConnectedAgent) -> dict[str, Any]:
    """The params of `initialize`."""
    info: dict[str, Any] = {"name": agent.client_info.name, "version": agent.client_info.version}
    if agent.client_info.title:
        info["title"] = agent.client_info.title
    params: dict[str, Any] = {"protocolVersion": version}
    if version >= 2:
        params["info"] = info
        params["capabilities"] = {**_elicitation(agent), **_login(agent, {})}
    if 1 in agent._versions:
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
        "session": {"compaction": {}, "configOptions": {"boolean": {}}, "notices": {}},
        **_elicitation(agent),
        **_login(agent, True),
    }
    if agent.unstable:
        capabilities["plan"] = {}
        capabilities["subagents"] = {}
    return capabilities


def _elicitation(agent: ConnectedAgent) -> dict[str, Any]:
    return {"elicitation": {"form": {}, "url": {}}} if agent.handlers.elicitation is not None else {}


def _login(agent: ConnectedAgent, yes: Any) -> dict[str, Any]:
    """Logins in a terminal are offered only by a client that can run one."""
    return {"auth": {"terminal": yes}} if agent.terminal_login is not None else {}
