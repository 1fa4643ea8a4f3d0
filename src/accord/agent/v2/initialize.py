"""The handshake in version 2: the client's capabilities, and the agent's response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from accord.agent.offers import ClientOffers, advertise, is_present
from accord.codec import from_wire
from accord.schema import v2
from accord.schema.repair import read as repair_read

if TYPE_CHECKING:
    from accord.agent.agent import Agent


def read_offers(params: dict[str, Any], agent: Agent) -> ClientOffers:
    """Read the client's `initialize`."""
    request: v2.InitializeRequest = repair_read(v2.InitializeRequest, params)
    offered = request.capabilities
    elicitation = offered.elicitation or v2.ElicitationCapabilities()
    auth = offered.auth or v2.ClientAuthCapabilities()
    return ClientOffers(
        version=2,
        info=from_wire.implementation(request.info),
        forms=is_present(elicitation.form),
        urls=is_present(elicitation.url),
        terminal_login=is_present(auth.terminal),
        boolean_options=True,
        notices=True,
        compaction=True,
        plans=True,
        subagents=agent.unstable,
        meta=offered.meta or None,
    )


def build_response(agent: Agent, client: ClientOffers) -> v2.InitializeResponse:
    """Build the response: the agent's capabilities follow from its methods and its store."""
    status = v2.AgentAuthCapabilities(status=advertise(True))
    return v2.InitializeResponse(
        protocol_version=2,
        info=v2.Implementation(
            name=agent.name or type(agent).__name__,
            version=agent.version,
            title=agent.title or UNSET,
            meta=agent.info_meta or UNSET,
        ),
        capabilities=v2.AgentCapabilities(
            session=_sessions(agent),
            auth=status if agent.unstable and agent.offers("auth_status") else UNSET,
            providers=advertise(agent.unstable and agent.offers("list_providers")),
            meta=agent.capability_meta or UNSET,
        ),
        auth_methods=[
            _auth_method(each) for each in agent.auth_methods if each.kind != "terminal" or client.terminal_login
        ],
        meta=agent.response_meta or UNSET,
    )


def _sessions(agent: Agent) -> v2.SessionCapabilities:
    content, mcp, unstable = agent.content, agent.mcp_offered, agent.unstable
    override = v2.SessionSystemPromptModeCapabilities(override=advertise("override" in agent.system_prompts))
    return v2.SessionCapabilities(
        prompt=v2.PromptCapabilities(
            image=advertise("image" in content),
            audio=advertise("audio" in content),
            embedded_context=advertise("resource" in content),
        ),
        mcp=v2.McpCapabilities(
            stdio=advertise("stdio" in mcp), http=advertise("http" in mcp), acp=advertise(unstable and "acp" in mcp)
        ),
        delete=advertise(agent.store is not None or agent.offers("delete_session")),
        additional_directories=advertise(agent.additional_directories),
        system_prompt=v2.SessionSystemPromptCapabilities(mode=override) if unstable and agent.system_prompts else UNSET,
        fork=advertise(unstable),
        archive=advertise(unstable),
        status=advertise(unstable),
        title=advertise(unstable),
    )


def _auth_method(method: Any) -> Any:
    common = {
        "method_id": method.id,
        "name": method.name,
        "description": method.description or UNSET,
        "meta": method.meta or UNSET,
    }
    if method.kind == "terminal":
        env = [v2.EnvVariable(name=name, value=value) for name, value in method.env.items()]
        return v2.AuthMethodTerminal(**common, args=list(method.args), env=env)
    return v2.AuthMethodAgent(**common)
