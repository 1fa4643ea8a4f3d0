"""The answer to a permission request."""

from __future__ import annotations

from accord.schema.common.ids import PermissionOptionId
from accord.schema.shape import Message


class SelectedPermissionOutcome(Message, tag_field="outcome", tag="selected"):
    """The user chose one of the options."""

    option_id: PermissionOptionId
