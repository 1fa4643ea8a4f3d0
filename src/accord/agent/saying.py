"""Everything an agent can say in a session.

Each does its work when it is called; awaiting it only waits while the client is slow."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from accord.agent.options import Options
from accord.model.content import UnknownContent, as_content, as_contents
from accord.model.noun import Meta
from accord.model.session import Command, Compaction, Cost, Notice, Plan, PlanEntry, Subagent, Usage
from accord.model.statement import (
    CommandsAre,
    Compacted,
    CompactionText,
    InfoIs,
    Noticed,
    PlanGone,
    PlanSet,
    Raw,
    Role,
    Said,
    Statement,
    SubagentIs,
    UsageIs,
    WholeMessage,
)
from accord.schema.wire import encode
from accord.transports.base import READY

if TYPE_CHECKING:
    from accord.agent.side import AgentSide


class Saying(Options):
    """The part of a session that speaks."""

    id: str
    title: str | None
    commands: list[Command]
    hidden_commands: frozenset[str]
    _side: AgentSide
    _keep: Callable[[str, Statement], None] | None
    _role: Role | None
    """Whose message is being said, piece by piece, under which id, and what stands before each piece."""
    _message_id: str
    _head: bytes

    def send(self, lines: bytes) -> Awaitable[None]:
        raise NotImplementedError

    def say(self, content: Any, *, message_id: str | None = None, meta: Meta | None = None) -> Awaitable[None]:
        """Says something: text, or any content. Neighbouring pieces form one message."""
        return self._speak("agent", content, message_id, meta)

    def think(self, content: Any, *, message_id: str | None = None, meta: Meta | None = None) -> Awaitable[None]:
        """Shows a thought."""
        return self._speak("thought", content, message_id, meta)

    def user_said(self, content: Any, *, message_id: str | None = None, meta: Meta | None = None) -> Awaitable[None]:
        """Repeats what the user said; for authors who replay a session themselves."""
        return self._speak("user", content, message_id or self._side.new_id("msg"), meta)

    def _speak(self, role: Role, content: Any, message_id: str | None, meta: Meta | None = None) -> Awaitable[None]:
        if role is not self._role or (message_id is not None and message_id != self._message_id):
            self._role = role
            self._message_id = message_id or self._side.new_id("msg")
            self._head = self._side.chunk_head(self.id, role, self._message_id)
        if meta:
            return self.state(Said(role=role, message_id=self._message_id, content=as_content(content), meta=meta))
        # Encoded first: what cannot be said is not kept either.
        if type(content) is str:
            line = self._head + b'{"type":"text","text":' + encode(content) + b"}}}}\n"
        else:
            piece = as_content(content)
            line = self._head + encode(piece.data if isinstance(piece, UnknownContent) else piece) + b"}}}\n"
        if self._keep is not None:
            self._keep(self.id, Said(role=role, message_id=self._message_id, content=as_content(content)))
        return self.send(line)

    def end_message(self) -> None:
        """What is said next is a new message."""
        self._role = None

    def set_message(
        self, content: Any, *, role: Role = "agent", message_id: str | None = None, meta: Meta | None = None
    ) -> str:
        """Says a whole message at once, in place of what was said under this id. Gives back the id.

        Version 1 has no such thing: there it is said as one more piece."""
        id = message_id or self._side.new_id("msg")
        self.state(WholeMessage(role=role, message_id=id, content=as_contents(content), meta=meta))
        return id

    def plan(
        self, entries: Sequence[str | PlanEntry] | Plan, *, id: str = "main", meta: Meta | None = None
    ) -> Awaitable[None]:
        """Shows what is to be done, all of it each time."""
        if not isinstance(entries, Plan):
            steps = [entry if isinstance(entry, PlanEntry) else PlanEntry(content=entry) for entry in entries]
            entries = Plan(id=id, entries=steps)
        return self.state(PlanSet(plan=entries, meta=meta))

    def remove_plan(self, id: str = "main") -> Awaitable[None]:
        return self.state(PlanGone(id=id))

    def usage(
        self, used: int, size: int, *, cost: float | None = None, currency: str = "USD", meta: Meta | None = None
    ) -> Awaitable[None]:
        """Tells how full the context is, and what the session has cost so far."""
        if size <= 0:
            raise ValueError("usage means nothing without the size of the context")
        money = Cost(amount=cost, currency=currency) if cost is not None else None
        return self.state(UsageIs(usage=Usage(used=used, size=size, cost=money), meta=meta))

    def notice(
        self, title: str, description: str | None = None, *, severity: str = "info", meta: Meta | None = None
    ) -> Awaitable[None]:
        """Tells a person something that changes nothing. Clients that show no notices are spared."""
        if not title:
            raise ValueError("a notice needs a title")
        return self.state(Noticed(notice=Notice(severity=severity, title=title, description=description), meta=meta))

    def compaction(
        self, id: str, status: str, *, summary: Any = None, error: str | None = None, meta: Meta | None = None
    ) -> Awaitable[None]:
        """Tells that the context is being shortened."""
        pieces = as_contents(summary) if summary is not None else []
        told = Compaction(id=id, status=status, summary=pieces, error=error)
        return self.state(Compacted(compaction=told, meta=meta))

    def compaction_text(self, id: str, content: Any) -> Awaitable[None]:
        """Adds to the summary that takes the place of what was said."""
        return self.state(CompactionText(id=id, content=as_content(content)))

    def set_title(self, title: str | None, *, meta: Meta | None = None) -> Awaitable[None]:
        """Names the session."""
        self.title = title
        return self.state(InfoIs(title=title, updated_at=self._side.now(), meta=meta))

    def set_commands(self, commands: Sequence[Command], *, hide: Collection[str] = ()) -> Awaitable[None]:
        """Sets the slash commands besides those made with `@command`, and which of those are not to be had now."""
        written = self._side.written_commands()
        if unknown := set(hide) - {described.name for described in written}:
            raise ValueError(f"there is no @command {min(unknown)!r} to hide")
        self.hidden_commands = frozenset(hide)
        self.commands = [*(described for described in written if described.name not in hide), *commands]
        if self.reopening:  # told with, or right after, the answer
            return READY
        return self.state(CommandsAre(commands=self.commands))

    def subagent(self, subagent: Subagent) -> Awaitable[None]:
        """Tells about a child session (unstable)."""
        return self.state(SubagentIs(subagent=subagent))

    def update(self, version: int, update: Any) -> Awaitable[None]:
        """Sends an update in the words of one version; on another version nothing is sent."""
        return self.state(Raw(version=version, update=update))
