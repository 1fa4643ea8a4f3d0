"""What the user sets in a session of the coding agent: its model, how hard it thinks, and the login it takes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

from accord.errors import AccordError, AuthRequired
from accord.model.session import Option

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.coder.desk import Desk
    from accord.coder.equipment import Equipment

log = logging.getLogger("accord.coder")
WARM_AFTER = 0.1


class Settings:
    """The part of the agent that knows which model a session works with."""

    equipment: Equipment
    open_sessions: set[Session]

    def desk(self, session: Session) -> Desk:
        raise NotImplementedError

    def options_of(self, session: Session) -> list[Option]:
        """The mode, the model, and how hard it thinks where it can be told."""
        wanted = session.values_before.get("model")
        return self._options(session, str(wanted) if wanted is not None else None)

    def _options(self, session: Session, wanted: str | None) -> list[Option]:
        mode = session.by_category("mode")
        model = self.equipment.model_option(session.cwd, wanted)
        effort = self.equipment.effort_option(session.cwd, str(model.value))
        return [option for option in (mode, model, effort) if option is not None]

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        if option.category == "mode":
            self.desk(session).planning = False
        if option.id == "model":
            session.data["makeshift"] = False
            await self.desk(session).change_model()
            effort = self.equipment.effort_option(session.cwd, str(value))
            kept = session.option("effort")
            if effort is not None and kept is not None and kept.value in [each.value for each in effort.choices]:
                effort.value = kept.value
            others = [each for each in session.options if each.id != "effort"]
            session.options = [*others, effort] if effort is not None else others

    async def login(self, method_id: str) -> None:
        """Looks for keys. Without one the agent is of use all the same, and some clients log in before anything else:
        sessions say that they work offline."""
        missing = ""
        try:
            await self.equipment.login(method_id)
        except AuthRequired as error:
            missing = error.message
            log.warning("%s", missing)
        for session in list(self.open_sessions):
            with contextlib.suppress(AccordError):  # the login has worked, whatever one session's project says
                if missing:
                    await self.desk(session).tell_user("No key was found", missing, severity="warning")
                await self._offer_models(session)

    async def _offer_models(self, session: Session) -> None:
        """Offers the models that can be had now. A session keeps the one it has, unless it had to make do with it."""
        old = {option.id: option for option in session.options}
        keeps = "model" in old and not session.data.get("makeshift")
        options = self._options(session, str(old["model"].value) if keeps else None)
        for option in options:
            before = old.get(option.id)
            if option.id == "effort" and before is not None and before.value in [each.value for each in option.choices]:
                option.value = before.value
        if options != session.options:
            await session.set_options(options)

    async def model(self, session: Session) -> Any:
        """The model that a session has chosen. Raises what the client can be told when it cannot be had."""
        from accord.coder.desk import failure
        from accord.coder.models.base import ModelError

        desk = self.desk(session)
        option = session.option("model")
        assert option is not None
        async with desk.choosing:
            wanted = (str(option.value), self.equipment.logins)
            if desk.model_named != wanted:
                await desk.change_model()
            if desk.model is None:
                try:
                    desk.model = await self.equipment.model(session.cwd, wanted[0])
                except ModelError as error:
                    raise failure(error) from error
                desk.model_named = wanted
            return desk.model

    async def warm(self, session: Session) -> None:
        """Loads what the session's model needs while the user still types, once the answer has left."""
        await asyncio.sleep(WARM_AFTER)
        with contextlib.suppress(AccordError):  # told when the model is asked
            (await self.model(session)).warm()
