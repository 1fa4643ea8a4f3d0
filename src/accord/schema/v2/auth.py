"""Login and logout."""

from __future__ import annotations

from typing import Annotated, ClassVar

from accord.schema.common.auth import AuthStatusCapabilities
from accord.schema.common.ids import AuthMethodId
from accord.schema.common.mcp import EnvVariable
from accord.schema.shape import UNSET, AtLeast, Message, Missing, NullIsEmpty, Open, Opt


class TerminalAuthCapabilities(Message):
    """Declares that the client can run the agent in a terminal to log in."""


class ClientAuthCapabilities(Message):
    """Lists the supported kinds of login that need the client's help."""

    terminal: Opt[TerminalAuthCapabilities] = UNSET


class AgentAuthCapabilities(Message):
    """Lists the agent's capabilities for logins."""

    status: Opt[AuthStatusCapabilities] = UNSET


class AnyAuthMethod(Message):
    """The common fields of login methods."""

    OLDER: ClassVar[dict[str, str]] = {"id": "methodId"}

    method_id: AuthMethodId
    name: str


class AuthMethodAgent(AnyAuthMethod, tag_field="type", tag="agent"):
    """A login that the agent handles itself."""

    description: Opt[str] = UNSET


class AuthMethodTerminal(AnyAuthMethod, tag_field="type", tag="terminal"):
    """A login in a terminal, by running the agent's own program with these additional arguments and variables."""

    description: Opt[str] = UNSET
    args: NullIsEmpty[list[str]] = []
    env: NullIsEmpty[list[EnvVariable]] = []


AuthMethod = Annotated[Open[AuthMethodAgent | AuthMethodTerminal], Missing("agent"), AtLeast(AnyAuthMethod)]


class LoginAuthRequest(Message):
    """Asks the agent to log the user in with one of its methods."""

    method_id: AuthMethodId


class LoginAuthResponse(Message):
    """The user has been logged in."""


class LogoutAuthRequest(Message):
    """Asks the agent to log the user out."""


class LogoutAuthResponse(Message):
    """The user has been logged out."""
