"""The client for those who do not await: scripts and notebooks.

Everything runs on one event loop in a thread of its own, so it works where a loop is running already."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

from accord.client.agent import ConnectedAgent
from accord.client.connect import Target
from accord.client.connect import connect as connect_async
from accord.client.session import Session as AsyncSession
from accord.client.turn import Turn
from accord.model.session import Option
from accord.transcript.events import Event
from accord.transcript.transcript import Transcript

T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _background() -> asyncio.AbstractEventLoop:
    """The loop that everything here runs on, started when first needed."""
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="accord", daemon=True).start()
            atexit.register(_stop)
        return _loop


def _stop() -> None:
    if _loop is not None and _loop.is_running():
        _loop.call_soon_threadsafe(_loop.stop)


def _wait(work: Coroutine[Any, Any, T]) -> T:
    """Runs something on the background loop. Ctrl-C cancels it there, and waits until it is gone."""
    future = asyncio.run_coroutine_threadsafe(work, _background())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


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

    def request(self, method: str, params: Any = None) -> Any:
        """Asks something that the protocol does not know."""
        return _wait(self._agent.request(method, params))

    def login(self, method: str | None = None) -> None:
        _wait(self._agent.login(method))

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

        events = _wait(begin())
        try:
            while True:
                try:
                    yield _wait(events.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            _wait(events.aclose())

    def set_option(self, id: str, value: str | bool) -> None:
        _wait(self._session.set_option(id, value))

    def cancel(self) -> None:
        """Stops the running turn; to be called from another thread."""
        _wait(self._session.cancel())

    def close(self) -> None:
        _wait(self._session.close())


def connect(target: Target, **options: Any) -> Agent:
    """Connects to an agent; the options are those of `accord.connect`. Handlers run on the background loop."""

    async def begin() -> ConnectedAgent:
        return await connect_async(target, **options)

    return Agent(_wait(begin()))


def ask(target: Target, *content: Any, **options: Any) -> Turn:
    """Starts an agent, sends it one prompt, waits for the answer, and ends it."""
    with connect(target, **options) as agent:
        return agent.new_session().ask(*content)
