"""The floor: as little as typed messages over a pipe can cost in Python. The wire types that the raw contenders need.

An envelope is decoded first, its params by the method's own type after that. Nothing here belongs to Accord."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Raw, Struct

END = b"\n"
CHUNK = 65536


class Envelope(Struct):
    id: int | None = None
    method: str | None = None
    params: Raw = Raw()
    result: Raw = Raw()
    error: Raw = Raw()


class Request(Struct):
    id: int
    method: str
    params: Any
    jsonrpc: Literal["2.0"] = "2.0"


class Notification(Struct):
    method: str
    params: Any
    jsonrpc: Literal["2.0"] = "2.0"


class Answer(Struct):
    id: int
    result: Any
    jsonrpc: Literal["2.0"] = "2.0"


class Wire(Struct, rename="camel", omit_defaults=True):
    pass


class Text(Wire, tag_field="type", tag="text"):
    text: str


class AgentMessageChunk(Wire, tag_field="sessionUpdate", tag="agent_message_chunk"):
    content: Text


class AgentThoughtChunk(Wire, tag_field="sessionUpdate", tag="agent_thought_chunk"):
    content: Text


class PlanEntry(Wire):
    content: str
    priority: Literal["high", "medium", "low"]
    status: Literal["pending", "in_progress", "completed"]


class Plan(Wire, tag_field="sessionUpdate", tag="plan"):
    entries: list[PlanEntry]


class Location(Wire):
    path: str
    line: int | None = None


class Diff(Wire, tag_field="type", tag="diff"):
    path: str
    new_text: str
    old_text: str | None = None


class ToolFields(Wire):
    tool_call_id: str
    title: str | None = None
    kind: str | None = None
    status: Literal["pending", "in_progress", "completed", "failed"] | None = None
    content: list[Diff] | None = None
    locations: list[Location] | None = None


class ToolCall(ToolFields, tag_field="sessionUpdate", tag="tool_call"):
    pass


class ToolCallUpdate(ToolFields, tag_field="sessionUpdate", tag="tool_call_update"):
    pass


Update = AgentMessageChunk | AgentThoughtChunk | Plan | ToolCall | ToolCallUpdate


class SessionNotification(Wire):
    session_id: str
    update: Update


class Initialize(Wire):
    protocol_version: int


class Initialized(Wire):
    protocol_version: int


class NewSession(Wire):
    cwd: str
    mcp_servers: list[Any]


class SessionId(Wire):
    session_id: str


class SetMode(Wire):
    session_id: str
    mode_id: str


class Prompt(Wire):
    session_id: str
    prompt: list[Text]


class Stopped(Wire):
    stop_reason: str


class Option(Wire):
    option_id: str
    name: str
    kind: str


class Permission(Wire):
    session_id: str
    tool_call: ToolFields
    options: list[Option]


class Selected(Wire, tag_field="outcome", tag="selected"):
    option_id: str


class Permitted(Wire):
    outcome: Selected


class ReadFile(Wire):
    session_id: str
    path: str


class FileContent(Wire):
    content: str


class Empty(Wire):
    pass


PARAMS = {
    "initialize": Initialize,
    "session/new": NewSession,
    "session/set_mode": SetMode,
    "session/prompt": Prompt,
    "session/update": SessionNotification,
    "session/request_permission": Permission,
    "fs/read_text_file": ReadFile,
}
RESULTS = {
    "initialize": Initialized,
    "session/new": SessionId,
    "session/set_mode": Empty,
    "session/prompt": Stopped,
    "session/request_permission": Permitted,
    "fs/read_text_file": FileContent,
}

encoder = msgspec.json.Encoder()
envelope = msgspec.json.Decoder(Envelope).decode
params = {method: msgspec.json.Decoder(type).decode for method, type in PARAMS.items()}
results = {method: msgspec.json.Decoder(type).decode for method, type in RESULTS.items()}


class Lines:
    """Bytes in, whole lines out. A line that comes in parts is joined once."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def feed(self, data: bytes) -> list[bytes]:
        if END not in data:
            self.parts.append(data)
            return []
        if self.parts:
            self.parts.append(data)
            data = b"".join(self.parts)
            self.parts = []
        lines = data.split(END)
        if rest := lines.pop():
            self.parts.append(rest)
        return lines
