"""Create statements from the values that authors pass to a session. All functions raise `InvalidValue`, so that nothing
invalid is sent or saved."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from msgspec import UnsetType

from accord.model import check
from accord.model.content import Content, ContentsLike, as_contents
from accord.model.record import Meta
from accord.model.session import Compaction, CompactionStatus, Notice, Plan, PlanLike, Severity
from accord.model.statement import AddNotice, SessionMessage, SetCompaction, SetInfo, SetPlan
from accord.model.values import text, word

if TYPE_CHECKING:
    from accord.agent.session import Session


def contents(value: Any) -> list[Content] | UnsetType | None:
    """Convert the content of a whole message. None clears it, and UNSET leaves it as it is."""
    return value if value is None or isinstance(value, UnsetType) else as_contents(value)


def plan(entries: PlanLike, id: str, meta: Meta | None) -> SetPlan:
    """Create a plan from entries, or from a `Plan`, which has its own id."""
    if not isinstance(entries, Plan):
        entries = Plan(id=text("id", id), entries=check.plan_entries(entries))
    return SetPlan(plan=check.plan(entries), meta=meta or entries.meta)


def notice(title: str, description: str | None, severity: Severity, meta: Meta | None) -> AddNotice:
    """Create a notice."""
    notice = Notice(severity=severity, title=title, description=description)
    return AddNotice(notice=check.notice(notice), meta=meta)


def compaction(
    id: str, status: CompactionStatus, summary: ContentsLike | None, error: str | None, meta: Meta | None
) -> SetCompaction:
    """Create a report about a compaction."""
    word("status", status, check.COMPACTION_STATUSES)
    pieces = as_contents(summary, "summary") if summary is not None else []
    return SetCompaction(compaction=Compaction(id=id, status=status, summary=pieces, error=error), meta=meta)


def info(title: str | UnsetType | None, updated_at: str | datetime | UnsetType | None, meta: Meta | None) -> SetInfo:
    """Create a change to a session's list entry."""
    if title is not None and not isinstance(title, UnsetType):
        text("title", title)
    return SetInfo(title=title, updated_at=check.time("updated_at", updated_at), meta=meta)


def session_message(
    id: str,
    content: ContentsLike | UnsetType | None,
    sender: Session | str | UnsetType | None,
    recipient: Session | str | UnsetType | None,
    sender_message_id: str | UnsetType | None,
    recipient_message_id: str | UnsetType | None,
    meta: Meta | None,
) -> SessionMessage:
    """Create a message between two sessions, which are given as objects or by their ids."""
    return SessionMessage(
        id=id,
        sender=_session_id(sender),
        recipient=_session_id(recipient),
        sender_message_id=sender_message_id,
        recipient_message_id=recipient_message_id,
        content=contents(content),
        meta=meta,
    )


def _session_id(session: Session | str | UnsetType | None) -> str | UnsetType | None:
    return session if session is None or isinstance(session, (str, UnsetType)) else session.id
