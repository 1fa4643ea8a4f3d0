"""The handshake in version 1: the client's capabilities, and the agent's response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from accord.agent.offers import ClientOffers, advertise, is_present
from accord.codec import from_wire
from accord.schema import v1
from accord.schema.repair import read as repair_read

if TYPE_CHECKING:
    from accord.agent.agent import Agent


def read_offers(params: dict[str, Any], agent: Agent) -> ClientOffers:
    """Read the client's `initialize`. Unstable capabilities count only if the agent has opted in."""
    request: v1.InitializeRequest = repair_read(v1.InitializeRequest, params)
    offered = request.client_capabilities
    extra = offered.session or v1.ClientSessionCapabilities()
    elicitation = offered.elicitation or v1.ElicitationCapabilities()
    options = extra.config_options or None
    return ClientOffers(
        version=1,
        info=from_wire.implementation(request.client_info),
        read_files=offered.fs.read_text_file,
        write_files=offered.fs.write_text_file,
        terminals=offered.terminal,
        forms=is_present(elicitation.form),
        urls=is_present(elicitation.url),
        terminal_login=offered.auth.terminal,
        boolean_options=options is not None and is_present(options.boolean),
        notices=is_present(extra.notices),
        compaction=is_present(extra.compaction),
        plans=agent.unstable and is_present(offered.plan),
        subagents=agent.unstable and is_present(offered.subagents),
        meta=offered.meta or None,
    )


def build_response(agent: Agent, client: ClientOffers) -> v1.InitializeResponse:
    """Build the response: the agent's capabilities follow from its methods and its store."""
    content = agent.content
    return v1.InitializeResponse(
        protocol_version=1,
        agent_info=v1.Implementation(
            name=agent.name or type(agent).__name__,
            version=agent.version,
            title=agent.title or UNSET,
            meta=agent.info_meta or UNSET,
        ),
        agent_capabilities=v1.AgentCapabilities(
            load_session=agent.store is not None or agent.offers("load_session"),
            prompt_capabilities=v1.PromptCapabilities(
                image="image" in content, audio="audio" in content, embedded_context="resource" in content
            ),
            mcp_capabilities=_mcp(agent),
            session_capabilities=_sessions(agent),
            auth=v1.AgentAuthCapabilities(
                logout=advertise(agent.offers("logout")),
                status=advertise(agent.unstable and agent.offers("auth_status")),
            ),
            providers=advertise(agent.unstable and agent.offers("list_providers")),
            meta=agent.capability_meta or UNSET,
        ),
        auth_methods=[
            _auth_method(each) for each in agent.auth_methods if each.kind != "terminal" or client.terminal_login
        ],
        meta=agent.response_meta or UNSET,
    )


def _sessions(agent: Agent) -> v1.SessionCapabilities:
    stored, unstable = agent.store is not None, agent.unstable
    override = v1.SessionSystemPromptModeCapabilities(override=advertise("override" in agent.system_prompts))
    return v1.SessionCapabilities(
        list=advertise(stored or agent.offers("list_sessions")),
        resume=advertise(stored or agent.offers("resume_session")),
        close=advertise(True),
        delete=advertise(stored or agent.offers("delete_session")),
        additional_directories=advertise(agent.additional_directories),
        system_prompt=v1.SessionSystemPromptCapabilities(mode=override) if unstable and agent.system_prompts else UNSET,
        fork=advertise(unstable and (stored or agent.offers("fork_session"))),
        archive=advertise(can_archive(agent)),
        status=advertise(unstable and (stored or agent.offers("session_status"))),
        title=advertise(unstable and (stored or agent.offers("set_title"))),
    )


def can_archive(agent: Agent) -> bool:
    """Return whether sessions can be archived, which requires that they can be listed."""
    listed = agent.store is not None or agent.offers("list_sessions")
    return agent.unstable and listed and (agent.store is not None or agent.offers("archive_session"))


def _mcp(agent: Agent) -> Any:
    """Return the supported MCP transports. `acp` exists only in the unstable schema, so it is omitted unless it is
    supported."""
    offered = agent.mcp_offered
    supported = {kind: kind in offered for kind in ("http", "sse")}
    return {**supported, "acp": True} if agent.unstable and "acp" in offered else supported


def _auth_method(method: Any) -> Any:
    common = {
        "id": method.id,
        "name": method.name,
        "description": method.description or UNSET,
        "meta": method.meta or UNSET,
    }
    if method.kind == "terminal":
        return v1.AuthMethodTerminal(**common, args=list(method.args), env=dict(method.env))
    return v1.AuthMethodAgent(**common)
