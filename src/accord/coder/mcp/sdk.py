"""The official SDK, loaded when the first server of a process is named and not before."""

from __future__ import annotations

import asyncio
import importlib
import logging
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from accord.errors import AccordError

if TYPE_CHECKING:
    from types import ModuleType

    from mcp.client.session import ClientSession
    from mcp.shared.exceptions import MCPError
    from mcp.shared.message import SessionMessage
    from pydantic import TypeAdapter


class MissingSdk(AccordError):
    """The package is installed without what it takes to speak to servers."""


class Sdk(NamedTuple):
    """What is used of it."""

    types: ModuleType
    ClientSession: type[ClientSession]
    SessionMessage: type[SessionMessage]
    MCPError: type[MCPError]
    anything: TypeAdapter[dict[str, Any]]
    """Takes a result as it came: what passes through us is not to be read into types that know less."""


def load_now() -> Sdk:
    """Imports it, which takes most of a second."""
    try:
        for name in ("sse", "streamable_http", "subscriptions"):
            importlib.import_module(f"mcp.client.{name}")
        import mcp_types
        from mcp.client.session import ClientSession
        from mcp.shared.exceptions import MCPError
        from mcp.shared.message import SessionMessage
        from pydantic import TypeAdapter
    except ImportError as error:
        raise MissingSdk(
            f"MCP servers need a package that is not installed ({error}); pip install 'accord[coder]'"
        ) from None
    # It complains to whoever listens; nobody having set that up is no reason to fill standard error.
    for name in ("mcp", "client"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    return Sdk(mcp_types, ClientSession, SessionMessage, MCPError, TypeAdapter(dict[str, Any]))


_loaded: Sdk | None = None
_loading = threading.Lock()


async def load() -> Sdk:
    """Imports it in a thread, so that the agent goes on answering meanwhile."""
    return _loaded if _loaded is not None else await asyncio.to_thread(_load_once)


def _load_once() -> Sdk:
    global _loaded
    with _loading:  # two threads that import the same modules may see each other's half of them
        found = _loaded if _loaded is not None else load_now()
        _loaded = found
    return found
