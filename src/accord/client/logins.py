"""Logins: choosing a method, running it, and retrying the call that required it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import TYPE_CHECKING, Union

from accord.errors import AuthRequired, CapabilityError, InvalidValue
from accord.model.requests import AuthMethod
from accord.model.values import short

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent

LoginChoice = Union[AuthMethod, str, None]
Login = Callable[[list[AuthMethod]], Union[LoginChoice, Awaitable[LoginChoice]]]
"""Chooses how to log in when an agent requires it: a method, its id, or None to give up."""


TerminalLogin = Callable[[AuthMethod], Awaitable[bool]]
"""Runs a login method's program in a terminal: its `command`, or the agent's own. Returns whether it succeeded."""


class Logins:
    """Logs in to one agent, and again when the agent requires it."""

    def __init__(self, agent: ConnectedAgent, choose: Login | None, in_terminal: TerminalLogin | None) -> None:
        self._agent = agent
        self._choose = choose
        self.in_terminal = in_terminal
        """Runs the login methods that need a terminal; None if there is no terminal."""

    @property
    def usable(self) -> list[AuthMethod]:
        """The usable methods: those that the agent handles, then terminal logins if a terminal is available."""
        kinds = ["agent", "terminal"] if self.in_terminal is not None else ["agent"]
        return [each for kind in kinds for each in self._agent.auth_methods if each.kind == kind]

    async def login(self, method: AuthMethod | str | None = None) -> None:
        """Log in with one of the agent's methods, or with the first usable one."""
        usable = self.usable
        id = method.id if isinstance(method, AuthMethod) else method
        # Prefer the method itself: an agent may list another one with the same id and a different command.
        same = [each for each in usable if each == method] or [each for each in usable if id is None or each.id == id]
        chosen = next(iter(same), None)
        if chosen is None:
            names = ", ".join(each.id for each in usable) or "none"
            raise CapabilityError(f"the agent has no usable login method {id or ''!r}; available methods: {names}")
        if chosen.kind != "terminal":
            await self._agent.dialect.login(chosen.id)
            return
        assert self.in_terminal is not None
        if not await self.in_terminal(chosen):
            raise AuthRequired(f"the login {chosen.name!r} failed; try again or choose another method")
        await self._agent.restarts.reconnect()

    @staticmethod
    def can_help(error: BaseException) -> bool:
        """Return whether a login may resolve an error. Not if the agent had a key that the provider rejected: then the
        user needs to see the reason first."""
        return isinstance(error, AuthRequired) and not (isinstance(error.data, dict) and error.data.get("rejected"))

    async def log_in_again(self) -> bool:
        """Log in after "authentication required", with the method that the user's handler chooses.

        Returns False if the handler gives up."""
        # Some agents list terminal logins to clients that didn't declare them.
        usable = self.usable
        methods = [each for each in self._agent.auth_methods if each in usable]
        if self._choose is None or not methods:
            return False
        choice = self._choose(methods)
        if isawaitable(choice):
            choice = await choice
        if choice is None:
            return False
        if not isinstance(choice, (AuthMethod, str)):
            raise InvalidValue(
                f"the login handler returned {short(choice)}; it must return one of the methods, its id or None",
                argument="login",
            )
        await self.login(choice)
        return True

    async def retry_after_login(self, attempt: Callable[[], Awaitable[None]]) -> None:
        """Call `attempt`, and once more after a login if the agent requires one."""
        try:
            await attempt()
        except AuthRequired:
            if not await self.log_in_again():
                raise
            await attempt()
