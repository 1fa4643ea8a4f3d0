"""Files and terminals of a session: the client's if it offers them, otherwise the agent's own inside the session's
directories. The client's files include unsaved changes in the editor."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Mapping
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from accord.errors import InvalidValue, NotFound, RemoteProtocolError
from accord.model import check, values
from accord.model.list_like import ListLike
from accord.model.record import Meta, Record
from accord.model.statement import TerminalData, TerminalPatch
from accord.model.tool import ExitStatus
from accord.model.values import UINT32, count, short, text, texts

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.tool import Tool


class Output(Record):
    """The output of a terminal so far. If there is too much, the beginning is dropped."""

    text: str
    truncated: bool = False
    exit: ExitStatus | None = None


class Terminals:
    """Runs commands in the client's terminals, or here, and shows those that the agent runs itself."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @cached_property
    def cancellable(self) -> set[str]:
        """The displayed terminals whose command the client may cancel."""
        return set()

    @cached_property
    def release_requests(self) -> set[asyncio.Future[None]]:
        """Open requests to the client to release a terminal."""
        return set()

    async def create(
        self,
        command: str,
        args: ListLike[str] = (),
        *,
        cwd: str | None = None,
        at: str | None = None,
        env: Mapping[str, str] | None = None,
        output_limit: int | None = None,
        here: bool = False,
    ) -> Terminal:
        """Start a command and return its terminal. Use it with `async with`, so that it is released.

        `at` is the resolved working directory that a permission covers, as for `files.read`. With `here` the command
        runs on this machine, even if the client offers terminals."""
        session = self._session
        if isinstance(command, list | tuple) and command:
            raise InvalidValue(
                f"command is {short(command)}; it must be a string, and its arguments come next: "
                f"{short(command[0])}, {short(list(command[1:]))}",
                argument="command",
            )
        text("command", command)
        args = texts("args", args)
        session.check_open("run commands")
        where = session.absolute(cwd) if cwd is not None else session.cwd
        if here or not session.client.offers.terminals:
            return await session.machine.run(command, args, where, env or {}, output_limit, at=at)
        dialect = session.dialect
        creating = asyncio.ensure_future(
            dialect.create_terminal(session, command, args, where, dict(env or {}), output_limit)
        )
        try:
            return Terminal(session, await asyncio.shield(creating))
        except asyncio.CancelledError:
            # The client may have created it by now, and must release it.
            creating.add_done_callback(lambda done: _release_unused(session, done))
            raise

    async def run(
        self,
        command: str,
        args: ListLike[str] = (),
        *,
        cwd: str | None = None,
        at: str | None = None,
        env: Mapping[str, str] | None = None,
        output_limit: int | None = None,
    ) -> Output:
        """Run a command and return its output when it exits. If this is cancelled, the command is killed."""
        async with await self.create(command, args, cwd=cwd, at=at, env=env, output_limit=output_limit) as terminal:
            await terminal.wait()
            return await terminal.output()

    def show(
        self, command: str, cwd: str | None, size: tuple[int, int] | None, can_cancel: bool, meta: Meta | None
    ) -> DisplayTerminal:
        """Show a terminal of a command that the agent runs itself."""
        text("command", command)
        session = self._session
        terminal = DisplayTerminal(session, session.new_id("term"))
        patch = TerminalPatch(id=terminal.id, command=command, cwd=session.absolute(cwd or session.cwd), meta=meta)
        if size is not None:
            patch.columns, patch.rows = check.size("size", size)
        if can_cancel:
            patch.can_cancel = True
            self.cancellable.add(terminal.id)
        session.background.terminals.add(terminal.id)
        session.writer.state(patch)
        return terminal


def _release_unused(session: Session, created: asyncio.Future[str]) -> None:
    """Release a terminal whose creation was cancelled."""
    if not created.cancelled() and created.exception() is None:
        _kill_and_release(session, created.result())


def _kill_and_release(session: Session, id: str) -> None:
    """Kill and release a terminal without waiting for the client's responses, which may never come.

    Releasing a terminal should end its command, but not every client does that: Toad leaves it running."""
    _send(session, session.dialect.kill_terminal(session, id))
    _send(session, session.dialect.release_terminal(session, id))


def _send(session: Session, request: Coroutine[Any, Any, None]) -> asyncio.Future[None]:
    """Send a request in the background, whether or not anyone waits for the response."""
    sending = asyncio.ensure_future(request)
    session.terminals.release_requests.add(sending)  # the event loop holds only weak references to tasks
    sending.add_done_callback(session.terminals.release_requests.discard)
    sending.add_done_callback(lambda done: done.cancelled() or done.exception())
    return sending


