"""The terminal client: the application, its commands, and an exit that restores the terminal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App, ComposeResult
from textual.containers import Vertical
from textual.geometry import Offset
from textual.notifications import SeverityLevel
from textual.screen import Screen

from accord.terminal_text import one_line, sanitize
from accord.tui import preferences
from accord.tui.agents import Agents
from accord.tui.announcements import Announcements
from accord.tui.appearance import Appearance
from accord.tui.commands import bindings
from accord.tui.dialogs import Dialogs
from accord.tui.errors import explain, run_in_background
from accord.tui.exit import Exit
from accord.tui.first_session import FirstSession
from accord.tui.key_login import KeyLogin
from accord.tui.palette import Palette
from accord.tui.panels.headline import Headline
from accord.tui.questions import Questions
from accord.tui.saved_state import SavedState
from accord.tui.session_list import SessionList
from accord.tui.settings import Settings
from accord.tui.start_page import StartPage
from accord.tui.tab.tab import Tab
from accord.tui.tabs import TabBar, Tabs
from accord.tui.terminal.cursor import find_cursor
from accord.tui.terminal.keyboard import install_chord_parser, wait_until_handled
from accord.tui.terminal.notification import Attention
from accord.tui.terminal.painter import Page, PaintingApp
from accord.tui.terminal.restore import TerminalRestorer
from accord.tui.terminal.scrollbar import install_scrollbar
from accord.tui.terminal.textual_internals import exit_after_crash, get_driver, is_writer_busy
from accord.tui.terminal.tuning import ProcessTuning
from accord.tui.theme import APP_CSS, TextStyles, themes_for
from accord.tui.timers import start_timers
from accord.tui.transcript.images.upload import ImageUploader

if TYPE_CHECKING:
    from accord.tui.budget_watch import BudgetWatch
    from accord.tui.host import Host
    from accord.tui.overview import Overview


class AccordApp(PaintingApp):
    """The terminal client. Connects its parts, which do the work, to Textual and to the commands."""

    TITLE: str | None = "Accord"
    CSS: ClassVar[str] = APP_CSS
    VERTICAL_BREAKPOINTS: list[tuple[int, str]] | None = [(0, "-low"), (14, "-high"), (20, "-tall")]
    BINDINGS = [*bindings()]

    def __init__(
        self,
        host: Host,
        target: str | None = None,
        restorer: TerminalRestorer | None = None,
        *,
        is_undecided: bool = False,
    ) -> None:
        """`is_undecided` shows the start page first. The owner of a given `restorer` handles signals and the exit."""
        super().__init__()
        for theme in themes_for(self.console.color_system):
            self.register_theme(theme)
        install_chord_parser(self.driver_class)
        install_scrollbar()
        self.host = host
        self.preferences: preferences.Preferences = preferences.load()
        self.appearance: Appearance = Appearance(self, self.preferences)
        self.attention: Attention = Attention(self.write_terminal)
        self.image_uploads: ImageUploader = ImageUploader(self.write_terminal, lambda: is_writer_busy(self))
        self.agents: Agents = Agents(self)
        self.dialogs: Dialogs = Dialogs(self)
        self.questions: Questions = Questions(self)
        self.key_login: KeyLogin = KeyLogin(self)
        self.tabs: Tabs = Tabs(self)
        self.headline: Headline = Headline(self.text_styles)
        self.saved: SavedState = SavedState(host, self.tabs, self.preferences)
        self.settings: Settings = Settings(self)
        self.palette: Palette = Palette(self)
        self.start_page: StartPage = StartPage(self)
        self.session_list: SessionList = SessionList(self)
        self.announcements: Announcements = Announcements(self)
        self.restorer: TerminalRestorer = restorer or TerminalRestorer()
        self.first: FirstSession = FirstSession()
        self.continuation: str = ""
        """At the end, the command that continues the session; empty if there is nothing to continue."""
        self.typed_early: str = ""
        """Text that was typed before there was a prompt."""
        self._owns_restorer = restorer is None
        self._target = target
        self._is_undecided = is_undecided
        self._ending = Exit(self)
        self._tuning = ProcessTuning()

    # -- parts that aren't needed for the first frame

    @cached_property
    def budgets(self) -> BudgetWatch:
        from accord.tui.budget_watch import BudgetWatch

        return BudgetWatch(self)

    @cached_property
    def overview(self) -> Overview:
        from accord.tui.overview import Overview

        return Overview(self)

    # -- starting

    def get_default_screen(self) -> Screen[Any]:
        return Page(id="_default")

    def compose(self) -> ComposeResult:
        # Meanwhile the terminal may have reported a light background.
        self.headline.text_styles = self.tabs.bar.text_styles = self.text_styles
        yield self.headline
        yield self.tabs.bar
        with Vertical(id="tabs"):
            process = self.agents.add(self._target, is_undecided=self._is_undecided)
            yield Tab(process, self.text_styles, self.host.cwd)

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        tab = self.tabs.active
        self.saved.claim_draft(tab)
        if self.typed_early:
            tab.editor.insert(self.typed_early)
        tab.editor.focus()
        self.headline.read_branch(tab.cwd)
        self.apply_preferences()
        self.theme_changed_signal.subscribe(self, self._restyle)
        self.app_resume_signal.subscribe(self, self._resume)
        self.app_suspend_signal.subscribe(self, lambda app: self.attention.restore_title())
        self.restorer.watch(lambda status: loop.call_soon_threadsafe(self.leave, status))
        # Draw the first frame before loading what it takes to connect to an agent.
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        tab = self.tabs.active
        if self._is_undecided:
            tab.transcript_view.empty_text = ["", "No agent chosen yet: ctrl+n lists them."]
            self.start_page.show()
        else:
            self.agents.start(self.agents.processes[0])
            self.first.begin(tab)
        if not self.is_headless:
            self.restorer.start_standby()
        start_timers(self)
        self._tuning.begin()

    def _resume(self, app: App[Any]) -> None:
        """Draw everything again after another program had the terminal."""
        self.appearance.show_cursor()
        self.screen.refresh(layout=True)
        self.refresh(layout=True)

    # -- appearance

    @property
    def is_calm(self) -> bool:
        """Whether a screen reader reads the screen."""
        return self.appearance.is_calm

    @property
    def text_styles(self) -> TextStyles:
        return self.appearance.text_styles

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        return variables | TextStyles(variables, dark=self.current_theme.dark).css_variables

    def apply_preferences(self) -> None:
        """Apply the preferences that aren't read at each use."""
        self.appearance.apply_preferences()
        for tab in self.tabs:
            tab.editor.cursor_blink = not self.is_calm
            tab.editor.use_vim(self.preferences.vim_keys)
            tab.fit_panels()

    def _restyle(self, theme: Any) -> None:
        self.appearance.forget_styles()
        for widget in (self.tabs.bar, self.headline):
            widget.text_styles = self.text_styles
            widget.refresh()
        for tab in self.tabs:
            tab.restyle(self.text_styles)
        self.screen_stack[0].refresh(layout=True)  # also what is painted below a dialog

    # -- the terminal

    def write_terminal(self, sequence: str) -> None:
        """Write a control sequence to the terminal."""
        driver = get_driver(self)
        if driver is not None and not self.is_headless:
            driver.write(sequence)

    @property
    def cursor_position(self) -> Offset:
        """The position of the terminal's cursor."""
        found = find_cursor(self.screen, for_screen_reader=self.is_calm) if self.screen_stack else None
        return self._cursor if found is None else found

    @cursor_position.setter
    def cursor_position(self, position: Offset) -> None:
        self._cursor = position

    @property
    def last_key(self) -> float:
        """When a key was last pressed, by the monotonic clock."""
        return self.attention.last_key

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded:
            for key in self.appearance.take_reply(event, self._handle):
                await self._handle(key)
        else:
            await self._handle(event)

    async def _handle(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self.attention.last_key = time.monotonic()
        elif isinstance(event, (events.AppBlur, events.AppFocus)):
            self.attention.set_focus(isinstance(event, events.AppFocus))
            if isinstance(event, events.AppFocus) and self.tabs.bar.is_mounted:
                self.headline.read_branch(self.tabs.active.cwd)
        is_tab = isinstance(event, events.Key) and event.key == "tab" and not event.is_forwarded
        is_input = isinstance(event, (events.Key, events.Paste, events.MouseDown, events.MouseUp))
        if not is_input or event.is_forwarded or not self.questions.redirect(event):
            await super().on_event(event)
        if is_tab and self.focused is not None:  # the next key is meant for the widget that got the focus
            await wait_until_handled(self.focused)

    # -- notices

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Show a toast. Its text may come from an agent, so markup is off by default."""
        super().notify(sanitize(message), title=title, severity=severity, timeout=timeout, markup=markup)

    def update_title(self) -> None:
        """Show the state of the visible session in the window title, until the client exits."""
        if get_driver(self) is not None and not self._ending.has_begun:
            self.announcements.update_title()

    async def attempt(self, work: Awaitable[Any], done: str = "") -> bool:
        """Run something that an agent may refuse, and show the user the result."""
        from accord.errors import AccordError

        try:
            await work
        except AccordError as error:
            self.notify(explain(error), severity="error", timeout=8)
            return False
        if done:
            self.notify(done)
        return True

    # -- commands: tabs and sessions

    def action_command_palette(self) -> None:
        run_in_background(self, self.palette.choose())

    def on_tab_bar_chosen(self, message: TabBar.Chosen) -> None:
        self.tabs.show(message.tab)

    def action_new_tab(self) -> None:
        self.start_page.show()

    async def action_new_session(self) -> None:
        process = self.tabs.active.controller.process
        if process.state == "undecided":
            self.start_page.show()
        else:
            (await self.tabs.add(process)).begin()

    async def action_clear(self) -> None:
        await self.tabs.start_over()

    def action_next_tab(self) -> None:
        self.tabs.step(1)

    def action_previous_tab(self) -> None:
        self.tabs.step(-1)

    def action_waiting_tab(self) -> None:
        if not self.tabs.show_waiting():
            self.notify("No other tab waits for you.")

    def action_close_tab(self) -> None:
        if len(self.tabs) == 1:
            self.notify("This is the last tab: press ctrl+c twice to quit.")
        else:
            run_in_background(self, self.tabs.close(self.tabs.active))

    def action_sessions(self) -> None:
        self.session_list.show()

    def action_status(self) -> None:
        self.overview.show()

    def action_rename(self) -> None:
        self.session_list.rename(self.tabs.active)

    def action_export(self) -> None:
        run_in_background(self, self.session_list.export(self.tabs.active))

    # -- commands: the agent

    def action_restart(self) -> None:
        self.agents.restart(self.tabs.active)

    def action_kill(self) -> None:
        self.agents.kill(self.tabs.active)

    def action_doctor(self) -> None:
        controller = self.tabs.active.controller
        model = controller.session.option("model") if controller.session is not None else None
        self.start_page.diagnose(controller.process.target, one_line(model.value_name, 60) if model else "")

    def action_logs(self) -> None:
        from accord.tui.screens.log import LogScreen

        self.push_screen(LogScreen(self.tabs.active.controller.process, self.host.cwd))

    def action_servers(self) -> None:
        from accord.transcript.mcp_status import McpServers
        from accord.tui.screens.servers import ServersScreen

        controller = self.tabs.active.controller
        self.push_screen(ServersScreen(McpServers().list(controller.transcript, controller.servers)))

    def action_log_in(self, provider: str = "") -> None:
        self.agents.log_in(self.tabs.active, provider)

    def action_log_out(self) -> None:
        self.agents.log_out(self.tabs.active)

    def action_options(self) -> None:
        run_in_background(self, self.tabs.active.commands.choose_option())

    def action_choose(self, option: str) -> None:
        run_in_background(self, self.tabs.active.commands.choose(option))

    def action_set_option(self, option: str, value: str) -> None:
        run_in_background(self, self.tabs.active.commands.set_option(option, value))

    def action_start_agent(self, target: str) -> None:
        run_in_background(self, self.start_page.start(target))

    async def action_resume(self, id: str) -> None:
        (await self.tabs.add(self.tabs.active.controller.process)).begin(id, "named")

    def action_set_theme(self, name: str) -> None:
        self.settings.set_theme(name)

    def action_cost(self) -> None:
        self.tabs.active.commands.show_cost()

    def action_next_mode(self) -> None:
        run_in_background(self, self.tabs.active.commands.next_mode())

    # -- commands: the work in a tab

    def action_work(self) -> None:
        run_in_background(self, self.tabs.active.work.choose())

    def action_plan(self) -> None:
        self.tabs.active.work.show_plan()

    def action_toggle_setting(self, name: str) -> None:
        self.settings.toggle(name)

    def action_queue(self) -> None:
        self.tabs.active.queue_view.focus()

    def action_unqueue(self) -> None:
        self.tabs.active.queue_view.take_back(-1)

    def action_history(self) -> None:
        run_in_background(self, self.tabs.active.prompt_input.choose_earlier())

    def action_edit_prompt(self) -> None:
        self.tabs.active.prompt_input.edit()

    def action_open_all(self) -> None:
        self.tabs.active.transcript_view.toggle_all()

    def action_send_now(self) -> None:
        self.tabs.active.editor.submit(now=True)

    def action_copy_answer(self) -> None:
        self.tabs.active.copy_answer()

    def action_diff(self) -> None:
        run_in_background(self, self.tabs.active.review_view.review_working_tree())

    def action_review(self) -> None:
        run_in_background(self, self.tabs.active.review_view.review_session())

    def action_rewind(self) -> None:
        run_in_background(self, self.tabs.active.commands.rewind())

    def action_undo_rewind(self) -> None:
        run_in_background(self, self.tabs.active.commands.undo_rewind())

    # -- commands: settings

    def action_keys(self) -> None:
        from accord.tui.screens.keys import KeysScreen

        self.push_screen(KeysScreen())

    def action_side(self) -> None:
        self.settings.toggle_side_panel()

    def action_settings(self) -> None:
        run_in_background(self, self.settings.choose())

    def action_change_theme(self) -> None:
        run_in_background(self, self.settings.choose_theme())

    # -- the end

    def action_interrupt(self) -> None:
        self._ending.interrupt()

    async def action_quit(self) -> None:
        self.leave(0)

    def leave(self, status: int = 0) -> None:
        """Exit in order: save drafts, close agents, restore the terminal."""
        self._ending.begin(status)

    def _handle_exception(self, error: Exception) -> None:
        """Save the drafts, because a bug ends the program. The reason is printed when the terminal is restored."""
        with suppress(Exception):
            self.saved.save_drafts()
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Print two lines about the bug. Textual would print local variables, which may hold secrets."""
        from accord.tui.errors import describe_crash

        exit_after_crash(self, describe_crash(self.saved.drafts.are_saved))

    async def on_unmount(self) -> None:
        self.attention.restore_title()
        self.overview.close()
        self.saved.drafts.close()
        await self.agents.close()
        self._tuning.end()
        if self._owns_restorer:
            self.restorer.unwatch()
