"""Sessions that an agent had before it was served: the hub lists them, and takes them over when they are opened.

An agent process doesn't know about principals. These sessions are therefore visible only to principals that may see
every session: admins, or everyone if sessions are shared."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from msgspec import Raw

from accord.connection.relay_connection import Outcome
from accord.errors import InvalidParams, NotFound, RequestFailed
from accord.hub.agent_host import DIALECTS
from accord.hub.agent_process import AgentProcess
from accord.hub.attachment import Subscriber
from accord.hub.context import Context
from accord.hub.dialect import OpenParams
from accord.hub.mcp_relay import McpRelay
from accord.hub.raw_params import decode, read_object, read_text, remove_meta, write_object
from accord.hub.reply import Reply
from accord.hub.session import OUR_KEYS, HubSession
from accord.hub.session_registry import SessionRegistry
from accord.rpc.envelope import Failure, Success

CURSOR = "agent/"
"""The prefix of cursors for pages of the agent's list."""
MAX_PAGES = 1000
"""The number of pages of an agent's list that are searched for a session, in case the list never ends."""


class AgentSessions:
    """The agent's own sessions, for one client whose agent answered `initialize` with `result`."""

    def __init__(self, context: Context, sessions: SessionRegistry, client: Subscriber, result: dict[str, Raw]) -> None:
        self._context = context
        self._sessions = sessions
        self._client = client
        self._result = result
        self._dialect = DIALECTS[client.version]

    @property
    def _is_visible(self) -> bool:
        sees_all = self._client.principal.role == "admin" or self._context.settings.shared_sessions
        return sees_all and self._dialect.can_list(self._result)

    # -- list

    async def list(self, params: bytes) -> dict[str, Any]:
        """Return a page of sessions: those of the hub first, then the agent's own."""
        fields = read_object(params)
        cursor = read_text(fields.get("cursor")) or ""
        answer: dict[str, Any] = {"sessions": []}
        if not (cursor.startswith(CURSOR) and self._is_visible):
            answer = await self._sessions.list(self._client.principal, params)
            cursor = ""
            if "nextCursor" in answer or not self._is_visible:
                return answer
        if read_text(fields.get("archived")) is not None and not self._dialect.offers(self._result, "archive"):
            del fields["archived"]  # the agent wouldn't know it
            if decode(read_object(params).get("archived")) == "only":
                return answer
        page = await self._ask_agent(fields, cursor.removeprefix(CURSOR))
        if page is None and cursor:
            raise InvalidParams("cursor: unknown cursor", data={"path": "cursor"})
        page = page or {}
        found = [each for each in page.get("sessions") or () if self._is_listed(each)]
        answer = {"sessions": [*answer["sessions"], *found]}
        following = page.get("nextCursor")
        return {**answer, "nextCursor": f"{CURSOR}{following}"} if isinstance(following, str) else answer

    async def _ask_agent(self, fields: dict[str, Raw], cursor: str) -> dict[str, Any] | None:
        """Return a page of the agent's list; None if the agent refuses."""
        asked: dict[str, Any] = {name: fields[name] for name in ("cwd", "archived") if name in fields}
        if cursor:
            asked["cursor"] = cursor
        process = await self._context.host.lobby(self._client.principal, self._client.offer)
        outcome = await process.call("session/list", write_object(asked), self._client.principal.name)
        page = decode(outcome.result) if isinstance(outcome, Success) else None
        return page if isinstance(page, dict) else None

    def _is_listed(self, entry: Any) -> bool:
        """Return whether a session of the agent is listed: it is in the served directory, and not known to the hub."""
        if not isinstance(entry, dict):
            return False
        id, cwd = entry.get("sessionId"), entry.get("cwd")
        if not isinstance(id, str) or not isinstance(cwd, str) or self._context.has_session(id):
            return False
        return self._sessions.is_inside(cwd)

    async def _is_in_root(self, id: str, cwd: str) -> bool:
        """Return whether the agent lists a session, with a directory in the served one.

        The client's `cwd` proves nothing, because agents load a session by its id, whatever the directory."""
        options = {"archived": Raw(b'"include"')} if self._dialect.offers(self._result, "archive") else {}
        for fields in ({**options, "cwd": Raw(msgspec.json.encode(cwd))}, options):  # the first list is usually short
            cursor = ""
            for _ in range(MAX_PAGES):
                page = await self._ask_agent(fields, cursor) or {}
                for entry in page.get("sessions") or ():
                    if isinstance(entry, dict) and entry.get("sessionId") == id:
                        return self._is_listed(entry)
                cursor = page.get("nextCursor") or ""
                if not isinstance(cursor, str) or not cursor:
                    break
        return False

    # -- delete and archive

    async def delete(self, session: HubSession) -> None:
        """Delete a session in the agent that isn't open there. Otherwise it would be listed again."""
        process = await self._find_lobby(session) if session.process is None else None
        if process is not None and self._dialect.can_delete(process.capabilities):
            params = write_object({"sessionId": session.record.agent_id})
            await process.call("session/delete", params, self._client.principal.name)

    async def archive(self, session: HubSession, *, is_archived: bool) -> None:
        """Archive a session in the agent, or undo that. One that is open there is archived when the hub closes it."""
        if session.process is not None and is_archived:
            return
        process = session.process or await self._find_lobby(session)
        if process is not None and self._dialect.can_archive(process.capabilities):
            method = "session/archive" if is_archived else "session/unarchive"
            params = write_object({"sessionId": session.record.agent_id})
            await process.call(method, params, self._client.principal.name)

    async def _find_lobby(self, session: HubSession) -> AgentProcess | None:
        """Return a process that has the session in its list; None if its id may mean another session there."""
        record = session.record
        if record.id != record.agent_id or record.version != self._client.version:
            return None
        process = await self._context.host.lobby(self._client.principal, self._client.offer)
        return process if record.agent_id not in process.sessions else None

    # -- open

    async def adopt(self, id: str, params: bytes, wanted: OpenParams, reply: Reply) -> HubSession:
        """Open a session of the agent, and log it from now on. It belongs to the client's principal.

        Raises `NotFound`, also for a session that was opened outside the served directory.

        The agent's replay becomes the history. The client gets it as it arrives, if it has requested it."""
        unknown = NotFound(f"there is no session {id[:100]!r}", data={"sessionId": id[:100]})
        relay, sent = McpRelay.create(self._client, remove_meta(params, *OUR_KEYS))
        request = self._dialect.adopt_request(sent, self._result)
        if not self._is_visible or not self._client.principal.can_drive or request is None:
            raise unknown
        cwd = self._sessions.check_directories(params)
        if not await self._is_in_root(id, cwd):
            raise unknown
        self._sessions.check_mcp_servers(params, cwd)
        name = self._client.principal.name
        self._context.budgets.check_session(name, self._sessions.count_open(name))
        process = await self._context.host.start_session(cwd, self._client.principal, self._client.offer)
        if self._context.has_session(id) or id in process.sessions:
            await self._context.host.end_session(process)
            raise RequestFailed("another client has just opened this session; try again")
        setup = write_object({key: value for key, value in read_object(request[1]).items() if key != "sessionId"})
        opened = write_object({"sessionId": id})
        session = self._sessions.add(process, self._client.principal, setup, opened)
        session.mcp = relay
        self._client.note_mcp(relay)
        process.add_mcp(relay)
        if wanted.history == "after":  # its cursor is from another log
            params = write_object({"sessionId": id, "cursor": session.history.cursor})
            self._client.connection.notify("_accord/snapshot", params)
        if wanted.history != "none":
            session.attach_now(self._client, self._client.principal.role)
        process.add_session(id, session)
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        try:
            source = (reply.connection, reply.id)
            process.relay(
                *request, lambda outcome: None if done.done() else done.set_result(outcome), source, sender=name
            )
            outcome = await done
        except BaseException:
            await self._sessions.delete(session, is_agents=False)
            raise
        if isinstance(outcome, Failure):
            await self._sessions.delete(session, is_agents=False)
            raise RequestFailed(outcome.error.message, code=outcome.error.code)
        result = {key: value for key, value in read_object(bytes(outcome.result)).items() if key != "sessionId"}
        session.record.result = Raw(write_object(result))
        session.touch()
        if wanted.history == "none":
            session.attach_now(self._client, self._client.principal.role)
        return session
