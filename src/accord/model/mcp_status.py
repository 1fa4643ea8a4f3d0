"""The status of an MCP server in a notice.

The protocol has no message for it. Accord's agent and configuration put it into the `_meta` of the notices about a
server, so that clients needn't parse the text."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from accord.model.record import Meta, Record

MCP_STATUS = "accord/mcpServer"
"""The key of the status in `_meta`."""

McpState = Literal["starting", "connected", "failed", "lost", "closed", "skipped"]
"""`lost`: was connected and will be restarted on its next use. `skipped`: configured, but not passed to the agent."""


class McpServerStatus(Record):
    """The state of one server, identified by the name that the client gave it."""

    name: str
    state: McpState
    detail: str = ""
    """A description: "connected, 12 tools", or the error."""

    def to_meta(self) -> Meta:
        """Return the `_meta` of a notice about this status."""
        return {MCP_STATUS: {"name": self.name, "state": self.state, "detail": self.detail}}

    @classmethod
    def from_meta(cls, meta: Any) -> McpServerStatus | None:
        """Read the status from the `_meta` of a notice; None if there is none, or its state is unknown."""
        if not isinstance(meta, dict) or MCP_STATUS not in meta:
            return None
        try:
            return msgspec.convert(meta[MCP_STATUS], cls)
        except msgspec.ValidationError:
            return None
