"""Changing preferences while the client runs: the settings screen, the theme, and panels that are turned on and off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.tui.preferences import CHOICES

if TYPE_CHECKING:
    from accord.tui.app import AccordApp


class Settings:
    """Changes the user's preferences on request, saves them and applies them to all tabs."""

    def __init__(self, app: AccordApp) -> None:
        self._app = app
        self._preferences = app.preferences

    def toggle(self, name: str) -> None:
        """Turn a panel or another preference on or off."""
        self._preferences.set(name, not self._preferences.get(name))
        self._app.saved.save_preferences()
        for tab in self._app.tabs:
            tab.fit_panels()

    def toggle_side_panel(self) -> None:
        """Turn the side panel on or off."""
        tabs = self._app.tabs
        panel = tabs.active.side
        self.toggle("side_panel")
        panel = panel or tabs.active.side
        if panel is not None and not panel.has_something:  # otherwise nothing visible would happen
            state = "on, and appears when it has content" if self._preferences.side_panel else "off"
            self._app.notify(f"The side panel is {state}.")

    async def choose(self) -> None:
        """Show the settings screen until the user closes it."""
        from accord.tui.screens.settings import settings_screen

        app = self._app
        while (picked := await app.dialogs.show(settings_screen(self._preferences, app.theme))) is not None:
            await self.change(picked.id)

    async def change(self, name: str) -> None:
        """Turn a setting on or off, or let the user choose its value."""
        from accord.tui.screens.settings import choices_screen

        app = self._app
        if name == "theme":
            await self.choose_theme()
        elif name in CHOICES:
            chosen = await app.dialogs.show(choices_screen(name, str(self._preferences.get(name))))
            if chosen is not None:
                self._preferences.set(name, chosen.id)
        else:
            self._preferences.set(name, not self._preferences.get(name))
        app.saved.save_preferences()
        app.apply_preferences()
        app.screen_stack[0].refresh(layout=True)
        if name in ("images", "screen_reader"):
            for tab in app.tabs:
                tab.transcript_view.images.forget()

    async def choose_theme(self) -> None:
        """Let the user choose a theme."""
        from accord.tui.screens.settings import AS_TERMINAL, themes_screen

        app, before = self._app, self._app.theme
        by_terminal = app.appearance.terminal_theme

        def preview(name: str) -> None:
            app.theme = by_terminal if name == AS_TERMINAL else name

        picked = await app.dialogs.show(themes_screen(list(app.available_themes), self._preferences.theme, preview))
        if picked is None:
            app.theme = before
            return
        app.appearance.choose_theme("" if picked.id == AS_TERMINAL else picked.id)
        app.saved.save_preferences()

    def set_theme(self, name: str) -> None:
        """Change to a theme that the user named."""
        names = list(self._app.available_themes)
        if name not in names:
            from accord.config.agents import nearest

            close = nearest(name, names)
            hint = f"Did you mean {' or '.join(close[:2])}?" if close else "/theme lists them."
            self._app.notify(f"There is no theme “{name}”. {hint}", severity="warning")
            return
        self._app.appearance.choose_theme(name)
        self._app.saved.save_preferences()
