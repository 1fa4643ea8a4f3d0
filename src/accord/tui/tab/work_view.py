"""The agent's work in a tab: follow it, show the plan, stop things, open files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual.containers import Horizontal

from accord.model.tool import ToolCall
from accord.terminal_text import one_line, sanitize
from accord.tui.errors import explain, run_in_background
from accord.tui.session.activity import NO_RESULT, WorkItem, WorkLocation, locations_of
from accord.tui.session.previous import terminals_of
from accord.tui.tab.panel_slot import PanelSlot
from accord.tui.terminal.editor import edit_text, open_in_editor

if TYPE_CHECKING:
    from accord.model.session import Plan, Subagent
    from accord.tui.app import AccordApp
    from accord.tui.panels.follow import FollowPanel
    from accord.tui.panels.plan import PlanLine
    from accord.tui.screens.picker import Row
    from accord.tui.tab.tab import Tab
    from accord.tui.theme import TextStyles
    from accord.tui.transcript.blocks.base import Block

_TEXT = "text"
_OVER = ("done", "ended", NO_RESULT)


class WorkView:
    """The follow panel and the plan of a tab, and the commands about what its agent is doing."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._follow: PanelSlot[FollowPanel] = PanelSlot(self._mount_follow)
        self._plan: PanelSlot[PlanLine] = PanelSlot(lambda line: tab.mount(line, before=tab.area))

    @property
    def _app(self) -> AccordApp:
        return self._tab.app

    # -- panels

    def fit(self) -> None:
        """Show the follow panel if it is on, beside the transcript or below it."""
        if not self._app.preferences.follow:
            self._follow.hide()
            return
        from accord.tui.panels.follow import BESIDE, FollowPanel

        tab = self._tab
        is_beside = (tab.size.width or self._app.size.width) >= BESIDE
        if self._follow.panel is not None and self._follow.panel.is_beside != is_beside:
            self._follow.hide()
        self._follow.show(lambda: FollowPanel(tab.text_styles, lambda: tab.controller, str(tab.cwd), beside=is_beside))

    def _mount_follow(self, panel: FollowPanel) -> None:
        if panel.is_beside:
            self._tab.query_one(Horizontal).mount(panel, after=self._tab.transcript_view)
        else:
            self._tab.mount(panel, before=self._tab.area)

    def draw(self) -> None:
        """Draw the follow panel, and the plan line unless the side panel shows the plan."""
        if (follow := self._follow.panel) is not None:
            from accord.tui.panels.follow import TALL

            # A permission request needs the space for itself.
            has_room = not self._tab.has_question and self._app.size.height >= TALL
            follow.display = follow.is_beside or has_room
            follow.update()
        side = self._tab.side
        if (side is not None and side.display) or not self.plan_progress():
            self._plan.hide()
            return
        from accord.tui.panels.plan import PlanLine

        self._plan.show(lambda: PlanLine(self._tab.text_styles, self.plan_progress)).refresh()

    def restyle(self, text_styles: TextStyles) -> None:
        if self._plan.panel is not None:
            self._plan.panel.text_styles = text_styles
            self._plan.panel.refresh()
        if self._follow.panel is not None:
            self._follow.panel.restyle(text_styles)

    # -- the plan

    def plans(self) -> list[Plan]:
        """Return the plans of the session."""
        transcript = self._tab.controller.transcript
        return [] if transcript is None else list(transcript.plans.values())

    def plan_progress(self) -> str:
        """Describe in one line how far the agent is; empty without a plan."""
        plans = self.plans()
        if not plans:
            return ""
        from accord.tui.panels.plan import progress

        return progress(plans)

    def show_plan(self) -> None:
        from accord.tui.screens.plan import PlanScreen

        self._app.push_screen(PlanScreen(self.plans))

    # -- background work

    async def choose(self) -> None:
        """List what runs in the background, to look at it or stop it."""
        from accord.tui.screens.picker import Picker

        activity = self._tab.controller.activity
        items = {**dict.fromkeys(activity.stoppable), **dict.fromkeys(activity.subagents)}
        if not items:
            self._app.notify("Nothing runs in the background.")
            return
        background = {each.id for each in activity.background}
        rows = [_row(each, is_background=each.id in background) for each in items]
        picked = await self._app.dialogs.show(Picker("Background work", rows, keys={"f8": "stop"}))
        item = next((each for each in items if picked is not None and picked.id == f"{each.kind} {each.id}"), None)
        if item is None:
            return
        if picked.how != "f8":
            self._go_to(item)
        elif item.can_stop:
            self.stop(item)
        else:
            title = one_line(item.title, 60)
            self._app.notify(f"{title} can't be stopped by itself.", severity="warning")

    def _go_to(self, item: WorkItem) -> None:
        if item.kind == "subagent":
            self.open_subagent(item.id)
        else:
            self.select_call(item.id)

    def select_call(self, id: str) -> None:
        """Select the tool call with this id, or the one that shows this terminal."""
        view = self._tab.transcript_view
        for index, item in reversed(list(enumerate(view.timeline_layout.timeline))):
            if isinstance(item, ToolCall) and (item.id == id or id in terminals_of(item)):
                view.focus()
                view.item_selection.select(index)
                return

    def stop(self, item: WorkItem) -> None:
        """Stop one item; the turn continues."""
        run_in_background(self._tab, self._app.attempt(self._tab.controller.activity.stop(item)))

    def stop_selected(self, selected: ToolCall | Subagent | None) -> None:
        """Stop what runs in a selected transcript item."""
        controller = self._tab.controller
        item = controller.activity.find_stoppable(selected) if selected is not None else None
        if item is not None:
            self.stop(item)
        elif controller.state in ("running", "waiting"):
            self._app.notify("This can't be stopped by itself; Esc stops the whole turn.", severity="warning")
        else:
            self._app.notify("There is nothing to stop here.")

    # -- subagents

    def open_subagent(self, id: str) -> None:
        """Show the session of a subagent in a tab."""
        run_in_background(self._app, self._open_subagent(id))

    async def _open_subagent(self, id: str) -> None:
        from accord.errors import AccordError

        shown = next((each for each in self._app.tabs if each.controller.id == id), None)
        if shown is not None:
            self._app.tabs.show(shown)
            return
        controller = self._tab.controller
        agent = controller.process.agent
        session = agent.sessions.get(id) if agent is not None else None
        if agent is None or session is None:
            self._app.notify("Its messages are no longer available.", severity="warning")
            return
        if not session.transcript.timeline:  # it ran before we connected; the agent may have saved its messages
            if not agent.offers.load:
                self._app.notify("It has no messages yet, and this agent can't load sessions.", severity="warning")
                return
            try:
                await agent.load_session(id)
            except AccordError as error:
                reason = sanitize(explain(error))
                self._app.notify(f"It has no messages yet, and couldn't be loaded: {reason}", severity="warning")
                return
        child = controller.transcript.subagents.get(id) if controller.transcript is not None else None
        title = (child.title if child is not None else None) or "subagent"
        (await self._app.tabs.add(controller.process)).controller.watch(session, title)

    # -- in the user's editor

    def open_item(self, item: object, block: Block) -> None:
        """Open the file of a tool call in the user's editor, or the text of another item."""
        run_in_background(self._tab, self._open_item(item, block))

    async def _open_item(self, item: object, block: Block) -> None:
        locations = locations_of(item) if isinstance(item, ToolCall) else []
        location = locations[0] if locations else None
        if len(locations) > 1 or (location is not None and block.is_truncated):
            picked = await self._pick(locations, block)
            if picked is None:
                return
            location = locations[int(picked)] if picked != _TEXT else None
        if location is not None:
            await self._open_location(location)
            return
        _, problem = await edit_text(self._app, block.whole())
        if problem:
            self._app.notify(problem, severity="error")

    def open_location(self, location: WorkLocation) -> None:
        """Open a file in the user's editor."""
        run_in_background(self._tab, self._open_location(location))

    async def _open_location(self, location: WorkLocation) -> None:
        problem = await open_in_editor(self._app, os.path.join(self._tab.cwd, location.path), location.line)
        if problem:
            self._app.notify(problem, severity="error")

    async def _pick(self, locations: list[WorkLocation], block: Block) -> str | None:
        from accord.tui.screens.picker import Picker, Row

        rows = [Row(str(at), self._shorten(each)) for at, each in reversed(list(enumerate(locations)))]
        rows.append(Row(_TEXT, "The whole text of the tool call", one_line(block.text(), 60)))
        picked = await self._app.dialogs.show(Picker("Open in the editor", rows))
        return None if picked is None else picked.id

    def _shorten(self, location: WorkLocation) -> str:
        path = location.path.removeprefix(f"{self._tab.cwd}/")
        return path if location.line is None else f"{path}:{location.line}"


def _row(item: WorkItem, *, is_background: bool) -> Row:
    from accord.tui.screens.picker import Row

    kind = {"tool_call": "tool call", "terminal": "command"}.get(item.kind, item.kind.replace("_", " "))
    about = [kind, item.state, "in the background" if is_background else ""]
    if not item.can_stop and item.state not in _OVER:
        about.append("can't be stopped by itself")
    return Row(f"{item.kind} {item.id}", item.title, ", ".join(filter(None, about)))
