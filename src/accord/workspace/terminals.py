"""The terminals of a client: created for agents, used by id, and ended with their session.

An agent can use an id from `create` until `release`. After that, the output can still be shown (`kept`, `subscribe`).
If released terminals use too much memory, the oldest are removed."""

from __future__ import annotations

import asyncio
import functools
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from accord.errors import InvalidParams, LaunchError, NotFound, RequestFailed
from accord.model.tool import ExitStatus
from accord.workspace import command as commands
from accord.workspace.output import MAX_OUTPUT_BYTES, OutputBuffer, Subscription
from accord.workspace.place import Moved
from accord.workspace.terminal import Terminal

KEPT_BYTES = 64 * 1024 * 1024
"""The total output of released terminals that is kept for display, in bytes."""

GRACE_SECONDS = 1.0
"""How long a command may take to exit after SIGTERM, before SIGKILL."""

MAX_TERMINALS = 512
"""The maximum number of open terminals."""

SIZE = (120, 40)
"""Default columns and rows of a pseudo-terminal."""


class TerminalOutput(NamedTuple):
    """The output of a terminal, possibly truncated at the start, and the exit status if the command has exited."""

    text: str
    truncated: bool
    exit: ExitStatus | None


class Terminals:
    """Runs commands for agents.

    `environment` is inherited by commands (None: this process's). `ceiling` limits the kept output of one command,
    `kept_bytes` that of all released terminals."""

    def __init__(
        self,
        *,
        environment: Mapping[str, str] | None = None,
        ceiling: int = MAX_OUTPUT_BYTES,
        kept_bytes: int = KEPT_BYTES,
        grace: float = GRACE_SECONDS,
        max_terminals: int = MAX_TERMINALS,
    ) -> None:
        self._environment = environment
        self._ceiling = ceiling
        self._kept_bytes = kept_bytes
        self._grace = grace
        self._max_terminals = max_terminals
        self._open: dict[str, Terminal] = {}
        self._kept: dict[str, Terminal] = {}  # released ones, the oldest first
        self._listeners: list[Callable[[Terminal], None]] = []
        self._is_closed = False

    async def create(
        self,
        session_id: str,
        command: str,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        *,
        cwd: str,
        at: str | None = None,
        output_limit: int | None = None,
        pty: bool = False,
        size: tuple[int, int] = SIZE,
    ) -> str:
        """Start a command, and return the id of its terminal. See `command` for when a shell is used.

        `at` is the resolved path of the working directory that was approved. Raises `Moved` if `cwd` now points
        elsewhere, and `InvalidParams` with an explanation for the agent if the command can't be started."""
        if self._is_closed:
            raise RequestFailed("can't run commands: the terminals are closed")
        if len(self._open) >= self._max_terminals:
            raise RequestFailed(f"{self._max_terminals} terminals are open, the maximum; release some of them first")
        whole = commands.build_environment(self._environment, env or {}, pty=pty)
        argv = commands.build_argv(command, args, cwd=cwd, env=whole)
        id = f"term_{os.urandom(8).hex()}"
        where = cwd
        with ExitStack() as held:
            try:
                if at is not None:
                    where = held.enter_context(_hold_directory(cwd, at))
                terminal = await Terminal.start(
                    id,
                    session_id,
                    shlex.join([command, *args]) if args else command,
                    argv if command else [],
                    cwd=where,
                    env=whole,
                    output=OutputBuffer(output_limit, ceiling=self._ceiling),
                    size=size if pty else None,
                )
            except LaunchError as error:
                hint = " (pass arguments in args)" if args and " " in command else ""
                words = str(error).replace(where, cwd)
                raise InvalidParams(f"{words}{hint}", data={"command": command}) from error
        terminal.cwd = cwd
        self._open[id] = terminal
        terminal.on_change(functools.partial(self._notify_listeners, terminal))
        return id

    # -- Requests of an agent

    def output(self, id: str) -> TerminalOutput:
        """Return the output so far, within the limit that the agent requested."""
        terminal = self._get_open(id)
        return TerminalOutput(terminal.output.text(), terminal.output.truncated, terminal.exit)

    async def wait_for_exit(self, id: str) -> ExitStatus:
        """Wait for the command's exit. Also returns if the terminal is released while waiting."""
        return await self._get_open(id).wait()

    async def kill(self, id: str) -> None:
        """End the command and all its descendants; the id and the output stay valid."""
        await self._get_open(id).stop(self._grace)

    async def release(self, id: str) -> None:
        """End the command and all its descendants, and invalidate the id. The output is kept for display."""
        terminal = self._get_open(id)
        del self._open[id]
        self._kept[id] = terminal
        try:
            await terminal.stop(self._grace)
        finally:
            self._forget_oldest()

    # -- For the client

    async def release_session(self, session_id: str) -> None:
        """Release all terminals of a session."""
        await self._release([id for id, terminal in self._open.items() if terminal.session_id == session_id])

    async def close(self) -> None:
        """Release all terminals, and refuse new ones."""
        self._is_closed = True
        await self._release(list(self._open))

    def kill_all(self) -> None:
        """Kill all commands without waiting, for a client that exits."""
        for terminal in self._open.values():
            terminal.kill()

    def ids(self, session_id: str | None = None) -> list[str]:
        """Return the ids of open terminals, of one session or all."""
        return [id for id, terminal in self._open.items() if session_id in (None, terminal.session_id)]

    def terminal(self, id: str) -> Terminal:
        """Return a terminal, open or released, as long as it is kept."""
        terminal = self._open.get(id) or self._kept.get(id)
        if terminal is None:
            raise _not_found(id)
        return terminal

    def read_output(self, id: str, max_bytes: int | None = None) -> TerminalOutput:
        """Return all output that is kept, even after the release, or only the last `max_bytes` of it."""
        output = self.terminal(id).output
        if max_bytes is not None and output.size > max_bytes:
            return TerminalOutput(output.last_text(max_bytes), True, self.terminal(id).exit)
        return TerminalOutput(output.kept_text(), output.is_kept_text_truncated, self.terminal(id).exit)

    def on_change(self, listener: Callable[[Terminal], None]) -> Callable[[], None]:
        """Call a function on new output or exit of any terminal. It must be fast. Returns a function that removes the
        listener."""
        self._listeners.append(listener)
        return functools.partial(self._listeners.remove, listener)

    def _notify_listeners(self, terminal: Terminal) -> None:
        for listener in tuple(self._listeners):
            listener(terminal)

    def subscribe(self, id: str) -> Subscription:
        """Subscribe to a terminal: first the kept output, then new output. Works after the release as well."""
        return self.terminal(id).subscribe()

    def resize(self, id: str, columns: int, rows: int) -> None:
        """Set the size of a pseudo-terminal."""
        self.terminal(id).resize(columns, rows)

    def _get_open(self, id: str) -> Terminal:
        terminal = self._open.get(id)
        if terminal is None:
            raise _not_found(id)
        return terminal

    async def _release(self, ids: Sequence[str]) -> None:
        results = await asyncio.gather(*map(self.release, ids), return_exceptions=True)
        for result in results:
            # NotFound: the agent released it at the same moment.
            if isinstance(result, BaseException) and not isinstance(result, NotFound):
                raise result

    def _forget_oldest(self) -> None:
        total = sum(map(_memory_use, self._kept.values()))
        for id, terminal in list(self._kept.items()):
            if total <= self._kept_bytes:
                return
            total -= _memory_use(terminal)
            del self._kept[id]


@contextmanager
def _hold_directory(cwd: str, at: str) -> Iterator[str]:
    """Return a path that refers to the same directory even if it is renamed. Raises `Moved` if it isn't at `at`.

    Needs Linux's /proc. Other systems only compare, so a link may still be created before the command starts."""
    if sys.platform != "linux" or not os.path.isdir("/proc/self/fd"):
        real = os.path.realpath(cwd)
        if real != at:
            raise Moved(cwd, real)
        yield cwd
        return
    try:
        directory = os.open(cwd, os.O_PATH | os.O_DIRECTORY)
    except OSError as error:
        raise LaunchError(f"can't open the working directory {cwd}: {error.strerror}; choose another one") from error
    try:
        path = f"/proc/{os.getpid()}/fd/{directory}"
        real = os.readlink(path)
        if real != at:
            raise Moved(cwd, real)
        yield path
    finally:
        os.close(directory)


def _memory_use(terminal: Terminal) -> int:
    """Estimate the memory of a released terminal; the constant limits the number of those without output."""
    return terminal.output.size + 4096


def _not_found(id: str) -> NotFound:
    return NotFound(f"terminal {id[:80]!r} doesn't exist", data={"terminalId": id})
