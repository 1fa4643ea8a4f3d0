"""A tool call while it runs: pending, in progress, then completed or failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, UnsetType

from accord.model.content import as_content
from accord.model.statement import ToolPatch
from accord.model.tool import FINAL, Diff, Location, TerminalRef, ToolContent, ToolKind, ToolStatus
from accord.transports.base import READY

if TYPE_CHECKING:
    from accord.agent.permission import Permission
    from accord.agent.session import Session


class Tool:
    """One tool call. As a context manager it is announced, set to work, and ended by how the block ends."""

    def __init__(
        self,
        session: Session,
        id: str,
        title: str,
        *,
        kind: ToolKind = "other",
        locations: Sequence[str | Location] = (),
        raw_input: Any = UNSET,
        name: str | None = None,
        can_cancel: bool = False,
        background: bool = False,
        meta: dict[str, Any] | None = None,
    ) -> None:
        self.session = session
        self.id = id
        self.title = title
        self.kind = kind
        self.status: ToolStatus | None = None
        self.content: list[ToolContent] = []
        self.locations = [session.location(place) for place in locations]
        self._raw_input = raw_input
        self._name = name
        self.can_cancel = can_cancel
        self.background = background
        """Whether it goes on when its turn ends."""
        self._meta = meta

    async def __aenter__(self) -> Tool:
        await self.announce()
        await self.start()
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
        """Says that the call is coming. It is said when this is called; awaiting it waits while the client is slow."""
        if self.status is not None:
            return READY
        self.status = "pending"
        self.session.open_tools[self.id] = self
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
        return self._state(patch)

    async def start(self) -> None:
        """Says that the call is running now."""
        await self.update(status="in_progress")

    async def show(self, *items: Any) -> None:
        """Adds content: text, pictures, diffs, terminals."""
        for item in items:
            content = self._as_content(item)
            self.content.append(content)
            await self._state(ToolPatch(id=self.id, content=list(self.content), added=content))

    async def set_content(self, *items: Any) -> None:
        """Replaces all content."""
        self.content = [self._as_content(item) for item in items]
        await self._state(ToolPatch(id=self.id, content=list(self.content)))

    async def diff(self, path: str, old: str | None, new: str | None) -> None:
        """Shows a change to a file: `old` None creates it, `new` None deletes it."""
        await self.show(Diff.of(self.session.absolute(path), old, new))

    async def update(
        self,
        *,
        title: str | UnsetType = UNSET,
        status: ToolStatus | UnsetType = UNSET,
        kind: ToolKind | UnsetType = UNSET,
        locations: Sequence[str | Location] | UnsetType = UNSET,
        raw_input: Any = UNSET,
        raw_output: Any = UNSET,
        name: str | UnsetType = UNSET,
        meta: dict[str, Any] | None = None,
    ) -> None:
        """Says what is new. What is left out stays as it was."""
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
            self.locations = [self.session.location(place) for place in locations]
            patch.locations = self.locations
        if not isinstance(title, UnsetType):
            self.title = title
        if not isinstance(kind, UnsetType):
            self.kind = kind
        if not isinstance(status, UnsetType):
            self.status = status
            if status in FINAL:
                self.session.open_tools.pop(self.id, None)
                if self.can_cancel:
                    patch.can_cancel = False
        await self._state(patch)

    def _state(self, patch: ToolPatch) -> Awaitable[None]:
        sent = self.session.state(patch)
        if self.background:  # it is announced before it is listed, and ended before it is not
            self.session.background.changed()
        return sent

    async def complete(self, raw_output: Any = UNSET) -> None:
        """The call did what it should."""
        await self.update(status="completed", raw_output=raw_output)

    async def fail(self, reason: str = "", raw_output: Any = UNSET) -> None:
        """The call failed; the reason is shown."""
        if reason:
            await self.show(reason)
        await self.update(status="failed", raw_output=raw_output)

    def permit(self, title: str | None = None, **how: Any) -> Awaitable[Permission]:
        """Asks whether this call may go on. See `Turn.permit`."""
        return self.session.permit(title or self.title, tool=self, **how)

    def _as_content(self, item: Any) -> ToolContent:
        from accord.agent.terminals import DisplayTerminal, Terminal

        if isinstance(item, (Terminal, DisplayTerminal)):
            if hasattr(item, "shown_in"):
                item.shown_in = self
            return TerminalRef(terminal_id=item.id)
        return item if isinstance(item, (Diff, TerminalRef)) else as_content(item)
