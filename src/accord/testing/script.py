"""Scripted agents and clients, for testing the other side."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar, Union

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.client.connect import ConnectOptions
from accord.client.workspace import TerminalCommand, TerminalState, Workspace
from accord.errors import InvalidValue, LocalProtocolError, NotFound
from accord.model.requests import Elicitation, PermissionRequest, Reply
from accord.model.tool import ExitStatus
from accord.model.values import short, text

A = TypeVar("A")

Step = Union[str, Callable[[Turn], Any]]
"""A text to say, or a function, plain or async, that is called with the turn."""
_FILES, _COMMANDS = '{"/project/notes.txt": "text"}', '{"make test": ("output", 0)}'


class ScriptedAgent(Agent):
    """Responds to each prompt with the next list of steps. When there are no more lists, it echoes the prompt.

    A step is a text to say or a function of the turn; a step that returns a string other than None ends the turn with
    that stop reason."""

    name = "scripted agent"

    def __init__(self, *turns: Sequence[Step]) -> None:
        for number, steps in enumerate(turns, 1):
            if isinstance(steps, str) or not all(isinstance(step, str) or callable(step) for step in steps):
                raise InvalidValue(
                    f"turn {number} is {short(steps)}; it must be a list of texts or functions of the turn",
                    argument="turns",
                )
        self.turns: list[Sequence[Step]] = list(turns)
        self.prompts: list[str] = []
        """The text of every prompt that it received."""

    async def prompt(self, turn: Turn) -> Any:
        self.prompts.append(turn.text)
        steps = self.turns.pop(0) if self.turns else [f"You said: {turn.text}"]
        for step in steps:
            if isinstance(step, str):
                await turn.say(step)
                continue
            reason = step(turn)
            if isinstance(reason, Awaitable):
                reason = await reason
            if isinstance(reason, str):
                return reason
        return None


class ScriptedClient(Workspace):
    """Answers an agent's requests from a script, and records them.

    `permissions` is a list of answers in order (True, False, an option's id or None); the last one repeats. `files`
    maps paths to texts, and changes when the agent writes. `commands` maps a command line to its output and exit code;
    without a code, it runs until it is killed."""

    def __init__(
        self,
        *,
        permissions: Sequence[bool | str | None] = (True,),
        replies: Sequence[Reply | dict[str, Any] | None] = (),
        files: Mapping[str, str] | None = None,
        commands: Mapping[str, tuple[str, int | None]] | None = None,
    ) -> None:
        for name, value, example in (("files", files, _FILES), ("commands", commands, _COMMANDS)):
            if value is not None and not isinstance(value, Mapping):
                raise InvalidValue(f"{name} is {short(value)}; it must be a dict such as {example}", argument=name)
        self.files: dict[str, str] = dict(files or {})
        for path, content in self.files.items():
            text(f"files[{path!r}]", content)
        self.commands: dict[str, tuple[str, int | None]] = dict(commands or {})
        for line, result in self.commands.items():
            _check_result(line, result)
        self._permissions = _answers("permissions", permissions, "[True]")
        self._replies = _answers("replies", replies, '[{"name": "Ada"}]')
        self.asked: list[PermissionRequest] = []
        self.elicited: list[Elicitation] = []
        self.started: list[TerminalCommand] = []
        self.released: list[str] = []
        self._terminals: dict[str, _Terminal] = {}
        self.is_injected = False
        """Whether the agent uses the script's files and commands in version 2 too. Set by `link`."""

    def on_version(self, version: int) -> None:
        """Raise if the agent would use this machine's files and commands instead of the script's."""
        if version >= 2 and (self.files or self.commands) and not self.is_injected:
            raise LocalProtocolError(
                "version 2 has no client files or terminals, so this agent would use the real ones instead of the "
                "script's; connect an Agent object with link(), or create the ScriptedClient without files and "
                "commands"
            )

    def options(self) -> ConnectOptions:
        """Return the options for `connect`."""
        options: ConnectOptions = {"permissions": self.permit, "workspace": self}
        if self._replies:
            options["elicitation"] = self.elicit
        return options

    def answer(self, *permissions: bool | str | None) -> None:
        """Set the answers to the next permission requests; the last one repeats."""
        self._permissions = list(permissions) or [True]

    def reply(self, *replies: Reply | dict[str, Any] | None) -> None:
        """Set the answers to forms and pages; the last one repeats.

        Call it before connecting: forms are offered only if there are replies."""
        self._replies = list(replies)

    def permit(self, request: PermissionRequest) -> bool | str | None:
        """Record a permission request and return the next answer."""
        self.asked.append(request)
        return self._permissions.pop(0) if len(self._permissions) > 1 else self._permissions[0]

    def elicit(self, question: Elicitation) -> Reply | dict[str, Any] | None:
        """Record a form or page and return the next reply."""
        self.elicited.append(question)
        return self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]

    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> str:
        if path not in self.files:
            known = ", ".join(sorted(self.files)) or "none"
            raise NotFound(f"there is no file {path}; the scripted client has {known}")
        lines = re.findall(r"[^\n]*\n|[^\n]+", self.files[path])[(line or 1) - 1 :]
        return "".join(lines if limit is None else lines[:limit])

    async def write(self, session_id: str, path: str, text: str) -> None:
        self.files[path] = text

    async def create_terminal(self, session_id: str, command: TerminalCommand) -> str:
        self.started.append(command)
        line = " ".join([command.command, *command.args])
        output, code = self.commands.get(line, (f"{line}: command not found\n", 127))
        id = f"terminal-{len(self.started)}"
        self._terminals[id] = _Terminal(output, command.output_limit, code)
        return id

    async def terminal_output(self, session_id: str, terminal_id: str) -> TerminalState:
        terminal = self._terminal(terminal_id)
        return TerminalState(output=terminal.output, truncated=terminal.truncated, exit=terminal.exit)

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> ExitStatus:
        terminal = self._terminal(terminal_id)
        await terminal.ended.wait()
        return terminal.exit or ExitStatus()

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None:
        self._terminal(terminal_id).end(ExitStatus(signal="SIGTERM"))

    async def release_terminal(self, session_id: str, terminal_id: str) -> None:
        self._terminal(terminal_id).end(ExitStatus(signal="SIGTERM"))
        del self._terminals[terminal_id]
        self.released.append(terminal_id)

    def _terminal(self, id: str) -> _Terminal:
        if id not in self._terminals:
            raise NotFound(f"there is no terminal {id}")
        return self._terminals[id]


