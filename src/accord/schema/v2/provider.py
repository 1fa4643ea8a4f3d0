"""Model providers of the agent."""

from __future__ import annotations

from accord.schema.common.ids import ProviderId
from accord.schema.common.provider import LlmProtocol
from accord.schema.shape import UNSET, Emptied, Filtered, Message, Opt, Strict, UnsetType
from accord.schema.v2.values import Uri


class ProviderCurrentConfig(Message):
    """The current settings of a provider."""

    api_type: LlmProtocol
    base_url: Uri


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
    """Configures a provider: the address of its requests, and their headers."""

    provider_id: ProviderId
    api_type: LlmProtocol
    base_url: Uri
    headers: Strict[dict[str, str] | UnsetType] = UNSET
