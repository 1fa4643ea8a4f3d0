"""Commands: in the client's terminals where it offers them, else as processes of the agent's own that are shown."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from accord.model.noun import Noun
from accord.model.statement import TerminalData, TerminalPatch
from accord.model.tool import ExitStatus

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.tool import Tool


class Output(Noun):
    """What a terminal printed so far, the beginning cut off when it was too much."""

    text: str
    truncated: bool = False
    exit: ExitStatus | None = None


class Terminals:
    """Runs commands, in the client's terminals or here."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def create(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        output_limit: int | None = None,
    ) -> Terminal:
        """Starts a command and gives its terminal at once. Use it with `async with`, so that it is released."""
        session = self._session
        session.check_open("run commands")
        where = session.absolute(cwd) if cwd is not None else session.cwd
        if not session.client.terminals:
            return await session.local.run(command, args, where, env or {}, output_limit)
        dialect = session._side.dialect
        creating = asyncio.ensure_future(
            dialect.create_terminal(session, command, list(args), where, dict(env or {}), output_limit)
        )
        try:
            return Terminal(session, await asyncio.shield(creating))
        except asyncio.CancelledError:
            # The client may have made it already. Whoever made it must be told to let it go.
            creating.add_done_callback(lambda done: _let_go(session, done))
            raise

    async def run(self, command: str, args: Sequence[str] = (), **how: object) -> Output:
        """Runs a command to its end and gives its output. If this is cancelled, the command is killed."""
        async with await self.create(command, args, **how) as terminal:  # type: ignore[arg-type]
            await terminal.wait()
            return await terminal.output()


def _let_go(session: Session, created: asyncio.Future[str]) -> None:
    """Releases a terminal that nobody waits for any more."""
    if not created.cancelled() and created.exception() is None:
        _released(session, created.result())


def _released(session: Session, id: str) -> asyncio.Future[None]:
    """The release of a terminal, on its way whether or not anybody waits for it."""
    releasing = asyncio.ensure_future(session._side.dialect.release_terminal(session, id))
    session.releasing.add(releasing)  # else nothing would hold it
    releasing.add_done_callback(session.releasing.discard)
    releasing.add_done_callback(lambda done: done.cancelled() or done.exception())
    return releasing


class Terminal:
    """A command in a terminal of the client."""

    def __init__(self, session: Session, id: str) -> None:
        self._session = session
        self.id = id
        self._released = False

    async def output(self) -> Output:
        """What it printed so far, without waiting."""
        return await self._session._side.dialect.terminal_output(self._session, self.id)

    async def wait(self) -> ExitStatus:
        """Waits for the command's end."""
        return await self._session._side.dialect.wait_for_exit(self._session, self.id)

    async def kill(self) -> None:
        """Ends the command; its output can still be read."""
        await self._session._side.dialect.kill_terminal(self._session, self.id)

    async def release(self) -> None:
        """Ends the command if it still runs, and frees the terminal."""
        if not self._released:
            self._released = True
            # If whoever waits is cancelled, it is released all the same.
            await asyncio.shield(_released(self._session, self.id))

    async def __aenter__(self) -> Terminal:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, asyncio.CancelledError):
            await self._leave()
        else:
            await self.release()

    async def _leave(self) -> None:
        """Releases it without waiting for the answer, which a client may owe for ever: whoever cancels wants an end."""
        if not self._released:
            self._released = True
            _released(self._session, self.id)
            await asyncio.sleep(0)  # until it has been sent


class DisplayTerminal:
    """A terminal that the agent runs itself; the client only shows it.

    Version 1 has no such thing: there its output becomes text in the tool call that shows it: the last of it while the
    command runs, all of it when it ends."""

    def __init__(self, session: Session, id: str) -> None:
        self._session = session
        self.id = id
        self.shown_in: Tool | None = None

    async def write(self, data: bytes | str) -> None:
        """Shows what was printed."""
        await self._session.state(TerminalData(id=self.id, data=data.encode() if isinstance(data, str) else data))
        self._session._side.dialect.display_grew(self._session, self)

    async def exit(self, code: int | None = 0, signal: str | None = None) -> None:
        """Says that the command ended."""
        self._session.cancellable_terminals.discard(self.id)
        self._session.background.terminals.discard(self.id)
        sent = self._session.state(
            TerminalPatch(id=self.id, exit=ExitStatus(code=code, signal=signal), can_cancel=False)
        )
        self._session.background.changed()
        await sent
        await self._session._side.dialect.display_ended(self._session, self)
