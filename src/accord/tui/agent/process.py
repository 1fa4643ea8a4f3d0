"""One agent: its process, the connection to it, its log, and the questions it asks."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Literal, Protocol

from accord.config.command import is_command_line
from accord.errors import AccordError, PeerDied, RuleError, VersionError
from accord.process.thread import run_in_thread
from accord.terminal_text import format_size, one_line
from accord.tui.agent.empty_sessions import EmptySessions
from accord.tui.agent.log import Log
from accord.tui.agent.names import BUILT_IN_NAME, OWN_TITLE, display_name
from accord.tui.agent.session_locks import SessionLocks
from accord.tui.agent.workspace import AgentWorkspace
from accord.tui.errors import report_bug
from accord.tui.greeting import describe_early_exit

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.model.requests import AuthMethod, Elicitation, PermissionRequest, Reply
    from accord.model.session import Notice
    from accord.policy.question import Choice, Question
    from accord.tui.host import Host, Launch

State = Literal["undecided", "starting", "ready", "failed", "gone"]
SETTLE_SECONDS = 2.0
"""How long to wait for the reason why a connection ended."""


class StartCancelled(AccordError):
    """The user cancelled an installation or a start."""


class Delegate(Protocol):
    """Answers what an agent asks, and is notified when its state changes."""

    async def ask(self, process: AgentProcess, question: Question) -> Choice | None: ...

    async def elicit(self, process: AgentProcess, question: Elicitation) -> Reply | None: ...

    async def choose_login(self, process: AgentProcess, methods: list[AuthMethod]) -> AuthMethod | None: ...

    async def log_in(self, process: AgentProcess, method: AuthMethod) -> bool: ...

    def on_decision(self, process: AgentProcess, action: Any, decision: Any) -> None: ...

    def process_changed(self, process: AgentProcess) -> None: ...


class AgentProcess:
    """An agent, from the moment it is chosen until it is closed."""

    def __init__(self, host: Host, target: str | None, delegate: Delegate, *, is_undecided: bool = False) -> None:
        self.host = host
        self.target = target
        self.delegate = delegate
        self.workspace: AgentWorkspace = AgentWorkspace()
        self.state: State = "undecided" if is_undecided else "starting"
        self.failure: str = ""
        self.is_misconfigured: bool = False
        """Whether it failed because the configuration is invalid, which affects every agent."""
        self.progress: str = ""
        """The progress of the installation before the start, if there is one."""
        self.must_install: bool = False
        """Whether the user agreed to install it before it starts."""
        self.is_stopping: bool = False
        """Whether the user cancelled the start, which is about to end."""
        self.agent: ConnectedAgent | None = None
        self.launch: Launch | None = None
        self.notes: list[Notice] = []
        """Notices for the first session."""
        self.log: Log = Log()
        self.ready: asyncio.Event = asyncio.Event()
        """Set when it is known whether the agent can be used."""
        self.session_locks: SessionLocks = SessionLocks(lambda: host.resolve_name(self.target))
        self.empty_sessions: EmptySessions = EmptySessions(self.session_locks.is_elsewhere)
        self.was_killed = False
        """Whether the user killed it."""
        self._name = target or ""
        self._is_cancelled = self._is_closed = False
        self._opening: asyncio.Future[None] | None = None
        self._connecting: asyncio.Future[ConnectedAgent] | None = None
        self._watching: asyncio.Task[None] | None = None

    @property
    def title(self) -> str:
        """The agent's name for the user: its own title once that is known, else (and for the built-in one) ours."""
        if self.state == "undecided":
            return "agent"
        self._name = self._name or self.host.resolve_name(self.target)
        name = display_name(self._name)
        info = self.agent.offers.info if self.agent is not None and name != BUILT_IN_NAME else None
        own = "" if info is None else info.title or (info.name if is_command_line(self._name) else "")
        if own == OWN_TITLE:  # the built-in agent under another name, or started by its command line
            return BUILT_IN_NAME if is_command_line(self._name) else name
        return one_line(own or "", 60) or name

    @property
    def is_open(self) -> bool:
        """Whether something can be sent."""
        return self.state == "ready" and self.agent is not None and self.agent.connection.is_open

    @property
    def can_list_sessions(self) -> bool:
        return self.agent is not None and self.agent.offers.list

    def choose(self, target: str) -> None:
        """Set the agent that the user chose."""
        self.target = self._name = target
        self.state = "starting"

    # -- starting

    async def open(self) -> None:
        """Start the agent and initialize the connection. If that fails, `failure` says why."""
        self._opening = asyncio.ensure_future(self._open())
        try:
            await self._opening
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not self.is_stopping or (task is not None and task.cancelling()):
                raise
            self._fail(f"You cancelled the {'installation' if self.progress else 'start'}.")
        except PeerDied as error:
            self._fail(describe_early_exit(error))
        except AccordError as error:
            hint = "; it may support only version 2: start Accord with --v2"
            is_newer = isinstance(error, VersionError) and 2 not in self.host.versions
            self._fail(f"{error}{hint if is_newer else ''}")
            self.is_misconfigured = isinstance(error, RuleError) or not self._can_be_configured()
        except OSError as error:
            self._fail(f"{type(error).__name__}: {error}")
        except Exception as error:
            self._fail(report_bug(error))
        finally:
            self.is_stopping = False
            self.ready.set()
            self.delegate.process_changed(self)

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()

        def on_stderr(line: str) -> None:
            loop.call_soon_threadsafe(self.log.add, "stderr", line.encode("utf-8", "replace"))

        def on_progress(what: str, done: int, of: int) -> None:
            if self._is_cancelled:
                raise StartCancelled("You cancelled the installation.")
            loop.call_soon_threadsafe(self._show_progress, what, done, of)

        def start() -> Launch:
            if self.must_install and self.target is not None:
                self.host.install(self.target, on_progress)
            # Set in the thread, not after it returns: `close` may run in between and must end the process.
            self.launch = launch = self.host.launch(self.target, on_stderr, on_progress)
            if self._is_cancelled:
                launch.kill()
            return launch

        launch = await run_in_thread(start, finishes=True)
        self._check_closed()
        self.progress = ""
        from accord.client.connect import connect

        loaded = self.host.configuration()
        # This reads the policy: an invalid rule is reported now, not in the middle of a turn.
        workspace = self.host.workspace(launch, self._ask, self._on_decision)
        if workspace is not None:
            self.workspace.attach(workspace.local)
        connecting = connect(
            launch.target,
            cwd=self.host.cwd,
            workspace=workspace.served if workspace is not None else None,
            permissions=workspace.local.permissions if workspace is not None else self._permit,
            elicitation=self._elicit,
            login=self._choose_login,
            terminal_login=self._log_in if launch.has_program else False,
            versions=self.host.versions,
            unstable=True,
            deadlines=loaded.settings.waits,
            watch=self.log.record,  # from the first byte on, because failures are investigated afterwards
        )
        self._connecting = asyncio.ensure_future(connecting)
        try:
            self.agent = await self._connecting
        except asyncio.CancelledError:
            self._check_closed()
            raise
        if self._is_closed:
            await self.agent.close()
            self._check_closed()
        self.agent.on_problem(lambda problem: self.log.add("problem", str(problem).encode()))
        self.state = "ready"
        self._watching = asyncio.ensure_future(self._watch_connection())
        self._add_notes(loaded.notes)

    def _can_be_configured(self) -> bool:
        try:
            self.host.configuration()
        except AccordError:
            return False
        return True

    def _check_closed(self) -> None:
        if self._is_closed:
            raise StartCancelled("Closed before the agent had started.")

    def _show_progress(self, what: str, done: int, of: int) -> None:
        amount = f" {100 * done // of} % of {format_size(of)}" if of else f" {format_size(done)}" if done else ""
        self.progress = f"{one_line(what, 60)}{amount}"
        self.delegate.process_changed(self)

    def cancel_start(self) -> None:
        """Cancel a start that the user doesn't want to wait for, at once."""
        if self.state == "starting" and self._opening is not None:
            self._is_cancelled = self.is_stopping = True
            self.kill()
            self._opening.cancel()
            self.delegate.process_changed(self)

    def _add_notes(self, notes: list[str]) -> None:
        from accord.model.session import Notice

        self.notes += [Notice(severity="warning", title=note) for note in notes]
        assert self.agent is not None
        if self.agent.connection.first_stray:
            title = "The agent wrote non-protocol output to stdout"
            self.notes.append(Notice(severity="info", title=title, description=self.agent.connection.first_stray))

    def _fail(self, reason: str) -> None:
        from accord.config.redaction import redact_text

        self.state = "failed"
        self.progress = ""
        self.failure = redact_text(reason)

    # -- the end

    async def _watch_connection(self) -> None:
        assert self.agent is not None
        connection = self.agent.connection
        await connection.wait_ended()
        # A login restarts the agent and ends this connection. The agent has exited only if the restart fails.
        while self.agent.restarts.replaced is connection and self.agent.connection is connection:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        if self.agent.connection is not connection:
            self._watching = asyncio.ensure_future(self._watch_connection())
        elif self.state == "ready":
            self.failure = "You killed it." if self.was_killed else str(connection.closed_error(""))
            self.state = "gone"
            self.delegate.process_changed(self)

    async def wait_settled(self) -> None:
        """Wait until it is known whether the agent has exited after its connection ended."""
        end = time.monotonic() + SETTLE_SECONDS
        while self.state == "ready" and not self.is_open and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(0.02)

    async def close(self) -> None:
        """End the agent and everything it started."""
        self._is_cancelled = self._is_closed = True
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait([self._connecting])
        self.state = "gone" if self.state == "ready" else self.state
        if self._watching is not None:
            self._watching.cancel()
        if self.agent is not None:
            await self.empty_sessions.forget(self.agent)
            self.session_locks.close()
            await self.agent.close()
        elif self.launch is not None:
            self.launch.kill()
        await self.workspace.close()

    def leave(self) -> None:
        """Let the agent exit in the background, even after us, because it takes too long to wait for."""
        if self.launch is not None:
            self.launch.leave()

    def kill(self) -> None:
        """Kill the agent and its terminals at once."""
        if self.launch is not None:
            self.launch.kill()
        self.workspace.kill()

    # -- questions

    async def _ask(self, question: Question) -> Choice | None:
        return await self.delegate.ask(self, question)

    async def _permit(self, request: PermissionRequest) -> Any:
        """Let the user decide: without a workspace there is no policy."""
        from accord.policy.decision import select_option
        from accord.policy.engine import Policy

        policy = Policy(self.host.cwd)
        return select_option(request, await policy.answer(request, ask=self._ask))

    async def _elicit(self, question: Elicitation) -> Reply | None:
        return await self.delegate.elicit(self, question)

    async def _choose_login(self, methods: list[AuthMethod]) -> AuthMethod | None:
        return await self.delegate.choose_login(self, methods)

    async def _log_in(self, method: AuthMethod) -> bool:
        return await self.delegate.log_in(self, method)

    def _on_decision(self, action: Any, decision: Any) -> None:
        self.delegate.on_decision(self, action, decision)
