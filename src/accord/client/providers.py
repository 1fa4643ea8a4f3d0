"""The providers of an agent's model: listed, configured and disabled (unstable)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from accord.errors import CapabilityError
from accord.model.account import ApiType, Provider, ProviderConfig
from accord.model.record import Meta

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent


class Providers:
    """Manages the providers of one agent. `ConnectedAgent` has the public methods."""

    def __init__(self, agent: ConnectedAgent) -> None:
        self._agent = agent
        self._required: frozenset[str] = frozenset()
        """The providers that can't be disabled, as the agent last listed them."""

    async def list(self) -> list[Provider]:
        self._check_supported("providers/list")
        providers = await self._agent.dialect.list_providers()
        self._required = frozenset(each.id for each in providers if each.required)
        return providers

    async def set(
        self, id: str, api_type: ApiType, base_url: str, headers: Mapping[str, str] | None, meta: Meta | None
    ) -> None:
        self._check_supported("providers/set")
        config = ProviderConfig(api_type=api_type, base_url=base_url, headers=dict(headers or {}), meta=meta)
        await self._agent.dialect.set_provider(id, config)

    async def disable(self, id: str) -> None:
        self._check_supported("providers/disable")
        if id in self._required:
            raise CapabilityError(
                f"the agent requires the provider {id!r}; configure it with set_provider instead; nothing was sent"
            )
        await self._agent.dialect.disable_provider(id)

    def _check_supported(self, method: str) -> None:
        self._agent.need_unstable(method)
        self._agent.offers.need("providers", "to set providers")
