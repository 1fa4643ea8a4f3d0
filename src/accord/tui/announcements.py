"""Notify a user who is in another tab or window that something waits for them or has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.tui.app import AccordApp
    from accord.tui.tab.tab import Tab


class Announcements:
    """Notifies through the terminal, the tab bar, the list of all sessions and the window title."""

    def __init__(self, app: AccordApp) -> None:
        self._app = app

    def call(self, tab: Tab, why: str) -> None:
        """Notify a user who is in another tab or window that something waits."""
        app = self._app
        is_seen = app.attention.is_here and tab.display
        tab.has_news = not tab.display
        app.tabs.refresh()
        app.overview.note_end(tab, is_seen=is_seen)
        if is_seen:
            return
        words = f"{tab.controller.title}: {why}"
        app.attention.call(words, str(app.preferences.notify))
        if not tab.display and app.preferences.notify != "off":
            app.notify(words)

    def end_turn(self, tab: Tab) -> None:
        """Notify the user that a turn has ended."""
        self.call(tab, "the turn has ended")
        if self._app.is_calm:
            tab.controller.say("info", "The agent is done")

    def update_title(self) -> None:
        """Show the state of the visible session in the window title."""
        tab = next((each for each in self._app.tabs if each.display), None)  # there is no tab while the client exits
        if tab is not None:
            self._app.attention.set_title(tab.controller.state, tab.controller.title)
