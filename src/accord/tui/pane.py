"""One tab: a conversation, the prompt below it, and whatever stands between. It joins the parts, and draws frames."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.timer import Timer

from accord.tui.conversation.block import Setting
from accord.tui.conversation.view import Conversation
from accord.tui.panels.status import StatusLine
from accord.tui.prompt.editor import Editor
from accord.tui.talk import Prompt, Talk

if TYPE_CHECKING:
    from accord.client.turn import Turn
    from accord.tui.app import AccordApp
    from accord.tui.link import Link
    from accord.tui.look import Look
    from accord.tui.panels.permission import PermissionPanel

FRAME = 0.05
"""Seconds between two pictures of a conversation that changes. A picture that takes long is followed by a longer rest,
so that keys are never waiting behind more than one."""
PAUSE = 0.6
"""How long the user must not have typed before a question takes the keys."""


class Pane(Vertical):
    """A talk on the screen."""

    DEFAULT_CSS = """
    Pane { height: 1fr; width: 1fr; }
    Pane > Horizontal { height: 1fr; }
    """

    app: AccordApp

    def __init__(self, link: Link, look: Look, cwd: Path, **options: Any) -> None:
        super().__init__(**options)
        self.talk = Talk(link, self.changed)
        self.talk.on_turn_end = self._turn_ended
        self.look = look
        self.cwd = cwd
        self._frame: Timer | None = None
        self._rest = FRAME
        self._question: PermissionPanel | None = None

    def compose(self) -> ComposeResult:
        setting = Setting(
            look=self.look,
            cwd=str(self.cwd),
            spans=self.talk.spans,
            now=time.monotonic,
            terminal=self.talk.terminal,
        )
        with Horizontal():
            self.conversation = Conversation(setting)
            yield self.conversation
        self.editor = Editor(self.app.history)
        yield self.editor
        self.status = StatusLine(self.look, self.talk)
        yield self.status

    def on_mount(self) -> None:
        self.conversation.empty_text = ["", f"Starting {self.talk.link.name} in {self.cwd} …"]
        self.set_interval(0.125, self._spin)
        self.set_interval(1.0, self._tick)

    def restyle(self, look: Look) -> None:
        """Takes other colours."""
        self.look = self.status.look = look
        if self._question is not None:
            self._question.look = look
        self.conversation.restyle(look)
        self.refresh()

    # -- frames

    def changed(self) -> None:
        """Something is to be drawn, with the next frame."""
        if self._frame is None and self.is_mounted:
            self._frame = self.set_timer(self._rest, self._draw)

    def _draw(self) -> None:
        self._frame = None
        began = time.perf_counter()
        talk = self.talk
        more = False
        if talk.session is not None:
            if self.conversation._transcript is not talk.session.transcript:
                self.conversation.show(talk.session.transcript)
                self.conversation.empty_text = self._welcome()
            more = self.conversation.refresh_items(talk.take_changes())
        else:
            self._say_empty()
        self._show_question()
        self.status.refresh()
        self._rest = max(FRAME, 3 * (time.perf_counter() - began))
        if more:
            self.changed()

    def _spin(self) -> None:
        if self.talk.state == "running" and self.display:
            self.status.refresh()

    def _tick(self) -> None:
        if self.talk.state in ("running", "waiting") and self.display:
            self.conversation.tick()

    def _welcome(self) -> list[str]:
        link = self.talk.link
        assert link.agent is not None
        info = link.agent.offers.info
        who = f"{link.agent.name} {info.version if info is not None else ''}".strip()
        return [
            "",
            f"{who}, in {self.cwd}",
            "",
            "Type what you want and press enter; / lists the agent's commands, @ names a file, ? shows the keys.",
        ]

    def _say_empty(self) -> None:
        failure = self.talk.failure or self.talk.link.failure
        if failure:
            lines = ["", f"{self.talk.link.name} could not be used:", "", *failure.splitlines()]
            lines += ["", "ctrl+r tries again · ctrl+n chooses another agent · ctrl+l shows what it printed"]
            self.conversation.empty_text = lines
        self.conversation.refresh()

    # -- what the user does

    def on_editor_submitted(self, message: Editor.Submitted) -> None:
        message.stop()
        prompt = Prompt(message.text)
        if self.talk.state == "gone":
            self.app.notify("The agent is gone: ctrl+r starts it again. What you typed is kept.", severity="warning")
            return
        self.editor.clear_text()
        self.conversation.to_end()
        if message.now:
            self.talk.steer(prompt)
        else:
            self.talk.send(prompt)

    def on_editor_left(self, message: Editor.Left) -> None:
        message.stop()
        key = message.key
        acts: dict[str, Callable[[], Any]] = {
            "help": self.app.action_keys,
            "escape": self.escape,
            "pageup": lambda: self.conversation.scroll_pages(-1),
            "pagedown": lambda: self.conversation.scroll_pages(1),
            "shift+up": lambda: self.conversation.scroll_lines(-1),
            "shift+down": lambda: self.conversation.scroll_lines(1),
            "ctrl+home": self.conversation.to_start,
            "ctrl+end": self.conversation.to_end,
            "tab": self.conversation.focus,
        }
        act = acts.get(key)
        if act is not None:
            act()

    def escape(self) -> None:
        """Stops the running turn; when nothing runs, goes back to the prompt and the end."""
        if self.talk.state in ("running", "waiting"):
            self.run_worker(self.talk.cancel(), exit_on_error=False)
        else:
            self.conversation.to_end()
        self.editor.focus()

    def on_conversation_copied(self, message: Conversation.Copied) -> None:
        message.stop()
        self.app.copy_to_clipboard(message.text)
        self.app.notify(f"Copied {len(message.text)} characters.")

    # -- questions

    def _show_question(self) -> None:
        waiting = self.talk.asked
        if waiting:
            if self._question is None:
                from accord.tui.panels.permission import PermissionPanel

                self._question = PermissionPanel(self.look, str(self.cwd))
                self.mount(self._question, before=self.editor)
                self.app.attention(self, "permission needed")
            self._question.show(waiting)
            self._give_keys()
        elif self._question is not None:
            question, self._question = self._question, None
            if question.has_focus:
                self.editor.focus()
            question.remove()

    def _give_keys(self) -> None:
        """Lets the question have the keys, once the user has paused typing."""
        if self._question is None or self._question.has_focus or self.app.active_pane is not self:
            return
        paused = time.monotonic() - self.app.last_key
        if paused >= PAUSE:
            self._question.focus()
        else:
            self.set_timer(PAUSE - paused + 0.01, self._give_keys)

    def on_permission_panel_answered(self, message: Any) -> None:
        message.stop()
        if not message.asked.answer.done():
            message.asked.answer.set_result(message.choice)

    def on_permission_panel_escaped(self, message: Any) -> None:
        message.stop()
        self.escape()

    # -- the session

    def begin(self) -> None:
        """Starts the link if it has not been, and opens a session."""
        self.run_worker(self._begin(), exit_on_error=False)

    async def _begin(self, id: str | None = None, how: Any = "new") -> None:
        await self.talk.open(id, how)
        self.changed()

    def _turn_ended(self, turn: Turn) -> None:
        self.app.turn_ended(self, turn)

    async def close(self) -> None:
        """Ends the session; the tab is about to go."""
        await asyncio.shield(self.talk.close())
