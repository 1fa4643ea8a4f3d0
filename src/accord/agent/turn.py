"""One turn: what the user said, and the handles to answer it."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Any

from accord.agent.files import Files
from accord.agent.offers import ClientOffers
from accord.agent.permission import Permission
from accord.agent.session import Session
from accord.agent.terminals import DisplayTerminal, Terminals
from accord.agent.tool import Tool
from accord.model.content import Content, text_of
from accord.model.noun import Meta
from accord.model.requests import Reply
from accord.model.session import Plan, PlanEntry, Tokens
from accord.model.tool import Location, ToolKind


class Prompt:
    """What a user sent."""

    def __init__(self, content: list[Content], message_id: str, meta: dict[str, Any] | None) -> None:
        self.content = content
        """Everything the user sent."""
        self.message_id = message_id
        self.meta = meta or {}

    @property
    def text(self) -> str:
        """The text the user sent."""
        return text_of(self.content)


class Turn(Prompt):
    """What a handler gets. Everything a session can say, a turn can say."""

    def __init__(self, session: Session, content: list[Content], message_id: str, meta: dict[str, Any] | None) -> None:
        super().__init__(content, message_id, meta)
        self.session = session
        self.argument = ""
        """In a slash command: what follows its name."""
        self.cancelled = False
        """Whether the user has asked to stop."""
        self.tokens: Tokens | None = None
        """Set it to report what this turn used (unstable in version 1)."""

    async def inserted(self) -> Sequence[Prompt]:
        """What the user has sent since this turn began, or since this was last asked: part of this turn from now on.

        Ask between two requests to a model, and once more before ending. Version 1 has no such thing: there each prompt
        has a turn of its own, and this gives nothing. So does a slash command that a method of the agent handles."""
        return await self.session.turns.insert(self)

    @property
    def client(self) -> ClientOffers:
        return self.session.client

    @property
    def files(self) -> Files:
        """The client's files."""
        return self.session.files

    @property
    def terminals(self) -> Terminals:
        """The client's terminals."""
        return self.session.terminals

    def say(self, content: Any, *, message_id: str | None = None, meta: Meta | None = None) -> Awaitable[None]:
        """Says something: text, or any content. Neighbouring pieces form one message."""
        return self.session._speak("agent", content, message_id, meta)

    def think(self, content: Any, *, message_id: str | None = None, meta: Meta | None = None) -> Awaitable[None]:
        """Shows a thought."""
        return self.session._speak("thought", content, message_id, meta)

    def tool(
        self, title: str, *, kind: ToolKind = "other", locations: Sequence[str | Location] = (), **more: Any
    ) -> Tool:
        """A tool call, to be used with `async with`: pending, in progress, then completed or failed."""
        return self.session.tool(title, kind=kind, locations=locations, **more)

    def plan(
        self, entries: Sequence[str | PlanEntry] | Plan, *, id: str = "main", meta: Meta | None = None
    ) -> Awaitable[None]:
        """Shows what is to be done, all of it each time."""
        return self.session.plan(entries, id=id, meta=meta)

    def permit(self, title: str, *, kind: ToolKind = "other", **how: Any) -> Awaitable[Permission]:
        """Asks the user whether something may be done. See `Session.permit`."""
        return self.session.permit(title, kind=kind, **how)

    def ask(
        self, message: str, schema: dict[str, Any] | None = None, *, url: str | None = None, id: str | None = None
    ) -> Awaitable[Reply]:
        """Asks the user for something. See `Session.ask`."""
        return self.session.ask(message, schema, url=url, id=id)

    def usage(
        self, used: int, size: int, *, cost: float | None = None, currency: str = "USD", meta: Meta | None = None
    ) -> Awaitable[None]:
        """Tells how full the context is, and what the session has cost so far."""
        return self.session.usage(used, size, cost=cost, currency=currency, meta=meta)

    def notice(
        self, title: str, description: str | None = None, *, severity: str = "info", meta: Meta | None = None
    ) -> Awaitable[None]:
        """Tells a person something that changes nothing."""
        return self.session.notice(title, description, severity=severity, meta=meta)

    def set_mode(self, mode: str) -> Awaitable[None]:
        """Changes the mode from the agent's side."""
        return self.session.set_mode(mode)

    def set_title(self, title: str | None, *, meta: Meta | None = None) -> Awaitable[None]:
        """Names the session."""
        return self.session.set_title(title, meta=meta)

    def display_terminal(self, command: str, *, cwd: str | None = None, can_cancel: bool = False) -> DisplayTerminal:
        """A terminal that the agent runs itself and only shows."""
        return self.session.display_terminal(command, cwd=cwd, can_cancel=can_cancel)

    def request(self, method: str, params: Any = None) -> Awaitable[Any]:
        """Asks the client something that the protocol does not know."""
        return self.session.request(method, params)

    def notify(self, method: str, params: Any = None) -> Awaitable[None]:
        """Tells the client something that the protocol does not know."""
        return self.session.notify(method, params)
