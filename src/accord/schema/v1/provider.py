"""Model providers of the agent, and the requests that change them."""

from __future__ import annotations

from accord.schema.common.ids import ProviderId
from accord.schema.common.provider import LlmProtocol
from accord.schema.shape import UNSET, Emptied, Filtered, Message, Opt, Strict


class ProviderCurrentConfig(Message):
    """The current endpoint of a provider. Headers are never sent."""

    api_type: LlmProtocol
    base_url: str


class ProviderInfo(Message):
    """Describes a configurable provider."""

    provider_id: ProviderId
    supported: Emptied[Filtered[LlmProtocol]]
    required: bool
    current: Strict[Opt[ProviderCurrentConfig]] = UNSET


class ListProvidersResponse(Message):
    """Lists the configurable providers."""

    providers: list[ProviderInfo]


class SetProviderRequest(Message):
    """Configures a provider, replacing its previous configuration."""

    provider_id: ProviderId
    api_type: LlmProtocol
    base_url: str
    headers: Strict[dict[str, str]] = {}
