"""One tab: the transcript, the prompt and the panels of one session, and what the user does there."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from accord.model.session import Subagent
from accord.model.tool import ToolCall
from accord.tui.errors import run_in_background
from accord.tui.panels.key_line import KeyLine
from accord.tui.panels.status import StatusLine
from accord.tui.prompt.area import PromptArea
from accord.tui.prompt.editor import Editor
from accord.tui.session.controller import SessionController
from accord.tui.session.opener import OpenMode
from accord.tui.session.restart import reopen, replace, take_over
from accord.tui.tab.action_view import ActionView
from accord.tui.tab.empty_text import EmptyText
from accord.tui.tab.frame_schedule import FrameSchedule
from accord.tui.tab.panel_slot import PanelSlot
from accord.tui.tab.permission_view import PermissionView
from accord.tui.tab.prompt_input import PromptInput
from accord.tui.tab.prompt_keys import PromptKeys
from accord.tui.tab.queue_view import QueueView
from accord.tui.tab.review_view import ReviewView
from accord.tui.tab.session_commands import SessionCommands
from accord.tui.tab.shell_input import ShellInput
from accord.tui.tab.welcome_view import WelcomeView
from accord.tui.tab.work_view import WorkView
from accord.tui.transcript.blocks.base import BlockContext
from accord.tui.transcript.view import TranscriptView

if TYPE_CHECKING:
    from accord.client.turn import Turn
    from accord.transcript.transcript import Transcript
    from accord.tui.agent.process import AgentProcess
    from accord.tui.app import AccordApp
    from accord.tui.panels.actions import ActionPanel
    from accord.tui.panels.follow import FollowPanel
    from accord.tui.panels.permission import PermissionPanel
    from accord.tui.panels.plan import PlanLine
    from accord.tui.panels.queue import QueuePanel
    from accord.tui.panels.side import SidePanel
    from accord.tui.panels.welcome import Welcome
    from accord.tui.theme import TextStyles

WIDE = 100
"""Columns from which the side panel fits."""


class Tab(Vertical):
    """The widgets of one session. Draws what changed at most once per frame, and passes input to the controller."""

    DEFAULT_CSS: ClassVar[str] = """
    Tab { height: 1fr; width: 1fr; }
    Tab > Horizontal { height: 1fr; }
    """

    app: AccordApp

    def __init__(self, process: AgentProcess, text_styles: TextStyles, cwd: Path, **options: Any) -> None:
        super().__init__(**options)
        self._frames = FrameSchedule(self, self._draw)
        self.controller: SessionController = self._make_controller(process)
        self.text_styles: TextStyles = text_styles
        self.cwd = cwd
        self.has_news: bool = False
        """Whether something happened here that the user hasn't seen."""
        self.is_closing = False
        # Made here and not in compose(): events for all tabs may arrive before this one is mounted.
        self.transcript_view: TranscriptView = TranscriptView(self._block_context())
        self.area: PromptArea = PromptArea(text_styles, self.app.saved.history, cwd)
        self.area.hint.find = process.host.find_missing
        self.status: StatusLine = StatusLine(text_styles, self.controller)
        self.key_line: KeyLine = KeyLine(text_styles, self.status)
        self.work: WorkView = WorkView(self)
        self.commands: SessionCommands = SessionCommands(self)
        self.prompt_input: PromptInput = PromptInput(self)
        self.prompt_keys: PromptKeys = PromptKeys(self)
        self.shell: ShellInput = ShellInput(self)
        self.review_view: ReviewView = ReviewView(self)
        self.permission_view: PermissionView = PermissionView(self)
        self.queue_view: QueueView = QueueView(self)
        self.action_view: ActionView = ActionView(self)
        self.empty_text: EmptyText = EmptyText(self)
        self.welcome: WelcomeView = WelcomeView(self)
        self._side: PanelSlot[SidePanel] = PanelSlot(lambda panel: self.query_one(Horizontal).mount(panel))

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self.transcript_view
        yield self.area
        yield self.status
        yield self.key_line
        self.status.has_key_line = lambda: self.key_line.display
        self.status.has_meter = lambda: self.side is not None and self.side.display
        self.editor.on_tab = self._focus_transcript
        self.editor.use_vim(self.app.preferences.vim_keys)
        self.editor.on_digit = self.welcome.suggest
        self.area.on_height = self.welcome.make_room
        self.status.is_following = lambda: self.transcript_view.timeline_layout.following

    def on_mount(self) -> None:
        self.empty_text.show_start()
        self.welcome.load()
        self.set_interval(0.125, self._spin)
        self.set_interval(1.0, self._tick)

    @property
    def editor(self) -> Editor:
        return self.area.editor

    @property
    def side(self) -> SidePanel | None:
        """The side panel, if it is shown."""
        return self._side.panel

    @property
    def has_question(self) -> bool:
        """Whether a permission request is shown."""
        return self.permission_view.slot.panel is not None

    def _block_context(self) -> BlockContext:
        return BlockContext(
            text_styles=self.text_styles,
            cwd=str(self.cwd),
            spans=self.controller.spans,
            now=time.monotonic,
            terminal=lambda id: self.controller.terminal(id),
            terminal_end=lambda id: self.controller.terminal_end(id),
            stop_hint=lambda item: self.controller.activity.stop_hint(item),
            is_unfinished=lambda item: self.controller.unfinished.includes(item),
            subagent_messages=lambda child: self.controller.activity.list_messages(child),
            side_by_side=self.app.appearance.side_by_side,
            names_speakers=self.app.is_calm,
        )

    def mount_above_prompt(self, panel: Widget) -> None:
        """Mount a panel between the transcript and the prompt."""
        self.mount(panel, before=self.area)

    def focus_editor(self) -> None:
        self.editor.focus()

    # -- the session

    def _make_controller(self, process: AgentProcess) -> SessionController:
        controller = SessionController(process, self.schedule_draw)
        controller.context.on_usage = lambda: self.app.budgets.check(self)
        controller.turns.on_turn_end = self._on_turn_end
        controller.turns.on_login_problem = lambda problem: self.action_view.offer(problem)
        controller.on_lost = lambda: self.restart(self.controller.process, self.controller.id, is_known=False)
        controller.queue.on_returned = lambda prompt: self.editor.give_back(prompt.text)
        return controller

    def begin(self, id: str | None = None, how: OpenMode = "new") -> None:
        """Open a session once the agent is ready."""
        run_in_background(self, self.controller.open(id, how))

    def begin_fork(self, id: str, title: str, earlier: Transcript | None) -> None:
        """Fork a session, and show its messages if they are known here."""
        self.controller.origin = f"fork of {title}"
        run_in_background(self, self._fork(id, title, earlier))

    async def _fork(self, id: str, title: str, earlier: Transcript | None) -> None:
        await self.controller.open(id, "fork", earlier)
        self.controller.say("info", f"Fork of {title}: messages below aren't in the original")

    def restart(self, process: AgentProcess, id: str | None, *, is_known: bool = True) -> None:
        """Continue with an agent that was restarted: in the same session if it can. If the session isn't known any
        more, because a login restarted the agent, open a new one."""
        old = self.controller
        if old.parent is not None:  # the transcript of a subagent stays readable
            old.process = process
            self.app.notify("A subagent ends with the session that it worked for.", severity="warning")
            return
        self.controller = self._make_controller(process)
        take_over(self.controller, old)
        run_in_background(self, old.close())
        self.status.controller = self.controller
        self.empty_text.show_start()
        if self._side.panel is not None:
            self._side.panel.controller = self.controller
        if self.queue_view.slot.panel is not None:
            self.queue_view.slot.panel.queue = self.controller.queue
        run_in_background(self, reopen(self.controller, id) if is_known else replace(self.controller))
        self.schedule_draw()

    def _on_turn_end(self, turn: Turn) -> None:
        self.app.announcements.end_turn(self)
        self.app.headline.read_branch(self.cwd)

    async def close(self) -> None:
        """Close the session, because the tab is about to be removed."""
        await asyncio.shield(self.controller.close())

    # -- appearance

    def restyle(self, text_styles: TextStyles) -> None:
        """Apply another theme."""
        self.text_styles = self.status.text_styles = self.key_line.text_styles = text_styles
        self.status.refresh()
        self.key_line.refresh()
        self.area.restyle(text_styles)
        for panel in (
            self.permission_view.slot.panel,
            self.queue_view.slot.panel,
            self._side.panel,
            self.welcome.slot.panel,
        ):
            if panel is not None:
                panel.restyle(text_styles)
        self.transcript_view.restyle(text_styles)
        self.work.restyle(text_styles)

    def fit_panels(self) -> None:
        """Show the panels that are on and fit, and follow the settings."""
        if not self.is_mounted:
            return  # happens once the tab has its size
        is_wanted = self.app.preferences.side_panel and self._side_fits and self.controller.session is not None
        if is_wanted and self._side.panel is None:
            from accord.tui.panels.side import SidePanel

            self._side.show(lambda: SidePanel(self.text_styles, self.controller, str(self.cwd))).update()
            self.schedule_draw()
        elif not is_wanted:
            self._side.hide()
        context, side_by_side = self.transcript_view.context, self.app.appearance.side_by_side
        if (context.side_by_side, context.names_speakers) != (side_by_side, self.app.is_calm):
            context.side_by_side, context.names_speakers = side_by_side, self.app.is_calm
            self.transcript_view.redraw()
        self.work.fit()
        self.work.draw()

    @property
    def _side_fits(self) -> bool:
        width = self.size.width or self.app.size.width
        if width < WIDE or self.app.is_calm:
            return False
        if not self.app.preferences.follow:
            return True
        from accord.tui.panels.follow import leaves_room

        return leaves_room(width)

    def on_resize(self, event: events.Resize) -> None:
        self.fit_panels()
        self.call_after_refresh(self._rewrap)

    def _rewrap(self) -> None:
        if self.controller.session is not None:
            self.empty_text.clear()
            self.transcript_view.refresh()
        self.schedule_draw()  # header and keys come and go with the height, and other lines repeat what they show

    def on_shown(self) -> None:
        """Update the tab after the user switched to it."""
        self.has_news = False
        self.app.headline.read_branch(self.cwd)
        self.schedule_draw()
        self.editor.focus()
        self.permission_view.focus_when_idle()

    # -- frames

    def schedule_draw(self) -> None:
        """Draw with the next frame."""
        self._frames.request()

    def _draw(self) -> bool:
        """Draw one frame, and return whether there is more to draw."""
        self.app.tabs.bar.refresh()
        self.app.headline.update(self.app.tabs.active)
        if not self.display:
            self.permission_view.draw()
            for tab in self.app.tabs:
                if tab.display:
                    tab.status.refresh()  # it shows that other tabs have questions
            return False
        controller = self.controller
        more = False
        if controller.session is not None:
            if self.transcript_view.transcript is not controller.session.transcript:
                self.transcript_view.show(controller.session.transcript)
                self.empty_text.clear()
                self.fit_panels()
            more = self.transcript_view.update_items(controller.take_changes())
            self.area.set_commands(controller.session.commands)
            self.prompt_input.recheck()
        else:
            self.transcript_view.update_items(())  # the transcript stays when the agent has exited
            self.empty_text.show_failure()
        self.permission_view.draw()
        self.queue_view.draw()
        self.welcome.draw()
        if self._side.panel is not None:
            self._side.panel.update()
        self.work.draw()
        self.status.refresh()
        self.key_line.update()
        self.area.show_mode(self.controller.session)
        return more

    def _spin(self) -> None:
        is_at_work = self.controller.state == "running" or self.controller.process.progress
        if self.display and is_at_work and not self.app.is_calm:
            self.status.refresh()

    def _tick(self) -> None:
        if self.display and self.controller.is_slow:
            self.empty_text.show_slow_start()
            self.queue_view.draw()
            self.status.refresh()
        if self.display and not self.app.is_calm:
            # In every state: calls outlive their turns.
            self.transcript_view.tick()

    # -- permission requests

    def on_permission_panel_answered(self, message: PermissionPanel.Answered) -> None:
        message.stop()
        if not message.asked.answer.done():
            message.asked.answer.set_result(message.choice)

    def on_permission_panel_instead_wanted(self, message: PermissionPanel.InsteadWanted) -> None:
        message.stop()
        self.permission_view.ask_instead(message.asked)

    def on_permission_panel_escaped(self, message: PermissionPanel.Escaped) -> None:
        message.stop()
        self.prompt_keys.escape()

    def on_action_panel_chosen(self, message: ActionPanel.Chosen) -> None:
        message.stop()
        self.action_view.choose(message.action)

    # -- the prompt

    def on_editor_submitted(self, message: Editor.Submitted) -> None:
        message.stop()
        self.action_view.slot.hide()
        if self.permission_view.is_instead and not message.is_shell:
            self.permission_view.reject_with(message.text)
            return
        self.prompt_input.enter(message.text, is_urgent=message.now, is_shell=message.is_shell)

    def on_editor_picture_wanted(self, message: Editor.PictureWanted) -> None:
        message.stop()
        self.prompt_input.paste_image()

    def on_prompt_area_mentioned(self, message: PromptArea.Mentioned) -> None:
        message.stop()
        self.prompt_input.check_mentions(message.paths)

    def on_editor_unhandled_key(self, message: Editor.UnhandledKey) -> None:
        message.stop()
        self.prompt_keys.handle(message.key)

    def on_welcome_chosen(self, message: Welcome.Chosen) -> None:
        message.stop()
        self.welcome.insert(message.text)

    # -- the transcript

    def _focus_transcript(self) -> None:
        """Focus the permission request if there is one, else the transcript."""
        self.transcript_view.item_selection.forget_if_following()
        panel = self.permission_view.slot.panel or self.action_view.slot.panel
        self.screen.set_focus(panel or self.transcript_view)

    def on_transcript_view_following(self, message: TranscriptView.Following) -> None:
        message.stop()
        self.status.refresh()

    def on_transcript_view_copied(self, message: TranscriptView.Copied) -> None:
        message.stop()
        self._copy(message.text)

    def _copy(self, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self.app.notify(f"Copied {len(text)} characters.")

    def copy_answer(self) -> None:
        """Copy the agent's last message."""
        transcript = self.controller.transcript
        if transcript is not None:
            self._copy(transcript.text)

    def on_transcript_view_left(self, message: TranscriptView.Left) -> None:
        message.stop()
        if message.key == "help":
            self.app.action_keys()
            return
        if message.key == "escape":  # the turn continues: this only leaves the transcript
            self.transcript_view.mouse_selection.clear()
            if self.controller.state not in ("running", "waiting"):
                self.transcript_view.to_end()
        self.screen.set_focus(self.editor)
        if message.key == "paste":
            self.editor.post_message(events.Paste(message.character))
        elif message.character:
            self.editor.insert(message.character)

    def on_transcript_view_stopped(self, message: TranscriptView.Stopped) -> None:
        message.stop()
        self.work.stop_selected(message.item if isinstance(message.item, (ToolCall, Subagent)) else None)

    def on_transcript_view_review_wanted(self, message: TranscriptView.ReviewWanted) -> None:
        message.stop()
        self.review_view.review_item(message.item)

    def on_transcript_view_entered(self, message: TranscriptView.Entered) -> None:
        message.stop()
        if isinstance(message.item, Subagent):
            self.work.open_subagent(message.item.session_id)

    def on_transcript_view_opened(self, message: TranscriptView.Opened) -> None:
        message.stop()
        self.work.open_item(message.item, message.block)

    def on_plan_line_wanted(self, message: PlanLine.Wanted) -> None:
        message.stop()
        self.work.show_plan()

    def on_follow_panel_chosen(self, message: FollowPanel.Chosen) -> None:
        message.stop()
        self.work.open_location(message.place)

    # -- the prompt queue

    def on_queue_panel_wanted(self, message: QueuePanel.Wanted) -> None:
        message.stop()
        self.queue_view.take_back(message.place)

    def on_queue_panel_removed(self, message: QueuePanel.Removed) -> None:
        message.stop()
        self.queue_view.take_back(message.place, discard=True)

    def on_queue_panel_closed(self, message: QueuePanel.Closed) -> None:
        message.stop()
        self.editor.focus()
