"""What the user may set in a session: modes, models and the rest are one list."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Sequence
from copy import copy
from typing import Any

from accord.errors import InvalidParams
from accord.model.session import Option
from accord.model.statement import OptionsAre, Statement
from accord.transports.base import READY


class Options:
    """The part of a session that holds its options."""

    options: list[Option]
    values_before: dict[str, str | bool]
    """The values that the options had when the session was last open, by id; of a new session, none."""
    reopening: bool
    """Whether the session is being opened again: the answer to that will tell its options."""

    def state(self, statement: Statement) -> Awaitable[None]:
        raise NotImplementedError

    def tell(self, statement: Statement) -> Awaitable[None]:
        raise NotImplementedError

    def keep(self, statement: Statement) -> None:
        raise NotImplementedError

    @property
    def is_kept(self) -> bool:
        raise NotImplementedError

    def option(self, id: str) -> Option | None:
        for option in self.options:
            if option.id == id:
                return option
        return None

    def by_category(self, category: str) -> Option | None:
        for option in self.options:
            if option.category == category:
                return option
        return None

    @property
    def mode(self) -> str | None:
        """The id of the current mode, when there are modes."""
        option = self.by_category("mode")
        return str(option.value) if option is not None else None

    def set_mode(self, mode: str) -> Awaitable[None]:
        """Changes the mode from the agent's side."""
        option = self.by_category("mode")
        if option is None:
            raise InvalidParams("this session has no modes")
        return self.change_option(option.id, mode)

    def change_option(self, id: str, value: str | bool) -> Awaitable[None]:
        """Changes an option from the agent's side, and tells the client."""
        self.check_option(id, value).value = value
        return self.state(OptionsAre(options=copies(self.options), changed=id))

    def set_options(self, options: Sequence[Option]) -> Awaitable[None]:
        """Replaces the whole list. While a session is being opened again, they take the values they had before."""
        self.options = copies(options)
        if self.reopening:
            # Not kept either: a choice that cannot be had today, the provider being away, may be had again tomorrow.
            self.restore_options()
            return READY
        return self.state(OptionsAre(options=copies(options)))

    def chosen(self, id: str, value: str | bool) -> None:
        """The client has set an option and will be told so by its answer; here it is set and kept."""
        option = self.option(id)
        if option is not None:
            option.value = value
        if self.is_kept:
            self.keep(OptionsAre(options=copies(self.options), changed=id))

    def tell_options(self, changed: str | None = None) -> Awaitable[None]:
        """Tells the client how all options stand; which one changed, when it was one."""
        return self.tell(OptionsAre(options=self.options, changed=changed))

    def restore_options(self) -> None:
        """Gives the options the values they had before, where they may still take them."""
        for option in self.options:
            before = self.values_before.get(option.id)
            if before is not None and _may_be(option, before):
                option.value = before

    def check_option(self, id: str, value: Any) -> Option:
        """The option with this id, if it may take this value; `InvalidParams` otherwise."""
        option = self.option(id)
        if option is None:
            raise InvalidParams(f"there is no option {id[:60]!r} in this session", data={"path": "configId"})
        if not _may_be(option, value):
            values = "true or false" if option.is_boolean else ", ".join(choice.value for choice in option.choices)
            raise InvalidParams(f"option {id!r} may be {values}", data={"path": "value"})
        return option


def _may_be(option: Option, value: Any) -> bool:
    if option.is_boolean:
        return isinstance(value, bool)
    return isinstance(value, str) and value in [choice.value for choice in option.choices]


def copies(options: Iterable[Option]) -> list[Option]:
    """Options of their own: what is kept or shared must not change with them."""
    return [copy(option) for option in options]
