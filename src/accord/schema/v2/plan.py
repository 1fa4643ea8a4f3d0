"""Plans of the agent."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from accord.schema.common.ids import PlanId
from accord.schema.common.plan import PlanMarkdown
from accord.schema.shape import AtLeast, Filtered, Message, Open, Word
from accord.schema.v2.values import Uri

PlanEntryPriority = Word[Literal["high", "medium", "low"]]
PlanEntryStatus = Word[Literal["pending", "in_progress", "completed", "cancelled"]]


class AnyPlan(Message):
    """The common field of plans: the id. A plan replaces the previous one with the same id."""

    OLDER: ClassVar[dict[str, str]] = {"id": "planId"}

    plan_id: PlanId


class PlanEntry(Message):
    """One step of a plan."""

    content: str
    priority: PlanEntryPriority
    status: PlanEntryStatus


class PlanItems(AnyPlan, tag_field="type", tag="items"):
    """A plan as a list of steps, always the whole list."""

    entries: Filtered[PlanEntry]


class PlanFile(AnyPlan, tag_field="type", tag="file"):
    """A plan in a file."""

    uri: Uri


PlanUpdateContent = Annotated[Open[PlanItems | PlanFile | PlanMarkdown], AtLeast(AnyPlan)]


class PlanUpdate(Message, tag_field="sessionUpdate", tag="plan_update"):
    """Adds a plan, or replaces the one with the same id."""

    plan: PlanUpdateContent
