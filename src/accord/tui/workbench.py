"""One tab, as far as it is about the agent's work: files in the editor, following it, the plan, stopping things."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.model.tool import ToolCall
from accord.tui.editing import edit_text, open_in_editor
from accord.tui.frame import Frame
from accord.tui.plain import one_line
from accord.tui.work import Place, places_of

if TYPE_CHECKING:
    from accord.tui.conversation.block import Block
    from accord.tui.conversation.view import Conversation

_TEXT = "text"


class Workbench(Frame):
    """A talk on the screen, and what the user does about the work in it."""

    # -- in the editor

    def on_conversation_opened(self, message: Conversation.Opened) -> None:
        message.stop()
        self.run_worker(self._open(message.item, message.block), exit_on_error=False)

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
            trouble = await open_in_editor(self.app, str(self.cwd / place.path), place.line)
        else:
            _, trouble = await edit_text(self.app, block.whole())
        if trouble:
            self.app.notify(trouble, severity="error")

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
        self.run_worker(self._edit_prompt(), exit_on_error=False)

    async def _edit_prompt(self) -> None:
        before = self.editor.text
        text, trouble = await edit_text(self.app, before)
        if trouble:
            self.app.notify(trouble, severity="error")
        now = self.editor.text  # a prompt that could not be sent may have come back meanwhile
        self.editor.set_text("\n\n".join(filter(None, [text.rstrip("\n"), now if now != before else ""])))
