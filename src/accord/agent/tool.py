"""A running tool call: pending, in progress, then completed or failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Union

from msgspec import UNSET, UnsetType

from accord.agent.workspace import DisplayTerminal, Terminal
from accord.errors import InvalidValue, UsageError
from accord.model import check
from accord.model.content import ContentLike, as_content
from accord.model.record import Meta
from accord.model.statement import ToolPatch
from accord.model.tool import FINAL, Diff, Location, LocationsLike, TerminalRef, ToolContent, ToolKind, ToolStatus
from accord.model.values import optional_text, short, text, word
from accord.transports.base import READY

if TYPE_CHECKING:
    from accord.agent.questions import Permission
    from accord.agent.session import Session
    from accord.model.requests import PermissionOption, Reply

ToolContentLike = Union[ContentLike, Diff, TerminalRef, Terminal, DisplayTerminal]
"""Content that a tool call can show."""


class Tool:
    """A tool call. `async with` announces and starts it; the end of the block completes, fails or cancels it."""

    def __init__(
        self,
        session: Session,
        id: str,
        title: str,
        *,
        kind: ToolKind = "other",
        locations: LocationsLike = (),
        raw_input: Any = UNSET,
        name: str | None = None,
        can_cancel: bool = False,
        background: bool = False,
        meta: dict[str, Any] | None = None,
    ) -> None:
        self.session = session
        self.id: str = text("id", id)
        self.title: str = text("title", title)
        self.kind: ToolKind = word("kind", kind, check.TOOL_KINDS)
        self.status: ToolStatus | None = None
        self.content: list[ToolContent] = []
        self.locations: list[Location] = self._locations(locations)
        self._raw_input = raw_input
        self._name = optional_text("name", name)
        self.can_cancel: bool = can_cancel
        self.background: bool = background
        """Whether it outlives its turn."""
        self._meta = meta
        self._shows_preview = False
        """Whether the client shows content that isn't in `content`."""

    if not TYPE_CHECKING:  # type checkers report these mistakes themselves

        def __enter__(self) -> NoReturn:
            raise UsageError("a tool call needs “async with”: async with turn.tool(…) as tool")

        def __exit__(self, *exc: object) -> None: ...

        def __await__(self) -> NoReturn:
            raise UsageError("a tool call can't be awaited; use it with “async with”, or await its announce()")

    async def __aenter__(self) -> Tool:
        await self.announce()
        await self._send(ToolPatch(id=self.id, status="in_progress"))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.status in FINAL:
            return
        if error is None:
            await self.complete()
        elif isinstance(error, asyncio.CancelledError):
            await self.update(status="cancelled")
        else:
            await self.fail(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)

    def announce(self) -> Awaitable[None]:
        """Announce the call. It is sent now; awaiting this only waits while the client is slow."""
        if self.status is not None:
            return READY
        patch = ToolPatch(id=self.id, first=True, title=self.title, kind=self.kind, status="pending", meta=self._meta)
        if self.content:
            patch.content = list(self.content)
        if self.locations:
            patch.locations = self.locations
        if self._raw_input is not UNSET:
            patch.raw_input = self._raw_input
        if self._name is not None:
            patch.name = self._name
        if self.can_cancel:
            patch.can_cancel = True
        lines = self.session.writer.encode(patch)
        self.status = "pending"
        self.session.open_tools[self.id] = self
        return self._state(patch, lines)

    async def start(self) -> None:
        """Report that the call is running."""
        if self.status is None:
            await self.announce()
        await self._send(ToolPatch(id=self.id, status="in_progress"))

    async def show(self, *items: ToolContentLike, meta: Meta | None = None) -> None:
        """Add content: text, images, diffs, terminals."""
        for item in items:
            await self._add(self._as_content(item), meta)

    async def set_content(self, *items: ToolContentLike, meta: Meta | None = None) -> None:
        """Replace all content. Without items it is cleared."""
        content = [self._as_content(item) for item in items]
        patch = ToolPatch(id=self.id, content=list(content), meta=meta)
        lines = self.session.writer.encode(patch)
        self._shows_preview = False
        self.content = content
        await self._state(patch, lines)

    async def preview(self, *items: ToolContentLike) -> None:
        """Show content until other content replaces it or the call ends. It isn't saved with the session."""
        if self.status is None:
            await self.announce()
        patch = ToolPatch(id=self.id, content=[*self.content, *(self._as_content(item) for item in items)])
        sent = self.session.writer.tell(patch)
        self._shows_preview = True
        await sent

    async def diff(self, path: str, old: str | None, new: str | None) -> None:
        """Show a change to a file: `old` None creates it, `new` None deletes it."""
        text("path", path)
        text("old", old or "")
        text("new", new or "")
        await self._add(Diff.of(self.session.absolute(path), old, new))

    def _add(self, content: ToolContent, meta: Meta | None = None) -> Awaitable[None]:
        patch = ToolPatch(id=self.id, content=[*self.content, content], meta=meta)
        if not self._shows_preview:
            patch.added = content
        lines = self.session.writer.encode(patch)
        self._shows_preview = False
        self.content.append(content)
        return self._state(patch, lines)

    async def update(
        self,
        *,
        title: str | UnsetType | None = UNSET,
        status: ToolStatus | UnsetType = UNSET,
        kind: ToolKind | UnsetType | None = UNSET,
        locations: LocationsLike | UnsetType | None = UNSET,
        raw_input: Any = UNSET,
        raw_output: Any = UNSET,
        name: str | UnsetType | None = UNSET,
        meta: dict[str, Any] | None = None,
    ) -> None:
        """Send changed fields. Fields that are left out keep their value; None clears one."""
        if status is not UNSET:
            word("status", status, check.TOOL_STATUSES)
        if kind is not UNSET and kind is not None:
            word("kind", kind, check.TOOL_KINDS)
        if title is not UNSET and title is not None:
            text("title", title)
        if self.status is None:
            await self.announce()
        patch = ToolPatch(
            id=self.id,
            title=title,
            status=status,
            kind=kind,
            raw_input=raw_input,
            raw_output=raw_output,
            name=name,
            meta=meta,
        )
        if not isinstance(locations, UnsetType):
            patch.locations = None if locations is None else self._locations(locations)
        await self._send(patch)

    def _send(self, patch: ToolPatch) -> Awaitable[None]:
        """Send changed fields, and change them here."""
        status = patch.status
        is_final = status in FINAL
        if is_final and self.can_cancel:
            patch.can_cancel = False
        if is_final and self._shows_preview:
            patch.content = list(self.content)
        # Encode before changing state, so that the call stays open if its result can't be sent.
        lines = self.session.writer.encode(patch)
        if is_final:
            self._shows_preview = False
        if patch.locations is not UNSET:
            self.locations = patch.locations or []
        if patch.title is not UNSET:
            self.title = patch.title or ""
        if patch.kind is not UNSET:
            self.kind = patch.kind or "other"
        if status is not UNSET:
            self.status = status
            if is_final:
                self.session.open_tools.pop(self.id, None)
        return self._state(patch, lines)

    def _state(self, patch: ToolPatch, lines: bytes) -> Awaitable[None]:
        sent = self.session.writer.state_encoded(patch, lines)
        if self.background:
            # After the update: a call is announced before it is listed, and ends before it is removed.
            self.session.background.update()
        return sent

    async def move_to_background(self, *, can_cancel: bool = False) -> None:
        """Let the call outlive its turn. With `can_cancel` the user can cancel it alone from now on (version 2)."""
        self.background, self.can_cancel = True, can_cancel
        await self._send(ToolPatch(id=self.id, status="in_progress", can_cancel=True if can_cancel else UNSET))

    async def complete(self, raw_output: Any = UNSET, *, meta: Meta | None = None) -> None:
        """End the call successfully."""
        if self.status is None:
            await self.announce()
        await self._send(ToolPatch(id=self.id, status="completed", raw_output=raw_output, meta=meta))

    async def fail(self, reason: str = "", raw_output: Any = UNSET, *, meta: Meta | None = None) -> None:
        """End the call as failed, and show the reason."""
        if reason:
            await self.show(reason)
        await self.update(status="failed", raw_output=raw_output, meta=meta)

    def permit(
        self,
        title: str | None = None,
        *,
        options: Sequence[PermissionOption] | None = None,
        always: bool = False,
        description: str | None = None,
        command: str | None = None,
        cwd: str | None = None,
        content: Sequence[ToolContentLike] = (),
        terminal: DisplayTerminal | None = None,
        subject: dict[str, Any] | None = None,
        meta: Meta | None = None,
    ) -> Awaitable[Permission]:
        """Ask for permission to continue this call. See `Session.permit`."""
        return self.session.permit(
            title or self.title,
            options=options,
            always=always,
            description=description,
            command=command,
            cwd=cwd,
            content=content,
            tool=self,
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
        meta: Meta | None = None,
    ) -> Awaitable[Reply]:
        """Ask the user something for this call. See `Session.ask`."""
        return self.session.ask(message, schema, url=url, id=id, tool=self, meta=meta)

    def _locations(self, places: LocationsLike) -> list[Location]:
        if isinstance(places, str | Location):  # a string would be iterated letter by letter
            raise InvalidValue(
                f"locations is {short(places)}; it must be a list: [{short(places)}]", argument="locations"
            )
        if not isinstance(places, Iterable):
            raise InvalidValue(f"locations is {short(places)}; it must be a list of paths", argument="locations")
        return [self.session.location(place) for place in places]

    def _as_content(self, item: Any) -> ToolContent:
        if isinstance(item, (Diff, TerminalRef)):
            return item
        if isinstance(item, (Terminal, DisplayTerminal)):
            item.shown_in = self
            return TerminalRef(terminal_id=item.id)
        return as_content(item)
