"""The options of a session (modes, models and the rest), and how they change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from accord.errors import InvalidParams, InvalidValue
from accord.model import check
from accord.model.record import Meta
from accord.model.session import Choice, Option
from accord.model.statement import SetOptions
from accord.model.values import short
from accord.schema.wire import encode, encode_strictly
from accord.transports.base import READY

if TYPE_CHECKING:
    from accord.agent.saving_transport import SavingTransport
    from accord.agent.session import Session


class SessionOptions:
    """The options that the user can set in one session."""

    def __init__(self, session: Session, items: list[Option], saving: SavingTransport | None) -> None:
        self.items: list[Option] = items
        self.previous_values: dict[str, str | bool] = {}
        """Values from when the session was last open, by option id; empty for a new session."""
        self._session = session
        self._saving = saving
        agent = session.agent
        self._sets_in_place = saving is None and not agent.offers("set_option") and not agent.offers("unlisted_choice")

    def find(self, id: str) -> Option | None:
        for option in self.items:
            if option.id == id:
                return option
        return None

    def by_category(self, category: str) -> Option | None:
        for option in self.items:
            if option.category == category:
                return option
        return None

    @property
    def mode(self) -> str | None:
        option = self.by_category("mode")
        return str(option.value) if option is not None else None

    def check(self, id: str, value: Any) -> Option:
        """Return the option with this id. Raises `InvalidParams` if it doesn't exist or can't have this value."""
        option = self.find(id)
        if option is None:
            raise InvalidParams(f"there is no option {id[:60]!r} in this session", data={"path": "configId"})
        if not option.accepts(value):
            values = "true or false" if option.is_boolean else ", ".join(choice.value for choice in option.choices)
            raise InvalidParams(f"option {id!r} is {short(value)}; it may be {values}", data={"path": "value"})
        return option

    # -- changes by the client

    def set_by_client(self, id: str, value: str | bool) -> Coroutine[Any, Any, None] | None:
        """Set an option for the client. Returns None if it has been set, or a coroutine that sets it.

        Nothing has to be awaited if the author defined no handler and sessions needn't be saved: such a request is
        answered inline, without a task."""
        if self._sets_in_place:
            self._apply(id, self.check(id, value), value)
            return None
        return self._set_by_client(id, value)

    async def _set_by_client(self, id: str, value: str | bool) -> None:
        session = self._session
        value = await self._resolve_value(id, value)
        option = self.check(id, value)
        await session.agent.set_option(session, option, value)
        self._apply(id, self.find(id), value)  # the handler may have replaced the options
        if self._saving is not None:
            await self._saving.settle()

    def _apply(self, id: str, option: Option | None, value: str | bool) -> None:
        """Set and save a value. The response to the client's request reports it."""
        if option is not None:
            option.value = value
        writer = self._session.writer
        if writer.is_saving:
            writer.save(SetOptions(options=copies(self.items), changed=id))

    async def _resolve_value(self, id: str, value: str | bool) -> str | bool:
        """Resolve the value of an option. An unlisted value is added to the choices if the agent accepts it."""
        option = self.find(id)
        if option is None or option.is_boolean or isinstance(value, bool):
            return value
        if option.accepts(value):
            return value
        choice: Choice | None = await self._session.agent.unlisted_choice(self._session, option, value)
        if choice is None:
            return value
        if choice.value not in [other.value for other in option.choices]:
            option.choices = [choice, *option.choices]
        return choice.value

    # -- changes by the agent

    def change(self, id: str, value: str | bool, meta: Meta | None = None) -> Awaitable[None]:
        """Set one option and tell the client."""
        try:
            option = self.check(id, value)
        except InvalidParams as error:  # the agent's mistake, not the client's
            raise InvalidValue(error.message, argument=id) from None
        option.value = value
        return self._state(id, meta)

    def replace(self, options: Sequence[Option], meta: Meta | None = None) -> Awaitable[None]:
        """Replace all options. While a session is being reopened, they get their previous values."""
        check.options(options)
        self._session.writer.encode(SetOptions(options=list(options)))  # raises before any state changes
        self.items = copies(options)
        if self._session.is_reopening:
            # Don't save them: a value whose provider is unavailable now may be available again later.
            self.restore()
            return READY
        return self._state(None, meta)

    def restore(self) -> None:
        """Restore the previous values of options that can still have them."""
        for option in self.items:
            before = self.previous_values.get(option.id)
            if before is not None and option.accepts(before):
                option.value = before

    def _state(self, changed: str | None, meta: Meta | None) -> Awaitable[None]:
        """Send and save all options. While a session is being created, its response carries them instead."""
        statement = SetOptions(options=copies(self.items), changed=changed, meta=meta)
        if self._session.is_known:
            return self._session.writer.state(statement)
        self._session.writer.save(statement)
        return READY


def copies(options: Iterable[Option]) -> list[Option]:
    """Copy options, so that a saved or shared list doesn't change with the session's own."""
    return [copy(option) for option in options]


class OptionResponses:
    """The responses to requests that set an option, which list all options; recent ones stay encoded.

    Converting two dozen models takes longer than the rest of such a request. Authors may change options in place, so a
    response is found by the whole content of the options, not by their identity."""

    MAX_KEPT = 16

    def __init__(self, build: Callable[[list[Option]], Any]) -> None:
        self._build = build
        self._encoded: dict[bytes, Raw] = {}

    def find(self, options: list[Option]) -> Any:
        """Return the response that lists these options."""
        try:
            key = encode_strictly(options)
        except Exception:  # encoding the response repairs it, or explains what is wrong
            return self._build(options)
        response = self._encoded.get(key)
        if response is None:
            if len(self._encoded) >= self.MAX_KEPT:
                self._encoded.clear()
            response = self._encoded[key] = Raw(encode(self._build(options)))
        return response
