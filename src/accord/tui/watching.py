"""Watching the agent at work: following it, its plan, and what goes on beside the conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.tui.conversation.block import UNTOLD
from accord.tui.fault import beside
from accord.tui.plain import one_line, plain
from accord.tui.sessions import Sessions

if TYPE_CHECKING:
    from accord.tui.screens.picker import Row
    from accord.tui.work import Running
    from accord.tui.workbench import Workbench


class Watching(Sessions):
    """The commands about what agents do."""

    def action_follow(self) -> None:
        self.preferences.follow = not self.preferences.follow
        self.keep_settings()
        for pane in self.panes:
            pane.fit_panels()

    def action_plan(self) -> None:
        from accord.tui.screens.plan import PlanScreen

        self.push_screen(PlanScreen(self.active_pane.plans))

    def action_waiting_tab(self) -> None:
        """Goes to the next tab in which something is asked."""
        panes = self.panes
        at = panes.index(self.active_pane)
        waiting = [pane for pane in [*panes[at + 1 :], *panes[:at]] if pane.talk.state == "waiting"]
        if waiting:
            self.show_pane(waiting[0])
        else:
            self.notify("No other tab waits for you.")

    # -- beside the conversation

    def action_work(self) -> None:
        beside(self, self._choose_work())

    async def _choose_work(self) -> None:
        """What goes on beside the conversation, to be looked at or stopped."""
        from accord.tui.screens.picker import Picker

        pane = self.active_pane
        going = {**dict.fromkeys(pane.talk.work.stoppable), **dict.fromkeys(pane.talk.work.children)}
        if not going:
            self.notify("Nothing goes on beside this conversation.")
            return
        listed = {each.id for each in pane.talk.work.background}
        rows = [_row(each, is_listed=each.id in listed) for each in going]
        picked = await self.answer_of(Picker("At work", rows, keys={"f8": "stops it"}))
        what = next((each for each in going if picked is not None and picked.id == f"{each.kind} {each.id}"), None)
        if what is None:
            return
        if picked.how != "f8":
            self._go_to(pane, what)
        elif what.can_stop:
            pane.stop_work(what)
        else:
            self.notify(f"{one_line(what.title, 60)} cannot be stopped alone.", severity="warning", markup=False)

    def _go_to(self, pane: Workbench, what: Running) -> None:
        if what.kind == "subagent":
            self.open_subagent(pane, what.id)
        else:
            pane.show_call(what.id)

    # -- subagents

    def open_subagent(self, pane: Workbench, id: str) -> None:
        """Shows what a subagent says, in a tab."""
        beside(self, self._open_subagent(pane, id))

    async def _open_subagent(self, pane: Workbench, id: str) -> None:
        from accord.errors import AccordError

        shown = next((each for each in self.panes if each.talk.id == id), None)
        if shown is not None:
            self.show_pane(shown)
            return
        agent, transcript = pane.talk.link.agent, pane.talk.transcript
        session = agent.sessions.get(id) if agent is not None else None
        if agent is None or session is None:
            self.notify("Nothing is known any more of what it said.", severity="warning")
            return
        if not session.transcript.timeline:  # it worked before we were there: its agent may have kept what it said
            if not agent.offers.load:
                self.notify("It has said nothing yet, and this agent does not load sessions.", severity="warning")
                return
            try:
                await agent.load_session(id)
            except AccordError as error:
                words = f"It has said nothing yet, and cannot be loaded: {plain(str(error))}"
                self.notify(words, severity="warning", markup=False)
                return
        child = transcript.subagents.get(id) if transcript is not None else None
        title = (child.title if child is not None else None) or "subagent"
        (await self.add_pane(pane.talk.link)).talk.watch(session, title)


def _row(what: Running, *, is_listed: bool) -> Row:
    from accord.tui.screens.picker import Row

    kind = {"tool_call": "tool call", "terminal": "command"}.get(what.kind, what.kind.replace("_", " "))
    about = [
        kind,
        what.state,
        "in the background" if is_listed else "",
        "" if what.can_stop else "cannot be stopped alone",
    ]
    if what.state in ("done", "ended", UNTOLD):
        about.pop()
    return Row(f"{what.kind} {what.id}", what.title, ", ".join(filter(None, about)))
