"""The client's files and terminals, which agents use in version 1."""

from __future__ import annotations

import asyncio
import os
import shlex
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET

from accord.client.session import Session
from accord.client.workspace import TERMINAL_METHODS, TerminalCommand, TerminalState, Workspace
from accord.codec.from_wire import or_none
from accord.connection.dispatch import Handler, log
from accord.errors import InvalidParams, InvalidValue, NotFound
from accord.model.tool import ExitStatus
from accord.model.values import short
from accord.schema import v1
from accord.schema.method import Method
from accord.schema.v1 import methods as m

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent


T = TypeVar("T")

OUTPUT_TIMEOUT_SECONDS = 1.0
"""How long a workspace may take to return terminal output that only the transcript needs."""


class WorkspaceServer:
    """Serves `fs/*` and `terminal/*` requests from a workspace, and releases the terminals of ended sessions."""

    def __init__(self, agent: ConnectedAgent, workspace: Workspace) -> None:
        self._agent = agent
        self._workspace = workspace
        self._terminals: dict[str, str] = {}  # the session of each terminal
        self._printed: dict[str, str] = {}  # output of each terminal already in the transcript

    def routes(self) -> dict[Method[Any, Any], Handler]:
        """Return handlers for the methods that the workspace's author defined."""
        table: dict[Method[Any, Any], Handler] = {}
        if self._workspace.offers("read"):
            table[m.FS_READ_TEXT_FILE] = self._read
        if self._workspace.offers("write"):
            table[m.FS_WRITE_TEXT_FILE] = self._write
        if self._workspace.offers(*TERMINAL_METHODS):
            table[m.TERMINAL_CREATE] = self._create
            table[m.TERMINAL_OUTPUT] = self._output
            table[m.TERMINAL_WAIT_FOR_EXIT] = self._wait
            table[m.TERMINAL_KILL] = self._kill
            table[m.TERMINAL_RELEASE] = self._release
        return table

    # -- files

    async def _read(self, params: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        self._check(params.session_id, params.path, "path")
        line = or_none(params.line)
        # Lines count from 1, and some agents count from 0.
        text = await self._workspace.read(params.session_id, params.path, line or None, or_none(params.limit))
        return v1.ReadTextFileResponse(content=_check_type("Workspace.read", text, str))

    async def _write(self, params: v1.WriteTextFileRequest) -> None:
        self._check(params.session_id, params.path, "path")
        await self._workspace.write(params.session_id, params.path, params.content)

    def _check(self, session_id: str, path: str, name: str) -> Session:
        session = self._agent.registry.find(session_id)
        if not os.path.isabs(path):
            raise InvalidParams(f"{name} must be an absolute path", data={"path": name})
        return session

    # -- terminals

    async def _create(self, params: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
        session = self._agent.registry.find(params.session_id)
        command = TerminalCommand(
            command=params.command,
            args=list(params.args),
            env={variable.name: variable.value for variable in params.env},
            cwd=params.cwd or session.cwd,
            output_limit=or_none(params.output_byte_limit),
        )
        self._check(session.id, command.cwd or "", "cwd")
        id = _check_type("Workspace.create_terminal", await self._workspace.create_terminal(session.id, command), str)
        self._terminals[id] = session.id
        line = shlex.join([command.command, *command.args]) if command.args else command.command
        session.push(session.transcript.patch_terminal(id, command=line, cwd=command.cwd))
        if session.closed:
            self.release_all(session)  # the session ended while the terminal was created
        return v1.CreateTerminalResponse(terminal_id=id)

    async def _output(self, params: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
        state = await self._read_output(self._find_session(params), params.terminal_id)
        response = v1.TerminalOutputResponse(output=state.output, truncated=state.truncated)
        if state.exit is not None:
            response.exit_status = v1.TerminalExitStatus(**_exit(state.exit))
        return response

    async def _wait(self, params: v1.WaitForTerminalExitRequest) -> v1.WaitForTerminalExitResponse:
        session = self._find_session(params)
        status = await self._workspace.wait_for_exit(params.session_id, params.terminal_id)
        await self._try_output(session, params.terminal_id)
        return v1.WaitForTerminalExitResponse(**_exit(_check_type("Workspace.wait_for_exit", status, ExitStatus)))

    async def _kill(self, params: v1.KillTerminalRequest) -> None:
        session = self._find_session(params)
        await self._workspace.kill_terminal(params.session_id, params.terminal_id)
        await self._try_output(session, params.terminal_id)

    async def _release(self, params: v1.ReleaseTerminalRequest) -> None:
        session = self._find_session(params)
        del self._terminals[params.terminal_id]
        await self._try_output(session, params.terminal_id)
        self._printed.pop(params.terminal_id, None)
        await self._workspace.release_terminal(params.session_id, params.terminal_id)

    def _find_session(self, params: Any) -> Session:
        """Find the session that owns a terminal. Other sessions can't use it, nor can anyone once it is released."""
        if self._terminals.get(params.terminal_id) != params.session_id:
            raise NotFound(f"there is no terminal {params.terminal_id[:80]!r}", data={"terminalId": params.terminal_id})
        return self._agent.registry.find(params.session_id)

    async def _try_output(self, session: Session, id: str) -> None:
        """Update the transcript. This must neither fail nor delay the agent's request."""
        try:
            async with asyncio.timeout(OUTPUT_TIMEOUT_SECONDS):
                await self._read_output(session, id)
        except Exception as error:
            log.warning("couldn't read the output of terminal %s", id, exc_info=error)

    async def _read_output(self, session: Session, id: str) -> TerminalState:
        """Read a terminal's output and add the new part to the transcript."""
        printed = await self._workspace.terminal_output(session.id, id)
        state = _check_type("Workspace.terminal_output", printed, TerminalState)
        transcript, known = session.transcript, self._printed.get(id, "")
        if state.output != known:
            self._printed[id] = state.output
            new = state.output.removeprefix(known)
            if known and len(new) == len(state.output):  # the beginning was dropped to stay within the limit
                session.push(transcript.patch_terminal(id, chunks=[new.encode("utf-8", "replace")]))
            else:
                session.push(transcript.append_output(id, new.encode("utf-8", "replace")))
        known_terminal = transcript.terminals.get(id)
        if state.exit is not None and (known_terminal is None or known_terminal.exit is None):
            session.push(transcript.patch_terminal(id, exit=state.exit))
        return state

    def release_all(self, session: Session) -> None:
        """Release the terminals of a session that has ended."""
        left = [id for id, owner in self._terminals.items() if owner == session.id]
        for id in left:
            del self._terminals[id]
            self._printed.pop(id, None)
            self._agent.tasks.spawn_final(self._release_one(session.id, id))

    async def _release_one(self, session_id: str, terminal_id: str) -> None:
        try:
            await self._workspace.release_terminal(session_id, terminal_id)
        except Exception as error:  # release the others anyway
            log.error("couldn't release terminal %s", terminal_id, exc_info=error)


def _check_type(method: str, returned: Any, wanted: type[T]) -> T:
    """Check the type of the value that an author's method returned."""
    if not isinstance(returned, wanted):
        raise InvalidValue(f"{method} returned {short(returned)}; it must return {wanted.__name__}", argument=method)
    return returned


def _exit(status: ExitStatus) -> dict[str, Any]:
    return {"exit_code": UNSET if status.code is None else status.code, "signal": status.signal or UNSET}
