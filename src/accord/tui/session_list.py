"""The list of an agent's sessions: open, fork, rename, delete and export them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from accord.terminal_text import one_line
from accord.tui.errors import run_in_background

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.transcript.transcript import Transcript
    from accord.tui.app import AccordApp
    from accord.tui.tab.tab import Tab


class SessionList:
    """Lists the sessions of an agent, to open, fork, rename, delete or export one."""

    def __init__(self, app: AccordApp) -> None:
        self._app = app

    def show(self) -> None:
        run_in_background(self._app, self._choose_session())

    async def _choose_session(self) -> None:
        """Show the list until the user opens a session or leaves."""
        from accord.tui.screens.sessions import UNTITLED, SessionsScreen

        tab = self._app.tabs.active
        agent, session = tab.controller.process.agent, tab.controller.session
        if agent is None or not agent.offers.list:
            self._app.notify("This agent doesn't list its sessions.", severity="warning")
            return
        while True:
            current = session.id if session is not None else None
            screen = SessionsScreen(agent, tab.controller.process.title, str(self._app.host.cwd), current)
            picked = await self._app.dialogs.show(screen)
            if picked is None:
                return
            title = "" if picked.label == UNTITLED else picked.label
            if picked.how == "f7":
                await self._rename(agent, picked.id, title)
            elif picked.how == "f8":
                await self._delete(agent, picked.id, title)
            elif picked.how == "f9":
                await self._export_listed(agent, picked.id, title)
            else:
                await self.open(tab, picked.id, picked.how, _describe(picked.id, title))
                return

    async def open(self, tab: Tab, id: str, how: str, name: str) -> None:
        agent, shown = tab.controller.process.agent, self._app.tabs.find_session(id)
        assert agent is not None
        if how == "f6":
            earlier = shown.controller.transcript if shown is not None else None
            (await self._app.tabs.add(tab.controller.process)).begin_fork(id, name, earlier)
        elif shown is not None:
            self._app.tabs.show(shown)
        else:
            load = agent.offers.load and how != "f5"
            (await self._app.tabs.add(tab.controller.process)).begin(id, "load" if load else "resume")

    # -- renaming and deleting

    def rename(self, tab: Tab) -> None:
        """Rename the session of a tab."""
        session, agent = tab.controller.session, tab.controller.process.agent
        if session is None or agent is None or not agent.offers.title:
            self._app.notify("This agent can't rename sessions.", severity="warning")
            return
        run_in_background(self._app, self._rename(agent, session.id, session.title or ""))

    async def _rename(self, agent: ConnectedAgent, id: str, title: str) -> None:
        from accord.tui.screens.picker import LineInputScreen

        new = await self._app.dialogs.show(
            LineInputScreen(f"New title for {_describe(id, title)}", one_line(title, 1000))
        )
        if new and new != title:
            await self._app.attempt(agent.set_title(id, new), "Renamed.")

    async def _delete(self, agent: ConnectedAgent, id: str, title: str) -> None:
        if await self._app.dialogs.confirm(f"Delete {_describe(id, title)}?", "Yes, delete it"):
            await self._app.attempt(agent.delete_session(id), "Deleted.")

    # -- exporting

    async def export(self, tab: Tab) -> None:
        """Export the transcript of a tab to a file."""
        from accord.tui.export import copy_for_export

        transcript = tab.controller.transcript
        if transcript is None:
            self._app.notify("There is nothing to export yet.", severity="warning")
            return
        await self._write(copy_for_export(transcript, tab.controller.terminal))

    async def _export_listed(self, agent: ConnectedAgent, id: str, title: str) -> None:
        """Export a listed session. One that isn't open is loaded for that and closed again."""
        from accord.errors import AccordError
        from accord.tui.export import copy_for_export

        shown = self._app.tabs.find_session(id)
        if shown is not None:
            await self.export(shown)
            return
        try:
            session = await agent.load_session(id, mcp_servers=[])
        except AccordError as error:
            self._app.notify(f"Couldn't load the session: {error}", severity="error", markup=False, timeout=8)
            return
        transcript = session.transcript
        await self._app.attempt(session.close())
        await self._write(copy_for_export(transcript, lambda terminal: None, title))

    async def _write(self, transcript: Transcript) -> None:
        """Ask for a format and a file, and write it."""
        from accord.tui.export import FORMATS, document, find_free_path, resolve_path, write
        from accord.tui.screens.picker import LineInputScreen, Picker, Row

        rows = [Row(kind, name) for kind, name in FORMATS.items()]
        kind = await self._app.dialogs.show(Picker("Export as", rows))
        if kind is None:
            return
        cwd = self._app.host.cwd
        usual = await asyncio.to_thread(find_free_path, cwd, transcript.title, kind.id)
        typed = await self._app.dialogs.show(LineInputScreen("File to write", usual.name))
        if not typed or not typed.strip():
            return
        pieces = document(transcript, kind.id)
        replaces = False
        while True:
            try:
                path = await asyncio.to_thread(resolve_path, typed, cwd, usual)
                await asyncio.to_thread(write, path, pieces, replaces=replaces)
            except FileExistsError:
                question = f"{one_line(str(path), 60)} already exists. Replace it?"
                if not await self._app.dialogs.confirm(question, "Yes, replace it"):
                    return
                replaces = True
                continue
            except (OSError, ValueError) as error:
                self._app.notify(f"Couldn't write the file: {error}", severity="error", markup=False)
                return
            self._app.notify(f"Exported to {path}", markup=False)
            return


def _describe(id: str, title: str) -> str:
    return f"“{one_line(title, 60)}”" if title else f"the session {one_line(id, 40)}"
