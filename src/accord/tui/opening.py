"""How the session of a talk begins: new, loaded, resumed or forked; and what was said before, above it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from accord.transcript.message import Message

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.client.session import Session
    from accord.model.requests import McpServer
    from accord.transcript.transcript import Transcript

How = Literal["new", "load", "resume", "fork"]


async def open_session(
    agent: ConnectedAgent, id: str | None, how: How, servers: list[McpServer], earlier: Transcript | None
) -> Session:
    """Begins a session, or opens one. `earlier` is put above what it says, unless it tells its history itself."""
    if id is None or how == "new":
        session = await agent.new_session(mcp_servers=servers)
    elif how == "fork":
        session = await agent.fork_session(id, mcp_servers=servers)
        if earlier is None:
            session = await _with_history(agent, session, servers)
    elif how == "load":
        session = await agent.load_session(id, mcp_servers=servers)
    else:
        session = await agent.resume_session(id, mcp_servers=servers)
    if earlier is not None:
        put_above(session.transcript, earlier)
    return session


async def _with_history(agent: ConnectedAgent, session: Session, servers: list[McpServer]) -> Session:
    """A fork whose history is not known here: many agents tell it when the fork is loaded."""
    from accord.errors import AccordError

    if agent.offers.load and not _tells(session.transcript):
        with suppress(AccordError):
            return await agent.load_session(session.id, mcp_servers=servers)
    return session


def put_above(transcript: Transcript, earlier: Transcript) -> None:
    """Lets a transcript that has just begun go on below an earlier one. One that tells its history stays as it is."""
    if transcript is earlier or _tells(transcript):
        return
    transcript.timeline[:0] = earlier.snapshot().timeline
    for id, terminal in earlier.terminals.items():
        transcript.terminals.setdefault(id, terminal)


def _tells(transcript: Transcript) -> bool:
    """Whether anything was said in it."""
    return any(isinstance(item, Message) for item in transcript.timeline)
