"""Requests besides prompts, and their parts: permissions, forms, MCP servers, logins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Union

from accord.model.content import TextContent
from accord.model.record import Meta, PublicRecord, Record
from accord.model.tool import ToolCall

PermissionKind = Union[Literal["allow_once", "allow_always", "reject_once", "reject_always"], str]


class PermissionOption(PublicRecord):
    """One of the answers that the agent offers."""

    id: str
    name: str
    kind: PermissionKind
    meta: Meta | None = None

    @property
    def allows(self) -> bool:
        return self.kind in ("allow_once", "allow_always")


class PermissionRequest(Record):
    """A permission request. It is about a tool call (`tool_call`), a command line (`command`), or a subject of a custom
    type (`other`)."""

    session_id: str
    title: str
    options: list[PermissionOption]
    description: str | None = None
    tool_call: ToolCall | None = None
    command: str | None = None
    cwd: str | None = None
    terminal_id: str | None = None
    """The agent's own terminal in which the command will run."""
    other: dict[str, Any] | None = None
    meta: Meta | None = None
    response_meta: Meta | None = None
    """Set this in a permission handler to send `_meta` with the answer."""

    def option(self, *kinds: str) -> PermissionOption | None:
        """Return the first offered option of one of these kinds, in this order."""
        for kind in kinds:
            for option in self.options:
                if option.kind == kind:
                    return option
        return None

    def allow(self, *, always: bool = False) -> PermissionOption | None:
        """Return the option that allows once; with `always`, the one that allows always if there is one."""
        return self.option("allow_always", "allow_once") if always else self.option("allow_once", "allow_always")

    def reject(self, *, always: bool = False) -> PermissionOption | None:
        """Return the option that rejects once; with `always`, the one that rejects always if there is one."""
        return self.option("reject_always", "reject_once") if always else self.option("reject_once", "reject_always")


ELICITATION_MODES = ("form", "url")


class Elicitation(Record):
    """A request of the agent to the user: a form to fill in, or a page to visit.

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


class Reply(PublicRecord):
    """The answer to an elicitation. `content` is valid only if it was accepted.

    Agents may also get `later` (the client has no forms, so the question was sent as text) or `invalid` (the answer
    doesn't fit the form). The library sets both: a client can't send them."""

    action: Union[Literal["accept", "decline", "cancel", "later", "invalid"], str]
    content: dict[str, Any] | None = None
    other: str | None = None
    """The name of an unknown action that the client sent; `action` is then `cancel`."""
    meta: Meta | None = None

    @property
    def accepted(self) -> bool:
        return self.action == "accept"


class McpServer(PublicRecord):
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


class AuthMethod(PublicRecord):
    """A login method: `agent` if the agent handles it, `terminal` if a program runs in the user's terminal.

    That program is the agent's own with `args` added, or `command` if the agent names another one."""

    id: str
    name: str
    description: str | None = None
    kind: Union[Literal["agent", "terminal"], str] = "agent"
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    meta: Meta | None = None


class SystemPrompt(PublicRecord):
    """A system prompt from the client, which extends or replaces the agent's own (unstable)."""

    text: str = ""
    mode: Union[Literal["append", "override"], str] = "append"
    content: list[TextContent] = []
    """Its text blocks. Clients may pass them instead of `text`; agents get both."""
    meta: Meta | None = None


class Implementation(PublicRecord):
    """The name and version of a program."""

    name: str
    version: str
    title: str | None = None
    meta: Meta | None = None


class SessionSetup:
    """The parameters that new, load, resume and fork share."""

    __slots__ = ("cwd", "directories", "meta", "servers", "system_prompt")

    def __init__(
        self,
        cwd: str,
        directories: Sequence[str],
        servers: Sequence[McpServer],
        meta: dict[str, Any] | None,
        system_prompt: SystemPrompt | None = None,
    ) -> None:
        self.cwd: str = cwd
        self.directories: list[str] = list(directories)
        self.servers: list[McpServer] = list(servers)
        self.meta: dict[str, Any] | None = meta
        self.system_prompt: SystemPrompt | None = system_prompt
