"""The names things go by. All are opaque strings, chosen by whoever makes the thing."""

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
