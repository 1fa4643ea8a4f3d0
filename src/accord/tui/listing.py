"""The sessions of an agent, as users handle them: opened, forked, renamed, deleted and written to files."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from accord.tui.choosing import Choosing
from accord.tui.fault import beside
from accord.tui.plain import one_line

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.transcript.transcript import Transcript
    from accord.tui.pane import Pane


class Listing(Choosing):
    """The commands about one session of many."""

    def action_sessions(self) -> None:
        beside(self, self._choose_session())

    async def _choose_session(self) -> None:
        """Shows the list until one was opened, or the user goes away."""
        from accord.tui.screens.sessions import UNTITLED, SessionsScreen

        pane = self.active_pane
        agent, session = pane.talk.link.agent, pane.talk.session
        if agent is None or not agent.offers.list:
            self.notify("This agent does not list its sessions.", severity="warning")
            return
        while True:
            current = session.id if session is not None else None
            screen = SessionsScreen(agent, pane.talk.link.title, str(self.outside.cwd), current)
            picked = await self.answer_of(screen)
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
                await self._open_session(pane, picked.id, picked.how, _named(picked.id, title))
                return

    def _shown(self, id: str) -> Pane | None:
        """The tab that shows a session."""
        return next((each for each in self.panes if each.talk.session and each.talk.session.id == id), None)

    async def _open_session(self, pane: Pane, id: str, how: str, name: str) -> None:
        agent, shown = pane.talk.link.agent, self._shown(id)
        assert agent is not None
        if how == "f6":
            earlier = shown.talk.transcript if shown is not None else None
            (await self.add_pane(pane.talk.link)).begin_fork(id, name, earlier)
        elif shown is not None:
            self.show_pane(shown)
        else:
            load = agent.offers.load and how != "f5"
            (await self.add_pane(pane.talk.link)).begin(id, "load" if load else "resume")

    # -- its title, its end

    def action_rename(self) -> None:
        pane = self.active_pane
        session, agent = pane.talk.session, pane.talk.link.agent
        if session is None or agent is None or not agent.offers.title:
            self.notify("This agent does not let its sessions be renamed.", severity="warning")
            return
        beside(self, self._rename(agent, session.id, session.title or ""))

    async def _rename(self, agent: ConnectedAgent, id: str, title: str) -> None:
        from accord.tui.screens.picker import Asking

        new = await self.answer_of(Asking(f"A new title for {_named(id, title)}", one_line(title, 1000)))
        if new and new != title:
            await self.attempt(agent.set_title(id, new), "Renamed.")

    async def _delete(self, agent: ConnectedAgent, id: str, title: str) -> None:
        from accord.tui.screens.picker import Picker, Row

        rows = [Row("no", "No"), Row("yes", "Yes, delete it")]
        sure = await self.answer_of(Picker(f"Delete {_named(id, title)}?", rows))
        if sure is not None and sure.id == "yes":
            await self.attempt(agent.delete_session(id), "Deleted.")

    # -- files of it

    async def export(self, pane: Pane) -> None:
        """Writes what a tab shows to a file."""
        from accord.tui.exporting import whole

        transcript = pane.talk.transcript
        if transcript is None:
            self.notify("Nothing was said here yet.", severity="warning")
            return
        await self._hand_out(whole(transcript, pane.talk.terminal))

    async def _export_listed(self, agent: ConnectedAgent, id: str, title: str) -> None:
        """The same for a session of the list. One that is not open is read for that, and closed again."""
        from accord.errors import AccordError
        from accord.tui.exporting import whole

        shown = self._shown(id)
        if shown is not None:
            await self.export(shown)
            return
        try:
            session = await agent.load_session(id, mcp_servers=[])
        except AccordError as error:
            self.notify(f"It cannot be read: {error}", severity="error", markup=False, timeout=8)
            return
        transcript = session.transcript
        await self.attempt(session.close())
        await self._hand_out(whole(transcript, lambda terminal: None, title))

    async def _hand_out(self, transcript: Transcript) -> None:
        """Asks for a format and a file, and writes it."""
        from accord.tui.exporting import FORMATS, document, free_path, meant, write
        from accord.tui.screens.picker import Asking, Picker, Row

        rows = [Row(kind, name) for kind, name in FORMATS.items()]
        kind = await self.answer_of(Picker("Write it as", rows))
        if kind is None:
            return
        cwd = self.outside.cwd
        usual = await asyncio.to_thread(free_path, cwd, transcript.title, kind.id)
        typed = await self.answer_of(Asking("The file to write to", usual.name))
        if not typed or not typed.strip():
            return
        pieces = document(transcript, kind.id)
        replaces = False
        while True:
            try:
                path = await asyncio.to_thread(meant, typed, cwd, usual)
                await asyncio.to_thread(write, path, pieces, replaces=replaces)
            except FileExistsError:
                sure = [Row("no", "No"), Row("yes", "Yes, replace it")]
                picked = await self.answer_of(Picker(f"{one_line(str(path), 60)} is there already. Replace it?", sure))
                if picked is None or picked.id != "yes":
                    return
                replaces = True
                continue
            except (OSError, ValueError) as error:
                self.notify(f"It cannot be written: {error}", severity="error", markup=False)
                return
            self.notify(f"Written to {path}", markup=False)
            return


def _named(id: str, title: str) -> str:
    return f"“{one_line(title, 60)}”" if title else f"the session {one_line(id, 40)}"
