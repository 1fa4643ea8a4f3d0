"""Tabs and agents, as users handle them; what is done with one of many sessions is in listing.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.tui.fault import beside
from accord.tui.link import Link
from accord.tui.listing import Listing

if TYPE_CHECKING:
    from accord.tui.pane import Pane


class Sessions(Listing):
    """The commands about tabs, the prompts of all of them, and agents."""

    async def action_new_session(self) -> None:
        if self.active_pane.talk.link.state == "undecided":
            self.start_page()
            return
        (await self.add_pane(self.active_pane.talk.link)).begin()

    def action_history(self) -> None:
        beside(self, self._choose_prompt())

    async def _choose_prompt(self) -> None:
        from accord.tui.screens.history import HistoryScreen

        pane = self.active_pane
        self.past.look_again()
        picked = await self.answer_of(HistoryScreen(self.past, str(self.outside.cwd)))
        if picked is not None:
            pane.editor.recall(self.past.everything[int(picked.id)].text)
            pane.editor.focus()

    def action_next_tab(self) -> None:
        self._turn_tabs(1)

    def action_previous_tab(self) -> None:
        self._turn_tabs(-1)

    def _turn_tabs(self, by: int) -> None:
        panes = self.panes
        self.show_pane(panes[(panes.index(self.active_pane) + by) % len(panes)])

    def action_close_tab(self) -> None:
        if len(self.panes) == 1:
            self.notify("This is the last tab: ctrl+c twice quits.")
            return
        beside(self, self._close_tab(self.active_pane))

    async def _close_tab(self, pane: Pane) -> None:
        from accord.tui.screens.picker import Picker, Row

        why = []
        if pane.talk.state in ("running", "waiting"):
            why.append("The agent is at work here; it is stopped.")
        if pane.unsent:
            why.append("What was not sent is in the history: ↑ brings it back.")
        if why:
            rows = [Row("no", "No, keep it open"), Row("yes", "Yes, close it")]
            sure = await self.answer_of(Picker("Close the tab?", rows, about=" ".join(why)))
            if sure is None or sure.id != "yes":
                return
        for text in pane.unsent:
            self.past.add(text)
        if pane not in self.panes or len(self.panes) == 1:
            return
        link = pane.talk.link
        if pane is self.active_pane:
            self._turn_tabs(-1)
        pane.is_closing = True  # from now on: another one may be closed while the agent takes its time
        self.tabs.show(self.panes)
        await pane.close()
        await pane.remove()
        self.tabs.show(self.panes)
        if not any(each.talk.link is link for each in self.panes):
            self.links.remove(link)
            beside(self, link.close())

    # -- the agent

    def action_restart(self) -> None:
        pane = self.active_pane
        if pane.talk.state != "gone":
            self.notify("The agent is there. To end one that does not react: f12.")
            return
        beside(self, self._restart(pane))

    async def _restart(self, pane: Pane) -> None:
        old = pane.talk.link
        if old.is_open:  # only the session is not there
            pane.restart(old, pane.talk.id)
            return
        link = Link(self.outside, old.target, self)
        link.log = old.log  # what it did before it was gone is still to be looked at
        link.log.add("trouble", b"it is started again")
        link.notes = old.notes
        self.links[self.links.index(old)] = link
        beside(self, old.close())
        self.open_link(link)
        for each in self.panes:
            if each.talk.link is old:
                each.restart(link, each.talk.id)

    def give_up(self, pane: Pane) -> None:
        """Ends a start that the user does not want to wait for. An agent that other tabs talk with goes on."""
        talk, link = pane.talk, pane.talk.link
        if link.state == "starting":
            link.give_up()
            return
        talk.give_up()
        if not any(each.talk.link is link and each.talk.session is not None for each in self.panes):
            link.was_killed = True
            link.kill()

    def action_kill(self) -> None:
        talk, link = self.active_pane.talk, self.active_pane.talk.link
        if link.state == "undecided":
            self.notify("There is no agent yet: ctrl+n chooses one.")
            return
        if talk.state in ("starting", "opening"):
            self.give_up(self.active_pane)
            return
        if link.state in ("gone", "failed"):
            self.notify("The agent is gone already: ctrl+r starts it again.")
            return
        beside(self, self._kill(link))

    async def _kill(self, link: Link) -> None:
        from accord.tui.screens.picker import Picker, Row

        if not self.active_pane.talk.is_stuck:
            rows = [Row("no", "No"), Row("yes", "Yes, end it")]
            sure = await self.answer_of(Picker("End the agent at once?", rows, about="ctrl+r starts it again."))
            if sure is None or sure.id != "yes":
                return
        link.was_killed = True
        link.kill()

    def action_logs(self) -> None:
        from accord.tui.screens.logs import LogScreen

        self.push_screen(LogScreen(self.active_pane.talk.link, self.outside.cwd))
