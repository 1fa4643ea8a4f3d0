"""The attention list: publishes the sessions of this client, and shows those of all clients on this machine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from accord.config.command import BUILT_IN
from accord.process.thread import run_in_thread
from accord.status.attention_list import AttentionList
from accord.status.entry import SessionStatus, State, describe
from accord.status.publisher import Publisher
from accord.tui.errors import run_in_background

if TYPE_CHECKING:
    from accord.tui.app import AccordApp
    from accord.tui.session.controller import SessionController
    from accord.tui.tab.tab import Tab


class Overview:
    """Publishes the state of each tab, including whether the user has seen the end of its last turn."""

    def __init__(self, app: AccordApp) -> None:
        self._app = app
        self._publisher = Publisher()
        self._unseen: set[Tab] = set()
        self._opened: set[str] = set()
        """Sessions that were opened here, so that their earlier ends have been seen."""

    def note_end(self, tab: Tab, *, is_seen: bool) -> None:
        """Remember a turn that ended while the user wasn't looking."""
        if not is_seen:
            self._unseen.add(tab)

    def publish(self) -> None:
        """Publish the sessions of all tabs, if anything has changed."""
        tabs = list(self._app.tabs)
        here = self._app.attention.is_here
        self._unseen = {tab for tab in self._unseen if tab in tabs and not (here and tab.display)}
        found = [status for tab in tabs if (status := self._describe(tab)) is not None]
        self._publisher.publish(found)
        if new := {each.id for each in found} - self._opened:
            self._opened |= new
            run_in_background(self._app, _mark_seen(new))

    def close(self) -> None:
        """End publishing, when the client exits. Unseen turns stay in the list."""
        self._publisher.close(unseen=True)

    def _describe(self, tab: Tab) -> SessionStatus | None:
        controller = tab.controller
        if controller.id is None or controller.parent is not None:
            return None
        state, why = _state(controller)
        if (budget := self._app.budgets.find_question(tab)) is not None:
            state, why = "waiting", budget
        elif state == "idle" and tab in self._unseen:
            state = "finished"
        name = self._app.host.resolve_name(controller.process.target)
        return SessionStatus(
            id=controller.id,
            agent=BUILT_IN if name == BUILT_IN else describe(name, 300),
            cwd=str(self._app.host.cwd),
            state=state,
            title=describe(controller.title),
            why=describe(why),
        )

    # -- the list

    def show(self) -> None:
        """Show the sessions of all clients, and open the one that the user chooses."""
        run_in_background(self._app, self._choose())

    async def _choose(self) -> None:
        from accord.tui.screens.overview import OverviewScreen

        self.publish()
        screen = OverviewScreen(AttentionList())
        picked = await self._app.dialogs.show(screen)
        status = screen.find(picked.id) if picked is not None else None
        if status is None:
            return
        tab = self._app.tabs.find_session(status.id)
        if tab is not None:
            self._app.tabs.show(tab)
            return
        process = self._app.tabs.active.controller.process
        is_same = self._app.host.resolve_name(process.target) == status.agent and process.agent is not None
        if is_same and status.cwd == str(self._app.host.cwd):
            await self._app.session_list.open(self._app.tabs.active, status.id, "enter", status.title)
        else:
            self._app.notify(f"To open it, run in a terminal: {status.open_command}", timeout=15)


async def _mark_seen(ids: set[str]) -> None:
    def mark() -> None:
        found = AttentionList()
        if found.directory.is_dir():
            found.mark_seen(*ids)

    try:
        await run_in_thread(mark)
    except (OSError, asyncio.CancelledError):
        return


def _state(controller: SessionController) -> tuple[State, str]:
    """Return the state of a session for the list, and the reason."""
    match controller.state:
        case "waiting" if controller.permissions:
            question = controller.permissions[0].question
            asked = question.request.title if question.request is not None else question.action.title
            return "waiting", asked or question.action.line or question.action.kind
        case "waiting":
            return "waiting", "The agent asks something"
        case "running":
            return "running", ""
        case "gone":
            return "failed", controller.failure or controller.process.failure or "The agent has exited"
        case _:
            return "idle", ""
