"""Prompt routing: checks a prompt's content, queues it, and picks the handler to call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from accord.agent.turn import Turn
from accord.agent.turn_queue import Entry
from accord.errors import INVALID_REQUEST, InvalidParams, RequestFailed
from accord.model.content import Content, TextContent
from accord.model.session import Command, StopReason
from accord.transports.eager_tasks import EagerTasks

if TYPE_CHECKING:
    from accord.agent.agent import Agent, CommandHandler
    from accord.agent.saving_transport import SavingTransport
    from accord.agent.session import Session

_COMMAND = re.compile(r"\s*/(\S+)\s*(.*)", re.DOTALL)
"""A slash command: its name, and everything that follows."""


class PromptRouter:
    """Routes the prompts of one connection."""

    def __init__(self, agent: Agent, saving: SavingTransport | None) -> None:
        self.agent = agent
        self.runners: EagerTasks = EagerTasks()
        """Runs the prompt queue of each session."""
        self.handlers: EagerTasks = EagerTasks()
        """Runs prompt handlers, from within `runners`. Separate, because an eager start can't be nested."""
        self._saving = saving
        self._commands = agent.commands_written

    @property
    def commands(self) -> list[Command]:
        """The slash commands that methods of the agent handle."""
        return [described for described, _ in self._commands.values()]

    def submit(self, session: Session, content: list[Content], meta: dict[str, Any] | None) -> Entry:
        """Queue a prompt. Raises `InvalidParams` if it has content that this agent doesn't support."""
        for index, piece in enumerate(content):
            if type(piece) is not TextContent:
                self._check_content(index, piece)
        if self._saving is not None:
            self._saving.check()
        if session.turns.is_busy and self.agent.reject_while_busy and not session.dialect.inserts:
            raise RequestFailed("session/prompt: another prompt is still running", code=INVALID_REQUEST)
        return session.turns.submit(Turn(session, content, session.new_id("msg"), meta))

    def _check_content(self, index: int, piece: Any) -> None:
        config = piece.__struct_config__
        kind = config.tag if config.tag_field else piece.type
        if kind in ("text", "resource_link") or kind in self.agent.content:
            return
        path, supported = f"prompt[{index}].type", ", ".join(["text", "resource_link", *self.agent.content])
        raise InvalidParams(
            f"session/prompt: {path} is {str(kind)[:40]!r}; this agent supports {supported}", data={"path": path}
        )

    async def handle(self, turn: Turn) -> StopReason | None:
        """Run the handler of a prompt: the slash command that it names, or `Agent.prompt`."""
        found = self.find_command(turn) if self._commands else None
        if found is None:
            return await self.agent.prompt(turn)
        handler, turn.argument = found
        return await handler(turn)

    def find_command(self, turn: Turn) -> tuple[CommandHandler, str] | None:
        """Find the slash command that a prompt names. Returns its handler and the text after the name."""
        hidden = turn.session.hidden_commands
        for piece in turn.content:
            named = _COMMAND.match(piece.text) if isinstance(piece, TextContent) else None
            if named is not None and named[1] in self._commands and named[1] not in hidden:
                return self._commands[named[1]][1], named[2]
        return None

    def close(self) -> None:
        """Start no more handlers."""
        self.runners.close()
        self.handlers.close()
