"""The terminals of a client: made for an agent, used by their ids, and all ended when their session is.

An id is the agent's from `create` until `release`; afterwards it is unknown to the agent, but the output can still be
shown (`kept`, `subscribe`). Of released terminals the oldest are forgotten first, once they take too much room."""

from __future__ import annotations

import asyncio
import functools
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from accord.errors import InvalidParams, LaunchError, NotFound, RequestFailed
from accord.model.tool import ExitStatus
from accord.workspace import command as commands
from accord.workspace.output import CEILING_BYTES, OutputBuffer
from accord.workspace.stream import Subscription
from accord.workspace.terminal import Terminal

KEPT_BYTES = 64 * 1024 * 1024
"""How much output of all released terminals together is kept to be shown."""

GRACE_SECONDS = 1.0
"""How long a command that is killed may take to end by itself (SIGTERM) before it is made to (SIGKILL)."""

MOST_TERMINALS = 512
"""How many terminals may be there at a time."""

SIZE = (120, 40)
"""Columns and rows of a terminal device, unless somebody says otherwise."""


class Printed(NamedTuple):
    """What a terminal printed, without the beginning if that was too much, and how its command ended if it has."""

    text: str
    truncated: bool
    exit: ExitStatus | None


class Terminals:
    """Runs commands for agents.

    `environment` is what commands inherit (None: this process's); `ceiling` bounds what is kept of one command's
    output, `kept_bytes` what is kept of all released ones."""

    def __init__(
        self,
        *,
        environment: Mapping[str, str] | None = None,
        ceiling: int = CEILING_BYTES,
        kept_bytes: int = KEPT_BYTES,
        grace: float = GRACE_SECONDS,
        most: int = MOST_TERMINALS,
    ) -> None:
        self._environment = environment
        self._ceiling = ceiling
        self._kept_bytes = kept_bytes
        self._grace = grace
        self._most = most
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
        output_limit: int | None = None,
        pty: bool = False,
        size: tuple[int, int] = SIZE,
    ) -> str:
        """Starts a command and gives the id of its terminal at once. See `command` for what goes to a shell.

        Raises `InvalidParams` with words for the agent if the command cannot be started."""
        if self._is_closed:
            raise RequestFailed("no command can be run any more: the terminals are closed")
        if len(self._open) >= self._most:
            raise RequestFailed(f"there are {self._most} terminals already; release those that are no longer needed")
        whole = commands.environment(self._environment, env or {}, pty=pty)
        argv = commands.argv(command, args, cwd=cwd, env=whole)
        id = f"term_{os.urandom(8).hex()}"
        try:
            terminal = await Terminal.start(
                id,
                session_id,
                shlex.join([command, *args]) if args else command,
                argv if command else [],
                cwd=cwd,
                env=whole,
                output=OutputBuffer(output_limit, ceiling=self._ceiling),
                size=size if pty else None,
            )
        except LaunchError as error:
            hint = " (arguments belong in args)" if args and " " in command else ""
            raise InvalidParams(f"{error}{hint}", data={"command": command}) from error
        self._open[id] = terminal
        terminal.on_change(functools.partial(self._changed, terminal))
        return id

    # -- what an agent asks for

    def output(self, id: str) -> Printed:
        """What was printed so far, within the limit that was asked for."""
        terminal = self._opened(id)
        return Printed(terminal.output.text(), terminal.output.truncated, terminal.exit)

    async def wait_for_exit(self, id: str) -> ExitStatus:
        """Waits for the command's end. It is told also to those who waited when the terminal was released."""
        return await self._opened(id).wait()

    async def kill(self, id: str) -> None:
        """Ends the command and everyone it started; the id and the output stay."""
        await self._opened(id).stop(self._grace)

    async def release(self, id: str) -> None:
        """Ends the command and everyone it started, and makes the id invalid; the output stays, to be shown."""
        terminal = self._opened(id)
        del self._open[id]
        self._kept[id] = terminal
        try:
            await terminal.stop(self._grace)
        finally:
            self._forget_the_oldest()

    # -- for the client

    async def release_session(self, session_id: str) -> None:
        """Releases all terminals of a session."""
        await self._release([id for id, terminal in self._open.items() if terminal.session_id == session_id])

    async def close(self) -> None:
        """Releases all terminals; none can be made from now on."""
        self._is_closed = True
        await self._release(list(self._open))

    def kill_all(self) -> None:
        """Ends every command at once, without waiting: for a client that is in a hurry to end."""
        for terminal in self._open.values():
            terminal.kill()

    def ids(self, session_id: str | None = None) -> list[str]:
        """The terminals that are not released: of a session, or all."""
        return [id for id, terminal in self._open.items() if session_id in (None, terminal.session_id)]

    def terminal(self, id: str) -> Terminal:
        """A terminal, released or not, as long as it is kept."""
        terminal = self._open.get(id) or self._kept.get(id)
        if terminal is None:
            raise _unknown(id)
        return terminal

    def kept(self, id: str, most: int | None = None) -> Printed:
        """All that is kept of what was printed, to be shown, also after the release; or only the last `most` bytes."""
        output = self.terminal(id).output
        if most is not None and output.size > most:
            return Printed(output.last_text(most), True, self.terminal(id).exit)
        return Printed(output.kept_text(), output.is_cut, self.terminal(id).exit)

    def on_change(self, listener: Callable[[Terminal], None]) -> Callable[[], None]:
        """Has a function called whenever a terminal printed something or its command has ended; it must be quick.
        Gives the function that ends it."""
        self._listeners.append(listener)
        return functools.partial(self._listeners.remove, listener)

    def _changed(self, terminal: Terminal) -> None:
        for listener in tuple(self._listeners):
            listener(terminal)

    def subscribe(self, id: str) -> Subscription:
        """Watches a terminal: what is kept, then what is new. Also after the release."""
        return self.terminal(id).subscribe()

    def resize(self, id: str, columns: int, rows: int) -> None:
        """Says how large the picture of a terminal device is."""
        self.terminal(id).resize(columns, rows)

    def _opened(self, id: str) -> Terminal:
        terminal = self._open.get(id)
        if terminal is None:
            raise _unknown(id)
        return terminal

    async def _release(self, ids: Sequence[str]) -> None:
        results = await asyncio.gather(*map(self.release, ids), return_exceptions=True)
        for result in results:
            # One that was released by its agent in the same moment is released.
            if isinstance(result, BaseException) and not isinstance(result, NotFound):
                raise result

    def _forget_the_oldest(self) -> None:
        total = sum(map(_room, self._kept.values()))
        for id, terminal in list(self._kept.items()):
            if total <= self._kept_bytes:
                return
            total -= _room(terminal)
            del self._kept[id]


def _room(terminal: Terminal) -> int:
    """What a released terminal takes: its output, and something for itself, so that there cannot be ever so many."""
    return terminal.output.size + 4096


def _unknown(id: str) -> NotFound:
    return NotFound(f"there is no terminal {id[:80]!r}", data={"terminalId": id})
