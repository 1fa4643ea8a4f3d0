"""Parts of a plan that look the same in both versions."""

from __future__ import annotations

from typing import ClassVar

from accord.schema.common.ids import PlanId
from accord.schema.shape import Message


class PlanMarkdown(Message, tag_field="type", tag="markdown"):
    """A plan written as prose."""

    OLDER: ClassVar[dict[str, str]] = {"id": "planId"}

    plan_id: PlanId
    content: str


class PlanRemoved(Message, tag_field="sessionUpdate", tag="plan_removed"):
    """Takes a plan away."""

    OLDER: ClassVar[dict[str, str]] = {"id": "planId"}

    plan_id: PlanId
