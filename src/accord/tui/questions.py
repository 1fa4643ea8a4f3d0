"""Show the user the agents' requests: permissions, forms and logins."""

from __future__ import annotations

import asyncio
import shlex
import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from textual import events
from textual.widgets import Input, TextArea

from accord.terminal_text import one_line
from accord.tui.errors import explain
from accord.tui.terminal.input_guard import PAUSE_SECONDS, SeenFirst

if TYPE_CHECKING:
    from accord.model.requests import AuthMethod, Elicitation, PermissionRequest, Reply
    from accord.policy.action import Action
    from accord.policy.decision import Decision
    from accord.policy.question import Choice, Question
    from accord.tui.agent.process import AgentProcess
    from accord.tui.app import AccordApp
    from accord.tui.screens.modal import Modal
    from accord.tui.tab.tab import Tab

LONG_PAUSE_SECONDS = 2.0
"""How long the user must pause typing in a prompt with text before an agent's form opens above it."""


class Questions:
    """The `Delegate` of all agent processes: shows their questions in the right tab and returns the answers."""

    def __init__(self, app: AccordApp) -> None:
        self._app = app
        self._last_answer = ""
        """The last key, if it went to a question."""

    def process_changed(self, process: AgentProcess) -> None:
        self._app.agents.show_change(process)

    # -- permission requests

    async def ask(self, process: AgentProcess, question: Question) -> Choice | None:
        from accord.tui.session.controller import TabClosed

        while (tab := self._app.tabs.find(process, question.action.session)) is not None:
            if self._app.is_calm:
                self._say_question(tab, question)
            try:
                return await tab.controller.ask(question)
            except TabClosed:
                continue
        return None

    def _say_question(self, tab: Tab, question: Question) -> None:
        """Add a permission request to the transcript, for screen readers."""
        action, request = question.action, question.request
        what = (request.title if request is not None else action.title) or action.line or action.kind
        answers = "; ".join(f"{number}: {each.name}" for number, each in enumerate(question.choices, 1))
        tab.controller.say("warning", f"Permission needed: {what}", answers)

    def on_decision(self, process: AgentProcess, action: Action | PermissionRequest, decision: Decision) -> None:
        """Report a decision of the policy: a denial, which explains what follows, or an answer that couldn't be
        remembered."""
        from accord.model.requests import PermissionRequest

        is_expected = decision.allowed or decision.by == "person"
        if is_expected and not decision.save_error:
            return
        if isinstance(action, PermissionRequest):
            session, title = action.session_id, action.title
        else:
            session, title = action.session, action.title or action.line or ", ".join(action.paths)
        tab = self._app.tabs.find(process, session)
        if tab is None:
            return
        if is_expected:
            reason = f"{decision.save_error}. It applies to this session."
            tab.controller.say("warning", "Your answer couldn't be remembered", reason)
        else:
            tab.controller.say("warning", f"Denied: {title}", decision.why)

    # -- forms

    async def elicit(self, process: AgentProcess, question: Elicitation) -> Reply | None:
        from accord.tui.screens.form import FormScreen
        from accord.tui.screens.page import PageScreen

        tab = self._app.tabs.find(process, question.session_id)
        if tab is not None:
            self._app.announcements.call(tab, "a form to fill in")
            if self._app.is_calm:
                tab.controller.say("warning", f"Form: {question.message}")
        screen = (PageScreen if question.mode == "url" else FormScreen)(question, process.title)
        try:
            with _pause_timing(tab):
                reply: Reply | None = await self._show_for_agent(screen)
        except asyncio.CancelledError:
            if tab is not None and isinstance(screen, FormScreen) and (typed := screen.typed):
                tab.controller.say("warning", "The agent withdrew its form. You had typed:", typed)
            raise
        return reply

    # -- logins

    async def choose_login(
        self, process: AgentProcess, methods: list[AuthMethod], *, is_required: bool = True
    ) -> AuthMethod | None:
        """Let the user choose a login method, because the agent requires it or because the user wants to log in."""
        from accord.tui.screens.picker import Picker, Row

        if is_required and self._app.key_login.has_keys(process):
            return None  # the turn ends with the reason and advice; a dialog would only intercept the user's typing
        tab = self._app.tabs.find(process, None)
        if tab is not None and is_required:
            self._app.announcements.call(tab, "login required")
        # Rows are identified by position, because the agent's ids may not be unique.
        rows = [Row(str(place), each.name, _describe(each)) for place, each in enumerate(methods)]
        about = f"{process.title} requires a login." if is_required else f"Login methods of {process.title}"
        screen = Picker("Log in first" if is_required else "Log in", rows, about=about)
        with _pause_timing(tab):
            picked = await (self._show_for_agent(screen) if is_required else self._app.dialogs.show(screen))
        return methods[int(picked.id)] if picked is not None else None

    async def log_in(self, process: AgentProcess, method: AuthMethod) -> bool:
        """Run the agent's own login program on the terminal."""
        from accord.tui.terminal.editor import lend_terminal

        assert process.launch is not None
        words = f"{process.title}: {one_line(method.name, 60)}. Ctrl-C cancels the login and returns to Accord."
        tab = self._app.tabs.find(process, None)
        with _pause_timing(tab), lend_terminal(self._app, words):  # Ctrl-C goes to the login program, which then fails
            try:
                return await process.launch.log_in(method)
            except Exception as error:
                self._app.notify(explain(error), severity="error")
                return False

    # -- keys that weren't meant for a question

    async def _show_for_agent(self, screen: Modal[Any]) -> Any:
        """Show a screen that an agent opens: not while the user types, and ignoring keys pressed before it is seen."""
        while (left := self._required_pause - (time.monotonic() - self._app.last_key)) > 0:  # noqa: ASYNC110
            await asyncio.sleep(left)
        screen.hold_on()
        return await self._app.dialogs.show(screen)

    @property
    def _required_pause(self) -> float:
        field = self._app.focused
        typed = field.text if isinstance(field, TextArea) else field.value if isinstance(field, Input) else ""
        return LONG_PAUSE_SECONDS if typed.strip() else PAUSE_SECONDS

    def redirect(self, event: events.Event) -> bool:
        """Send input that comes too early for a question to where the user was typing. Return whether it did."""
        asking = self._focused_question
        key = event.key if isinstance(event, events.Key) else ""
        if asking is None or not asking.comes_early(event):
            self._last_answer = key if asking is not None else ""
            return False
        if not key or key != self._last_answer:  # otherwise the key that answered the last question is still held down
            self._last_answer = ""
            asking.type_below(event)
        return True

    @property
    def _focused_question(self) -> SeenFirst | None:
        """The question that has the keyboard focus."""
        screen = self._app.screen if self._app.screen_stack else None
        if isinstance(screen, SeenFirst):
            return screen
        return screen.focused if screen is not None and isinstance(screen.focused, SeenFirst) else None


def _pause_timing(tab: Tab | None) -> AbstractContextManager[object]:
    """Don't count the time that the user takes to answer."""
    return nullcontext() if tab is None else tab.controller.timing.pause()


def _describe(method: AuthMethod) -> str:
    """Describe a login method, including the program it runs if that isn't the agent's own."""
    command = f"runs {shlex.join([method.command, *method.args])}" if method.command is not None else ""
    return " · ".join(filter(None, (method.description, command)))
