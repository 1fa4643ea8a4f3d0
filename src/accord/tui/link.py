"""One agent: its process, the connection to it, what it logs, and the questions it asks."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Literal, Protocol

from accord.config.command import is_command_line
from accord.errors import AccordError, RuleError
from accord.process.aside import in_thread
from accord.tui.elsewhere import OpenHere
from accord.tui.fault import noted
from accord.tui.lent import Lent
from accord.tui.naming import OURS, called
from accord.tui.plain import one_line, size_of
from accord.tui.untouched import Untouched
from accord.tui.wire import Log

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.model.requests import AuthMethod, Elicitation, PermissionRequest, Reply
    from accord.model.session import Notice
    from accord.policy.choices import Choice, Question
    from accord.tui.outside import Launch, Outside

State = Literal["undecided", "starting", "ready", "failed", "gone"]


class Stopped(AccordError):
    """The user ended an installation."""


class Desk(Protocol):
    """Who answers what an agent asks."""

    async def ask(self, link: Link, question: Question) -> Choice | None: ...

    async def elicit(self, link: Link, question: Elicitation) -> Reply | None: ...

    async def choose_login(self, link: Link, methods: list[AuthMethod]) -> AuthMethod | None: ...

    async def log_in(self, link: Link, method: AuthMethod) -> bool: ...

    def decided(self, link: Link, what: Any, decision: Any) -> None: ...

    def link_changed(self, link: Link) -> None: ...


class Link(Lent):
    """An agent, from the moment it is wanted until it is closed."""

    def __init__(self, outside: Outside, target: str | None, desk: Desk, *, is_undecided: bool = False) -> None:
        super().__init__()
        self.outside = outside
        self.target = target
        self.desk = desk
        self._meant = target or ""
        self.state: State = "undecided" if is_undecided else "starting"
        self.failure = ""
        self.is_misconfigured = False
        """Whether it failed because the configuration cannot be read, which no agent can be used without."""
        self.progress = ""
        """What is being done before the agent can be started: it is installed, and how far that is."""
        self.is_stopping = False
        """Whether the user ended the start, which is about to be over."""
        self._stopped = self._is_closed = False
        self._opening: asyncio.Future[None] | None = None
        self._connecting: asyncio.Future[ConnectedAgent] | None = None
        self.agent: ConnectedAgent | None = None
        self.launch: Launch | None = None
        self.notes: list[Notice] = []
        """What is to be said in the first session."""
        self.log = Log()
        self.ready = asyncio.Event()
        """Set when it is known whether the agent can be used."""
        self.open_here = OpenHere(lambda: outside.named(self.target))
        self.untouched = Untouched(self.open_here.is_elsewhere)
        """Sessions that were begun here and in which nothing was said."""
        self.was_killed = False
        """Whether the user ended it."""
        self._mourning: asyncio.Task[None] | None = None

    @property
    def title(self) -> str:
        """What the user reads wherever the agent is meant: what it calls itself, once that is known; until then, and
        for the built-in one, what we call it."""
        if self.state == "undecided":
            return "agent"
        self._meant = self._meant or self.outside.named(self.target)
        name = called(self._meant)
        info = self.agent.offers.info if self.agent is not None and name != OURS else None
        told = "" if info is None else info.title or (info.name if is_command_line(self._meant) else "")
        return one_line(told or "", 60) or name

    @property
    def is_open(self) -> bool:
        """Whether something can be sent."""
        return self.state == "ready" and self.agent is not None and self.agent.connection.is_open

    @property
    def lists(self) -> bool:
        """Whether the agent lists its sessions."""
        return self.agent is not None and self.agent.offers.list

    def decide(self, target: str) -> None:
        """The user chose an agent."""
        self.target = self._meant = target
        self.state = "starting"

    async def open(self) -> None:
        """Starts the agent and shakes hands. What goes wrong is kept in `failure`."""
        self._opening = asyncio.ensure_future(self._open())
        try:
            await self._opening
        except asyncio.CancelledError:
            here = asyncio.current_task()
            if not self.is_stopping or (here is not None and here.cancelling()):
                raise
            self._failed(f"You ended it before it was {'installed' if self.progress else 'there'}.")
        except AccordError as error:
            self._failed(str(error))
            self.is_misconfigured = isinstance(error, RuleError) or not self._can_be_configured()
        except OSError as error:
            self._failed(f"{type(error).__name__}: {error}")
        except Exception as error:
            self._failed(noted(error))
        finally:
            self.is_stopping = False
            self.ready.set()
            self.desk.link_changed(self)

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()

        def stderr(line: str) -> None:
            loop.call_soon_threadsafe(self.log.add, "stderr", line.encode("utf-8", "replace"))

        def progress(what: str, done: int, of: int) -> None:
            if self._stopped:
                raise Stopped("You ended it before it was installed.")
            loop.call_soon_threadsafe(self._installing, what, done, of)

        def start() -> Launch:
            # Here, and not when this is heard of: whoever closes us meanwhile may be the last to hear of anything.
            self.launch = launch = self.outside.launch(self.target, stderr, progress)
            if self._stopped:
                launch.kill()
            return launch

        launch = await in_thread(start, finishes=True)
        self._go_on()
        self.progress = ""
        from accord.client.connect import connect

        loaded = self.outside.configuration()
        self.lend(self.outside.workspace(launch, self._ask, self._told))
        connecting = connect(
            launch.target,
            cwd=self.outside.cwd,
            workspace=self.workspace,
            permissions=getattr(self.workspace, "permissions", None) or self._permit,
            elicitation=self._elicit,
            login=self._choose_login,
            terminal_login=self._log_in,
            versions=self.outside.versions,
            unstable=True,
            deadlines=loaded.settings.waits,
            watch=self.log.saw,  # always, from the first byte on: what led to a failure is looked for afterwards
        )
        self._connecting = asyncio.ensure_future(connecting)
        try:
            self.agent = await self._connecting
        except asyncio.CancelledError:
            self._go_on()
            raise
        if self._is_closed:
            await self.agent.close()
            self._go_on()
        self.agent.on_trouble(lambda trouble: self.log.add("trouble", str(trouble).encode()))
        self.state = "ready"
        self._mourning = asyncio.ensure_future(self._mourn())
        self._say_notes(loaded.notes)

    def _can_be_configured(self) -> bool:
        try:
            self.outside.configuration()
        except AccordError:
            return False
        return True

    def _go_on(self) -> None:
        if self._is_closed:
            raise Stopped("It was closed before it was there.")

    def _installing(self, what: str, done: int, of: int) -> None:
        much = f" {100 * done // of} % of {size_of(of)}" if of else f" {size_of(done)}" if done else ""
        self.progress = f"{one_line(what, 60)}{much}"
        self.desk.link_changed(self)

    def give_up(self) -> None:
        """Ends a start that the user does not want to wait for: at once, whatever it waits for itself."""
        if self.state == "starting" and self._opening is not None:
            self._stopped = self.is_stopping = True
            self.kill()
            self._opening.cancel()
            self.desk.link_changed(self)

    def _say_notes(self, notes: list[str]) -> None:
        from accord.model.session import Notice

        self.notes += [Notice(severity="warning", title=note) for note in notes]
        assert self.agent is not None
        if self.agent.connection.first_stray:
            what = "the agent printed what is no message"
            self.notes.append(Notice(severity="info", title=what, description=self.agent.connection.first_stray))

    def _failed(self, words: str) -> None:
        from accord.config.mask import masked

        self.state = "failed"
        self.progress = ""
        self.failure = masked(words)

    async def _mourn(self) -> None:
        assert self.agent is not None
        connection = self.agent.connection
        await connection.wait_ended()
        # After a login the agent is started again, which is no end unless that fails.
        while self.agent.left is connection and self.agent.connection is connection:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        if self.agent.connection is not connection:
            self._mourning = asyncio.ensure_future(self._mourn())
        elif self.state == "ready":
            words = str(connection.closed_error("")).replace(" already", "", 1)
            self.failure = "You ended it." if self.was_killed else words
            self.state = "gone"
            self.desk.link_changed(self)

    async def settled(self) -> None:
        """Waits until it is known whether the agent whose connection has ended is gone."""
        end = time.monotonic() + 2
        while self.state == "ready" and not self.is_open and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    async def close(self) -> None:
        """Ends the agent and everything it started."""
        self._stopped = self._is_closed = True
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait([self._connecting])
        self.state = "gone" if self.state == "ready" else self.state
        if self._mourning is not None:
            self._mourning.cancel()
        if self.agent is not None:
            await self.untouched.forget(self.agent)
            self.open_here.close()
            await self.agent.close()
        elif self.launch is not None:
            self.launch.kill()
        close = getattr(self.workspace, "close", None)
        if close is not None:
            await close()

    def kill(self) -> None:
        """Ends the agent at once."""
        if self.launch is not None:
            self.launch.kill()
        kill = getattr(self.workspace, "kill", None)
        if kill is not None:
            kill()

    # -- what it asks

    async def _ask(self, question: Question) -> Choice | None:
        return await self.desk.ask(self, question)

    async def _permit(self, request: PermissionRequest) -> Any:
        """Without a workspace there is no policy; then the user alone decides."""
        from accord.policy.engine import Policy

        policy = Policy(self.outside.cwd)
        from accord.policy.answers import answer_to

        return answer_to(request, await policy.answer(request, ask=self._ask))

    async def _elicit(self, question: Elicitation) -> Reply | None:
        return await self.desk.elicit(self, question)

    async def _choose_login(self, methods: list[AuthMethod]) -> AuthMethod | None:
        return await self.desk.choose_login(self, methods)

    async def _log_in(self, method: AuthMethod) -> bool:
        return await self.desk.log_in(self, method)

    def _told(self, what: Any, decision: Any) -> None:
        self.desk.decided(self, what, decision)
