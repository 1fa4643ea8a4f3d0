"""The application: tabs, screens, the keys that work everywhere, and an end that leaves the terminal as it was."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import TYPE_CHECKING, Any

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Vertical

from accord.tui.link import Link
from accord.tui.look import Look
from accord.tui.pane import Pane
from accord.tui.prompt.history import Drafts, History

if TYPE_CHECKING:
    from accord.client.turn import Turn
    from accord.model.requests import AuthMethod, Elicitation, Reply
    from accord.policy.choices import Choice, Question
    from accord.tui.outside import Outside

TWICE = 2.0
"""Seconds within which a second Ctrl-C quits."""


class AccordApp(App[int]):
    """The terminal client."""

    TITLE = "Accord"
    ENABLE_COMMAND_PALETTE = True
    CSS = """
    Screen { background: $background; layers: base above; }
    #panes { height: 1fr; }
    """
    BINDINGS = [
        Binding("ctrl+c", "interrupt", "Quit", show=False, priority=True),
        Binding("ctrl+q", "quit", "Quit", show=False, priority=True),
        Binding("ctrl+z", "suspend_process", "Suspend", show=False, priority=True),
        Binding("ctrl+r", "restart", "Start the agent again", show=False),
        Binding("f1", "keys", "Keys", show=False),
    ]

    def __init__(self, outside: Outside, target: str | None = None) -> None:
        super().__init__()
        self.outside = outside
        self.history = History()
        self.drafts = Drafts()
        self.links: list[Link] = []
        self.last_key = 0.0
        self._target = target
        self._interrupted = 0.0
        self._look: Look | None = None
        self._has_focus = True

    @property
    def look(self) -> Look:
        if self._look is None:
            self._look = Look(self.theme_variables, dark=self.current_theme.dark)
        return self._look

    def compose(self) -> ComposeResult:
        link = Link(self.outside, self._target, self)
        self.links.append(link)
        with Vertical(id="panes"):
            yield Pane(link, self.look, self.outside.cwd)

    def on_mount(self) -> None:
        pane = self.active_pane
        pane.editor.focus()
        draft = self.drafts.get(str(self.outside.cwd))
        if draft:
            pane.editor.set_text(draft)
        self.theme_changed_signal.subscribe(self, self._restyle)
        self._watch_signals()
        # The first picture is drawn before anything is loaded that it takes to talk to an agent.
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        for link in self.links:
            self._open(link)
        self.active_pane.begin()

    def _open(self, link: Link) -> None:
        self.run_worker(link.open(), exit_on_error=False)

    def _restyle(self, theme: Any) -> None:
        self._look = None
        for pane in self.query(Pane):
            pane.restyle(self.look)

    @property
    def active_pane(self) -> Pane:
        return next(pane for pane in self.query(Pane) if pane.display)

    def pane_of(self, link: Link, session_id: str) -> Pane | None:
        """The tab that shows a session, or else any of its agent."""
        panes = [pane for pane in self.query(Pane) if pane.talk.link is link]
        for pane in panes:
            if pane.talk.session is not None and pane.talk.session.id == session_id:
                return pane
        return panes[0] if panes else None

    # -- what agents ask

    async def ask(self, link: Link, question: Question) -> Choice | None:
        pane = self.pane_of(link, question.action.session)
        return await pane.talk.ask(question) if pane is not None else None

    async def elicit(self, link: Link, question: Elicitation) -> Reply | None:
        return None

    async def choose_login(self, link: Link, methods: list[AuthMethod]) -> AuthMethod | None:
        return None

    async def log_in(self, link: Link, method: AuthMethod) -> bool:
        assert link.launch is not None
        with self.suspend():
            return await link.launch.log_in(method)

    def decided(self, link: Link, what: Any, decision: Any) -> None:
        """The policy decided about something. What the user was asked, the user knows."""

    def link_changed(self, link: Link) -> None:
        for pane in self.query(Pane):
            if pane.talk.link is link:
                pane.changed()

    def turn_ended(self, pane: Pane, turn: Turn) -> None:
        self.attention(pane, "the turn has ended")

    def attention(self, pane: Pane, why: str) -> None:
        """Rings when something waits for a user who looks elsewhere."""
        if self._has_focus and pane is self.active_pane:
            return
        words = f"{pane.talk.title}: {why}"
        if self._driver is not None:
            safe = "".join(each for each in words if each.isprintable())
            self._driver.write(f"\x1b]9;{safe}\x1b\\")
        self.bell()

    # -- keys that work everywhere

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key):
            self.last_key = time.monotonic()
        elif isinstance(event, events.AppBlur):
            self._has_focus = False
        elif isinstance(event, events.AppFocus):
            self._has_focus = True
        await super().on_event(event)

    async def action_interrupt(self) -> None:
        """The first Ctrl-C warns (and copies what is selected), the second quits."""
        selected = self.screen.get_selected_text()
        if selected:
            self.copy_to_clipboard(selected)
            return
        now = time.monotonic()
        if now - self._interrupted < TWICE:
            await self.leave(0)
            return
        self._interrupted = now
        self.notify("Press ctrl+c again to quit.", timeout=TWICE)

    async def action_quit(self) -> None:
        await self.leave(0)

    def action_keys(self) -> None:
        self.notify("Keys: enter sends, ctrl+j new line, esc stops, tab goes to the conversation, ctrl+c twice quits.")

    def action_restart(self) -> None:
        """Starts an agent that is gone again."""

    # -- the end

    def _watch_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None:
                try:
                    loop.add_signal_handler(number, self._told_to_end, 128 + number)
                except (NotImplementedError, RuntimeError, ValueError):
                    return  # Windows, or not the main thread

    def _told_to_end(self, status: int) -> None:
        asyncio.ensure_future(self.leave(status))  # noqa: RUF006  # the application ends with it

    async def leave(self, status: int) -> None:
        """Ends the application in order: drafts kept, agents ended."""
        self.keep_drafts()
        for pane in self.query(Pane):
            for task in list(pane.talk._tasks):
                task.cancel()
        self.exit(status, return_code=status)

    def keep_drafts(self) -> None:
        """Keeps what was typed and not sent, also what waits in queues."""
        texts = [prompt.text for pane in self.query(Pane) for prompt in pane.talk.queue]
        texts += [pane.editor.text for pane in self.query(Pane) if pane.editor.text.strip()]
        self.drafts.put(str(self.outside.cwd), "\n\n".join(texts))

    async def close_links(self) -> None:
        """Ends every agent. Called when the terminal is free again, so that a slow one holds up nobody."""
        await asyncio.gather(*(link.close() for link in self.links), return_exceptions=True)

    async def on_unmount(self) -> None:
        await self.close_links()
