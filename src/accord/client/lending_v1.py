"""What an agent may use of the client in version 1: files and terminals, as the workspace has them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from accord.client.session import Session
from accord.client.workspace import TERMINAL_METHODS, TerminalCommand, Workspace
from accord.connection.dispatch import Handler, log
from accord.errors import InvalidParams, NotFound
from accord.model.tool import ExitStatus
from accord.schema import v1
from accord.schema.method import Method
from accord.schema.v1 import methods as m
from accord.transcript.reading import given

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent


class Lending:
    """Serves `fs/*` and `terminal/*` from a workspace, and takes back what a session leaves behind."""

    def __init__(self, agent: ConnectedAgent, workspace: Workspace) -> None:
        self._agent = agent
        self._workspace = workspace
        self._terminals: dict[str, str] = {}  # which session each terminal was made for

    def routes(self) -> dict[Method[Any, Any], Handler]:
        """What is served: what the workspace's author wrote."""
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
        line = given(params.line)
        # Lines count from 1, and some agents count from 0.
        text = await self._workspace.read(params.session_id, params.path, line or None, given(params.limit))
        return v1.ReadTextFileResponse(content=text)

    async def _write(self, params: v1.WriteTextFileRequest) -> None:
        self._check(params.session_id, params.path, "path")
        await self._workspace.write(params.session_id, params.path, params.content)

    def _check(self, session_id: str, path: str, name: str) -> Session:
        session = self._agent.session_of(session_id)
        if not os.path.isabs(path):
            raise InvalidParams(f"{name} must be an absolute path", data={"path": name})
        return session

    # -- terminals

    async def _create(self, params: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
        session = self._agent.session_of(params.session_id)
        command = TerminalCommand(
            command=params.command,
            args=list(params.args),
            env={variable.name: variable.value for variable in params.env},
            cwd=params.cwd or session.cwd,
            output_limit=given(params.output_byte_limit),
        )
        self._check(session.id, command.cwd or "", "cwd")
        id = await self._workspace.create_terminal(session.id, command)
        self._terminals[id] = session.id
        if session.closed:
            self.take_back(session)  # it was made for nobody
        return v1.CreateTerminalResponse(terminal_id=id)

    async def _output(self, params: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
        self._known(params)
        state = await self._workspace.terminal_output(params.session_id, params.terminal_id)
        response = v1.TerminalOutputResponse(output=state.output, truncated=state.truncated)
        if state.exit is not None:
            response.exit_status = v1.TerminalExitStatus(**_exit(state.exit))
        return response

    async def _wait(self, params: v1.WaitForTerminalExitRequest) -> v1.WaitForTerminalExitResponse:
        self._known(params)
        status = await self._workspace.wait_for_exit(params.session_id, params.terminal_id)
        return v1.WaitForTerminalExitResponse(**_exit(status))

    async def _kill(self, params: v1.KillTerminalRequest) -> None:
        self._known(params)
        await self._workspace.kill_terminal(params.session_id, params.terminal_id)

    async def _release(self, params: v1.ReleaseTerminalRequest) -> None:
        self._known(params)
        del self._terminals[params.terminal_id]
        await self._workspace.release_terminal(params.session_id, params.terminal_id)

    def _known(self, params: Any) -> None:
        """A session has its own terminals and no others, until they are released."""
        if self._terminals.get(params.terminal_id) != params.session_id:
            raise NotFound(f"there is no terminal {params.terminal_id[:80]!r}", data={"terminalId": params.terminal_id})

    def take_back(self, session: Session) -> None:
        """The session is gone: its terminals are released."""
        left = [id for id, owner in self._terminals.items() if owner == session.id]
        for id in left:
            del self._terminals[id]
            self._agent.see_to(self._take_back(session.id, id))

    async def _take_back(self, session_id: str, terminal_id: str) -> None:
        try:
            await self._workspace.release_terminal(session_id, terminal_id)
        except Exception as error:  # the others must be released all the same
            log.error("terminal %s could not be released", terminal_id, exc_info=error)


def _exit(status: ExitStatus) -> dict[str, Any]:
    return {"exit_code": UNSET if status.code is None else status.code, "signal": status.signal or UNSET}
