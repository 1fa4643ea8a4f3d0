"""One tab as a picture: the conversation, the prompt, the panels that come and go, and the frames they are drawn in."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer

from accord.tui import greeting
from accord.tui.conversation.block import Setting
from accord.tui.conversation.view import Conversation
from accord.tui.moment import PAUSE
from accord.tui.panels.status import StatusLine
from accord.tui.panels.tips import Tips
from accord.tui.prompt.area import PromptArea
from accord.tui.prompt.editor import Editor
from accord.tui.talk import Talk

if TYPE_CHECKING:
    from accord.client.turn import Turn
    from accord.tui.app import AccordApp
    from accord.tui.link import Link
    from accord.tui.look import Look
    from accord.tui.panels.permission import PermissionPanel
    from accord.tui.panels.queue import QueuePanel
    from accord.tui.panels.side import SidePanel

FRAME = 0.05
"""Seconds between two pictures of a conversation that changes. A picture that takes long is followed by a longer rest,
so that keys are never waiting behind more than one."""
KEY_FIRST, MOST_WAITS = 0.05, 4
"""A frame comes so many seconds after a key, and waits at most so often."""
WIDE = 100
"""Columns from which there is room for the side panel."""


class Frame(Vertical):
    """A talk on the screen. How its session begins is in resuming.py, what the user does in it in pane.py."""

    DEFAULT_CSS = """
    Frame { height: 1fr; width: 1fr; }
    Frame > Horizontal { height: 1fr; }
    """

    app: AccordApp

    def __init__(self, link: Link, look: Look, cwd: Path, **options: Any) -> None:
        super().__init__(**options)
        self.talk = self._talk_with(link)
        self.look = look
        self.cwd = cwd
        self.has_news = False
        """Whether something happened here that the user has not seen."""
        self.is_closing = False
        self._frame: Timer | None = None
        self._rest = FRAME
        self._waited = 0
        self._question: PermissionPanel | None = None
        self._queue: QueuePanel | None = None
        self._side: SidePanel | None = None
        # From the beginning on: what happens to all tabs may happen before this one is on the screen.
        self.conversation = Conversation(self._setting())
        self.tips = Tips()
        self.area = PromptArea(look, self.app.past, cwd)
        self.area.hint.find = self.talk.link.outside.unfound
        self.status = StatusLine(look, self.talk)

    def _talk_with(self, link: Link) -> Talk:
        talk = Talk(link, self.changed)
        talk.on_turn_end = self._turn_ended
        talk.on_lost = self.lost
        talk.on_unsent = lambda prompt: self.editor.give_back(prompt.text)
        return talk

    def lost(self) -> None:
        """The agent does not know the session any more; see resuming.py."""

    def _setting(self) -> Setting:
        return Setting(
            look=self.look,
            cwd=str(self.cwd),
            spans=self.talk.spans,
            now=time.monotonic,
            terminal=lambda id: self.talk.terminal(id),
            terminal_end=lambda id: self.talk.terminal_end(id),
            stop_hint=lambda item: self.talk.work.hint(item),
            untold=lambda item: self.talk.untold.includes(item),
            letters=lambda child: self.talk.work.letters(child),
            side_by_side=self.app.side_by_side,
            says_who=self.app.is_calm,
        )

    def compose(self) -> ComposeResult:
        with Horizontal():
            yield self.conversation
        yield self.tips
        yield self.area
        yield self.status

    @property
    def editor(self) -> Editor:
        return self.area.editor

    def on_mount(self) -> None:
        self.conversation.empty_text = greeting.starting(self.talk.link, self.cwd)
        self.set_interval(0.125, self._spin)
        self.set_interval(1.0, self._tick)

    def restyle(self, look: Look) -> None:
        """Takes other colours."""
        self.look = self.status.look = look
        self.area.restyle(look)
        for panel in (self._question, self._queue, self._side):
            if panel is not None:
                panel.look = look
        if self._side is not None:
            self._side.update(anew=True)
        self.conversation.restyle(look)

    def fit_panels(self) -> None:
        """Shows the side panel where it is wanted and there is room; takes over the settings."""
        wanted = self.app.preferences.side_panel and self.side_fits and self.talk.session is not None
        if wanted and self._side is None:
            from accord.tui.panels.side import SidePanel

            self._side = SidePanel(self.look, self.talk)
            self.query_one(Horizontal).mount(self._side)
        elif not wanted and self._side is not None:
            self._side.remove()
            self._side = None
        setting = self.conversation.setting
        if (setting.side_by_side, setting.says_who) != (self.app.side_by_side, self.app.is_calm):
            setting.side_by_side, setting.says_who = self.app.side_by_side, self.app.is_calm
            self.conversation.redraw()

    @property
    def side_fits(self) -> bool:
        """Whether there is room for the side panel."""
        return self.app.size.width >= WIDE and not self.app.is_calm

    def on_resize(self, event: events.Resize) -> None:
        self.fit_panels()
        self.call_after_refresh(self._rewrap)

    def _rewrap(self) -> None:
        if self.talk.session is not None:
            self.conversation.empty_text = self._wrapped(greeting.welcome(self.talk.link, self.cwd))
            self.conversation.refresh()

    def shown(self) -> None:
        """The user looks at this tab now."""
        self.has_news = False
        self.changed()
        self.editor.focus()
        self._give_keys()

    # -- frames

    def changed(self) -> None:
        """Something is to be drawn, with the next frame."""
        if self._frame is None and self.is_mounted:
            self._frame = self.set_timer(self._rest, self._draw)

    def _draw(self) -> None:
        self._frame = None
        self.app.tabs.refresh()
        if not self.display:
            self._show_question()
            for pane in self.app.panes:
                if pane.display:
                    pane.status.refresh()  # which tells of questions elsewhere
            return
        if self._key_first():
            return
        began = time.perf_counter()
        talk = self.talk
        more = False
        if talk.session is not None:
            if self.conversation.transcript is not talk.session.transcript:
                self.conversation.show(talk.session.transcript)
                self.conversation.empty_text = self._wrapped(greeting.welcome(self.talk.link, self.cwd))
                self.fit_panels()
            more = self.conversation.take(talk.take_changes())
            self.area.commands_are(talk.session.commands)
        else:
            self._say_empty()
        self._show_question()
        self._show_queue()
        if talk.parent is None:  # the session of a subagent takes no prompts
            self.tips.fit(talk.transcript)
        self.draw_work()
        if self._side is not None:
            self._side.update()
        self.status.refresh()
        self._rest = max(FRAME, 3 * (time.perf_counter() - began))
        if more:
            self.changed()

    def draw_work(self) -> None:
        """Draws what is about the work of the agent; see workbench.py."""

    def _key_first(self) -> bool:
        """Whether the frame waits, so that a key that was just pressed is seen first. It does not wait for ever."""
        if time.monotonic() - self.app.last_key > KEY_FIRST or self._waited >= MOST_WAITS:
            self._waited = 0
            return False
        self._waited += 1
        self._frame = self.set_timer(KEY_FIRST, self._draw)
        return True

    def _spin(self) -> None:
        if self.display and self.talk.state == "running" and not self.app.is_calm:
            self.status.refresh()

    def _tick(self) -> None:
        if self.display and self.talk.is_slow:
            self._say_slow()
        if self.display and not self.app.is_calm:
            self.conversation.tick()  # calls outlive their turns, and the state of the session does not tell

    def _say_empty(self) -> None:
        self.conversation.take(())  # where an agent is gone, what was said stays
        failure = self.talk.failure or self.talk.link.failure
        if failure:
            link = self.talk.link
            why = greeting.without_session(link, failure) if link.is_open else greeting.failed(link, failure)
            self.conversation.empty_text = self._wrapped([*why, *greeting.untold(link)])
        self.conversation.refresh()

    def _say_slow(self) -> None:
        """Says what can be done about a start that takes long, and lists what waits for it."""
        if not self.talk.link.progress and not self.talk.link.is_stopping:
            seconds = 0 if self.app.is_calm else int(self.talk.waited)
            lines = greeting.slow(self.talk.link, self.cwd, self.talk.state == "opening", seconds)
            self.conversation.empty_text = self._wrapped(lines)
            self.conversation.refresh()
        self._show_queue()
        self.status.refresh()

    def _wrapped(self, lines: list[str]) -> list[str]:
        return greeting.wrapped(lines, self.conversation.size.width - 4)

    # -- questions

    def _show_question(self) -> None:
        waiting = self.talk.asked
        if waiting:
            if self._question is None:
                from accord.tui.panels.permission import PermissionPanel

                self._question = PermissionPanel(self.look, str(self.cwd), self.editor)
                self.mount(self._question, before=self.area)
                self.app.attention(self, "permission needed")
            self._question.show(waiting)
            self._give_keys()
        elif self._question is not None:
            question, self._question = self._question, None
            if question.has_focus:
                self.editor.focus()
            question.remove()

    def _give_keys(self) -> None:
        """Lets the question have the keys, once the user has paused typing. Half a prompt keeps them: more of it may be
        coming, and its letters are no answer. Tab goes to the question then."""
        if self._question is None or self._question.has_focus or not self.display or self.editor.text.strip():
            return
        paused = time.monotonic() - self.app.last_key
        if paused >= PAUSE:
            self._question.hold_on()
            self._question.focus()
        else:
            self.set_timer(PAUSE - paused + 0.01, self._give_keys)

    def _show_queue(self) -> None:
        is_due = self.talk.session is not None or self.talk.state == "gone" or self.talk.is_slow
        if self.talk.pending and is_due:
            if self._queue is None:
                from accord.tui.panels.queue import QueuePanel

                self._queue = QueuePanel(self.look, self.talk)
                self.mount(self._queue, before=self.area)
            self._queue.update()
        elif self._queue is not None:
            if self._queue.has_focus:
                self.editor.focus()
            self._queue.remove()
            self._queue = None

    # -- the end

    def _turn_ended(self, turn: Turn) -> None:
        self.app.turn_ended(self, turn)

    async def close(self) -> None:
        """Ends the session; the tab is about to go."""
        await asyncio.shield(self.talk.close())
