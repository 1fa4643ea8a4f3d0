"""The model and effort that a session has chosen, and the model object while it is in use."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from accord.coder.models.base import ModelError
from accord.errors import AccordError, AuthRequired, RequestFailed
from accord.model.session import Option

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.coder.models.base import Model
    from accord.coder.shared_resources import SharedResources

PRELOAD_DELAY_SECONDS = 0.1
"""Preloading starts after this delay, so that the response which opens the session is sent first."""


class ModelChoice:
    """Offers the models a session can use and opens the chosen one when it is first needed."""

    def __init__(self, session: Session, shared: SharedResources) -> None:
        self._session = session
        self._shared = shared
        self.is_fallback: bool = False
        """Whether the session uses the offline model only because nothing else is configured."""
        self._model: Model | None = None
        self._opened_for: tuple[str, int] = ("", 0)
        """The model id and the number of logins when `_model` was opened: a login can change its key."""
        self._opening = asyncio.Lock()
        self._replaced: list[Model] = []
        """Models that a running turn may still use."""
        self._preloading: asyncio.Task[None] | None = None

    # -- options

    def options(self) -> list[Option]:
        """Return the session's options as it opens: mode, model, and effort if the model has it."""
        before = self._session.values_before.get("model")
        return self._options(str(before) if before is not None else None)

    def _options(self, model_id: str | None) -> list[Option]:
        cwd = self._session.cwd
        mode = self._session.by_category("mode")
        model = self._shared.model_option(cwd, model_id)
        effort = self._shared.effort_option(cwd, str(model.value))
        return [option for option in (mode, model, effort) if option is not None]

    async def offer_models(self) -> None:
        """Offer the models that are available now, after a login. The session keeps its model, unless that is a
        fallback."""
        old = {option.id: option for option in self._session.options}
        keeps = "model" in old and not self.is_fallback
        options = self._options(str(old["model"].value) if keeps else None)
        for option in options:
            if option.id == "effort":
                _keep_value(option, old.get("effort"))
        if options != self._session.options:
            await self._session.set_options(options)

    async def select(self, model_id: str) -> None:
        """Switch to another model, and offer its efforts."""
        self.is_fallback = False
        await self.retire()
        effort = self._shared.effort_option(self._session.cwd, model_id)
        others = [each for each in self._session.options if each.id != "effort"]
        if effort is not None:
            _keep_value(effort, self._session.option("effort"))
        self._session.options = [*others, effort] if effort is not None else others

    @property
    def effort(self) -> str | None:
        option = self._session.option("effort")
        return str(option.value) if option is not None else None

    # -- the model itself

    async def get(self) -> Model:
        """Return the chosen model, opened if necessary. Raises an error for the client if it can't be used."""
        option = self._session.option("model")
        assert option is not None
        async with self._opening:
            wanted = (str(option.value), self._shared.logins)
            if self._opened_for != wanted:
                await self.retire()
            if self._model is None:
                try:
                    self._model = await self._shared.model(self._session.cwd, wanted[0])
                except ModelError as error:
                    raise to_request_error(error) from error
                self._opened_for = wanted
            return self._model

    async def open_fallback(self, id: str) -> Model:
        """Open another model for the rest of the running turn. Raises `ModelError` if it can't be used."""
        model = await self._shared.model(self._session.cwd, id)
        self._replaced.append(model)  # closed when the turn ends
        return model

    def preload(self) -> None:
        """Load what the model needs while the user is still typing."""
        self._preloading = asyncio.get_running_loop().create_task(self._preload())

    async def _preload(self) -> None:
        await asyncio.sleep(PRELOAD_DELAY_SECONDS)
        with contextlib.suppress(AccordError):  # reported when a prompt needs the model
            (await self.get()).warm()

    async def retire(self) -> None:
        """Stop using the current model. A running turn keeps it until it ends."""
        if self._model is not None:
            self._replaced.append(self._model)
            self._model = None
        if self._session.turns.working is None:
            await self.close_replaced()

    async def close_replaced(self) -> None:
        """Close the models that no turn uses any more."""
        replaced, self._replaced = self._replaced, []
        for model in replaced:
            await model.close()

    async def close(self) -> None:
        if self._preloading is not None:
            self._preloading.cancel()
        await self.retire()
        await self.close_replaced()


def to_request_error(error: ModelError) -> RequestFailed:
    """Return the error that the client receives when the model can't answer."""
    if error.kind == "key":
        return AuthRequired(str(error), data={"kind": "key", **error.details})
    return RequestFailed(str(error), data={"kind": error.kind or "provider", "retry": error.retry, **error.details})


def _keep_value(option: Option, before: Option | None) -> None:
    """Keep the value an option had before, if it is still one of the choices."""
    if before is not None and before.value in [each.value for each in option.choices]:
        option.value = before.value
