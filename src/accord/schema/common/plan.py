"""Parts of a plan that are the same in both versions."""

from __future__ import annotations

from typing import ClassVar

from accord.schema.common.ids import PlanId
from accord.schema.shape import Message


class PlanMarkdown(Message, tag_field="type", tag="markdown"):
    """A plan in Markdown."""

    OLDER: ClassVar[dict[str, str]] = {"id": "planId"}

    plan_id: PlanId
    content: str


class PlanRemoved(Message, tag_field="sessionUpdate", tag="plan_removed"):
    """Removes a plan."""

    OLDER: ClassVar[dict[str, str]] = {"id": "planId"}

    plan_id: PlanId
