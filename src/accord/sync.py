"""The client for those who do not await: scripts and notebooks.

Everything runs on one event loop in a thread of its own, so it works where a loop is running already. Handlers that are
plain functions run in threads too, so they may block: ask on the terminal, or show a window."""

from __future__ import annotations

import asyncio
import atexit
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

from accord.client.agent import ConnectedAgent
from accord.client.connect import Target
from accord.client.connect import connect as connect_async
from accord.client.session import Session as AsyncSession
from accord.client.turn import Turn
from accord.errors import LocalProtocolError
from accord.model.session import Option, SessionInfo
from accord.transcript.events import Event
from accord.transcript.transcript import Transcript

T = TypeVar("T")

_HANDLERS = ("permissions", "elicitation", "login")
_GRACE = 10.0
"""How long what was interrupted may take to end."""


class _Loop:
    """The event loop that everything here runs on, and its thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="accord", daemon=True)
        self.thread.start()
        atexit.register(self.stop)

    def stop(self) -> None:
        if self.loop.is_running():
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join(timeout=1)


_lock = threading.Lock()
_running: _Loop | None = None


def _background() -> _Loop:
    """Started when it is first needed."""
    global _running
    with _lock:
        if _running is None or not _running.thread.is_alive():
            _running = _Loop()
        return _running


def _wait(work: Coroutine[Any, Any, T]) -> T:
    """Runs something on the background loop. Ctrl-C cancels it there, and waits until it is gone."""
    background = _background()
    if threading.current_thread() is background.thread:
        work.close()
        raise LocalProtocolError(
            "accord.sync was called from a handler that awaits; use the session's own methods there"
        )
    done = threading.Event()
    tasks: list[asyncio.Task[T]] = []

    def start() -> None:
        tasks.append(background.loop.create_task(work))
        tasks[0].add_done_callback(lambda _: done.set())

    background.loop.call_soon_threadsafe(start)
    try:
        while not done.wait(1.0):  # in slices, so that Ctrl-C is heard on every platform
            pass
    except BaseException:
        background.loop.call_soon_threadsafe(lambda: tasks[0].cancel())
        done.wait(_GRACE)
        raise
    return tasks[0].result()


class Agent:
    """A connected agent. Use it with `with`, so that it is ended."""

    def __init__(self, agent: ConnectedAgent) -> None:
        self._agent = agent

    @property
    def name(self) -> str:
        return self._agent.name

    @property
    def version(self) -> int:
        return self._agent.version

    def new_session(self, cwd: str | None = None, **place: Any) -> Session:
        """Begins a session."""
        return Session(_wait(self._agent.new_session(cwd, **place)))

    def load_session(self, id: str, cwd: str | None = None, **place: Any) -> Session:
        """Opens a stored session and reads its history."""
        return Session(_wait(self._agent.load_session(id, cwd, **place)))

    def resume_session(self, id: str, cwd: str | None = None, **place: Any) -> Session:
        """Opens a stored session without its history."""
        return Session(_wait(self._agent.resume_session(id, cwd, **place)))

    def list_sessions(self, cwd: str | None = None) -> list[SessionInfo]:
        """The agent's sessions; those of one directory, or all."""

        async def whole() -> list[SessionInfo]:
            return [info async for info in self._agent.list_sessions(cwd)]

        return _wait(whole())

    def request(self, method: str, params: Any = None) -> Any:
        """Asks something that the protocol does not know."""
        return _wait(self._agent.request(method, params))

    def login(self, method: str | None = None) -> None:
        _wait(self._agent.login(method))

    def logout(self) -> None:
        _wait(self._agent.logout())

    def close(self) -> None:
        _wait(self._agent.close())

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Session:
    """One conversation."""

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

    def ask(self, *content: Any) -> Turn:
        """Sends a prompt and waits for the end of its turn."""

        async def whole() -> Turn:
            return await self._session.prompt(*content)

        return _wait(whole())

    def stream(self, *content: Any) -> Iterator[Event]:
        """Sends a prompt and gives its events as they come. Leaving the loop early cancels the turn."""

        async def begin() -> Any:
            return self._session.prompt(*content).__aiter__()

        async def following() -> Event | None:
            return await anext(events, None)

        events = _wait(begin())
        try:
            while (event := _wait(following())) is not None:
                yield event
        finally:
            _wait(events.aclose())

    def set_option(self, id: str, value: str | bool) -> None:
        """Sets an option by its id or category."""
        _wait(self._session.set_option(id, value))

    def cancel(self) -> None:
        """Stops the running turn; to be called from another thread."""
        _wait(self._session.cancel())

    def close(self) -> None:
        """Ends the session's work and frees it at the agent."""
        _wait(self._session.close())


def connect(target: Target, **options: Any) -> Agent:
    """Connects to an agent; the options are those of `accord.connect`."""
    for name in _HANDLERS:
        if options.get(name) is not None:
            options[name] = _in_thread(options[name])

    async def begin() -> ConnectedAgent:
        return await connect_async(target, **options)

    return Agent(_wait(begin()))


def ask(target: Target, *content: Any, **options: Any) -> Turn:
    """Starts an agent, sends it one prompt, waits for the answer, and ends it."""
    with connect(target, **options) as agent:
        return agent.new_session().ask(*content)


def _in_thread(handler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A handler that may block, as one to be awaited."""
    if inspect.iscoroutinefunction(handler):
        return handler

    async def awaited(question: Any) -> Any:
        answer = await asyncio.to_thread(handler, question)
        return await answer if inspect.isawaitable(answer) else answer

    return awaited
