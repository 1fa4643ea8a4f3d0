"""The sessions of a hub: access to them, and opening, listing and deleting them."""

from __future__ import annotations

import asyncio
import math
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from accord.errors import InvalidParams, NotFound, RequestFailed
from accord.hub.agent_process import AgentProcess
from accord.hub.budgets import BudgetExceeded
from accord.hub.context import Context
from accord.hub.event_log import SessionFilter, SessionRecord, format_time
from accord.hub.principal import Principal, Role, lower_role
from accord.hub.raw_params import decode, read_object, read_text
from accord.hub.session import HubSession
from accord.hub.session_agent import Ending
from accord.policy.action import Action

PAGE_SIZE = 100
_ARCHIVED: dict[Any, bool | None] = {None: False, "exclude": False, "include": None, "only": True}


class SessionRegistry:
    """Finds sessions for principals. A session that a principal may not see doesn't exist for it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        context.has_session = lambda id: id in self.open or context.log.session(id) is not None
        self.open: dict[str, HubSession] = {}
        """The sessions that are open in the hub, by id."""
        self.on_idle: Callable[[], None] = lambda: None
        """Called when a turn has ended."""
        self.opening: Counter[str] = Counter()
        """The number of sessions of each principal that are being opened."""
        self._parents: dict[str, HubSession] = {}
        """The sessions whose subagents have sessions with these ids."""
        self._recovering: dict[str, asyncio.Task[None]] = {}
        self._deleting: set[str] = set()

    def role_in(self, principal: Principal, record: SessionRecord) -> Role | None:
        """Return a principal's role in a session; None if it may not see it."""
        if principal.role == "admin":
            return "admin"
        if record.owner == principal.name or self._context.settings.shared_sessions:
            return principal.role
        granted = record.shared_with.get(principal.name) or record.shared_with.get("*")
        return lower_role(principal.role, granted) if granted is not None else None

    def find_record(self, session_id: str, principal: Principal) -> tuple[SessionRecord, Role]:
        """Return the record of a session, and the principal's role in it. Raises `NotFound`."""
        session = self.open.get(session_id) or self._parents.get(session_id)
        record = session.record if session is not None else self._context.log.session(session_id)
        role = self.role_in(principal, record) if record is not None else None
        is_hidden = record is not None and (
            record.id in self._deleting or (session is None and not self._is_served(record))
        )
        if record is None or role is None or is_hidden:
            raise NotFound(f"there is no session {session_id[:100]!r}", data={"sessionId": session_id[:100]})
        return record, role

    def find_open(self, session_id: str, principal: Principal) -> tuple[HubSession, Role]:
        """Return a session that is open in the hub, and the principal's role in it. Raises `NotFound`."""
        record, role = self.find_record(session_id, principal)
        session = self.open.get(record.id)
        if session is None:
            raise NotFound(f"session {record.id} isn't open in this client; load or resume it first")
        return session, role

    async def find(self, session_id: str, principal: Principal, *, is_brief: bool = False) -> tuple[HubSession, Role]:
        """Return a session, opened from the log if necessary, and the principal's role in it.

        Raises `NotFound`, and `BudgetExceeded` if its owner has too many open sessions. `is_brief` skips the latter for
        a session that is closed again at once."""
        record, role = self.find_record(session_id, principal)
        if record.id not in self.open and record.id not in self._recovering and not is_brief:
            self._check_room(record, principal)
        while record.id not in self.open:
            recovering = self._recovering.get(record.id)
            if recovering is None:
                recovering = self._recovering[record.id] = self._context.start(self._recover(record.id))
                self.opening[record.owner] += 1
                recovering.add_done_callback(lambda _: self._note_recovered(record))
            await asyncio.wait({recovering})
            if recovering.cancelled():
                raise RequestFailed("the hub is closing")
            if (error := recovering.exception()) is not None:
                raise error
        return self.open[record.id], role

    def _check_room(self, record: SessionRecord, principal: Principal) -> None:
        try:
            self._context.budgets.check_session(record.owner, self.count_open(record.owner))
        except BudgetExceeded as error:
            if record.owner == principal.name:
                raise
            raise RequestFailed("the owner of this session has too many open sessions", code=error.code) from None

    def _note_recovered(self, record: SessionRecord) -> None:
        self._recovering.pop(record.id, None)
        self.opening[record.owner] -= 1

    async def _recover(self, session_id: str) -> None:
        self._context.commits.commit()  # it may just have been closed
        record = self._context.log.session(session_id)
        if record is None:
            raise NotFound(f"there is no session {session_id[:100]!r}", data={"sessionId": session_id[:100]})
        session = HubSession(self._context, record, None, self)
        await session.recover()
        self._add(session)

    def _add(self, session: HubSession) -> HubSession:
        self.open[session.id] = session
        return session

    def note_subagent(self, id: str, session: HubSession) -> None:
        """Register the session of a subagent."""
        self._parents.setdefault(id, session)

    def note_idle(self) -> None:
        """Note that a turn of any session has ended."""
        self.on_idle()

    def _remove(self, session: HubSession) -> None:
        self.open.pop(session.id, None)
        for id in session.subagents:
            if self._parents.get(id) is session:
                del self._parents[id]

    def add(self, process: AgentProcess, principal: Principal, params: bytes, result: bytes) -> HubSession:
        """Register a session that the agent has just created."""
        agent_id = read_text(read_object(result).get("sessionId"))
        if agent_id is None:
            raise RequestFailed("the agent's response to session/new has no sessionId")
        id = agent_id
        if self._context.has_session(id) or id in self._parents:
            id = f"{agent_id}-{secrets.token_hex(8)}"  # each agent process may number its sessions from one
        now = time.time()
        record = SessionRecord(
            id=id,
            agent_id=agent_id,
            owner=principal.name,
            cwd=read_text(read_object(params).get("cwd")) or "",
            version=process.version,
            params=Raw(params),
            result=Raw(msgspec.json.encode({k: v for k, v in read_object(result).items() if k != "sessionId"})),
            created_at=now,
            updated_at=now,
        )
        session = self._add(HubSession(self._context, record, process, self))
        session.touch()
        return session

    def share(self, session: HubSession, principal: str, role: Role | None) -> None:
        """Let another principal attach with a role. With None, revoke that and detach its clients."""
        shared = {name: each for name, each in session.record.shared_with.items() if name != principal}
        session.record.shared_with = shared if role is None else {**shared, principal: role}
        session.touch()
        for attachment in session.clients:
            role_now = self.role_in(attachment.subscriber.principal, session.record)
            if role_now is None:
                session.detach(attachment.subscriber.connection)
            else:
                attachment.role = lower_role(attachment.role, role_now)

    async def list(self, principal: Principal, params: bytes) -> dict[str, Any]:
        """Return a page of the sessions that a principal may see, the last changed first."""
        fields = read_object(params)
        archived = decode(fields.get("archived"))
        if not isinstance(archived, str | None) or archived not in _ARCHIVED:
            raise InvalidParams("archived must be exclude, include or only", data={"path": "archived"})
        sees_all = principal.role == "admin" or self._context.settings.shared_sessions
        wanted = SessionFilter(
            principal=None if sees_all else principal.name,
            cwd=read_text(fields.get("cwd")),
            is_archived=_ARCHIVED[archived],
            before=_read_cursor(fields.get("cursor")),
        )
        self._context.commits.commit()
        records = await self._context.log.list_sessions(wanted, PAGE_SIZE + 1)
        page = records[:PAGE_SIZE]
        answer: dict[str, Any] = {"sessions": [_describe(record) for record in page if self._is_served(record)]}
        if len(records) > PAGE_SIZE:
            answer["nextCursor"] = f"{page[-1].updated_at!r}/{page[-1].id}"
        return answer

    def check_directories(self, params: bytes) -> str:
        """Check the directories of a new session, and return its `cwd`.

        Raises `InvalidParams` if one of them isn't in the hub's root directory."""
        fields = read_object(params)
        cwd = self._check_directory("cwd", decode(fields.get("cwd")))
        more = decode(fields.get("additionalDirectories"))
        if more is not None:
            if not isinstance(more, list):
                raise InvalidParams("additionalDirectories must be a list", data={"path": "additionalDirectories"})
            for each in more:
                self._check_directory("additionalDirectories", each)
        return cwd

    def check_mcp_servers(self, params: bytes, cwd: str) -> None:
        """Raise `InvalidParams` for an MCP server whose command the server's rules deny or ask about.

        The agent starts these commands on this machine, and there is no session yet in which a client could be asked.
        A command without a rule is allowed: the client is a driver, and could have the agent run it anyway."""
        policy, servers = self._context.settings.policy, decode(read_object(params).get("mcpServers"))
        if policy is None or not isinstance(servers, list):
            return
        for server in servers:
            command = server.get("command") if isinstance(server, dict) else None
            if not isinstance(command, str):
                continue
            args = server.get("args")
            words = [command, *(map(str, args) if isinstance(args, list) else ())]
            decision = policy.decide(Action(kind="command", argv=tuple(words), cwd=cwd))
            if decision.effect == "allow" or (decision.effect == "ask" and decision.by == "default"):
                continue
            why = f"mcpServers: the server's policy doesn't allow the command {command[:100]!r}"
            if decision.effect == "ask":
                why += (
                    " without asking, and no client can be asked before the session exists; leave this MCP server out, "
                )
                why += "or allow the command (accord serve --allow)"
            raise InvalidParams(why, data={"path": "mcpServers"})

    def is_inside(self, path: str) -> bool:
        """Return whether a path is in the hub's root directory."""
        if not os.path.isabs(path) or "\0" in path:
            return False
        root, real = os.path.realpath(self._context.settings.root), os.path.realpath(path)
        return real == root or real.startswith(root.rstrip(os.sep) + os.sep)

    def _is_served(self, record: SessionRecord) -> bool:
        """Return whether a session works in the hub's root directory. The log may be of a server with another root."""
        more = decode(read_object(bytes(record.params)).get("additionalDirectories"))
        return all(map(self.is_inside, (record.cwd, *(more if isinstance(more, list) else ()))))

    def _check_directory(self, name: str, path: Any) -> str:
        if not isinstance(path, str) or not os.path.isabs(path) or "\0" in path:
            raise InvalidParams(f"{name} must be an absolute path", data={"path": name})
        if not self.is_inside(path):
            root = os.path.realpath(self._context.settings.root)
            words = f"{path} is outside the served directory {root}; use a directory below it, or accord connect --map"
            raise InvalidParams(words, data={"path": name})
        if not os.path.isdir(path):
            raise InvalidParams(f"{name}: there is no directory {path}", data={"path": name})
        return path

    def count_open(self, principal: str) -> int:
        """Return the number of a principal's sessions that are open or being opened."""
        return self.opening[principal] + sum(session.record.owner == principal for session in self.open.values())

    def count_turns(self, principal: str) -> int:
        """Return how many turns of a principal are running or queued."""
        return sum(session.count_turns(principal) for session in self.open.values())

    def close_later(self, session: HubSession) -> None:
        """Close a session that no client needs."""
        self._context.start(self.close(session))

    async def close(self, session: HubSession, ending: Ending = "close") -> None:
        """Close a session. It can be opened again."""
        self._remove(session)
        await session.close(ending)

    async def close_if_unused(self, session: HubSession) -> None:
        """Close a session that was opened only for one operation."""
        if not session.has_clients and not session.is_needed:
            await self.close(session)

    async def archive(self, session: HubSession, *, is_archived: bool) -> None:
        """Hide a session from default lists, after closing it, or show it again. It keeps its id and history."""
        if session.record.is_archived != is_archived:
            session.record.is_archived = is_archived
            session.touch()
        if is_archived:
            await self.close(session, "archive")
        else:
            await self.close_if_unused(session)

    async def delete(self, session: HubSession, *, is_agents: bool = True) -> None:
        """Close a session and remove it from the log; also from the agent, if it has it."""
        self._remove(session)
        self._deleting.add(session.id)
        try:
            await session.close("delete" if is_agents else "close")
            await session.history.delete()
            # The record is last: until then no new session gets the id, and deleting can be repeated if it fails.
            self._context.log.delete_session(session.id)
            self._context.commits.touch()
        finally:
            self._deleting.discard(session.id)


def _describe(record: SessionRecord) -> dict[str, Any]:
    described: dict[str, Any] = {
        "sessionId": record.id,
        "cwd": record.cwd,
        "updatedAt": format_time(record.updated_at),
        "archived": record.is_archived,
    }
    return described if record.title is None else {**described, "title": record.title}


def _read_cursor(cursor: Raw | None) -> tuple[float, str] | None:
    """Read the cursor of a page: the time and the id of the session before it."""
    text = decode(cursor)
    if text is None:
        return None
    at, found, id = text.partition("/") if isinstance(text, str) else ("", "", "")
    try:
        moment = float(at)
    except ValueError:
        moment = math.nan
    if not found or not math.isfinite(moment):
        raise InvalidParams("cursor: unknown cursor", data={"path": "cursor"})
    return moment, id
