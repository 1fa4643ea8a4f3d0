"""What the two sides ask each other besides prompts: permissions, forms, servers, logins."""

from __future__ import annotations

from typing import Any, Literal, Union

from accord.model.noun import Meta, Noun
from accord.model.tool import ToolCall

PermissionKind = Union[Literal["allow_once", "allow_always", "reject_once", "reject_always"], str]


class PermissionOption(Noun):
    """One answer that the agent offers."""

    id: str
    name: str
    kind: PermissionKind

    @property
    def allows(self) -> bool:
        return self.kind in ("allow_once", "allow_always")


class PermissionRequest(Noun):
    """An agent asks whether it may go on. `tool_call` is the call it is about; `command` a command line."""

    session_id: str
    title: str
    options: list[PermissionOption]
    description: str | None = None
    tool_call: ToolCall | None = None
    command: str | None = None
    cwd: str | None = None
    other: dict[str, Any] | None = None
    meta: Meta | None = None

    def option(self, *kinds: str) -> PermissionOption | None:
        """The first offered option of one of these kinds, in this order."""
        for kind in kinds:
            for option in self.options:
                if option.kind == kind:
                    return option
        return None

    def allow(self, *, always: bool = False) -> PermissionOption | None:
        """The option that allows: once unless `always` is asked for and offered."""
        return self.option("allow_always", "allow_once") if always else self.option("allow_once", "allow_always")

    def reject(self, *, always: bool = False) -> PermissionOption | None:
        """The option that rejects."""
        return self.option("reject_always", "reject_once") if always else self.option("reject_once", "reject_always")


class Elicitation(Noun):
    """An agent asks a person for something: a form to fill in, or a page to visit.

    `mode` is `form` (with `schema`, a flat JSON schema of an object) or `url` (with `url` and `id`)."""

    message: str
    mode: Union[Literal["form", "url"], str] = "form"
    schema: dict[str, Any] = {}
    url: str | None = None
    id: str | None = None
    session_id: str | None = None
    tool_call_id: str | None = None
    request_id: Union[int, str, None] = None
    other: dict[str, Any] | None = None
    meta: Meta | None = None


class Reply(Noun):
    """The answer to an elicitation. `content` counts only when it is accepted."""

    action: Union[Literal["accept", "decline", "cancel"], str]
    content: dict[str, Any] | None = None

    @property
    def accepted(self) -> bool:
        return self.action == "accept"


class McpServer(Noun):
    """An MCP server for a session. `stdio` has a command; `http` and `sse` have a URL; `acp` has a server id."""

    name: str
    transport: Union[Literal["stdio", "http", "sse", "acp"], str] = "stdio"
    command: str = ""
    args: list[str] = []
    env: dict[str, str] = {}
    url: str = ""
    headers: dict[str, str] = {}
    server_id: str = ""
    other: dict[str, Any] | None = None
    meta: Meta | None = None


class AuthMethod(Noun):
    """A way to log in: `agent` when the agent does it, `terminal` when its program is run again with `args`."""

    id: str
    name: str
    description: str | None = None
    kind: Union[Literal["agent", "terminal"], str] = "agent"
    args: list[str] = []
    env: dict[str, str] = {}
    meta: Meta | None = None


class SystemPrompt(Noun):
    """What a client says to the model itself: added to the agent's own instructions, or in their place (unstable)."""

    text: str
    mode: Union[Literal["append", "override"], str] = "append"


class Implementation(Noun):
    """The name and version of a program."""

    name: str
    version: str
    title: str | None = None
