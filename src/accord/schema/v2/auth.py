"""Logging in and out."""

from __future__ import annotations

from typing import Annotated, ClassVar

from accord.schema.common.auth import AuthStatusCapabilities
from accord.schema.common.ids import AuthMethodId
from accord.schema.common.mcp import EnvVariable
from accord.schema.shape import UNSET, AtLeast, Message, Missing, NullIsEmpty, Open, Opt


class TerminalAuthCapabilities(Message):
    """Declares that the client can run the agent in a terminal for logging in."""


class ClientAuthCapabilities(Message):
    """Lists the ways of logging in that need the client's help."""

    terminal: Opt[TerminalAuthCapabilities] = UNSET


class AgentAuthCapabilities(Message):
    """Lists what the agent can tell about the login."""

    status: Opt[AuthStatusCapabilities] = UNSET


class AnyAuthMethod(Message):
    """The common fields of login methods."""

    OLDER: ClassVar[dict[str, str]] = {"id": "methodId"}

    method_id: AuthMethodId
    name: str


class AuthMethodAgent(AnyAuthMethod, tag_field="type", tag="agent"):
    """A login that the agent carries out itself when asked."""

    description: Opt[str] = UNSET


class AuthMethodTerminal(AnyAuthMethod, tag_field="type", tag="terminal"):
    """A login in a terminal: the agent's own program once more, with these arguments and variables added."""

    description: Opt[str] = UNSET
    args: NullIsEmpty[list[str]] = []
    env: NullIsEmpty[list[EnvVariable]] = []


AuthMethod = Annotated[Open[AuthMethodAgent | AuthMethodTerminal], Missing("agent"), AtLeast(AnyAuthMethod)]


class LoginAuthRequest(Message):
    """Asks the agent to log the user in, in one of the ways it offered."""

    method_id: AuthMethodId


class LoginAuthResponse(Message):
    """The user is logged in."""


class LogoutAuthRequest(Message):
    """Asks the agent to log the user out."""


class LogoutAuthResponse(Message):
    """The user is logged out."""
