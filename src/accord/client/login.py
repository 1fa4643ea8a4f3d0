"""Logging in and out, and what else an agent can tell or be told about its accounts and providers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Union

from accord.client.dialect import Dialect
from accord.client.offers import AgentOffers
from accord.errors import AuthRequired, CapabilityError
from accord.model.requests import AuthMethod

LoginChoice = Union[AuthMethod, str, None]
Login = Callable[[list[AuthMethod]], Union[LoginChoice, Awaitable[LoginChoice]]]
"""Chooses how to log in, when an agent demands it: a method, its id, or None to give up."""


TerminalLogin = Callable[[AuthMethod], Awaitable[bool]]
"""Runs the agent's own program in a terminal with the arguments and variables of a method; whether that went well."""


class Logins(ABC):
    """How a client comes to be known to its agent."""

    dialect: Dialect
    offers: AgentOffers
    terminal_login: TerminalLogin | None
    _login: Login | None

    @abstractmethod
    async def reconnect(self) -> None: ...

    @abstractmethod
    def need_unstable(self, what: str) -> None: ...

    @property
    def auth_methods(self) -> list[AuthMethod]:
        return self.offers.auth_methods

    async def login(self, method: AuthMethod | str | None = None) -> None:
        """Logs in by one of the agent's methods; by the first that it carries out itself unless one is named.

        A method of the kind `terminal` runs the agent's program in a terminal, and connects anew if that went well."""
        kinds = ["agent", "terminal"] if self.terminal_login is not None else ["agent"]
        usable = [each for kind in kinds for each in self.auth_methods if each.kind == kind]
        id = method.id if isinstance(method, AuthMethod) else method
        chosen = next((each for each in usable if id is None or each.id == id), None)
        if chosen is None:
            names = ", ".join(each.id for each in usable) or "none"
            raise CapabilityError(f"the agent has no login method {id or ''!r} that can be used here; it has: {names}")
        if chosen.kind != "terminal":
            await self.dialect.login(chosen.id)
            return
        assert self.terminal_login is not None
        if not await self.terminal_login(chosen):
            raise AuthRequired(f"the login {chosen.name!r} did not succeed")
        await self.reconnect()

    async def logout(self) -> None:
        """Logs out."""
        self.offers.need("logout", "to log out")
        await self.dialect.logout()

    async def log_in_again(self) -> bool:
        """After "authentication required": logs in as the user's handler says; False when it gives up."""
        if self._login is None or not self.auth_methods:
            return False
        choice = self._login(self.auth_methods)
        if not isinstance(choice, (AuthMethod, str)) and choice is not None:
            choice = await choice
        if choice is None:
            return False
        await self.login(choice)
        return True

    async def after_login(self, attempt: Callable[[], Awaitable[None]]) -> None:
        """Does something, and once more after a login if the agent demands one."""
        try:
            await attempt()
        except AuthRequired:
            if not await self.log_in_again():
                raise
            await attempt()

    # -- unstable

    async def auth_status(self) -> dict[str, Any]:
        """Whether the user is logged in (`state`) and the accounts that are known, in the words of the wire.

        A state that nobody knows counts as `unknown`."""
        self.need_unstable("auth/status")
        self.offers.need("auth_status", "to tell the state of the login")
        return await self.dialect.auth_status()

    async def list_providers(self) -> list[dict[str, Any]]:
        """Where the agent's model requests can go, in the words of the wire."""
        self._need_providers("providers/list")
        return await self.dialect.list_providers()

    async def set_provider(
        self, id: str, *, api_type: str, base_url: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Says where model requests go from now on; replaces all that was set for this provider."""
        self._need_providers("providers/set")
        await self.dialect.set_provider(id, api_type, base_url, dict(headers or {}))

    async def disable_provider(self, id: str) -> None:
        """Makes the agent use a provider no longer."""
        self._need_providers("providers/disable")
        await self.dialect.disable_provider(id)

    def _need_providers(self, what: str) -> None:
        self.need_unstable(what)
        self.offers.need("providers", "to set providers")
