"""MCP servers from configuration: our TOML, and the `mcpServers` JSON that many tools share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from accord.config.files import read_object
from accord.config.problems import translate
from accord.config.settings import ServerEntry
from accord.errors import ConfigError
from accord.model.mcp_status import McpServerStatus
from accord.model.requests import McpServer
from accord.model.session import Notice


class Chosen(NamedTuple):
    """The servers to pass to an agent, and a notice for each that is skipped."""

    servers: list[McpServer]
    notices: list[Notice]


def read_servers(path: Path) -> dict[str, ServerEntry]:
    """Read the servers of a JSON file with an `mcpServers` object."""
    listed = read_object(path).get("mcpServers")
    if not isinstance(listed, dict):
        raise ConfigError(f"{path}: expected an mcpServers object")
    return {name: _entry(path, name, raw) for name, raw in listed.items()}


def _entry(path: Path, name: str, raw: Any) -> ServerEntry:
    known = {"command", "args", "env", "url", "type", "headers"}
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: mcpServers.{name} must be an object")
    fields = {key: value for key, value in raw.items() if key in known}
    if fields.get("type") in ("streamable-http", "streamableHttp", "http-stream"):
        fields["type"] = "http"
    try:
        return msgspec.convert(fields, ServerEntry)
    except msgspec.ValidationError as error:
        keys, words = translate(str(error), ServerEntry)
        raise ConfigError(f"{path}: {'.'.join(['mcpServers', name, *keys])}: {words}") from None


def choose(entries: Mapping[str, ServerEntry], offered: Iterable[str]) -> Chosen:
    """Select the servers that an agent can connect to, and explain why others are skipped."""
    can = set(offered)
    servers: list[McpServer] = []
    notices: list[Notice] = []
    for name, entry in entries.items():
        transport = entry.type or ("http" if entry.url else "stdio")
        if transport not in can:
            notices.append(_skip(name, f"the agent cannot reach servers over {transport}"))
            continue
        if transport == "stdio":
            if not entry.command:
                notices.append(_skip(name, "it has neither a command nor a url"))
                continue
            command = _absolute(entry.command)
            if command is None:
                notices.append(_skip(name, f"there is no program {entry.command!r}"))
                continue
            servers.append(McpServer(name=name, command=command, args=list(entry.args), env=dict(entry.env)))
        elif not entry.url:
            notices.append(_skip(name, "it has no url"))
        else:
            servers.append(McpServer(name=name, transport=transport, url=entry.url, headers=dict(entry.headers)))
    return Chosen(servers, notices)


def _skip(name: str, why: str) -> Notice:
    status = McpServerStatus(name=name, state="skipped", detail=f"not passed on: {why}")
    title = f"MCP server {name!r} is not passed on: {why}"
    return Notice(severity="warning", title=title, meta=status.to_meta())


def _absolute(command: str) -> str | None:
    """Find a command's absolute path, which the protocol requires; users write `npx`."""
    found = shutil.which(os.path.expanduser(command))
    return os.path.abspath(found) if found else None
