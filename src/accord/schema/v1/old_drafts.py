"""Convert messages of early agents and clients to the current format.

Only values that the strict pass rejected are handled here. Renamed keys are declared on the types (`OLDER`)."""

from __future__ import annotations

from typing import Any, get_args

from accord.schema.common.auth import status_marker_from_flag
from accord.schema.repair import older
from accord.schema.v1.auth import AgentAuthCapabilities
from accord.schema.v1.config import SessionConfigSelectGroup
from accord.schema.v1.content import ContentBlock
from accord.schema.v1.tool_call import ToolCall, ToolCallPatch

_BLOCKS = frozenset(block.__struct_config__.tag for block in get_args(get_args(ContentBlock)[0]))

older(AgentAuthCapabilities)(status_marker_from_flag)


@older(ToolCall)
@older(ToolCallPatch)
def wrapped_blocks(value: dict[str, Any]) -> dict[str, Any]:
    """Wrap content blocks that stand alone in a tool call's content."""
    content = value.get("content")
    if not isinstance(content, list):
        return value
    return {**value, "content": [_wrap(item) for item in content]}


def _wrap(item: Any) -> Any:
    kind = item.get("type") if isinstance(item, dict) else None
    return {"type": "content", "content": item} if isinstance(kind, str) and kind in _BLOCKS else item


@older(SessionConfigSelectGroup)
def named_group(value: dict[str, Any]) -> dict[str, Any]:
    """Use the id of a group as its name if it has none."""
    return value if "name" in value or "group" not in value else {**value, "name": value["group"]}
