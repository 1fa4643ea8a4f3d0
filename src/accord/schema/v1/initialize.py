"""Initialization: the version, and the capabilities of both sides."""

from __future__ import annotations

import msgspec

from accord.schema.common.elicitation import ElicitationCapabilities
from accord.schema.common.implementation import Implementation
from accord.schema.common.numbers import ProtocolVersion
from accord.schema.common.provider import ProvidersCapabilities
from accord.schema.shape import UNSET, Filtered, Former, Message, Opt
from accord.schema.v1.auth import AgentAuthCapabilities, AuthCapabilities, AuthMethod
from accord.schema.v1.config import SessionConfigOptionsCapabilities
from accord.schema.v1.files import FileSystemCapabilities
from accord.schema.v1.mcp import McpCapabilities
from accord.schema.v1.plan import PlanCapabilities
from accord.schema.v1.prompt import PromptCapabilities
from accord.schema.v1.session import SessionCapabilities
from accord.schema.v1.subagent import SubagentCapabilities
from accord.schema.v1.update import CompactionCapabilities, NoticeCapabilities


class ClientSessionCapabilities(Message):
    """Lists the session updates that the client can show."""

    compaction: Opt[CompactionCapabilities] = UNSET
    config_options: Opt[SessionConfigOptionsCapabilities] = UNSET
    notices: Opt[NoticeCapabilities] = UNSET


class ClientCapabilities(Message):
    """Lists the client's capabilities."""

    fs: FileSystemCapabilities = msgspec.field(default_factory=FileSystemCapabilities)
    terminal: bool = False
    session: Opt[ClientSessionCapabilities] = UNSET
    subagents: Opt[SubagentCapabilities] = UNSET
    plan: Opt[PlanCapabilities] = UNSET
    auth: AuthCapabilities = msgspec.field(default_factory=AuthCapabilities)
    elicitation: Opt[ElicitationCapabilities] = UNSET


_ABSENT = McpCapabilities()


def _absent() -> McpCapabilities:
    return _ABSENT


class AgentCapabilities(Message):
    """Lists the agent's capabilities."""

    load_session: bool = False
    prompt_capabilities: PromptCapabilities = msgspec.field(default_factory=PromptCapabilities)
    mcp_capabilities: McpCapabilities = msgspec.field(default_factory=_absent)
    session_capabilities: SessionCapabilities = msgspec.field(default_factory=SessionCapabilities)
    auth: AgentAuthCapabilities = msgspec.field(default_factory=AgentAuthCapabilities)
    providers: Opt[ProvidersCapabilities] = UNSET
    mcp: Former[McpCapabilities] = UNSET
    """The name of `mcp_capabilities` in early agents; its value is moved there when read."""

    def __post_init__(self) -> None:
        if self.mcp_capabilities is _ABSENT:
            self.mcp_capabilities = self.mcp or McpCapabilities()
        self.mcp = UNSET


class InitializeRequest(Message):
    """Starts a connection, with the client's protocol version and capabilities."""

    protocol_version: ProtocolVersion
    client_capabilities: ClientCapabilities = msgspec.field(default_factory=ClientCapabilities)
    client_info: Opt[Implementation] = UNSET


class InitializeResponse(Message):
    """Responds with the negotiated version, the agent's capabilities and its login methods."""

    protocol_version: ProtocolVersion
    agent_capabilities: AgentCapabilities = msgspec.field(default_factory=AgentCapabilities)
    auth_methods: Filtered[AuthMethod] = []
    agent_info: Opt[Implementation] = UNSET


InitializeProxyRequest = InitializeRequest
InitializeProxyResponse = InitializeResponse
