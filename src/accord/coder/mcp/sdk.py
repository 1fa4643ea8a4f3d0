"""Load the official MCP SDK, only when a session has MCP servers."""

from __future__ import annotations

import asyncio
import importlib
import logging
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from accord.errors import AccordError
from accord.version import install_command

if TYPE_CHECKING:
    from types import ModuleType

    from mcp.client.session import ClientSession
    from mcp.shared.exceptions import MCPError
    from mcp.shared.message import SessionMessage
    from pydantic import TypeAdapter


class MissingSdk(AccordError):
    """The `mcp` package is not installed."""


class Sdk(NamedTuple):
    """The parts of the SDK that we use."""

    types: ModuleType
    ClientSession: type[ClientSession]
    SessionMessage: type[SessionMessage]
    MCPError: type[MCPError]
    anything: TypeAdapter[dict[str, Any]]
    """Decodes a result as plain data, so that fields unknown to the SDK's types are not lost."""


def load_now() -> Sdk:
    """Import the SDK, which takes most of a second."""
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
            f"MCP servers need a package that is not installed ({error}): {install_command('coder')}"
        ) from None
    # Keep its warnings out of standard error when the application hasn't configured logging.
    for name in ("mcp", "client"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    return Sdk(mcp_types, ClientSession, SessionMessage, MCPError, TypeAdapter(dict[str, Any]))


_loaded: Sdk | None = None
_loading = threading.Lock()


async def load() -> Sdk:
    """Import the SDK in a thread, so that the agent stays responsive."""
    return _loaded if _loaded is not None else await asyncio.to_thread(_load_once)


def _load_once() -> Sdk:
    global _loaded
    with _loading:  # two threads importing the same modules can see them half initialized
        found = _loaded if _loaded is not None else load_now()
        _loaded = found
    return found
