"""Login status: whether the user is logged in, and with which account."""

from __future__ import annotations

from typing import Any, Literal

from accord.schema.repair import older
from accord.schema.shape import UNSET, Filtered, Message, Opt, Word

AuthState = Word[Literal["authenticated", "unauthenticated", "not_required", "unknown"]]


class AuthStatusCapabilities(Message):
    """Declares that the agent answers `auth/status` and reports changes."""


class AuthAccount(Message):
    """Describes one account the agent knows, for showing to the user."""

    label: str
    active: Opt[bool] = UNSET
    name: Opt[str] = UNSET
    email: Opt[str] = UNSET
    organization: Opt[str] = UNSET


class AuthStatusRequest(Message):
    """Asks whether the user is logged in."""


class AuthStatusResponse(Message):
    """Tells whether the user is logged in, and the accounts that are known."""

    state: AuthState
    accounts: Filtered[AuthAccount] = []


class AuthStatusUpdateNotification(Message):
    """Tells that the login has changed; replaces what was said before."""

    state: AuthState
    accounts: Filtered[AuthAccount] = []


def _state_from_flag(value: dict[str, Any]) -> dict[str, Any]:
    """An early draft had a boolean `authenticated` where `state` is now."""
    if "state" not in value and isinstance(value.get("authenticated"), bool):
        return {**value, "state": "authenticated" if value["authenticated"] else "unauthenticated"}
    return value


older(AuthStatusResponse)(_state_from_flag)
older(AuthStatusUpdateNotification)(_state_from_flag)


def status_marker_from_flag(value: dict[str, Any]) -> dict[str, Any]:
    """For a version's auth capabilities: an early draft said `status: true` where there is an object now."""
    if value.get("status") is True:
        return {**value, "status": {}}
    return value
