"""The permission requests of a tab, above its prompt."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from accord.tui.tab.panel_slot import PanelSlot
from accord.tui.terminal.input_guard import PAUSE_SECONDS

if TYPE_CHECKING:
    from accord.tui.panels.permission import PermissionPanel
    from accord.tui.session.controller import PendingPermission
    from accord.tui.tab.tab import Tab

INSTEAD = "Say what to do instead: enter rejects and sends · esc back"


class PermissionView:
    """Shows the panel while the session has permission requests, and decides when it gets the focus."""

    def __init__(self, tab: Tab) -> None:
        self.slot: PanelSlot[PermissionPanel] = PanelSlot(tab.mount_above_prompt, tab.focus_editor)
        self._tab = tab
        self._instead: PendingPermission | None = None
        """The request that the next prompt rejects, because it says what to do instead."""

    def draw(self) -> None:
        """Show the pending requests."""
        tab = self._tab
        waiting = tab.controller.permissions
        if not waiting:
            self.slot.hide()
            return
        from accord.tui.panels.permission import PermissionPanel

        is_new = self.slot.panel is None
        panel = self.slot.show(lambda: PermissionPanel(tab.text_styles, str(tab.cwd), tab.editor))
        if is_new:
            tab.app.announcements.call(tab, "permission needed")
        panel.show(waiting)
        self.focus_when_idle()

    def focus_when_idle(self) -> None:
        """Focus the request once the user has paused typing. An unfinished prompt keeps the focus: the next letters
        are probably part of it, not an answer. Tab goes to the request then."""
        tab, panel = self._tab, self.slot.panel
        if panel is None or panel.has_focus or not tab.display or tab.editor.text.strip() or self.is_instead:
            return
        paused = time.monotonic() - tab.app.last_key
        if paused >= PAUSE_SECONDS:
            panel.hold_on()
            panel.focus()
        else:
            tab.set_timer(PAUSE_SECONDS - paused + 0.01, self.focus_when_idle)

    # -- rejecting, and saying what to do instead

    @property
    def is_instead(self) -> bool:
        """Whether the next prompt rejects a request that is still open."""
        return self._instead is not None and not self._instead.answer.done()

    def ask_instead(self, asked: PendingPermission) -> None:
        """Let the user type what to do instead."""
        self._instead = asked
        self._tab.area.set_title(INSTEAD)
        self._tab.editor.focus()

    def cancel_instead(self) -> None:
        """Return to the request, which is still open."""
        self._instead = None
        self._tab.area.set_title("")
        if self.slot.panel is not None:
            self.slot.panel.focus()

    def reject_with(self, text: str) -> None:
        """Reject the request, and send the text into the turn, or after it if the protocol can't do that."""
        from accord.tui.session.prompt_queue import Prompt

        asked, self._instead = self._instead, None
        self._tab.area.set_title("")
        if asked is not None and not asked.answer.done():
            asked.answer.set_result(asked.question.choice("reject_once"))
        self._tab.transcript_view.to_end()
        self._tab.controller.turns.steer(Prompt(text))
