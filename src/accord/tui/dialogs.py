"""Modal screens: show one and wait for the user's answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from accord.tui.app import AccordApp
    from accord.tui.screens.modal import Modal


class Dialogs:
    """Shows modal screens above the application and returns their results."""

    def __init__(self, app: AccordApp) -> None:
        self._app = app

    async def show(self, screen: Modal[Any]) -> Any:
        """Show a screen and return its result. If the caller is cancelled, the screen closes."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def take(value: Any) -> None:
            if not answer.done():
                answer.set_result(value)

        try:
            await self._app.push_screen(screen, take)
            return await answer
        except asyncio.CancelledError:
            screen.withdraw()
            raise

    async def confirm(
        self, question: str, yes: str, *, no: str = "No", about: str = "", is_harmless: bool = False
    ) -> bool:
        """Ask the user to confirm something. If it is harmless, Enter confirms it."""
        from accord.tui.screens.picker import Picker, Row

        rows = [Row("no", no), Row("yes", yes)]
        picked = await self.show(Picker(question, rows[::-1] if is_harmless else rows, about=about))
        return picked is not None and picked.id == "yes"
