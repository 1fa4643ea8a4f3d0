"""Model providers of an agent."""

from __future__ import annotations

from typing import Literal

from accord.schema.common.ids import ProviderId
from accord.schema.shape import Message, Word

LlmProtocol = Word[Literal["anthropic", "openai", "azure", "vertex", "bedrock"]]


class ProvidersCapabilities(Message):
    """Declares that the client may choose where model requests go."""


class ListProvidersRequest(Message):
    """Asks which providers can be set."""


class SetProviderResponse(Message):
    """The provider is set."""


class DisableProviderRequest(Message):
    """Takes a provider out of use."""

    provider_id: ProviderId


class DisableProviderResponse(Message):
    """The provider is out of use."""
