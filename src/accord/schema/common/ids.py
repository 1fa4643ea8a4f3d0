"""Ids. All are opaque strings, chosen by the side that creates the object."""

from __future__ import annotations

AuthMethodId = str
CompactionId = str
ElicitationId = str
McpRequestId = str
McpServerAcpId = str
MessageId = str
PermissionOptionId = str
PlanId = str
ProviderId = str
SessionConfigGroupId = str
SessionConfigId = str
SessionConfigValueId = str
SessionId = str
TerminalId = str
ToolCallId = str
