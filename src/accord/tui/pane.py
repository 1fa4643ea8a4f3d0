"""One tab, as the user acts in it: typing, answering, the queue, options, copies, going back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import ComposeResult

from accord.tui.checkpointing import NO_REWIND
from accord.tui.fault import beside
from accord.tui.patience import HASTY
from accord.tui.pending import Prompt
from accord.tui.plain import one_line
from accord.tui.prompt.area import PromptArea
from accord.tui.prompt.editor import Editor
from accord.tui.prompt.pasted import doubts
from accord.tui.rewinding import named, what_was_restored
from accord.tui.workbench import Workbench

if TYPE_CHECKING:
    from accord.tui.conversation.canvas import Canvas
    from accord.tui.conversation.view import Conversation
    from accord.tui.panels.permission import PermissionPanel
    from accord.tui.panels.queue import QueuePanel


class Pane(Workbench):
    """A talk on the screen, and what is done with it."""

    def compose(self) -> ComposeResult:
        yield from super().compose()
        self.editor.on_tab = self._to_reading
        self.status.is_following = lambda: self.conversation.layout_of.following

    # -- what the user types

    def _to_reading(self) -> None:
        """The question gets the keys if there is one, else the conversation."""
        self.conversation.let_go()
        self.screen.set_focus(self._question if self._question is not None else self.conversation)

    def on_editor_submitted(self, message: Editor.Submitted) -> None:
        message.stop()
        prompt = Prompt(message.text)
        if self.talk.state == "gone":
            what = (
                "There is no session here: ctrl+r begins one"
                if self.talk.link.is_open
                else "The agent is gone: ctrl+r starts it again"
            )
            self.editor.give_back(message.text)
            kept = "is kept" if self.app.keeps_typed() else "stays in the prompt, but cannot be kept when you leave"
            self.app.notify(f"{what}. What you typed {kept}.", severity="warning")
            return
        if self.talk.parent is not None:
            self.app.notify("This is a subagent's session: it takes no prompts from you.", severity="warning")
            self.editor.give_back(message.text)
            return
        self.conversation.to_end()
        if message.now:
            self.talk.steer(prompt)
        else:
            self.talk.send(prompt)

    @property
    def unsent(self) -> list[str]:
        """What was typed here and not sent."""
        texts = [*self.talk.unsent, self.editor.text]
        return [text.strip() for text in texts if text.strip()]

    def on_editor_picture_wanted(self, message: Editor.PictureWanted) -> None:
        message.stop()
        beside(self, self._paste_picture(), exclusive=True, group="clipboard")

    async def _paste_picture(self) -> None:
        """Mentions the picture in the system's clipboard; without one, what was copied here is put in."""
        from accord.tui.prompt.clipboard import MOST_BYTES, TooLarge, save_picture

        try:
            path = await asyncio.to_thread(save_picture)
        except TooLarge:
            words = f"The picture in the clipboard is larger than {MOST_BYTES // 1024 // 1024} MB."
            self.app.notify(words, severity="warning")
            return
        except OSError as error:
            self.app.notify(f"The picture cannot be saved: {error}", severity="error")
            return
        if path is not None:
            self.area.mention(path)
        elif self.app.clipboard:
            self.editor.insert(self.app.clipboard)
        else:
            self.app.notify("There is no picture in the clipboard. Text is pasted with the terminal's own key.")

    def on_prompt_area_mentioned(self, message: PromptArea.Mentioned) -> None:
        message.stop()
        agent = self.talk.link.agent
        doubt = doubts(message.paths, agent is None or agent.offers.image)
        if doubt:
            self.app.notify(doubt, severity="warning")

    def on_editor_left(self, message: Editor.Left) -> None:
        message.stop()
        acts: dict[str, Callable[[], Any]] = {
            "help": self.app.action_keys,
            "escape": self.escape,
            "enter": self.send_held,
            "pageup": lambda: self.conversation.scroll_pages(-1),
            "pagedown": lambda: self.conversation.scroll_pages(1),
            "shift+up": lambda: self.conversation.scroll_rows(-1),
            "shift+down": lambda: self.conversation.scroll_rows(1),
            "shift+tab": self.app.action_next_mode,
            "ctrl+home": self.conversation.to_start,
            "ctrl+end": self.conversation.to_end,
        }
        act = acts.get(message.key)
        if act is not None:
            act()

    def escape(self) -> None:
        """Stops the running turn, or a start that takes long; when nothing runs, goes to the prompt and the end."""
        self.conversation.unmark()
        if self.talk.link.progress or self.talk.waited >= HASTY:
            self.app.give_up(self)
        elif self.talk.state in ("running", "waiting"):
            self.talk.hold()
            beside(self, self.app.attempt(self.talk.cancel()))
        else:
            self.conversation.to_end()
        self.editor.focus()

    def on_permission_panel_answered(self, message: PermissionPanel.Answered) -> None:
        message.stop()
        if not message.asked.answer.done():
            message.asked.answer.set_result(message.choice)

    def on_permission_panel_escaped(self, message: PermissionPanel.Escaped) -> None:
        message.stop()
        self.escape()

    # -- the conversation

    def on_canvas_following(self, message: Canvas.Following) -> None:
        message.stop()
        self.status.refresh()

    def on_conversation_copied(self, message: Conversation.Copied) -> None:
        message.stop()
        self.copy(message.text)

    def copy(self, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self.app.notify(f"Copied {len(text)} characters.")

    def copy_answer(self) -> None:
        """Copies what the agent said last."""
        transcript = self.talk.transcript
        if transcript is not None:
            self.copy(transcript.text)

    def on_conversation_left(self, message: Conversation.Left) -> None:
        message.stop()
        if message.key == "help":
            self.app.action_keys()
        else:
            if message.key == "escape":  # what runs goes on: whoever only had a look does not want to stop it
                self.conversation.unmark()
                if self.talk.state not in ("running", "waiting"):
                    self.conversation.to_end()
            self.screen.set_focus(self.editor)
            if message.key == "paste":
                self.editor.post_message(events.Paste(message.character))
            elif message.character:
                self.editor.insert(message.character)

    # -- the queue

    def select_queue(self) -> None:
        if self._queue is not None:
            self._queue.focus()

    def take_back(self, place: int, *, away: bool = False) -> None:
        """Takes a prompt that waits back into the editor, or away. One that was sent comes when the agent gives it."""
        pending = self.talk.pending
        if not pending or place >= len(pending):
            return
        if not self.talk.take_back(pending[place], away=away):
            self.app.notify("It cannot be taken back any more.", severity="warning")
        elif not away:
            self.editor.focus()
        self.changed()

    def send_held(self) -> None:
        """Sends what is on hold."""
        self.talk.release()

    def on_queue_panel_wanted(self, message: QueuePanel.Wanted) -> None:
        message.stop()
        self.take_back(message.place)

    def on_queue_panel_removed(self, message: QueuePanel.Removed) -> None:
        message.stop()
        self.take_back(message.place, away=True)

    def on_queue_panel_left(self, message: QueuePanel.Left) -> None:
        message.stop()
        self.editor.focus()

    # -- options

    async def choose_option(self) -> None:
        """Lets the user set something: first what, then to what."""
        from accord.tui.screens.picker import Picker, Row

        session = self.talk.session
        if session is None or not session.options:
            self.app.notify("This agent has nothing to set.", severity="warning")
            return
        rows = []
        for each in session.options:
            name = next((choice.name for choice in each.choices if choice.value == each.value), str(each.value))
            shown = ("on" if each.value else "off") if each.is_boolean else name
            rows.append(Row(each.id, f"{each.name}: {shown}", each.description or ""))
        picked = await self.app.answer_of(Picker("Set", rows))
        option = session.option(picked.id) if picked is not None else None
        if option is None:
            return
        value: str | bool = not option.value
        if not option.is_boolean:
            choices = [
                Row(each.value, each.name, each.description or "", each.group_name or "") for each in option.choices
            ]
            chosen = await self.app.answer_of(Picker(one_line(option.name), choices, chosen=str(option.value)))
            if chosen is None:
                return
            value = chosen.id
        await self.app.attempt(session.set_option(option.id, value))
        self.changed()

    async def next_mode(self) -> None:
        """Changes to the mode after the present one."""
        session = self.talk.session
        option = session.option("mode") if session is not None else None
        if session is None or option is None or not option.choices:
            self.app.notify("This agent has no modes.", severity="warning")
            return
        values = [each.value for each in option.choices]
        at = values.index(str(option.value)) if option.value in values else -1
        await self.app.attempt(session.set_option(option.id, values[(at + 1) % len(values)]))
        self.changed()

    # -- what was said and done

    async def rewind(self) -> None:
        """Brings files back to what they were before a turn that the user picks."""
        from accord.tui.screens.picker import Picker, Row

        kept = self.talk.checkpoints
        points = [] if kept is None else [each for each in reversed(kept.all) if each.files and not each.is_restore]
        if kept is None and self.talk.link.no_rewind:
            self.app.notify(f"{NO_REWIND}: {self.talk.link.no_rewind}", severity="warning")
            return
        if kept is None or not points:
            self.app.notify("No file was changed through this client, so there is nothing to go back to.")
            return
        rows, touched = [], dict[str, None]()
        for each in points:  # the newest first: to go back to one brings back all that changed since
            touched |= dict.fromkeys(each.files)
            rows.append(Row(each.id, f"before: {one_line(each.label, 60)}", named(list(touched), str(self.cwd))))
        picked = await self.app.answer_of(Picker("Rewind files to", rows))
        if picked is not None:
            await self._restored(kept.restore(picked.id))

    async def undo_rewind(self) -> None:
        if self.talk.checkpoints is not None:
            await self._restored(self.talk.checkpoints.undo_restore(), "The rewind is undone", can_undo=False)

    async def _restored(self, work: Any, what: str = "Rewound", *, can_undo: bool = True) -> None:
        from accord.errors import AccordError

        try:
            report = await work
        except AccordError as error:
            self.app.notify(str(error), severity="error")
            return
        told = what_was_restored(report, str(self.cwd), can_undo=can_undo)
        self.talk.say("info" if report.is_complete else "warning", what, told)
