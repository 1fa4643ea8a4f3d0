"""The permission requests of a tab, above its prompt."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from accord.tui.tab.panel_slot import PanelSlot
from accord.tui.terminal.input_guard import PAUSE

if TYPE_CHECKING:
    from accord.tui.panels.permission import PermissionPanel
    from accord.tui.tab.tab import Tab


class PermissionView:
    """Shows the panel while the session has permission requests, and decides when it gets the focus."""

    def __init__(self, tab: Tab) -> None:
        self.slot: PanelSlot[PermissionPanel] = PanelSlot(tab.mount_above_prompt, tab.focus_editor)
        self._tab = tab

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
            tab.app.call_attention(tab, "permission needed")
        panel.show(waiting)
        self.focus_when_idle()

    def focus_when_idle(self) -> None:
        """Focus the request once the user has paused typing. An unfinished prompt keeps the focus: the next letters
        are probably part of it, not an answer. Tab goes to the request then."""
        tab, panel = self._tab, self.slot.panel
        if panel is None or panel.has_focus or not tab.display or tab.editor.text.strip():
            return
        paused = time.monotonic() - tab.app.last_key
        if paused >= PAUSE:
            panel.hold_on()
            panel.focus()
        else:
            tab.set_timer(PAUSE - paused + 0.01, self.focus_when_idle)
