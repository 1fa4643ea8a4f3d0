"""A synchronous client, for scripts and notebooks.

Everything runs on one event loop in a separate thread, so it also works where a loop is already running. Handlers that
aren't async run in threads too, so they may block: ask on the terminal, or show a window."""

from __future__ import annotations

import asyncio
import atexit
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypedDict, TypeVar, Unpack, cast

from accord.client.agent import ConnectedAgent
from accord.client.arguments import Directory
from accord.client.connect import ConnectOptions, Target
from accord.client.connect import connect as connect_async
from accord.client.offered_servers import ServerLike
from accord.client.session import Session as AsyncSession
from accord.client.turn import Turn
from accord.errors import LocalProtocolError, UsageError, end_at_author
from accord.model.content import ContentsLike
from accord.model.requests import SystemPrompt
from accord.model.session import Option, SessionInfo
from accord.transcript.events import Event
from accord.transcript.transcript import Transcript
from accord.transports.event_loop import new_event_loop

T = TypeVar("T")

_HANDLERS = ("permissions", "elicitation", "login")
_GRACE_SECONDS = 10.0
"""How long interrupted work may take to end."""


class _Loop:
    """The event loop that everything here runs on, and its thread."""

    def __init__(self) -> None:
        self.loop = new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="accord", daemon=True)
        self.thread.start()
        atexit.register(self.stop)

    def stop(self) -> None:
        if self.loop.is_running():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join(timeout=1)
        if not self.thread.is_alive():
            self.loop.close()


_lock = threading.Lock()
_running: _Loop | None = None


def _background() -> _Loop:
    """Return the background loop, started on first use."""
    global _running
    with _lock:
        if _running is None or not _running.thread.is_alive():
            _running = _Loop()
        return _running


def _wait(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the background loop and return its result. Ctrl-C cancels it and waits until it has ended."""
    background = _background()
    if threading.current_thread() is background.thread:
        work.close()
        raise LocalProtocolError("accord.sync was called from an async handler; await the session's own methods there")
    done = threading.Event()
    tasks: list[asyncio.Task[T]] = []

    def start() -> None:
        tasks.append(background.loop.create_task(work))
        tasks[0].add_done_callback(lambda _: done.set())

    background.loop.call_soon_threadsafe(start)
    try:
        while not done.wait(1.0):  # an endless wait ignores Ctrl-C on some platforms
            pass
    except BaseException:
        background.loop.call_soon_threadsafe(lambda: tasks[0].cancel())
        done.wait(_GRACE_SECONDS)
        raise
    return tasks[0].result()


class SessionOptions(TypedDict, total=False):
    """The options of a new or reopened session."""

    mcp_servers: Sequence[ServerLike] | None
    additional_directories: Sequence[Directory]
    system_prompt: SystemPrompt | str | None
    meta: dict[str, Any] | None


class Agent:
    """A connected agent. Use it with `with`, so that the connection is closed."""

    def __init__(self, agent: ConnectedAgent) -> None:
        self._agent = agent

    @property
    def name(self) -> str:
        return self._agent.name

    @property
    def version(self) -> int:
        return self._agent.version

    def new_session(self, cwd: Directory | None = None, **setup: Unpack[SessionOptions]) -> Session:
        """Create a session."""
        return Session(_wait(self._agent.new_session(cwd, **setup)))

    def load_session(self, id: str, cwd: Directory | None = None, **setup: Unpack[SessionOptions]) -> Session:
        """Open a stored session and read its history."""
        return Session(_wait(self._agent.load_session(id, cwd, **setup)))

    def resume_session(self, id: str, cwd: Directory | None = None, **setup: Unpack[SessionOptions]) -> Session:
        """Open a stored session without its history."""
        return Session(_wait(self._agent.resume_session(id, cwd, **setup)))

    def list_sessions(self, cwd: Directory | None = None) -> list[SessionInfo]:
        """List the agent's sessions: those of one directory, or all."""

        async def collect() -> list[SessionInfo]:
            return [info async for info in self._agent.list_sessions(cwd)]

        return _wait(collect())

    def request(self, method: str, params: Any = None) -> Any:
        """Send a request that the protocol doesn't define."""
        return _wait(self._agent.request(method, params))

    def login(self, method: str | None = None) -> None:
        """Log in with one of the agent's methods, given by its id, or with the first usable one."""
        _wait(self._agent.login(method))

    def logout(self) -> None:
        """Log out."""
        _wait(self._agent.logout())

    def close(self) -> None:
        """Close the connection, and stop the agent if it was started here."""
        _wait(self._agent.close())

    if not TYPE_CHECKING:  # type checkers report these mistakes themselves

        async def __aenter__(self) -> NoReturn:
            raise UsageError("accord.sync.connect() needs “with”; for “async with”, use accord.connect")

        async def __aexit__(self, *exc: object) -> None: ...

    def __enter__(self) -> Agent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if error is not None:
            end_at_author(error)


class Session:
    """One session with an agent."""

    def __init__(self, session: AsyncSession) -> None:
        self._session = session

    @property
    def id(self) -> str:
        return self._session.id

    @property
    def transcript(self) -> Transcript:
        return self._session.transcript

    @property
    def options(self) -> list[Option]:
        return self._session.options

    if not TYPE_CHECKING:

        def prompt(self, *content: Any, **options: Any) -> NoReturn:
            raise UsageError("a session of accord.sync has no prompt(); use ask(…), or stream(…) for its events")

    def ask(self, *content: ContentsLike) -> Turn:
        """Send a prompt and wait for the end of its turn."""

        async def run() -> Turn:
            return await self._session.prompt(*content)

        return _wait(run())

    def stream(self, *content: ContentsLike) -> Iterator[Event]:
        """Send a prompt and yield its events as they arrive. Leaving the loop early cancels the turn."""

        async def begin() -> Any:
            return self._session.prompt(*content).__aiter__()

        async def next_event() -> Event | None:
            return await anext(events, None)

        events = _wait(begin())
        try:
            while (event := _wait(next_event())) is not None:
                yield event
        finally:
            _wait(events.aclose())

    def set_option(self, id: str, value: str | bool, *, unlisted: bool = False) -> None:
        """Set an option by its id or category. See `Session.set_option`."""
        _wait(self._session.set_option(id, value, unlisted=unlisted))

    def cancel(self) -> None:
        """Cancel the running turn. Call it from another thread."""
        _wait(self._session.cancel())

    def close(self) -> None:
        """Cancel the session's work and close it at the agent."""
        _wait(self._session.close())


def connect(target: Target, **options: Unpack[ConnectOptions]) -> Agent:
    """Connect to an agent; the options are those of `accord.connect`."""
    handlers: dict[str, Any] = {}
    for name in _HANDLERS:
        handler: Any = options.get(name)
        if callable(handler):
            handlers[name] = _in_thread(handler)
    options.update(cast(ConnectOptions, handlers))

    async def begin() -> ConnectedAgent:
        return await connect_async(target, **options)

    return Agent(_wait(begin()))


def ask(target: Target, *content: ContentsLike, **options: Unpack[ConnectOptions]) -> Turn:
    """Start an agent, send it one prompt, wait for the end of the turn, and stop the agent."""
    with connect(target, **options) as agent:
        return agent.new_session().ask(*content)


def _in_thread(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Make a blocking handler awaitable by running it in a thread."""
    if inspect.iscoroutinefunction(handler):
        return handler

    async def call(question: Any) -> Any:
        answer = await asyncio.to_thread(handler, question)
        return await answer if inspect.isawaitable(answer) else answer

    return call
