"""The login state of an agent, and the providers that its model requests go to."""

from __future__ import annotations

from typing import Literal, Union

from accord.model.record import Meta, PublicRecord

AuthState = Union[Literal["authenticated", "unauthenticated", "not_required", "unknown"], str]
ApiType = Union[Literal["anthropic", "openai", "azure", "vertex", "bedrock"], str]


class Account(PublicRecord):
    """An account that the agent knows, for display only: no field identifies it permanently."""

    label: str
    active: bool = False
    """Whether it is the account in use."""
    name: str | None = None
    email: str | None = None
    organization: str | None = None
    meta: Meta | None = None


class AuthStatus(PublicRecord):
    """The state of the login, and the known accounts (unstable)."""

    state: AuthState
    accounts: list[Account] = []
    meta: Meta | None = None


class ProviderConfig(PublicRecord):
    """The API and address of a provider. Agents never send the headers back."""

    api_type: ApiType
    base_url: str
    headers: dict[str, str] = {}
    meta: Meta | None = None


class Provider(PublicRecord):
    """A model provider that the client can configure (unstable). It is disabled while `current` is None."""

    id: str
    supported: list[ApiType]
    """The API types that it can be configured with."""
    required: bool = False
    """Whether it can't be disabled."""
    current: ProviderConfig | None = None
    meta: Meta | None = None
