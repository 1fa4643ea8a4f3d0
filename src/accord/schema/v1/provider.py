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
    """Describes one provider that can be set."""

    provider_id: ProviderId
    supported: Emptied[Filtered[LlmProtocol]]
    required: bool
    current: Strict[Opt[ProviderCurrentConfig]] = UNSET


class ListProvidersResponse(Message):
    """The providers that can be set."""

    providers: list[ProviderInfo]


class SetProviderRequest(Message):
    """Says where requests go from now on; replaces all that was set before."""

    provider_id: ProviderId
    api_type: LlmProtocol
    base_url: str
    headers: Strict[dict[str, str]] = {}
