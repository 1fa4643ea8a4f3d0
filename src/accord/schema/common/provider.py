"""Model providers of an agent."""

from __future__ import annotations

from typing import Literal

from accord.schema.common.ids import ProviderId
from accord.schema.shape import Message, Word

LlmProtocol = Word[Literal["anthropic", "openai", "azure", "vertex", "bedrock"]]


class ProvidersCapabilities(Message):
    """Declares that the client can configure model providers."""


class ListProvidersRequest(Message):
    """Requests the list of configurable providers."""


class SetProviderResponse(Message):
    """The provider has been configured."""


class DisableProviderRequest(Message):
    """Disables a provider."""

    provider_id: ProviderId


class DisableProviderResponse(Message):
    """The provider has been disabled."""
