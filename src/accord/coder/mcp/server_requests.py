"""Answer requests from MCP servers: roots and elicitation.

Sampling is not offered, and refused if a server asks for it: a server must not decide what the model sees or what it
costs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accord.coder.mcp.content import truncate
from accord.errors import AccordError, CapabilityError

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.coder.mcp.sdk import Sdk

MAX_QUESTION = 4_000
"""Longer questions are truncated."""


def roots(sdk: Sdk, session: Session) -> Any:
    """Return the directories of the session."""
    found = [sdk.types.Root(uri=Path(root).as_uri(), name=os.path.basename(root) or root) for root in session.roots]
    return sdk.types.ListRootsResult(roots=found)


async def elicit(sdk: Sdk, turn: Turn, server: str, params: Any) -> Any:
    """Ask the user on behalf of a server, and name the server."""
    message = f"MCP server {server} asks: {truncate(params.message, MAX_QUESTION)}"
    try:
        if params.mode == "url":
            reply = await turn.ask(message, url=params.url, id=page_id(server, params.elicitation_id))
        else:
            reply = await turn.ask(message, params.requested_schema)
    except CapabilityError as error:
        return sdk.types.ErrorData(code=sdk.types.INVALID_REQUEST, message=str(error))
    except AccordError:
        return sdk.types.ElicitResult(action="cancel")
    if reply.accepted:
        return sdk.types.ElicitResult(action="accept", content=reply.content if params.mode == "form" else None)
    # An invalid answer, or one that comes with the next prompt, doesn't count.
    return sdk.types.ElicitResult(action="decline" if reply.action == "decline" else "cancel")


def page_id(server: str, id: str | None) -> str | None:
    """Return the id of a page for the user to visit, unique across servers."""
    return f"mcp:{server}:{id}" if id is not None else None


def cancel_elicitation(sdk: Sdk) -> Any:
    """Return the response when there is no turn in which to ask the user."""
    return sdk.types.ElicitResult(action="cancel")
