"""The server's files and terminals, for version 1 agents, which use those of their client."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import UNSET, structs

from accord.client.local_workspace import LocalWorkspace
from accord.client.workspace import TerminalCommand
from accord.codec import from_v1
from accord.connection.dispatch import fault_of
from accord.connection.relay_connection import Outcome
from accord.errors import InvalidParams, MethodNotFound, NotFound, RequestFailed
from accord.hub.agent_process import AgentProcess, succeed
from accord.hub.open_request import read_option
from accord.model.tool import ExitStatus, ToolCall
from accord.policy.engine import Policy
from accord.policy.question import Question, Reply
from accord.rpc.envelope import Failure
from accord.rpc.ids import RequestId
from accord.schema import v1
from accord.schema.repair import read
from accord.schema.v1 import methods as m
from accord.schema.wire import encode

AskClients = Callable[[Question, str], Awaitable[Outcome]]
"""Asks the clients of the session a question, with an id for the tool call that it is about."""


class ServerWorkspace:
    """Serves `fs/*` and `terminal/*` of one session from a directory of the server, under the server's policy."""

    def __init__(self, session_id: str, cwd: str, policy: Policy | None, ask: AskClients) -> None:
        self._session_id = session_id
        self._ask_clients = ask
        self._local = LocalWorkspace(cwd, policy=policy, ask=self._ask)
        self._terminals: set[str] = set()
        self._handlers: dict[str, tuple[Any, Callable[[Any], Awaitable[Any]]]] = {
            m.FS_READ_TEXT_FILE.name: (v1.ReadTextFileRequest, self._read),
            m.FS_WRITE_TEXT_FILE.name: (v1.WriteTextFileRequest, self._write),
            m.TERMINAL_CREATE.name: (v1.CreateTerminalRequest, self._create),
            m.TERMINAL_OUTPUT.name: (v1.TerminalOutputRequest, self._output),
            m.TERMINAL_WAIT_FOR_EXIT.name: (v1.WaitForTerminalExitRequest, self._wait),
            m.TERMINAL_KILL.name: (v1.KillTerminalRequest, self._kill),
            m.TERMINAL_RELEASE.name: (v1.ReleaseTerminalRequest, self._release),
        }

    async def serve(self, method: str, params: bytes) -> Any:
        """Handle a request of the agent. Raises `RequestFailed` or `Unreadable`."""
        if method not in self._handlers:
            raise MethodNotFound(f"Method not found: {method[:100]}")
        kind, handle = self._handlers[method]
        return await handle(read(kind, msgspec.json.decode(params)))

    async def note_answer(self, params: bytes, option_id: str) -> None:
        """Tell the policy that the clients have allowed a permission request of the agent, so that it doesn't ask them
        about the same action again."""
        request = from_v1.permission(read(v1.RequestPermissionRequest, msgspec.json.decode(params)), {})
        request.session_id = self._session_id
        request.tool_call = _keep_displayed(request.tool_call, self._local.root)
        if request.tool_call is None or not any(each.id == option_id and each.allows for each in request.options):
            return

        async def answer(question: Question) -> Reply:
            choice = next(each for each in question.choices if each.id == option_id)
            # What "always" means to the agent is up to it: here it never outlasts the session.
            return choice if choice.scope == "once" else structs.replace(choice, scope="session")

        await self._local.policy.answer(request, ask=answer)

    async def close(self) -> None:
        """End the commands that still run."""
        await self._local.close()

    async def _ask(self, question: Question) -> Reply:
        return read_option(await self._ask_clients(question, f"accord-{secrets.token_hex(4)}"))

    async def _read(self, params: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        line = None if params.line is UNSET else params.line
        limit = None if params.limit is UNSET else params.limit
        return v1.ReadTextFileResponse(
            content=await self._local.read(self._session_id, _absolute(params.path), line or None, limit)
        )

    async def _write(self, params: v1.WriteTextFileRequest) -> v1.WriteTextFileResponse:
        await self._local.write(self._session_id, _absolute(params.path), params.content)
        return v1.WriteTextFileResponse()

    async def _create(self, params: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
        limit = params.output_byte_limit
        command = TerminalCommand(
            command=params.command,
            args=list(params.args),
            env={variable.name: variable.value for variable in params.env},
            cwd=_absolute(params.cwd) if params.cwd else self._local.root,
            output_limit=None if limit is UNSET else limit,
        )
        id = await self._local.create_terminal(self._session_id, command)
        self._terminals.add(id)
        return v1.CreateTerminalResponse(terminal_id=id)

    async def _output(self, params: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
        state = await self._local.terminal_output(self._session_id, self._check(params.terminal_id))
        response = v1.TerminalOutputResponse(output=state.output, truncated=state.truncated)
        if state.exit is not None:
            response.exit_status = v1.TerminalExitStatus(**_exit(state.exit))
        return response

    async def _wait(self, params: v1.WaitForTerminalExitRequest) -> v1.WaitForTerminalExitResponse:
        status = await self._local.wait_for_exit(self._session_id, self._check(params.terminal_id))
        return v1.WaitForTerminalExitResponse(**_exit(status))

    async def _kill(self, params: v1.KillTerminalRequest) -> v1.KillTerminalResponse:
        await self._local.kill_terminal(self._session_id, self._check(params.terminal_id))
        return v1.KillTerminalResponse()

    async def _release(self, params: v1.ReleaseTerminalRequest) -> v1.ReleaseTerminalResponse:
        await self._local.release_terminal(self._session_id, self._check(params.terminal_id))
        self._terminals.discard(params.terminal_id)
        return v1.ReleaseTerminalResponse()

    def _check(self, id: str) -> str:
        if id not in self._terminals:
            raise NotFound(f"there is no terminal {id[:80]!r}", data={"terminalId": id})
        return id


class SessionFiles:
    """Answers an agent's requests for files and terminals. The workspace is created with the first of them."""

    def __init__(self, create: Callable[[], ServerWorkspace]) -> None:
        self._create = create
        self._workspace: ServerWorkspace | None = None
        self._noting = asyncio.Lock()
        """Held while an answer is noted, since it may be about the next request."""

    async def note_answer(self, params: bytes, option_id: str) -> None:
        """Note a client's answer to the agent's own permission request."""
        async with self._noting:
            with suppress(RequestFailed, ValueError):  # not readable: the policy asks again
                await self._open().note_answer(params, option_id)

    def _open(self) -> ServerWorkspace:
        if self._workspace is None:
            self._workspace = self._create()
        return self._workspace

    async def answer(self, process: AgentProcess, id: RequestId, method: str, params: bytes) -> None:
        """Serve a request, and send the response to the agent."""
        try:
            async with self._noting:
                workspace = self._open()
            outcome: Outcome = succeed(encode(await workspace.serve(method, params)))
        except Exception as error:
            outcome = Failure(id, fault_of(error, method))
        process.answer(id, outcome)

    async def close(self) -> None:
        """End the commands that still run."""
        workspace, self._workspace = self._workspace, None
        if workspace is not None:
            await workspace.close()


def _keep_displayed(call: ToolCall | None, cwd: str) -> ToolCall | None:
    """Return a tool call with no more than every client displays of it: its diffs, or the command in its title.

    Clients needn't show its input and locations, so an agent could hide another action there. None if nothing is
    left."""
    if call is None:
        return None
    if call.diffs:
        return ToolCall(id=call.id, title=call.title, kind=call.kind, content=[*call.diffs])
    given = call.raw_input if isinstance(call.raw_input, dict) else {}
    command = given.get("command")
    if not isinstance(command, str) or given.get("cwd", cwd) != cwd:
        return None
    if call.title.removeprefix("Run ").strip(" `") != command.strip(" `"):
        return None
    return ToolCall(id=call.id, title=call.title, kind="execute", raw_input={"command": command})


def _absolute(path: str) -> str:
    import os

    if not os.path.isabs(path):
        raise InvalidParams("path must be absolute", data={"path": "path"})
    return path


def _exit(status: ExitStatus) -> dict[str, Any]:
    return {"exit_code": UNSET if status.code is None else status.code, "signal": status.signal or UNSET}
