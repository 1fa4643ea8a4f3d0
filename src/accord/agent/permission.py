"""Asking a person: may I, and what do you want."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from accord.model.requests import PermissionOption

ALLOW_ONCE = PermissionOption(id="allow_once", name="Allow", kind="allow_once")
ALLOW_ALWAYS = PermissionOption(id="allow_always", name="Always allow", kind="allow_always")
REJECT_ONCE = PermissionOption(id="reject_once", name="Reject", kind="reject_once")
REJECT_ALWAYS = PermissionOption(id="reject_always", name="Always reject", kind="reject_always")


class Permission:
    """What was decided. True when, and only when, an offered option that allows was chosen."""

    __slots__ = ("option",)

    def __init__(self, option: PermissionOption | None) -> None:
        self.option = option
        """The chosen option; None when the question was cancelled or answered with something never offered."""

    def __bool__(self) -> bool:
        return self.option is not None and self.option.allows

    @property
    def always(self) -> bool:
        """Whether the choice was meant for good."""
        return self.option is not None and self.option.kind in ("allow_always", "reject_always")

    @property
    def cancelled(self) -> bool:
        return self.option is None

    def __repr__(self) -> str:
        return f"Permission({self.option.id!r})" if self.option else "Permission(cancelled)"


def standard_options(always: bool) -> list[PermissionOption]:
    """Ids spelt like their kinds, one per kind, allowing first: what every client understands."""
    return [ALLOW_ONCE, ALLOW_ALWAYS, REJECT_ONCE] if always else [ALLOW_ONCE, REJECT_ONCE]


def choices_of(schema: dict[str, Any]) -> Sequence[tuple[str, Any, str]] | None:
    """A form with one field that is a choice, as (field, value, name) rows; None for any other form."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or len(properties) != 1:
        return None
    field, shape = next(iter(properties.items()))
    if shape.get("type") == "boolean":
        return [(field, True, "Yes"), (field, False, "No")]
    if shape.get("type") == "string" and shape.get("enum"):
        return [(field, value, str(value)) for value in shape["enum"]]
    if shape.get("type") == "string" and shape.get("oneOf"):
        return [(field, row["const"], row.get("title") or row["const"]) for row in shape["oneOf"]]
    return None
