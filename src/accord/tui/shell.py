"""The application without its commands: tabs, what happens in them, and an end that leaves the terminal as it was."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from textual.app import App, ComposeResult, SystemCommand
from textual.containers import Vertical
from textual.screen import Screen

from accord.tui import greeting
from accord.tui.fault import beside
from accord.tui.haste import Haste
from accord.tui.keeping import Keeping
from accord.tui.keys import DEEDS, bindings
from accord.tui.link import Link
from accord.tui.painting import Page
from accord.tui.pane import Pane
from accord.tui.rescue import Rescue
from accord.tui.tabs import TabBar

if TYPE_CHECKING:
    from accord.client.turn import Turn
    from accord.tui.frame import Frame
    from accord.tui.opening import How
    from accord.tui.outside import Outside

_DRAFT_SECONDS = 1.0
"""How often what is being typed is written down."""
_LATE_LOOKS = 10
"""How many times a client that has just started looks again for the draft of one that is still ending."""
_TITLE_SECONDS = 0.5
"""How often the title of the window is looked at."""


class Shell(Keeping):
    """What the terminal client stands on. What users do with it is in app.py."""

    TITLE = "Accord"
    CSS = """
    Screen { background: $background; }
    ModalScreen { background: $background 70%; }
    #panes { height: 1fr; }
    ToastRack { dock: top; align: right top; margin: 1 0 0 0; }
    CommandPalette.-low > Vertical { margin-top: 0; }
    CommandPalette.-low #--input { border: none; }
    CommandPalette.-low SearchIcon { margin-top: 0; }
    CommandPalette.-low CommandInput { border: none; height: 1; }
    CommandPalette.-low CommandList { border: none; padding: 0; }
    .-calm ModalScreen, .-calm CommandPalette { background: $background; }
    .-calm ModalScreen { align: left top; }
    .-calm Above > Vertical, .-calm Above > VerticalScroll { width: 100%; max-width: 100%; max-height: 100%; }
    """
    VERTICAL_BREAKPOINTS = [(0, "-low"), (14, "-high")]
    BINDINGS = [*bindings()]
    first_session: tuple[str | None, How] = None, "new"
    """What the first tab shows: which session, and how it is opened."""
    typed_early = ""
    """What was typed before there was anything to type in."""

    def __init__(
        self, outside: Outside, target: str | None = None, rescue: Rescue | None = None, *, is_undecided: bool = False
    ) -> None:
        """`is_undecided` is whether the user chooses an agent first, on the start page."""
        super().__init__(outside)
        self.links: list[Link] = []
        self.tabs: TabBar
        self._target = target
        self._is_undecided = is_undecided
        self._ending = False
        self._haste = Haste()
        self._draft_looks = 0
        self._lent_rescue = rescue
        """Whoever gave it to us sees to the end of the process, and to signals on the way there."""
        self.rescue = rescue or Rescue()

    def take_settings(self) -> None:
        super().take_settings()
        for pane in self.panes:
            pane.editor.cursor_blink = not self.is_calm
            pane.fit_panels()

    def get_default_screen(self) -> Screen[Any]:
        return Page(id="_default")

    def compose(self) -> ComposeResult:
        self.tabs = TabBar(self.look)
        yield self.tabs
        with Vertical(id="panes"):
            link = Link(self.outside, self._target, self, is_undecided=self._is_undecided)
            self.links.append(link)
            yield Pane(link, self.look, self.outside.cwd)

    def on_mount(self) -> None:
        loop = asyncio.get_running_loop()
        pane = self.active_pane
        self.claim_draft(pane)
        if self.typed_early:
            pane.editor.insert(self.typed_early)
        pane.editor.focus()
        self.take_settings()
        self.theme_changed_signal.subscribe(self, self._restyle)
        self.app_resume_signal.subscribe(self, self._resumed)
        self.app_suspend_signal.subscribe(self, lambda app: self.attentive.give_back())
        self.rescue.watch(lambda status: loop.call_soon_threadsafe(self.leave, status))
        # The first picture is drawn before anything is loaded that it takes to talk to an agent.
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        if self._is_undecided:
            self.active_pane.conversation.empty_text = ["", "No agent was chosen yet: ctrl+n shows which there are."]
            self.start_page()
        else:
            self.open_link(self.links[0])
            self.active_pane.begin(*self.first_session)
        if not self.is_headless:
            self.rescue.stand_by()
        self.set_interval(_DRAFT_SECONDS, self._look_after_drafts)
        self.set_interval(_TITLE_SECONDS, self._entitle)
        self._haste.begin()

    def _resumed(self, app: App[Any]) -> None:
        """Draws everything anew: somebody else had the terminal."""
        self.show_cursor()
        self.screen.refresh(layout=True)
        self.refresh(layout=True)

    @abstractmethod
    def start_page(self) -> None:
        """Lets the user choose an agent."""

    def open_link(self, link: Link) -> None:
        """Starts an agent."""
        beside(self, link.open())

    def _restyle(self, theme: Any) -> None:
        self._look = None
        self.tabs.look = self.look
        for pane in self.panes:
            pane.restyle(self.look)

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        for deed in DEEDS:
            keys = f" ({deed.keys.split(',')[0]})" if deed.keys else ""
            yield SystemCommand(f"{deed.title}{keys}", deed.about, getattr(self, f"action_{deed.action}"))
        yield SystemCommand("Theme", "Change the theme", self.action_change_theme)

    # -- tabs

    @property
    def panes(self) -> list[Pane]:
        """The tabs; one that is being closed is none any more."""
        found = self.screen_stack[0].query(Pane) if self.screen_stack else ()
        return [pane for pane in found if not pane.is_closing]

    @property
    def active_pane(self) -> Pane:
        panes = self.panes
        return next((pane for pane in panes if pane.display), panes[0])

    async def add_pane(self, link: Link) -> Pane:
        """Another tab, which is shown."""
        pane = Pane(link, self.look, self.outside.cwd)
        await self.screen_stack[0].query_one("#panes").mount(pane)
        self.show_pane(pane)
        return pane

    def show_pane(self, wanted: Pane) -> None:
        for pane in self.panes:
            pane.display = pane is wanted
        wanted.shown()
        self.tabs.show(self.panes)

    def on_tab_bar_chosen(self, message: TabBar.Chosen) -> None:
        self.show_pane(message.pane)

    def pane_of(self, link: Link, session_id: str | None) -> Pane | None:
        """The tab that shows a session, or whom it works for if it is a subagent's; or else any of its agent."""
        panes = [pane for pane in self.panes if pane.talk.link is link]
        session = link.agent.sessions.get(session_id or "") if link.agent is not None else None
        while session is not None:
            for pane in panes:
                if pane.talk.session is session:
                    return pane
            session = session.parent
        return panes[0] if panes else None

    # -- what happens

    def link_changed(self, link: Link) -> None:
        for pane in self.panes:
            if pane.talk.link is link:
                if link.state == "starting":
                    pane.conversation.empty_text = greeting.starting(link, self.outside.cwd)
                pane.changed()

    def turn_ended(self, pane: Frame, turn: Turn) -> None:
        self.attention(pane, "the turn has ended")
        if self.is_calm:
            pane.talk.say("info", "The agent is done")

    def attention(self, pane: Frame, why: str) -> None:
        is_seen = self.attentive.is_here and pane.display
        pane.has_news = not pane.display
        self.tabs.show(self.panes)
        if is_seen:
            return
        words = f"{pane.talk.title}: {why}"
        self.attentive.call(words, str(self.preferences.notify))
        if not pane.display and self.preferences.notify != "off":
            self.notify(words, markup=False)

    def _entitle(self) -> None:
        pane = next((each for each in self.panes if each.display), None)  # at the very end there is none
        if self._driver is not None and pane is not None and not self._ending:
            self.attentive.entitle(pane.talk.state, pane.talk.title)

    # -- the end

    def leave(self, status: int = 0) -> None:
        """Ends the application in order: what was typed is kept, agents are ended."""
        if self._ending:
            return
        self.keep_drafts()
        self._ending = True
        if not self.is_headless:
            self.rescue.insist(status)
        self.exit(status, return_code=status)

    def _look_after_drafts(self) -> None:
        """Keeps what was typed; soon after the start, a client that was about to end may have let go of its own."""
        self._draft_looks += 1
        if self.drafts.is_one_held and self._draft_looks <= _LATE_LOOKS and len(self.panes) == 1:
            pane = self.active_pane
            if not pane.editor.text and not pane.talk.unsent:
                self.claim_draft(pane)
        self.keep_drafts()

    def keep_drafts(self) -> None:
        """Keeps what was typed and not sent, also what waits in queues."""
        if not self._ending and self.panes:
            super().keep_drafts()

    def _handle_exception(self, error: Exception) -> None:
        """A fault of ours ends the program: what was typed is kept, and why is told after the terminal is back."""
        with suppress(Exception):
            self.keep_drafts()
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Says in two lines what happened. What the program knew, secrets too, is shown to nobody."""
        from accord.tui.fault import told

        if not self._exit_renderables:  # one fault may bring others with it: the first tells most
            self._exit_renderables.append(told(self.drafts.are_kept))
        self._close_messages_no_wait()

    async def on_unmount(self) -> None:
        self.attentive.give_back()
        self.drafts.close()
        await asyncio.gather(*(link.close() for link in self.links), return_exceptions=True)
        self._haste.end()
        if self._lent_rescue is None:
            self.rescue.unwatch()
