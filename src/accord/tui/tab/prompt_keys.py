"""Keys of the prompt that are about the rest of the tab: scrolling, stopping, and Enter in an empty prompt."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from accord.tui.errors import run_in_background
from accord.tui.session.opener import ESCAPE_SECONDS

if TYPE_CHECKING:
    from accord.tui.tab.tab import Tab


class PromptKeys:
    """Handles the keys that the editor doesn't."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab

    def handle(self, key: str) -> None:
        tab = self._tab
        view = tab.transcript_view
        actions: dict[str, Callable[[], Any]] = {
            "help": tab.app.action_keys,
            "escape": self.escape,
            "enter": self._enter_empty,
            "pageup": lambda: view.scroll_pages(-1),
            "pagedown": lambda: view.scroll_pages(1),
            "shift+up": lambda: view.scroll_rows(-1),
            "shift+down": lambda: view.scroll_rows(1),
            "shift+tab": tab.app.action_next_mode,
            "ctrl+home": view.to_start,
            "ctrl+end": view.to_end,
        }
        action = actions.get(key)
        if action is not None:
            action()

    def _enter_empty(self) -> None:
        """Release the queue, or take the first suggestion of the welcome."""
        if not self._tab.welcome.suggest(1):
            self._tab.controller.turns.release()

    def escape(self) -> None:
        """Stop the running turn or a slow start; if nothing runs, go to the prompt and the end of the transcript."""
        tab, controller = self._tab, self._tab.controller
        tab.transcript_view.mouse_selection.clear()
        if tab.permission_view.is_instead:
            tab.permission_view.cancel_instead()
            return
        if controller.process.progress or controller.seconds_waited >= ESCAPE_SECONDS:
            tab.app.agents.cancel_start(tab)
        elif controller.state in ("running", "waiting"):
            controller.turns.hold()
            run_in_background(tab, tab.app.attempt(controller.cancel()))
        elif controller.shell.running:
            run_in_background(tab, controller.shell.stop())
        else:
            tab.transcript_view.to_end()
        tab.editor.focus()
