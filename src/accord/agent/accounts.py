"""The login state and the model providers of an agent, alike in both versions (unstable)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from accord.connection.dispatch import Answer, Handler
from accord.errors import InvalidParams
from accord.model import check
from accord.model.account import Account, AuthStatus, Provider, ProviderConfig
from accord.schema.method import Method

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.agent.side import AgentSide


def account_routes(side: AgentSide, m: Any) -> dict[Method[Any, Any], Handler]:
    """Return handlers for the methods that the author defined. `m` has the version's methods."""
    agent = side.agent

    async def auth_status(params: Any) -> Answer:
        status = encode_auth_status(await agent.auth_status(), "the return value of auth_status")
        return Answer(status, partial(side.note_login_status, status))

    async def list_providers(params: Any) -> dict[str, Any]:
        return {"providers": [_encode_provider(provider) for provider in await _providers(agent)]}

    async def set_provider(params: Any) -> None:
        provider = await _find(agent, params.provider_id)
        if provider is None:
            raise InvalidParams(f"there is no provider {params.provider_id[:60]!r}", data={"path": "providerId"})
        if params.api_type not in provider.supported:
            supported = ", ".join(provider.supported)
            raise InvalidParams(
                f"provider {provider.id!r} supports {supported}, not {params.api_type[:60]!r}", data={"path": "apiType"}
            )
        config = ProviderConfig(
            api_type=params.api_type,
            base_url=params.base_url,
            headers=params.headers or {},
            meta=params.meta or None,
        )
        await agent.set_provider(provider.id, config)

    async def disable_provider(params: Any) -> None:
        provider = await _find(agent, params.provider_id)
        if provider is None:
            return  # disabling an unknown provider succeeds (V1-PROV-06)
        if provider.required:
            raise InvalidParams(f"provider {provider.id!r} is required", data={"path": "providerId"})
        await agent.disable_provider(provider.id)

    routes: dict[str, tuple[Method[Any, Any], Handler]] = {
        "auth_status": (m.AUTH_STATUS, auth_status),
        "list_providers": (m.PROVIDERS_LIST, list_providers),
        "set_provider": (m.PROVIDERS_SET, set_provider),
        "disable_provider": (m.PROVIDERS_DISABLE, disable_provider),
    }
    return {method: handler for name, (method, handler) in routes.items() if agent.offers(name)}


async def _providers(agent: Agent) -> list[Provider]:
    return check.providers(await agent.list_providers(), "the return value of list_providers")


async def _find(agent: Agent, id: str) -> Provider | None:
    return next((provider for provider in await _providers(agent) if provider.id == id), None)


def encode_auth_status(status: AuthStatus, argument: str = "status") -> dict[str, Any]:
    """Convert a login status to the format of the wire."""
    check.auth_status(status, argument)
    accounts = [_encode_account(account) for account in status.accounts]
    return _present({"state": status.state, "accounts": accounts, "_meta": status.meta})


def _encode_account(account: Account) -> dict[str, Any]:
    return _present(
        {
            "label": account.label,
            "active": account.active or None,
            "name": account.name,
            "email": account.email,
            "organization": account.organization,
            "_meta": account.meta,
        }
    )


def _encode_provider(provider: Provider) -> dict[str, Any]:
    """Convert a provider. Its headers hold keys and are never sent (V1-PROV-03)."""
    current = provider.current
    config = current and {"apiType": current.api_type, "baseUrl": current.base_url, "_meta": current.meta}
    return _present(
        {
            "providerId": provider.id,
            "supported": list(provider.supported),
            "required": provider.required,
            "current": _present(config) if config else None,
            "_meta": provider.meta,
        }
    )


def _present(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
