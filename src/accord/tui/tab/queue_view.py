"""The queued prompts of a tab, above its prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.tui.tab.panel_slot import PanelSlot

if TYPE_CHECKING:
    from accord.tui.panels.queue import QueuePanel
    from accord.tui.tab.tab import Tab


class QueueView:
    """Shows the prompt queue while it isn't empty, and takes prompts back from it."""

    def __init__(self, tab: Tab) -> None:
        self.slot: PanelSlot[QueuePanel] = PanelSlot(tab.mount_above_prompt, tab.focus_editor)
        self._tab = tab

    def draw(self) -> None:
        """Show the queue. During a normal start the prompts are sent so soon that it would only flicker."""
        controller = self._tab.controller
        is_due = controller.session is not None or controller.state == "gone" or controller.is_slow
        if not controller.queue.pending or not is_due:
            self.slot.hide()
            return
        from accord.tui.panels.queue import QueuePanel

        self.slot.show(lambda: QueuePanel(self._tab.text_styles, controller.queue)).update()

    def focus(self) -> None:
        """Move the focus to the queue, if it is shown."""
        if self.slot.panel is not None:
            self.slot.panel.focus()

    def take_back(self, place: int, *, discard: bool = False) -> None:
        """Take a pending prompt back into the editor, or discard it. A sent one returns when the agent confirms."""
        tab, queue = self._tab, self._tab.controller.queue
        if not queue.pending or place >= len(queue.pending):
            return
        if not queue.take_back(queue.pending[place], discard=discard):
            tab.app.notify("Too late to withdraw it.", severity="warning")
        elif not discard:
            tab.editor.focus()
        tab.schedule_draw()
