"""The user's own files and terminals, served to an agent: inside the roots, and past the policy, asked for or not."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from accord.client.workspace import TerminalCommand, TerminalState, Workspace
from accord.errors import RequestFailed
from accord.model.requests import PermissionOption, PermissionRequest
from accord.model.tool import ExitStatus
from accord.policy.action import Action
from accord.policy.answers import answer_to
from accord.policy.choices import Ask
from accord.policy.decision import Decision
from accord.policy.engine import Policy
from accord.workspace import command as commands
from accord.workspace.files import Files
from accord.workspace.overlay import Overlay
from accord.workspace.roots import OutsideWorkspace, Roots
from accord.workspace.terminals import Terminals

REFUSED = -32003
Told = Callable[[Action | PermissionRequest, Decision], None]


class Refused(RequestFailed):
    """The policy, or the person it asked, said no."""

    default_code = REFUSED


class LocalWorkspace(Workspace):
    """Files and terminals of this machine, for agents that work in one project.

    `policy` decides about every read, write and command; `ask` is whom it asks; `told` hears every decision. The
    policy's answers to the agent's own permission requests are `permissions`, to be given to `connect` as well."""

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        additional: Sequence[str] = (),
        *,
        policy: Policy | None = None,
        ask: Ask | None = None,
        told: Told | None = None,
        overlay: Overlay | None = None,
        environment: Mapping[str, str] | None = None,
        pty: bool = False,
    ) -> None:
        self.root = os.path.abspath(root)
        self.policy = policy if policy is not None else Policy(self.root)
        self.roots = Roots(self.root, [os.path.abspath(each) for each in additional])
        self.files = Files(self.roots, overlay)
        self.terminals = Terminals(environment=environment)
        self._environment = environment
        self._ask = ask
        self._told = told
        self._pty = pty

    async def permissions(self, request: PermissionRequest) -> PermissionOption | None:
        """Answers an agent's own question by the policy."""
        decision = await self.policy.answer(request, ask=self._ask)
        if self._told is not None:
            self._told(request, decision)
        return answer_to(request, decision)

    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        await self._pass(Action.of_read(path, **self._who(session_id)))
        return await self.files.read(path, line, limit)

    async def write(self, session_id: str, path: str, text: str) -> None:
        await self._pass(Action.of_write(path, **self._who(session_id)))
        await self.files.write(path, text)

    async def create_terminal(self, session_id: str, command: TerminalCommand) -> str:
        cwd = self._inside(command.cwd or self.root)
        environment = commands.environment(self._environment, command.env, pty=self._pty)
        shell = commands.by_shell(command.command, command.args, cwd=cwd, env=environment)
        await self._pass(
            Action.of_terminal(
                command.command, command.args, shell=shell, cwd=cwd, env=command.env, **self._who(session_id)
            )
        )
        if self._inside(cwd) != cwd:  # a person may take a while to answer, and an agent may use the time
            raise OutsideWorkspace(f"{cwd} is not the folder any more that was asked about")
        return await self.terminals.create(
            session_id,
            command.command,
            command.args,
            command.env,
            cwd=cwd,
            output_limit=command.output_limit,
            pty=self._pty,
        )

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalState:
        printed = self.terminals.output(terminal_id)
        return TerminalState(output=printed.text, truncated=printed.truncated, exit=printed.exit)

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> ExitStatus:
        return await self.terminals.wait_for_exit(terminal_id)

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        await self.terminals.kill(terminal_id)

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        await self.terminals.release(terminal_id)

    def kill(self) -> None:
        """Ends every command at once, without waiting; `close` is still to be called."""
        self.terminals.kill_all()

    async def close(self) -> None:
        """Ends every terminal and lets go of the roots."""
        await self.terminals.close()
        self.roots.close()

    async def __aenter__(self) -> LocalWorkspace:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def _inside(self, cwd: str) -> str:
        """Where a folder really is, if that is in the workspace."""
        real = os.path.realpath(cwd)
        if not self.roots.contains(real):
            raise OutsideWorkspace(f"a terminal starts inside the workspace; {cwd} is not in it")
        return real

    def _who(self, session_id: str) -> dict[str, Any]:
        return {"session": session_id, "agent": self.policy.agent, "project": self.root}

    async def _pass(self, action: Action) -> None:
        decision = await self.policy.answer(action, ask=self._ask)
        if self._told is not None:
            self._told(action, decision)
        if not decision.allowed:
            what = action.line or ", ".join(action.paths)
            raise Refused(f"refused: {what}: {decision.why}")