class Terminal:
    """A command in one of the client's terminals."""

    shown_in: Tool | None = None
    """The tool call that shows it."""

    def __init__(self, session: Session, id: str) -> None:
        self._session = session
        self.id = id
        self._released = False

    async def output(self) -> Output:
        """Return the output so far, without waiting."""
        return await self._session.dialect.terminal_output(self._session, self.id)

    async def wait(self) -> ExitStatus:
        """Wait for the command to exit."""
        return await self._session.dialect.wait_for_exit(self._session, self.id)

    async def kill(self) -> None:
        """Kill the command. Its output can still be read."""
        await self._session.dialect.kill_terminal(self._session, self.id)

    async def release(self) -> None:
        """Kill the command if it is still running, and release the terminal."""
        if not self._released:
            self._released = True
            # Shielded: it is released even if the caller is cancelled.
            await asyncio.shield(_send(self._session, self._session.dialect.release_terminal(self._session, self.id)))

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
        """Kill and release the terminal without waiting for responses: the turn was cancelled."""
        if not self._released:
            self._released = True
            _kill_and_release(self._session, self.id)
            await asyncio.sleep(0)  # until it has been sent


class DisplayTerminal:
    """A terminal of a command that the agent runs itself; the client only shows it.

    Version 1 has no such terminals. There the output is text in the tool call that shows it: the end of it while the
    command runs, all of it when the command exits."""

    def __init__(self, session: Session, id: str) -> None:
        self._session = session
        self.id = id
        self.shown_in: Tool | None = None

    async def write(self, data: bytes | str, *, meta: Meta | None = None) -> None:
        """Show output of the command."""
        await self._session.writer.state(TerminalData(id=self.id, data=_octets(data), meta=meta))
        self._session.dialect.display_grew(self._session, self)

    async def set_output(self, data: bytes | str | None, *, meta: Meta | None = None) -> None:
        """Replace all output so far, such as the screen of a full-screen program. None clears it."""
        output = None if data is None else _octets(data)
        await self._session.writer.state(TerminalPatch(id=self.id, output=output, meta=meta))
        self._session.dialect.display_grew(self._session, self)

    async def update(
        self,
        *,
        command: str | UnsetType | None = UNSET,
        cwd: str | UnsetType | None = UNSET,
        size: tuple[int, int] | UnsetType | None = UNSET,
        meta: Meta | None = None,
    ) -> None:
        """Change the command line that is shown, the directory, or the size in columns and rows. Fields that are left
        out keep their value; None clears one. Version 1 shows none of them."""
        patch = TerminalPatch(id=self.id, command=command, meta=meta)
        patch.cwd = self._session.absolute(cwd) if isinstance(cwd, str) else cwd
        if size is None:
            patch.columns = patch.rows = None
        elif not isinstance(size, UnsetType):
            patch.columns, patch.rows = check.size("size", size)
        await self._session.writer.state(patch)

    async def exit(self, code: int | None = 0, signal: str | None = None, *, meta: Meta | None = None) -> None:
        """Report that the command exited, with a code or by a signal (`signal="SIGKILL"`)."""
        if code is not None:
            count("code", code, UINT32)
        self._session.terminals.cancellable.discard(self.id)
        self._session.background.terminals.discard(self.id)
        sent = self._session.writer.state(
            TerminalPatch(id=self.id, exit=ExitStatus(code=code, signal=signal), can_cancel=False, meta=meta)
        )
        self._session.background.update()
        await sent
        await self._session.dialect.display_ended(self._session, self)


def _octets(data: bytes | str) -> bytes:
    if isinstance(data, str):
        return data.encode("utf-8", "replace")
    if not isinstance(data, bytes):
        raise InvalidValue(f"data is {short(data)}; it must be bytes or a string", argument="data")
    return data


class Files:
    """Reads and writes text files. Relative paths are resolved against the session's working directory."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def read(self, path: str, *, line: int | None = None, limit: int | None = None, at: str | None = None) -> str:
        """Read the text of a file, optionally from a line on (counted from 1) and at most `limit` lines.

        `at` is the resolved path that a permission covers. If the path now leads elsewhere, nothing is read and
        `accord.workspace.place.Moved` is raised. A client that reads for us applies its own rules instead."""
        session = self._session
        values.text("path", path)
        session.check_open("read files")
        for name, value in (("line", line), ("limit", limit)):
            if value is not None:
                values.count(name, value, values.UINT32)
        if session.client.offers.read_files:
            values.path("path", path)
            return await self._read_through_client(session.absolute(path), line, limit)
        return await session.machine.read(session.absolute(path), line, limit, at=at)

    async def _read_through_client(self, path: str, line: int | None, limit: int | None) -> str:
        try:
            return await self._session.dialect.read_file(self._session, path, line, limit)
        except RemoteProtocolError as error:
            # agentic.nvim answers `[]` for a file that does not exist.
            if await asyncio.to_thread(os.path.lexists, path):
                raise
            raise NotFound(f"there is no file {path}") from error

    async def write(self, path: str, text: str, *, at: str | None = None) -> None:
        """Write a file, creating it if it doesn't exist. `at` is as for `read`."""
        session = self._session
        values.text("path", path)
        values.text("text", text)
        session.check_open("write files")
        if session.client.offers.write_files:
            values.path("path", path)
            await session.dialect.write_file(session, session.absolute(path), text)
        else:
            await session.machine.write(session.absolute(path), text, at=at)
