"""The user's files and terminals, for agents: restricted to the workspace's directories and the policy."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any
from weakref import WeakValueDictionary

from msgspec import structs

from accord.client.workspace import TerminalCommand, TerminalState, Workspace
from accord.errors import InvalidValue, RequestFailed
from accord.model.requests import PermissionOption, PermissionRequest
from accord.model.tool import Diff, ExitStatus, FileChange
from accord.model.values import short
from accord.policy.action import Action
from accord.policy.decision import Decision, select_option
from accord.policy.engine import Policy
from accord.policy.question import Ask, Question, Reply
from accord.workspace import command as commands
from accord.workspace.files import Files
from accord.workspace.overlay import Overlay
from accord.workspace.place import MAX_MOVES, Moved
from accord.workspace.roots import OutsideWorkspace, Roots
from accord.workspace.terminals import Terminals

REFUSED = -31001
"""Accord's own error code; −32099 to −32000 are reserved for the protocol."""
CALLS_AT_ONCE = 2
"""Threads for one session's reads and writes, so that slow ones don't block other sessions."""
OnDecision = Callable[[Action | PermissionRequest, Decision], None]


class Refused(RequestFailed):
    """The policy, or the user, rejected a request."""

    default_code = REFUSED


class LocalWorkspace(Workspace):
    """Files and terminals of this machine, for agents that work in one project.

    `policy` decides about every read, write and command, and asks the user with `ask`. `on_decision` is called with
    every decision. Pass `permissions` to `connect`, so that the policy also answers the agent's permission requests."""

    def __init__(
        self,
        root: str | os.PathLike[str] = ".",
        additional: Sequence[str] = (),
        *,
        policy: Policy | None = None,
        ask: Ask | None = None,
        on_decision: OnDecision | None = None,
        overlay: Overlay | None = None,
        environment: Mapping[str, str] | None = None,
        pty: bool = False,
    ) -> None:
        if policy is not None and not isinstance(policy, Policy):
            raise InvalidValue(f"policy is {short(policy)}; it must be accord.Policy(…)", argument="policy")
        self.root: str = os.path.abspath(root)
        self.policy: Policy = policy if policy is not None else Policy(self.root)
        self.roots: Roots = Roots(self.root, [os.path.abspath(each) for each in additional])
        self.files: Files = Files(self.roots, overlay)
        self.terminals: Terminals = Terminals(environment=environment)
        self._environment = environment
        self._ask = ask
        self._on_decision = on_decision
        self._pty = pty
        # Weak references: a lane exists while a call of its session uses it.
        self._lanes: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def permissions(self, request: PermissionRequest) -> PermissionOption | None:
        """Answer an agent's permission request with the policy."""
        decision = await self.policy.answer(request, ask=self._ask_located if self._ask is not None else None)
        if self._on_decision is not None:
            self._on_decision(request, decision)
        return select_option(request, decision)

    async def _ask_located(self, question: Question) -> Reply:
        """Ask with changes located in their files: agents send the lines that they replace, but not their position, and
        not always the content of a file that they replace."""
        assert self._ask is not None
        action = question.action
        base = action.cwd or self.root
        diffs = [await self._locate(diff, base, action.session) for diff in action.changes]
        return await self._ask(structs.replace(question, action=structs.replace(action, changes=tuple(diffs))))

    async def _locate(self, diff: Diff, base: str, session_id: str) -> Diff:
        placed: list[FileChange] = []
        for change in diff.changes:
            old, new = change.old_text, change.new_text
            exists, whole = False, None
            if new is not None:
                with suppress(RequestFailed):
                    async with self._lane(session_id):
                        path = os.path.join(base, change.path)
                        _, exists, whole = await self.files.run_blocking(self.files.disk.preview, path)
            if new is not None and exists and whole != old:
                if not old:  # Claude and others describe a file that they replace like a new one
                    if change.operation in ("add", "modify"):
                        change = structs.replace(change, operation="modify", old_text=whole)
                elif whole is not None and whole.count(old) == 1:
                    change = structs.replace(change, old_text=whole, new_text=whole.replace(old, new))
                else:
                    change = structs.replace(change, is_fragment=True)
            placed.append(change)
        return diff if placed == diff.changes else Diff(changes=placed)

    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        reached = _resolve(path)
        for _ in range(MAX_MOVES):
            await self._pass(Action.of_read(path, reached=reached, **self._who(session_id)))
            try:
                async with self._lane(session_id):
                    return await self.files.read(path, line, limit, at=reached)
            except Moved as moved:  # not the file that the policy decided on
                reached = moved.real
        raise RequestFailed(f"{path} keeps changing its target; try again later")

    async def write(self, session_id: str, path: str, text: str) -> None:
        for _ in range(MAX_MOVES):
            reached, change = await self._change(session_id, path, text)
            await self._pass(Action.of_write(path, change=change, reached=reached, **self._who(session_id)))
            try:
                async with self._lane(session_id):
                    return await self.files.write(path, text, at=reached)
            except Moved:
                continue
        raise RequestFailed(f"{path} keeps changing its target; try again later")

    async def _change(self, session_id: str, path: str, text: str) -> tuple[str, FileChange]:
        """Resolve the target of a write and compute its change, for the policy and for display."""
        reached, exists, old = _resolve(path), False, None
        with suppress(RequestFailed):  # if the path is invalid, the write itself raises
            async with self._lane(session_id):
                reached, exists, old = await self.files.run_blocking(self.files.disk.preview, path)
        operation = "modify" if exists else "add"
        return reached, FileChange(operation=operation, path=path, old_text=old, new_text=text)

    def _lane(self, session_id: str) -> asyncio.Semaphore:
        lane = self._lanes.get(session_id)
        if lane is None:
            lane = self._lanes[session_id] = asyncio.Semaphore(CALLS_AT_ONCE)
        return lane

    async def create_terminal(self, session_id: str, command: TerminalCommand) -> str:
        cwd = self._inside(command.cwd or self.root)
        environment = commands.build_environment(self._environment, command.env, pty=self._pty)
        for _ in range(MAX_MOVES):
            shell = commands.needs_shell(command.command, command.args, cwd=cwd, env=environment)
            await self._pass(
                Action.of_terminal(
                    command.command, command.args, shell=shell, cwd=cwd, env=command.env, **self._who(session_id)
                )
            )
            try:
                return await self.terminals.create(
                    session_id,
                    command.command,
                    command.args,
                    command.env,
                    cwd=cwd,
                    at=cwd,
                    output_limit=command.output_limit,
                    pty=self._pty,
                )
            except Moved as moved:  # the agent may have replaced it while the user was being asked
                cwd = self._inside(moved.real)
        raise RequestFailed(f"{cwd} keeps changing its target; try again later")

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
        """Kill every command without waiting. Call `close` afterwards."""
        self.terminals.kill_all()

    async def close(self) -> None:
        """Stop every terminal and close the directories."""
        await self.terminals.close()
        self.roots.close()

    async def __aenter__(self) -> LocalWorkspace:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.close()

    def _inside(self, cwd: str) -> str:
        """Resolve a directory. Raises `OutsideWorkspace` if it isn't in the workspace."""
        real = os.path.realpath(cwd)
        if not self.roots.contains(real):
            raise OutsideWorkspace(f"a terminal starts inside the workspace; {cwd} is not in it")
        return real

    def _who(self, session_id: str) -> dict[str, Any]:
        return {"session": session_id, "agent": self.policy.agent, "project": self.root}

    async def _pass(self, action: Action) -> None:
        decision = await self.policy.answer(action, ask=self._ask)
        if self._on_decision is not None:
            self._on_decision(action, decision)
        if not decision.allowed:
            what = action.line or ", ".join(action.paths)
            raise Refused(f"refused: {what}: {decision.why}")


def _resolve(path: str) -> str:
    """Resolve a path as far as possible."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
