"""How an agent speaks version 2: a prompt is answered when it becomes part of the conversation, and the state tells
when the work begins, waits and ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from accord.agent import hello_v2 as hello
from accord.agent import writing_v2 as writing
from accord.agent.dialect import Dialect
from accord.agent.offers import ClientOffers
from accord.agent.opening import Place
from accord.agent.reading import place, reply
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.agent.turns import Outcome
from accord.connection.dispatch import Answer, Handler, Routes
from accord.connection.handshake import INITIALIZE
from accord.errors import InvalidParams, RequestCancelled
from accord.model.requests import Elicitation, PermissionRequest, Reply
from accord.model.session import Background
from accord.model.statement import StateIs, Statement, WholeMessage
from accord.schema import v2
from accord.schema.method import Method
from accord.schema.v2 import methods as m
from accord.transcript import reading_v2 as reading
from accord.transcript.reading import given


class V2(Dialect):
    """Version 2, for an agent."""

    def hello(self, params: dict[str, Any]) -> tuple[Any, ClientOffers]:
        client = hello.offers(params, self.agent)
        return hello.answer(self.agent, client), client

    # -- what is served

    def routes(self) -> Routes:
        agent = self.agent
        table: dict[Method[Any, Any], Handler] = {
            INITIALIZE: self.side.initialize_again,
            m.SESSION_NEW: self._new,
            m.SESSION_RESUME: self._resume,
            m.SESSION_LIST: self._list,
            m.SESSION_CLOSE: self._close,
            m.SESSION_PROMPT: self._prompt,
            m.SESSION_CANCEL: lambda params: self.side.cancel(params.session_id),
            m.SESSION_SET_CONFIG_OPTION: self._set_config_option,
            m.TOOL_CALL_CANCEL: self._cancel_tool_call,
            m.TERMINAL_CANCEL: self._cancel_terminal,
        }
        if agent.auth_methods:
            table[m.AUTH_LOGIN] = self._login
            table[m.AUTH_LOGOUT] = self._logout
        if agent.store is not None or agent.offers("delete_session"):
            table[m.SESSION_DELETE] = self._delete
        if agent.unstable:
            from accord.agent.unstable import routes

            table.update(routes(self.side, m, True))
            table[m.SESSION_FORK] = self._fork
            table[m.SESSION_STATUS] = self._status
        return Routes(table, other_request=self.side.other_request, other_notification=agent.extension_notification)

    async def _login(self, params: v2.LoginAuthRequest) -> None:
        await self.side.login(params.method_id)

    async def _logout(self, params: v2.LogoutAuthRequest) -> None:
        await self.agent.logout() if self.agent.offers("logout") else None

    async def _new(self, params: v2.NewSessionRequest) -> Answer:
        session = await self.side.new_session(_place(params))
        return Answer(v2.NewSessionResponse(session_id=session.id, **_choices(session)), session.release)

    async def _fork(self, params: v2.ForkSessionRequest) -> Answer:
        session = await self.side.fork_session(params.session_id, _place(params))
        return Answer(v2.ForkSessionResponse(session_id=session.id, **_choices(session)), session.release)

    async def _resume(self, params: v2.ResumeSessionRequest) -> Answer:
        cursor = params.replay_from
        replay = cursor is not UNSET and cursor is not None
        if replay and not isinstance(cursor, v2.ReplayFromStart):
            raise InvalidParams("session/resume: replayFrom.type may be start", data={"path": "replayFrom.type"})
        session = await self.side.open_session(params.session_id, _place(params), replay=replay)
        session.tell_at_once(self._state_now(session))
        return Answer(v2.ResumeSessionResponse(**_choices(session)), session.release)

    async def _status(self, params: v2.SessionStatusRequest) -> v2.SessionStatusResponse:
        status = await self.side.session_status(params.session_id)
        session = self.side.sessions.get(params.session_id)
        state: Any = UNSET
        if session is not None:
            state = v2.StateSnapshot(state=self._state_now(session).state)
        return v2.SessionStatusResponse(status=status, state=state)

    def _state_now(self, session: Session) -> StateIs:
        state = StateIs(state="idle")
        if session.turns.working is not None:
            state.state = "requires_action" if session.waiting_for_user else "running"
        return self._with_background(session, state)

    async def _list(self, params: v2.ListSessionsRequest) -> v2.ListSessionsResponse:
        page = await self.side.list_sessions(given(params.cwd), given(params.cursor), params.archived or "exclude")
        return v2.ListSessionsResponse(
            sessions=[
                v2.SessionInfo(
                    session_id=info.id,
                    cwd=info.cwd,
                    title=info.title or UNSET,
                    updated_at=info.updated_at or UNSET,
                    additional_directories=info.additional_directories,
                    archived=bool(info.archived) if self.agent.unstable else UNSET,
                )
                for info in page.sessions
            ],
            next_cursor=UNSET if page.next_cursor is None else page.next_cursor,
        )

    async def _close(self, params: v2.CloseSessionRequest) -> None:
        await self.side.close_session(params.session_id)

    async def _delete(self, params: v2.DeleteSessionRequest) -> None:
        await self.side.delete_session(params.session_id)

    async def _prompt(self, params: v2.PromptRequest) -> v2.PromptResponse:
        session = self.side.session(params.session_id)
        content = [reading.content(block) for block in params.prompt]
        entry = self.side.submit(session, content, params.meta or None)
        try:
            return v2.PromptResponse(message_id=await asyncio.shield(entry.inserted))
        except asyncio.CancelledError:
            if entry.inserted.done() and not entry.inserted.cancelled() and entry.inserted.exception() is None:
                return v2.PromptResponse(message_id=entry.inserted.result())
            session.turns.cancel_entry(entry)
            raise RequestCancelled("session/prompt: cancelled before it became part of the conversation") from None

    async def _set_config_option(self, params: Any) -> v2.SetSessionConfigOptionResponse:
        if not isinstance(params, (v2.SetSessionConfigId, v2.SetSessionConfigBoolean)):
            raise InvalidParams("session/set_config_option: type may be id or boolean", data={"path": "type"})
        session = self.side.session(params.session_id)
        await self.side.set_option(session, params.config_id, params.value)
        return v2.SetSessionConfigOptionResponse(config_options=writing.config_options(session.options))

    async def _cancel_tool_call(self, params: v2.CancelToolCallRequest) -> None:
        session = self.side.session(params.session_id)
        tool = session.open_tools.get(params.tool_call_id)
        if tool is None or not tool.can_cancel or not self.agent.offers("cancel_tool_call"):
            raise InvalidParams("tool_call/cancel: there is no running tool call of this id that can be cancelled")
        await self.agent.cancel_tool_call(session, params.tool_call_id)

    async def _cancel_terminal(self, params: v2.CancelTerminalRequest) -> None:
        session = self.side.session(params.session_id)
        if params.terminal_id not in session.cancellable_terminals or not self.agent.offers("cancel_terminal"):
            raise InvalidParams("terminal/cancel: there is no running terminal of this id that can be cancelled")
        await self.agent.cancel_terminal(session, params.terminal_id)

    # -- turns

    inserts = True

    def prompt_joins(self, session: Session, turn: Turn) -> None:
        session.state(WholeMessage(role="user", message_id=turn.message_id, content=turn.content))

    def turn_begins(self, session: Session, turn: Turn) -> None:
        self.prompt_joins(session, turn)
        self._say_state(session, StateIs(state="running"))

    def turn_ends(self, session: Session, turn: Turn, outcome: Outcome) -> None:
        error = None
        if outcome.error is not None:
            error = {"code": outcome.error.code, "message": outcome.error.message}
            if outcome.error.data is not UNSET:
                error["data"] = outcome.error.data
        self._say_state(
            session,
            StateIs(state="idle", stop_reason=outcome.stop_reason, error=error, tokens=outcome.tokens),
        )

    def waiting(self, session: Session, blocked: bool) -> None:
        working = session.turns.working
        if working is not None and not (working.turn.cancelled and not blocked):
            self._say_state(session, StateIs(state="requires_action" if blocked else "running"))

    def background_changed(self, session: Session) -> None:
        self._say_state(session, self._state_now(session))

    def _say_state(self, session: Session, state: StateIs) -> None:
        if self.side.connection.is_open:
            session.tell(self._with_background(session, state))

    def _with_background(self, session: Session, state: StateIs) -> StateIs:
        """An agent that reports work outside its turns reports it with every state."""
        work = session.background.telling()
        if work is not None:
            state.background = [Background(kind=kind, id=id) for kind, id in work]
        return state

    # -- what is said and asked

    def updates(self, session: Session, statement: Statement) -> Iterable[Any]:
        return writing.updates(statement, unstable=self.agent.unstable)

    async def request_permission(self, session: Session, request: PermissionRequest) -> str | None:
        response = await self.side.connection.call(m.SESSION_REQUEST_PERMISSION, writing.permission(request))
        outcome = response.outcome
        return outcome.option_id if isinstance(outcome, v2.SelectedPermissionOutcome) else None

    async def elicit(self, session: Session, question: Elicitation) -> Reply:
        params: Any
        named = question.session_id is not None
        scope: Any = {"session_id": question.session_id} if named else {"request_id": question.request_id}
        if question.mode == "url":
            params = v2.ElicitationUrlMode(
                message=question.message, url=question.url or "", elicitation_id=question.id or "", **scope
            )
        else:
            schema: Any = question.schema
            params = v2.ElicitationFormMode(message=question.message, requested_schema=schema, **scope)
        return reply(await self.side.connection.call(m.ELICITATION_CREATE, params))


def _place(params: Any) -> Place:
    found = place(params)
    names = [server.name for server in found.servers]
    for index, name in enumerate(names):
        if name in names[:index]:
            path = f"mcpServers[{index}].name"
            raise InvalidParams(f"{path} is that of another server", data={"path": path})
    return found


def _choices(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if session.options:
        found["config_options"] = writing.config_options(session.options)
    if session.commands:
        found["available_commands"] = [writing.command(command) for command in session.commands]
    return found
