"""How the session of a talk begins: new, loaded, resumed or forked; and what was said before, above it.

Which one is wanted may be said in two further ways: the newest of the folder, or by a name that may be abbreviated."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Literal, NamedTuple

from accord.transcript.message import Message

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.client.session import Session
    from accord.model.requests import McpServer
    from accord.model.session import SessionInfo
    from accord.transcript.transcript import Transcript

How = Literal["new", "load", "resume", "fork", "newest", "named"]
MOST = 2000
"""How many sessions are looked through for the one that is meant."""


class Found(NamedTuple):
    """The session that is meant, and how it is opened."""

    id: str
    how: How


async def newest_first(agent: ConnectedAgent, cwd: str) -> list[SessionInfo]:
    """The sessions of a folder that may be gone on with. Raises `CapabilityError` where that cannot be known."""
    from accord.errors import CapabilityError

    offers = agent.offers
    if not offers.load and not offers.resume:
        raise CapabilityError("This agent cannot go on with earlier sessions")
    if not offers.list:
        raise CapabilityError("This agent does not list its sessions, so the newest is not known; --session opens one")
    found: list[SessionInfo] = []
    async for info in agent.list_sessions(cwd):
        found.append(info)
        if len(found) >= MOST:
            break
    return sorted(found, key=lambda info: info.updated_at or "", reverse=True)


def is_used(agent: ConnectedAgent, session: Session, info: SessionInfo) -> bool:
    """Whether anything was said in a session that was opened; where its agent does not tell that, it may have been."""
    return not agent.offers.load or bool(info.title or session.title) or tells(session.transcript)


async def find_named(agent: ConnectedAgent, id: str) -> Found:
    """The session with this id, or the only one whose id begins so. Raises `NotFound` when there is no such session."""
    from accord.errors import CapabilityError, NotFound

    offers = agent.offers
    if not offers.load and not offers.resume:
        raise CapabilityError("this agent cannot open earlier sessions")
    how: How = "load" if offers.load else "resume"
    if not offers.list:
        return Found(id, how)
    begin_so: list[str] = []
    count = 0
    async for info in agent.list_sessions():
        count += 1
        if info.id == id:
            return Found(id, how)
        if info.id.removeprefix("sess_").startswith(id.removeprefix("sess_")):
            begin_so.append(info.id)
        if count >= MOST:
            break
    if len(begin_so) > 1:
        raise NotFound(f"{len(begin_so)} sessions begin with {id!r}, {begin_so[0]} and {begin_so[1]} among them")
    return Found(begin_so[0] if begin_so else id, how)  # agents may know sessions that they do not list


async def open_session(
    agent: ConnectedAgent, id: str | None, how: How, servers: list[McpServer], earlier: Transcript | None = None
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

    if agent.offers.load and not tells(session.transcript):
        with suppress(AccordError):
            return await agent.load_session(session.id, mcp_servers=servers)
    return session


def put_above(transcript: Transcript, earlier: Transcript) -> None:
    """Lets a transcript that has just begun go on below an earlier one. One that tells its history stays as it is."""
    if transcript is earlier or tells(transcript):
        return
    above = earlier.snapshot().timeline
    transcript.timeline[:0] = above
    for id, item in transcript.subagents_after.items():
        transcript.subagents_after[id] = above[-1] if item is None and above else item
    for id, terminal in earlier.terminals.items():
        transcript.terminals.setdefault(id, terminal)


def tells(transcript: Transcript) -> bool:
    """Whether anything was said in it."""
    return any(isinstance(item, Message) for item in transcript.timeline)
