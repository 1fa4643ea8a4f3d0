"""Neutral nouns in the words of the wire, where both versions differ in nothing but the class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from accord.model.content import UnknownContent
from accord.model.requests import McpServer, SystemPrompt
from accord.schema.shape import Other


def block(content: Any) -> Any:
    """Content as it is written: neutral content encodes as itself, unknown content as it came."""
    return content.data if isinstance(content, UnknownContent) else content


def servers(listed: Sequence[McpServer], words: Any) -> list[Any]:
    """MCP servers in a version's words."""
    return [_server(server, words) for server in listed]


def _server(server: McpServer, words: Any) -> Any:
    meta = server.meta or UNSET
    match server.transport:
        case "stdio":
            env = [words.EnvVariable(name=name, value=value) for name, value in server.env.items()]
            return words.McpServerStdio(
                name=server.name, command=server.command, args=list(server.args), env=env, meta=meta
            )
        case "http" | "sse":
            kind = words.McpServerHttp if server.transport == "http" else words.McpServerSse
            headers = [words.HttpHeader(name=name, value=value) for name, value in server.headers.items()]
            return kind(name=server.name, url=server.url, headers=headers, meta=meta)
        case "acp":
            return words.McpServerAcp(name=server.name, server_id=server.server_id, meta=meta)
        case _:
            return Other.of(server.transport, {"type": server.transport, **(server.other or {}), "name": server.name})


def system_prompt(wanted: SystemPrompt | None, words: Any) -> Any:
    """A system prompt in a version's words."""
    if wanted is None:
        return UNSET
    return words.SystemPrompt(mode=wanted.mode, content=[words.TextContent(text=wanted.text)])


def system_prompt_modes(capability: Any) -> frozenset[str]:
    """The ways beyond appending in which an agent takes a system prompt."""
    modes = getattr(capability, "mode", None)
    override = getattr(modes, "override", None)
    return frozenset({"override"} if override is not None and override is not UNSET else ())
