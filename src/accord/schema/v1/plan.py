"""Plans: the steps that the agent intends to take."""

from __future__ import annotations

from typing import ClassVar, Literal, Union

from accord.schema.common.ids import PlanId
from accord.schema.common.plan import PlanMarkdown
from accord.schema.shape import Emptied, Filtered, Message

PlanEntryPriority = Literal["high", "medium", "low"]
PlanEntryStatus = Literal["pending", "in_progress", "completed"]


class PlanCapabilities(Message):
    """Declares that the client supports multiple plans, identified by ids."""


class PlanEntry(Message):
    """One step of a plan."""

    content: str
    priority: PlanEntryPriority
    status: PlanEntryStatus


class Plan(Message, tag_field="sessionUpdate", tag="plan"):
    """Sends the whole plan, which replaces the previous one."""

    entries: Emptied[Filtered[PlanEntry]]


class PlanItems(Message, tag_field="type", tag="items"):
    """A plan as a list of steps."""

    OLDER: ClassVar[dict[str, str]] = {"id": "planId"}

    plan_id: PlanId
    entries: Emptied[Filtered[PlanEntry]]


class PlanFile(Message, tag_field="type", tag="file"):
    """A plan in a file."""

    OLDER: ClassVar[dict[str, str]] = {"id": "planId"}

    plan_id: PlanId
    uri: str


PlanUpdateContent = Union[PlanItems, PlanFile, PlanMarkdown]


class PlanUpdate(Message, tag_field="sessionUpdate", tag="plan_update"):
    """Adds a plan, or replaces the one with the same id."""

    plan: PlanUpdateContent
