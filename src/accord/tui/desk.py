"""The desk of the application: what agents ask, put before the user, and answered."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from textual import events
from textual.notifications import SeverityLevel
from textual.widgets import Input, TextArea

from accord.tui.early import SeenFirst
from accord.tui.moment import PAUSE
from accord.tui.painting import PaintingApp
from accord.tui.plain import one_line, plain
from accord.tui.screens.above import Above

if TYPE_CHECKING:
    from accord.model.requests import AuthMethod, Elicitation, Reply
    from accord.policy.choices import Choice, Question
    from accord.tui.frame import Frame
    from accord.tui.link import Link
    from accord.tui.pane import Pane


LONG_PAUSE = 2.0
"""How long the user must not have typed, with half a line typed, before an agent asks something above it."""


class AnsweringApp(PaintingApp):
    """Answers what agents ask."""

    is_calm: bool
    _answer = ""
    """The key that was pressed last, if it was for something that is asked."""

    @property
    @abstractmethod
    def last_key(self) -> float:
        """When a key was last pressed, by the monotonic clock."""

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = False,
    ) -> None:
        """Tells the user something for a while. Its words may come from an agent: they mean nothing but themselves."""
        super().notify(plain(message), title=title, severity=severity, timeout=timeout, markup=markup)

    @abstractmethod
    def pane_of(self, link: Link, session_id: str | None) -> Pane | None:
        """The tab that shows a session, or else any of its agent."""

    @abstractmethod
    def attention(self, pane: Frame, why: str) -> None:
        """Rings when something waits for a user who looks elsewhere."""

    async def ask(self, link: Link, question: Question) -> Choice | None:
        from accord.tui.talk import Elsewhere

        while (pane := self.pane_of(link, question.action.session)) is not None:
            self._tell_calmly(pane, question)
            try:
                return await pane.talk.ask(question)
            except Elsewhere:  # its tab was closed
                continue
        return None

    def _tell_calmly(self, pane: Pane, question: Question) -> None:
        if self.is_calm:
            what = question.request.title if question.request is not None else question.action.title
            answers = "; ".join(f"{number}: {each.name}" for number, each in enumerate(question.choices, 1))
            pane.talk.say("warning", f"You are asked: {what or question.action.line or question.action.kind}", answers)

    async def elicit(self, link: Link, question: Elicitation) -> Reply | None:
        from accord.tui.screens.form import FormScreen
        from accord.tui.screens.page import PageScreen

        pane = self.pane_of(link, question.session_id)
        if pane is not None:
            self.attention(pane, "a form to fill in")
            if self.is_calm:
                pane.talk.say("warning", f"You are asked: {question.message}")
        make = PageScreen if question.mode == "url" else FormScreen
        screen = make(question, link.title)
        try:
            with nullcontext() if pane is None else pane.talk.clocks.standing():
                reply: Reply | None = await self._answer_for_agent(screen)
        except asyncio.CancelledError:
            if pane is not None and isinstance(screen, FormScreen) and (typed := screen.typed):
                pane.talk.say("warning", "Its question is withdrawn. You had typed:", typed)
            raise
        return reply

    async def choose_login(self, link: Link, methods: list[AuthMethod], *, unasked: bool = True) -> AuthMethod | None:
        """How to log in, when the agent demands it, or, not `unasked`, when the user wants to."""
        from accord.tui.screens.picker import Picker, Row

        pane = self.pane_of(link, None)
        if pane is not None and unasked:
            self.attention(pane, "a login is needed")
        rows = [Row(each.id, each.name, each.description or "") for each in methods]
        about = f"{link.title} wants you to log in." if unasked else f"The logins of {link.title}."
        screen = Picker("Log in first" if unasked else "Log in", rows, about=about)
        picked = await (self._answer_for_agent(screen) if unasked else self.answer_of(screen))
        return next((each for each in methods if picked is not None and each.id == picked.id), None)

    async def log_in(self, link: Link, method: AuthMethod) -> bool:
        """Runs the agent's own login on the terminal, which is its own meanwhile."""
        from accord.tui.editing import lent

        assert link.launch is not None
        words = f"{link.title}: {one_line(method.name, 60)}. Ctrl-C ends the login and comes back to Accord."
        with lent(self, words):  # Ctrl-C is for the login, which then did not succeed
            try:
                return await link.launch.log_in(method)
            except Exception as error:
                self.notify(str(error), severity="error")
                return False

    async def answer_of(self, screen: Above[Any]) -> Any:
        """Shows a screen and waits for what it gives. When the waiting is cancelled, the screen goes."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def take(value: Any) -> None:
            if not answer.done():
                answer.set_result(value)

        try:
            await self.push_screen(screen, take)
            return await answer
        except asyncio.CancelledError:
            screen.take_back()
            raise

    # -- in the middle of a word

    async def _answer_for_agent(self, screen: Above[Any]) -> Any:
        """The same for a screen that an agent opens: it does not come while the user types, nor do keys count for it
        before it was seen."""
        while (left := self._pause - (time.monotonic() - self.last_key)) > 0:  # noqa: ASYNC110
            await asyncio.sleep(left)
        screen.hold_on()
        return await self.answer_of(screen)

    @property
    def _pause(self) -> float:
        field = self.focused
        typed = field.text if isinstance(field, TextArea) else field.value if isinstance(field, Input) else ""
        return LONG_PAUSE if typed.strip() else PAUSE

    async def on_event(self, event: events.Event) -> None:
        is_input = isinstance(event, (events.Key, events.Paste, events.MouseDown, events.MouseUp))
        if not is_input or event.is_forwarded or not self._comes_early(event):
            await super().on_event(event)

    def _comes_early(self, event: events.Event) -> bool:
        """Whether something comes too early for what an agent asks. Then it goes where it was being typed."""
        asking = self._asking
        key = event.key if isinstance(event, events.Key) else ""
        if asking is None or not asking.comes_early(event):
            self._answer = key if asking is not None else ""
            return False
        if not key or key != self._answer:  # else the key that answered what was there before is still held down
            self._answer = ""
            asking.type_below(event)
        return True

    @property
    def _asking(self) -> SeenFirst | None:
        """What is asked and has the keys."""
        screen = self.screen if self.screen_stack else None
        if isinstance(screen, Above):
            return screen
        return screen.focused if screen is not None and isinstance(screen.focused, SeenFirst) else None

    def decided(self, link: Link, what: Any, decision: Any) -> None:
        """The policy decided about something unasked; refusals are told, since they explain what follows;
        and that an answer which was to be remembered cannot be."""
        is_known = decision.allowed or decision.by == "person"
        if is_known and not decision.unkept:
            return
        pane = self.pane_of(link, getattr(what, "session", None) or getattr(what, "session_id", None))
        if pane is not None and is_known:
            words = f"{decision.unkept}. It holds for this session."
            pane.talk.say("warning", "Your answer could not be remembered", words)
        elif pane is not None:
            title = getattr(what, "title", "") or getattr(what, "line", None) or ", ".join(getattr(what, "paths", ()))
            pane.talk.say("warning", f"Refused: {title}", decision.why)

    async def attempt(self, work: Any, done: str = "") -> bool:
        """Does something that an agent may refuse, and tells how it went."""
        from accord.errors import AccordError

        try:
            await work
        except AccordError as error:
            self.notify(str(error), severity="error", timeout=8)
            return False
        if done:
            self.notify(done)
        return True
