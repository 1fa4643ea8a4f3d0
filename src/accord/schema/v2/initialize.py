"""Initialization: the version, the names and the capabilities of both sides.

A capability is an object. Its presence means that it is supported, even if it is empty."""

from __future__ import annotations

import msgspec

from accord.schema.common.elicitation import ElicitationCapabilities
from accord.schema.common.implementation import Implementation
from accord.schema.common.numbers import ProtocolVersion
from accord.schema.common.provider import ProvidersCapabilities
from accord.schema.common.session import (
    SessionAdditionalDirectoriesCapabilities,
    SessionArchiveCapabilities,
    SessionDeleteCapabilities,
    SessionForkCapabilities,
    SessionStatusCapabilities,
    SessionSystemPromptCapabilities,
    SessionTitleCapabilities,
)
from accord.schema.shape import UNSET, Filtered, Message, Opt
from accord.schema.v2.auth import AgentAuthCapabilities, AuthMethod, ClientAuthCapabilities
from accord.schema.v2.mcp import McpCapabilities


class ClientCapabilities(Message):
    """Lists the client's capabilities."""

    auth: Opt[ClientAuthCapabilities] = UNSET
    elicitation: Opt[ElicitationCapabilities] = UNSET


class PromptImageCapabilities(Message):
    """Declares that prompts may contain images."""


class PromptAudioCapabilities(Message):
    """Declares that prompts may contain audio."""


class PromptEmbeddedContextCapabilities(Message):
    """Declares that prompts may contain embedded resources."""


class PromptCapabilities(Message):
    """Lists the supported content of prompts besides text and links."""

    image: Opt[PromptImageCapabilities] = UNSET
    audio: Opt[PromptAudioCapabilities] = UNSET
    embedded_context: Opt[PromptEmbeddedContextCapabilities] = UNSET


class SessionCapabilities(Message):
    """The agent's capabilities for sessions, beyond the basic ones."""

    prompt: Opt[PromptCapabilities] = UNSET
    mcp: Opt[McpCapabilities] = UNSET
    delete: Opt[SessionDeleteCapabilities] = UNSET
    additional_directories: Opt[SessionAdditionalDirectoriesCapabilities] = UNSET
    system_prompt: Opt[SessionSystemPromptCapabilities] = UNSET
    fork: Opt[SessionForkCapabilities] = UNSET
    archive: Opt[SessionArchiveCapabilities] = UNSET
    status: Opt[SessionStatusCapabilities] = UNSET
    title: Opt[SessionTitleCapabilities] = UNSET


class AgentCapabilities(Message):
    """Lists the agent's capabilities."""

    session: Opt[SessionCapabilities] = UNSET
    auth: Opt[AgentAuthCapabilities] = UNSET
    providers: Opt[ProvidersCapabilities] = UNSET


class InitializeRequest(Message):
    """Starts a connection, with the newest version that the client supports, its name and its capabilities."""

    protocol_version: ProtocolVersion
    info: Implementation
    capabilities: ClientCapabilities = msgspec.field(default_factory=ClientCapabilities)


class InitializeResponse(Message):
    """Responds with the negotiated version, the agent's name, its capabilities and its login methods."""

    protocol_version: ProtocolVersion
    info: Implementation
    capabilities: AgentCapabilities = msgspec.field(default_factory=AgentCapabilities)
    auth_methods: Filtered[AuthMethod] = []


InitializeProxyRequest = InitializeRequest
InitializeProxyResponse = InitializeResponse
