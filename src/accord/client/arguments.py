"""Check the arguments of `connect()` when it is called, before anything is started."""

from __future__ import annotations

import inspect
import os
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Union

from accord.client.workspace import Workspace
from accord.errors import InvalidValue
from accord.mcp.object_link import is_server_object
from accord.mcp.offered_server import OfferedServer
from accord.model import check
from accord.model.requests import ELICITATION_MODES, McpServer
from accord.model.values import guess, short, texts

Directory = Union[str, os.PathLike[str]]
"""The path of a directory."""


def check_handler(name: str, handler: Any, example: str, *parameters: str) -> None:
    """Check a handler: a function with these parameters."""
    if handler is None:
        return
    if not callable(handler):
        raise InvalidValue(f"{name} is {short(handler)}; it must be a function, such as {example}", argument=name)
    try:
        given = inspect.signature(handler)
    except (TypeError, ValueError):  # a function of an extension module
        return
    try:
        given.bind(*parameters)
    except TypeError:
        raise InvalidValue(
            f"{name} is a function with the parameters ({', '.join(given.parameters)}); it is called with "
            f"({', '.join(parameters)})",
            argument=name,
        ) from None


def check_versions(versions: Any) -> None:
    """Check the protocol versions to offer."""
    is_collection = isinstance(versions, Collection) and not isinstance(versions, str | bytes)
    if not is_collection or not versions or not all(version in (1, 2) for version in versions):
        raise InvalidValue(
            f"versions is {short(versions)}; it may contain only 1 and 2, such as (1, 2)", argument="versions"
        )


def check_workspace(workspace: Any) -> None:
    """Check the workspace that is offered to the agent."""
    if workspace is not None and not isinstance(workspace, Workspace):
        raise InvalidValue(
            f"workspace is {short(workspace)}; it must be a Workspace, such as accord.LocalWorkspace()",
            argument="workspace",
        )


def check_deadlines(deadlines: Any, known: Collection[str]) -> None:
    """Check the names and seconds of deadlines."""
    if not isinstance(deadlines, Mapping):
        raise InvalidValue(f"deadlines is {short(deadlines)}; it must be a dict of seconds", argument="deadlines")
    for name, seconds in deadlines.items():
        if name not in known:
            names = ", ".join(sorted(known))
            raise InvalidValue(
                f"deadlines contains {short(name)}; it may contain {names}{guess(name, known)}", argument="deadlines"
            )
        is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (is_number and seconds > 0):
            raise InvalidValue(
                f"deadlines[{name!r}] is {short(seconds)}; it must be a positive number of seconds, or None",
                argument=f"deadlines[{name!r}]",
            )


def check_record(name: str, value: Any, wanted: type, example: str) -> None:
    """Check an optional object of one type."""
    if value is not None and not isinstance(value, wanted):
        raise InvalidValue(f"{name} is {short(value)}; it must be {example}", argument=name)


def check_elicitation_modes(modes: Any) -> None:
    """Check the kinds of questions that the handler supports."""
    is_collection = isinstance(modes, Collection) and not isinstance(modes, str | bytes)
    if not is_collection or not set(modes) <= set(ELICITATION_MODES):
        raise InvalidValue(
            f"elicitation_modes is {short(modes)}; it must be a list, and may contain only form and url",
            argument="elicitation_modes",
        )


def check_extensions(extensions: Any) -> None:
    """Check the handlers of extension methods."""
    if extensions is None:
        return
    if not isinstance(extensions, Mapping):
        raise InvalidValue(
            f"extensions is {short(extensions)}; it must be a dict of methods and functions", argument="extensions"
        )
    for method, handler in extensions.items():
        check_handler(f"extensions[{method!r}]", handler, "lambda params: {}", "params")


def check_mcp_servers(servers: Any, argument: str = "mcp_servers") -> None:
    """Check MCP servers: those that the agent connects to, and those that run here."""
    placeholder = McpServer(name="")
    if isinstance(servers, list | tuple):  # check only the former; the index in an error message stays right
        servers = [placeholder if _runs_here(each) else each for each in servers]
    for index, server in enumerate(check.records(servers, McpServer, argument, "accord.McpServer(name=…, command=…)")):
        if server is not placeholder:
            _check_mcp_server(f"{argument}[{index}]", server)


def _check_mcp_server(where: str, server: McpServer) -> None:
    """Check that a server has what its transport needs. Whether its program exists isn't known here."""
    if server.transport == "stdio":
        if not server.command and server.url:
            raise InvalidValue(
                f"{where} has a url; pass transport='http' or transport='sse' with it", argument=f"{where}.transport"
            )
        if not server.command:
            raise InvalidValue(f"{where}.command is empty; a stdio server needs a program", argument=f"{where}.command")
        texts(f"{where}.args", server.args)
        check_environment(server.env, f"{where}.env")
    elif server.transport in ("http", "sse") and not server.url:
        raise InvalidValue(f"{where}.url is empty; a server over {server.transport} needs one", argument=f"{where}.url")


def _runs_here(server: Any) -> bool:
    return isinstance(server, OfferedServer) or is_server_object(server)


def check_environment(env: Any, argument: str = "env") -> None:
    """Check environment variables. Operating systems accept only strings."""
    if env is None:
        return
    if not isinstance(env, Mapping):
        raise InvalidValue(f"{argument} is {short(env)}; it must be a dict of strings", argument=argument)
    for name, value in env.items():
        if not isinstance(name, str) or not isinstance(value, str):
            where = f"{argument}[{name!r}]"
            raise InvalidValue(f"{where} is {short(value)}; names and values must be strings", argument=where)


def check_directory(name: str, directory: Any) -> str:
    """Return a directory as a string. Raises `InvalidValue` unless it is a string or a path."""
    if not isinstance(directory, str | os.PathLike):
        raise InvalidValue(f"{name} is {short(directory)}; it must be a path", argument=name)
    return os.fspath(directory)


def check_session_id(id: Any) -> str:
    """Check the id of a session. A session itself is an easy mistake."""
    if isinstance(id, str):
        return id
    raise InvalidValue(f"id has the type {type(id).__name__}; it must be a string, such as session.id", argument="id")


def check_directories(name: str, directories: Any) -> None:
    """Check a list of directories. A single string would be iterated letter by letter."""
    if isinstance(directories, str | os.PathLike) or not isinstance(directories, Iterable):
        raise InvalidValue(f"{name} is {short(directories)}; it must be a list of paths", argument=name)
    for index, directory in enumerate(directories):
        check_directory(f"{name}[{index}]", directory)
