"""A turn: the user's prompt and the methods to respond to it."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import UNSET

from accord.agent.client import Client
from accord.agent.questions import Permission
from accord.agent.session import Session
from accord.agent.tool import Tool, ToolContentLike
from accord.agent.workspace import DisplayTerminal, Files, Terminals
from accord.errors import UsageError
from accord.model.content import Content, ContentLike, prompt_text
from accord.model.record import Meta
from accord.model.requests import PermissionOption, Reply
from accord.model.session import PlanLike, Severity, Tokens
from accord.model.tool import LocationsLike, ToolKind
from accord.model.values import short


class Prompt:
    """A prompt of the user."""

    __slots__ = ("content", "message_id", "meta")  # so that setting a misspelled attribute fails

    def __init__(self, content: list[Content], message_id: str, meta: dict[str, Any] | None) -> None:
        self.content: list[Content] = content
        """The content that the user sent."""
        self.message_id: str = message_id
        self.meta: dict[str, Any] = meta or {}

    @property
    def text(self) -> str:
        """The text the user sent; several text blocks are separated by a blank line."""
        return prompt_text(self.content)


class Turn(Prompt):
    """The argument of a prompt handler. A turn has all methods of its session that send something."""

    __slots__ = ("argument", "cancelled", "response_meta", "session", "tokens")

    def __init__(self, session: Session, content: list[Content], message_id: str, meta: dict[str, Any] | None) -> None:
        super().__init__(content, message_id, meta)
        self.session: Session = session
        self.argument: str = ""
        """In a slash command: the text after its name."""
        self.cancelled: bool = False
        """Whether the user has asked to stop."""
        self.tokens: Tokens | None = None
        """Set this to report the tokens that this turn used (unstable in version 1)."""
        self.response_meta: Meta | None = None
        """Set this to send `_meta` with the end of the turn: the response to the prompt, or the state in version 2."""

    if not TYPE_CHECKING:  # type checkers report this mistake themselves

        @property
        def stop_reason(self) -> NoReturn:
            raise UsageError('a turn has no stop reason before it ends; prompt returns it: return "refusal"')

        @stop_reason.setter
        def stop_reason(self, value: object) -> NoReturn:
            raise UsageError(f"stop_reason can't be set; return it from prompt: return {short(value)}")

    async def take_prompts(self) -> Sequence[Prompt]:
        """Return the prompts that the user has sent since this turn began or since the last call. They become part of
        this turn.

        Call it between two requests to a model, and once more before ending. In version 1 every prompt has its own
        turn, so there are none; nor are slash commands returned that methods of the agent handle."""
        return await self.session.turns.insert(self)

    @property
    def client(self) -> Client:
        return self.session.client

    @property
    def files(self) -> Files:
        """The client's files, or the agent's own if the client has none."""
        return self.session.files

    @property
    def terminals(self) -> Terminals:
        """The client's terminals, or the agent's own if the client has none."""
        return self.session.terminals

    def say(self, content: ContentLike, *, message_id: str | None = None, meta: Meta | None = None) -> Awaitable[None]:
        """Send text or other content to the user. Consecutive calls form one message."""
        return self.session.writer.say("agent", content, message_id, meta)

    def think(
        self, content: ContentLike, *, message_id: str | None = None, meta: Meta | None = None
    ) -> Awaitable[None]:
        """Send part of the agent's reasoning."""
        return self.session.writer.say("thought", content, message_id, meta)

    def tool(
        self,
        title: str,
        *,
        kind: ToolKind = "other",
        locations: LocationsLike = (),
        id: str | None = None,
        raw_input: Any = UNSET,
        name: str | None = None,
        can_cancel: bool = False,
        background: bool = False,
        meta: Meta | None = None,
    ) -> Tool:
        """Create a tool call, to be used with `async with`: pending, in progress, then completed or failed. See
        `Session.tool`."""
        return self.session.tool(
            title,
            kind=kind,
            locations=locations,
            id=id,
            raw_input=raw_input,
            name=name,
            can_cancel=can_cancel,
            background=background,
            meta=meta,
        )

    def plan(self, entries: PlanLike, *, id: str = "main", meta: Meta | None = None) -> Awaitable[None]:
        """Send the plan. Each call sends all of it."""
        return self.session.plan(entries, id=id, meta=meta)

    def permit(
        self,
        title: str,
        *,
        kind: ToolKind = "other",
        options: Sequence[PermissionOption] | None = None,
        always: bool = False,
        description: str | None = None,
        command: str | None = None,
        cwd: str | None = None,
        content: Sequence[ToolContentLike] = (),
        locations: LocationsLike = (),
        tool: Tool | None = None,
        terminal: DisplayTerminal | None = None,
        subject: dict[str, Any] | None = None,
        meta: Meta | None = None,
    ) -> Awaitable[Permission]:
        """Ask the user for permission. See `Session.permit`."""
        return self.session.permit(
            title,
            kind=kind,
            options=options,
            always=always,
            description=description,
            command=command,
            cwd=cwd,
            content=content,
            locations=locations,
            tool=tool,
            terminal=terminal,
            subject=subject,
            meta=meta,
        )

    def ask(
        self,
        message: str,
        schema: dict[str, Any] | None = None,
        *,
        url: str | None = None,
        id: str | None = None,
        tool: Tool | None = None,
        meta: Meta | None = None,
    ) -> Awaitable[Reply]:
        """Ask the user to fill in a form or visit a page. See `Session.ask`."""
        return self.session.ask(message, schema, url=url, id=id, tool=tool, meta=meta)

    def usage(
        self, used: int, size: int, *, cost: float | None = None, currency: str = "USD", meta: Meta | None = None
    ) -> Awaitable[None]:
        """Report how many tokens of the context window are used, and the session's cost so far."""
        return self.session.usage(used, size, cost=cost, currency=currency, meta=meta)

    def notice(
        self, title: str, description: str | None = None, *, severity: Severity = "info", meta: Meta | None = None
    ) -> Awaitable[None]:
        """Show the user a notice that isn't part of the conversation."""
        return self.session.notice(title, description, severity=severity, meta=meta)

    def set_mode(self, mode: str, *, meta: Meta | None = None) -> Awaitable[None]:
        """Change the mode and tell the client."""
        return self.session.set_mode(mode, meta=meta)

    def set_title(self, title: str | None, *, meta: Meta | None = None) -> Awaitable[None]:
        """Set the session's title, unless the user has set one."""
        return self.session.set_title(title, meta=meta)

    def display_terminal(
        self,
        command: str,
        *,
        cwd: str | None = None,
        size: tuple[int, int] | None = None,
        can_cancel: bool = False,
        meta: Meta | None = None,
    ) -> DisplayTerminal:
        """Show a terminal of a command that the agent runs itself. `size` is its columns and rows."""
        return self.session.display_terminal(command, cwd=cwd, size=size, can_cancel=can_cancel, meta=meta)

    def request(self, method: str, params: Any = None) -> Awaitable[Any]:
        """Send the client a request that the protocol doesn't define."""
        return self.session.request(method, params)

    def notify(self, method: str, params: Any = None) -> Awaitable[None]:
        """Send the client a notification that the protocol doesn't define."""
        return self.session.notify(method, params)
