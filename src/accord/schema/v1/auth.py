"""Login and logout."""

from __future__ import annotations

from accord.schema.common.auth import AuthStatusCapabilities
from accord.schema.common.ids import AuthMethodId
from accord.schema.shape import UNSET, Message, NullIsEmpty, Opt, Otherwise


class AuthCapabilities(Message):
    """Lists the kinds of login that the client can perform."""

    terminal: bool = False


class LogoutCapabilities(Message):
    """Declares that the agent can log out."""


class AgentAuthCapabilities(Message):
    """Lists the agent's capabilities besides logging in."""

    status: Opt[AuthStatusCapabilities] = UNSET
    logout: Opt[LogoutCapabilities] = UNSET


class AuthMethodAgent(Message):
    """A login that the agent handles itself."""

    id: AuthMethodId
    name: str
    description: Opt[str] = UNSET


class AuthMethodTerminal(Message, tag_field="type", tag="terminal"):
    """A login for which the client runs the agent's command in a terminal, with these arguments and variables."""

    id: AuthMethodId
    name: str
    description: Opt[str] = UNSET
    args: NullIsEmpty[list[str]] = []
    env: NullIsEmpty[dict[str, str]] = {}


AuthMethod = Otherwise[AuthMethodTerminal, AuthMethodAgent]


class AuthenticateRequest(Message):
    """Asks the agent to log in with one of its methods."""

    method_id: AuthMethodId


class AuthenticateResponse(Message):
    """The user has been logged in."""


class LogoutRequest(Message):
    """Log out: the agent deletes the user's credentials."""


class LogoutResponse(Message):
    """The user has been logged out."""
