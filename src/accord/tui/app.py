"""The application: every command of the table in keys.py that is not about tabs, sessions and agents."""

from __future__ import annotations

import time

from accord.tui.fault import beside
from accord.tui.watching import Watching

TWICE = 2.0
"""Seconds within which a second Ctrl-C quits."""


class AccordApp(Watching):
    """The terminal client."""

    _interrupted = 0.0

    # -- leaving

    def action_interrupt(self) -> None:
        """The first Ctrl-C copies what is selected, or warns; the second quits."""
        selected = self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            self.notify(f"Copied {len(selected)} characters.")
            self.screen.clear_selection()
            return
        now = time.monotonic()
        if now - self._interrupted < TWICE:
            self.leave(0)
            return
        self._interrupted = now
        what = "is kept" if self.keeps_typed() else "cannot be kept and is lost"
        self.notify(f"Press ctrl+c again to quit; what you typed {what}.", timeout=TWICE)

    def leave(self, status: int = 0) -> None:
        for pane in self.panes:
            pane.conversation.pictures.close()  # while the terminal is still ours
        super().leave(status)

    async def action_quit(self) -> None:
        self.leave(0)

    # -- logging in

    def action_log_in(self) -> None:
        beside(self, self._log_in())

    async def _log_in(self) -> None:
        link = self.active_pane.talk.link
        if link.agent is None or not link.agent.auth_methods:
            self.notify("This agent has no logins.", severity="warning")
            return
        method = await self.choose_login(link, link.agent.auth_methods, unasked=False)
        if method is not None:
            await self.attempt(link.agent.login(method), "Logged in.")

    def action_log_out(self) -> None:
        agent = self.active_pane.talk.link.agent
        if agent is not None:
            beside(self, self.attempt(agent.logout(), "Logged out."))

    # -- the rest

    def action_servers(self) -> None:
        from accord.tui.screens.servers import ServersScreen
        from accord.tui.servers import Servers

        self.push_screen(ServersScreen(Servers().of(self.active_pane.talk)))

    def action_keys(self) -> None:
        from accord.tui.screens.keys import KeysScreen

        self.push_screen(KeysScreen())

    def action_side(self) -> None:
        self.preferences.side_panel = not self.preferences.side_panel
        self.keep_settings()
        panel = self.active_pane.side
        for pane in self.panes:
            pane.fit_panels()
        panel = panel or self.active_pane.side
        if panel is not None and not panel.has_something:  # nobody would see that anything happened
            how = "comes when there is something in it" if self.preferences.side_panel else "is off"
            self.notify(f"The side panel {how}.")

    def action_settings(self) -> None:
        beside(self, self._set())

    async def _set(self) -> None:
        from accord.tui.screens.settings import CHOICES, choices_screen, settings_screen

        while (picked := await self.answer_of(settings_screen(self.preferences, self.theme))) is not None:
            if picked.id == "theme":
                await self._set_theme()
            elif picked.id in CHOICES:
                chosen = await self.answer_of(choices_screen(picked.id, getattr(self.preferences, picked.id)))
                if chosen is not None:
                    setattr(self.preferences, picked.id, chosen.id)
            else:
                setattr(self.preferences, picked.id, not getattr(self.preferences, picked.id))
            self.keep_settings()
            self.take_settings()
            self.screen_stack[0].refresh(layout=True)
            if picked.id in ("images", "screen_reader"):
                for pane in self.panes:
                    pane.conversation.pictures.forget()

    def action_change_theme(self) -> None:
        beside(self, self._set_theme())

    async def _set_theme(self) -> None:
        from accord.tui.screens.settings import AS_TERMINAL, themes_screen

        picked = await self.answer_of(themes_screen(list(self.available_themes), self.preferences.theme))
        if picked is not None:
            self.choose_theme("" if picked.id == AS_TERMINAL else picked.id)
            self.keep_settings()

    def action_options(self) -> None:
        beside(self, self.active_pane.choose_option())

    def action_next_mode(self) -> None:
        beside(self, self.active_pane.next_mode())

    def action_queue(self) -> None:
        self.active_pane.select_queue()

    def action_unqueue(self) -> None:
        self.active_pane.take_back(-1)

    def action_edit_prompt(self) -> None:
        self.active_pane.edit_prompt()

    def action_open_all(self) -> None:
        self.active_pane.conversation.toggle_all()

    def action_copy_answer(self) -> None:
        self.active_pane.copy_answer()

    def action_export(self) -> None:
        beside(self, self.export(self.active_pane))

    def action_rewind(self) -> None:
        beside(self, self.active_pane.rewind())

    def action_undo_rewind(self) -> None:
        beside(self, self.active_pane.undo_rewind())
