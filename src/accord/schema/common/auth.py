"""Login status: whether the user is logged in, and with which account."""

from __future__ import annotations

from typing import Any, Literal

from accord.schema.repair import older
from accord.schema.shape import UNSET, Filtered, Message, Opt, Word

AuthState = Word[Literal["authenticated", "unauthenticated", "not_required", "unknown"]]


class AuthStatusCapabilities(Message):
    """Declares that the agent supports `auth/status` and reports changes."""


class AuthAccount(Message):
    """Describes an account that the agent knows, for display."""

    label: str
    active: Opt[bool] = UNSET
    name: Opt[str] = UNSET
    email: Opt[str] = UNSET
    organization: Opt[str] = UNSET


class AuthStatusRequest(Message):
    """Asks whether the user is logged in."""


class AuthStatusResponse(Message):
    """Reports whether the user is logged in, and the known accounts."""

    state: AuthState
    accounts: Filtered[AuthAccount] = []


class AuthStatusUpdateNotification(Message):
    """Reports a change of the login; replaces the previous status."""

    state: AuthState
    accounts: Filtered[AuthAccount] = []


def _state_from_flag(value: dict[str, Any]) -> dict[str, Any]:
    """Convert the boolean `authenticated` of an early draft to `state`."""
    if "state" not in value and isinstance(value.get("authenticated"), bool):
        return {**value, "state": "authenticated" if value["authenticated"] else "unauthenticated"}
    return value


older(AuthStatusResponse)(_state_from_flag)
older(AuthStatusUpdateNotification)(_state_from_flag)


def status_marker_from_flag(value: dict[str, Any]) -> dict[str, Any]:
    """Convert `status: true` of an early draft to an object, in a version's auth capabilities."""
    if value.get("status") is True:
        return {**value, "status": {}}
    return value
