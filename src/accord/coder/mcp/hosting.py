"""What servers may ask of us: where the session works, and something of the user. Not a model's words.

Sampling is not offered in the handshake, and refused when a server asks for it all the same: what a model is told, and
who pays for it, is not a server's to decide."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accord.coder.mcp.content import bounded
from accord.errors import AccordError, CapabilityError

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.coder.mcp.sdk import Sdk

MOST_ASKED = 4_000
"""How many characters a question may have."""


def roots(sdk: Sdk, session: Session) -> Any:
    """The folders that the session works in."""
    found = [sdk.types.Root(uri=Path(root).as_uri(), name=os.path.basename(root) or root) for root in session.roots]
    return sdk.types.ListRootsResult(roots=found)


async def elicit(sdk: Sdk, turn: Turn, server: str, params: Any) -> Any:
    """Asks the user in a server's name, and says whose question it is."""
    message = f"The MCP server {server} asks: {bounded(params.message, MOST_ASKED)}"
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
    # An answer that does not fit, or that may come with the next prompt, is none for the server.
    return sdk.types.ElicitResult(action="decline" if reply.action == "decline" else "cancel")


def page_id(server: str, id: str | None) -> str | None:
    """The id of a page that the user is to visit: two servers may use the same."""
    return f"mcp:{server}:{id}" if id is not None else None


def nobody(sdk: Sdk) -> Any:
    """The answer to a question that comes while no turn runs: there is nobody to ask."""
    return sdk.types.ElicitResult(action="cancel")
