"""One tab, as far as it is about the agent's work: files in the editor, following it, the plan, stopping things."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual.containers import Horizontal

from accord.model.tool import ToolCall
from accord.tui.conversation.subagent import Delegated
from accord.tui.earlier import terminals_of
from accord.tui.editing import edit_text, open_in_editor
from accord.tui.fault import beside
from accord.tui.plain import one_line
from accord.tui.resuming import Resuming
from accord.tui.work import Place, Running, places_of

if TYPE_CHECKING:
    from accord.model.session import Plan
    from accord.tui.conversation.block import Block
    from accord.tui.conversation.view import Conversation
    from accord.tui.link import Link
    from accord.tui.look import Look
    from accord.tui.panels.follow import FollowPanel
    from accord.tui.panels.plan import PlanLine
    from accord.tui.panels.side import SidePanel

_TEXT = "text"


class Workbench(Resuming):
    """A talk on the screen, and what the user does about the work in it."""

    _follow: FollowPanel | None = None
    _plan: PlanLine | None = None

    def restart(self, link: Link, id: str | None, *, is_known: bool = True) -> None:
        """Goes on with an agent that was started again. What a subagent said stays to be read, and no more."""
        if self.talk.parent is None:
            super().restart(link, id, is_known=is_known)
            return
        self.talk.link = link
        self.app.notify("A subagent ends with the session that it worked for.", severity="warning")

    # -- the panels

    @property
    def side_fits(self) -> bool:
        if not self.app.preferences.follow or not super().side_fits:
            return super().side_fits
        from accord.tui.panels.follow import leaves_room

        return leaves_room(self.app.size.width)

    def fit_panels(self) -> None:
        """Shows the panels that are wanted and have room."""
        if not self.is_mounted:
            return  # it is done once the tab has its size
        super().fit_panels()
        self._fit_follow()
        self.draw_work()

    def _fit_follow(self) -> None:
        wanted = self.app.preferences.follow
        if not wanted and self._follow is None:
            return
        from accord.tui.panels.follow import BESIDE, FollowPanel

        beside = self.app.size.width >= BESIDE
        if self._follow is not None and (not wanted or self._follow.is_beside != beside):
            self._follow.remove()
            self._follow = None
        if wanted and self._follow is None:
            self._follow = FollowPanel(self.look, lambda: self.talk, str(self.cwd), beside=beside)
            if beside:
                self.query_one(Horizontal).mount(self._follow, after=self.conversation)
            else:
                self.mount(self._follow, before=self.area)

    @property
    def side(self) -> SidePanel | None:
        """The side panel, where there is room for it."""
        return self._side

    def draw_work(self) -> None:
        """Keeps up with the agent; and tells how far it is with its plan, where the side panel does not."""
        if self._follow is not None:
            from accord.tui.panels.follow import TALL

            has_room = self._question is None and self.app.size.height >= TALL
            self._follow.display = self._follow.is_beside or has_room  # a question needs the room for itself
            self._follow.update()
        words = self.progress() if self._side is None else ""
        if words and self._plan is None:
            from accord.tui.panels.plan import PlanLine

            self._plan = PlanLine(self.look, self.progress)
            self.mount(self._plan, before=self.area)
        elif not words and self._plan is not None:
            self._plan.remove()
            self._plan = None
        elif self._plan is not None:
            self._plan.refresh()

    def plans(self) -> list[Plan]:
        """The plans of the session."""
        transcript = self.talk.transcript
        return [] if transcript is None else list(transcript.plans.values())

    def progress(self) -> str:
        """How far the agent is, in a line; nothing when it has no plan."""
        plans = self.plans()
        if not plans:
            return ""
        from accord.tui.panels.plan import progress

        return progress(plans)

    def restyle(self, look: Look) -> None:
        super().restyle(look)
        if self._plan is not None:
            self._plan.look = look
        if self._follow is not None:
            self._follow.restyle(look)

    def on_plan_line_wanted(self, message: PlanLine.Wanted) -> None:
        message.stop()
        self.app.action_plan()

    def on_follow_panel_chosen(self, message: FollowPanel.Chosen) -> None:
        message.stop()
        beside(self, self._open_place(message.place))

    # -- stopping and going into things

    def on_conversation_stopped(self, message: Conversation.Stopped) -> None:
        message.stop()
        item = message.item
        subject = item.child if isinstance(item, Delegated) else item if isinstance(item, ToolCall) else None
        what = self.talk.work.stoppable_of(subject) if subject is not None else None
        if what is not None:
            self.stop_work(what)
        elif self.talk.state in ("running", "waiting"):
            self.app.notify("This cannot be stopped alone; esc stops the whole turn.", severity="warning")
        else:
            self.app.notify("There is nothing to be stopped here.")

    def stop_work(self, what: Running) -> None:
        """Stops one thing that goes on."""
        beside(self, self.app.attempt(self.talk.work.stop(what)))

    def on_conversation_entered(self, message: Conversation.Entered) -> None:
        message.stop()
        if isinstance(message.item, Delegated):
            self.app.open_subagent(self, message.item.child.session_id)

    def show_call(self, id: str) -> None:
        """Selects the tool call of this id, or the one that shows this terminal."""
        for index, item in reversed(list(enumerate(self.conversation.layout_of.timeline))):
            if isinstance(item, ToolCall) and (item.id == id or id in terminals_of(item)):
                self.conversation.focus()
                self.conversation.select(index)
                return

    # -- in the editor

    def on_conversation_opened(self, message: Conversation.Opened) -> None:
        message.stop()
        beside(self, self._open(message.item, message.block))

    async def _open(self, item: object, block: Block) -> None:
        """Opens the file that a tool call is about, one of several as the user picks; or all of the text."""
        places = places_of(item) if isinstance(item, ToolCall) else []
        place = places[0] if places else None
        if len(places) > 1 or (place is not None and block.is_cut):
            picked = await self._pick(places, block)
            if picked is None:
                return
            place = places[int(picked)] if picked != _TEXT else None
        if place is not None:
            await self._open_place(place)
            return
        _, trouble = await edit_text(self.app, block.whole())
        if trouble:
            self.app.notify(trouble, severity="error", markup=False)

    async def _open_place(self, place: Place) -> None:
        trouble = await open_in_editor(self.app, os.path.join(self.cwd, place.path), place.line)
        if trouble:
            self.app.notify(trouble, severity="error", markup=False)

    async def _pick(self, places: list[Place], block: Block) -> str | None:
        from accord.tui.screens.picker import Picker, Row

        newest = [(at, self._short(place)) for at, place in reversed(list(enumerate(places)))]
        rows = [Row(str(at), words) for at, words in newest]
        rows.append(Row(_TEXT, "All that the tool call says", one_line(block.text(), 60)))
        picked = await self.app.answer_of(Picker("Open in the editor", rows))
        return None if picked is None else picked.id

    def _short(self, place: Place) -> str:
        path = place.path.removeprefix(f"{self.cwd}/")
        return path if place.line is None else f"{path}:{place.line}"

    def edit_prompt(self) -> None:
        """The prompt in the user's own editor."""
        beside(self, self._edit_prompt())

    async def _edit_prompt(self) -> None:
        before = self.editor.text
        text, trouble = await edit_text(self.app, before)
        if trouble:
            self.app.notify(trouble, severity="error", markup=False)
        now = self.editor.text  # a prompt that could not be sent may have come back meanwhile
        self.editor.set_text("\n\n".join(filter(None, [text.rstrip("\n"), now if now != before else ""])))