def _answers(name: str, answers: Sequence[A], example: str) -> list[A]:
    """Check a list of answers. A single one would be iterated, or fail later."""
    if isinstance(answers, str) or not isinstance(answers, Sequence):
        raise InvalidValue(
            f"{name} is {short(answers)}; it must be a list of answers, such as {example}", argument=name
        )
    return list(answers)


def _check_result(line: str, result: Any) -> None:
    """Check the output and the exit code of a command."""
    if not (isinstance(result, list | tuple) and len(result) == 2 and isinstance(result[0], str)):
        where = f"commands[{line!r}]"
        raise InvalidValue(
            f'{where} is {short(result)}; it must be the output and the exit code: ("output", 0)', argument=where
        )


class _Terminal:
    """A simulated command: its output and exit status."""

    def __init__(self, output: str, limit: int | None, code: int | None) -> None:
        limited = output if limit is None else output.encode()[-limit or len(output.encode()) :].decode(errors="ignore")
        self.output = limited
        self.truncated = limited != output
        self.exit: ExitStatus | None = None
        self.ended = asyncio.Event()
        if code is not None:
            self.end(ExitStatus(code=code))

    def end(self, status: ExitStatus) -> None:
        """End the command; only the first call counts."""
        self.exit = self.exit or status
        self.ended.set()
