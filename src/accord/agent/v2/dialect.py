"""Version 2 for agents: a prompt is answered when it becomes part of the conversation, and state updates report when
work starts, waits and ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from accord.agent.dialect import Dialect, encode_elicitation, read_reply, read_setup, unstable_routes
from accord.agent.offers import ClientOffers
from accord.agent.options import OptionResponses
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.agent.turn_queue import Outcome
from accord.agent.v2 import initialize
from accord.agent.v2 import updates as writing
from accord.codec import from_v2 as reading
from accord.codec.from_wire import or_none
from accord.connection.dispatch import Answer, Handler, Routes
from accord.connection.handshake import INITIALIZE
from accord.errors import InvalidParams, RequestCancelled
from accord.model.record import Meta
from accord.model.requests import Elicitation, PermissionRequest, Reply, SessionSetup
from accord.model.session import Background
from accord.model.statement import SetState, Statement, WholeMessage
from accord.schema import v2
from accord.schema.method import Method
from accord.schema.v2 import methods as m

if TYPE_CHECKING:
    from accord.agent.side import AgentSide


class V2(Dialect):
    """Version 2, for an agent."""

    can_initialize_again = True
    needs_history = True
    inserts = True
    replays_whole = True

    def __init__(self, side: AgentSide) -> None:
        super().__init__(side)
        self._option_responses = OptionResponses(
            lambda options: v2.SetSessionConfigOptionResponse(config_options=writing.config_options(options))
        )

    def initialize(self, params: dict[str, Any]) -> tuple[Any, ClientOffers]:
        client = initialize.read_offers(params, self.agent)
        return initialize.build_response(self.agent, client), client

    # -- requests of the client

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
            table.update(unstable_routes(self, m, True))
            table[m.SESSION_FORK] = self._fork
            table[m.SESSION_STATUS] = self._status
        return Routes(table, other_request=agent.extension_request, other_notification=agent.extension_notification)

    async def _login(self, params: v2.LoginAuthRequest) -> None:
        await self.side.login(params.method_id)

    async def _logout(self, params: v2.LogoutAuthRequest) -> None:
        await self.agent.logout() if self.agent.offers("logout") else None

    async def _new(self, params: v2.NewSessionRequest) -> Answer:
        session = await self.sessions.create(_read_setup(params))
        return Answer(v2.NewSessionResponse(session_id=session.id, **_choices(session)), session.release)

    async def _fork(self, params: v2.ForkSessionRequest) -> Answer:
        session = await self.sessions.fork(params.session_id, _read_setup(params))
        return Answer(v2.ForkSessionResponse(session_id=session.id, **_choices(session)), session.release)

    async def _resume(self, params: v2.ResumeSessionRequest) -> Answer:
        cursor = params.replay_from
        replay = cursor is not UNSET and cursor is not None
        if replay and not isinstance(cursor, v2.ReplayFromStart):
            raise InvalidParams("session/resume: replayFrom.type may be start", data={"path": "replayFrom.type"})
        session = await self.sessions.reopen(params.session_id, _read_setup(params), replay=replay)
        session.writer.tell_now(self._state_now(session))
        return Answer(v2.ResumeSessionResponse(**_choices(session)), session.release)

    async def _status(self, params: v2.SessionStatusRequest) -> v2.SessionStatusResponse:
        status = await self.sessions.status(params.session_id)
        session = self.sessions.open.get(params.session_id)
        state: Any = UNSET
        if session is not None:
            state = writing.snapshot(self._state_now(session).state)
        return v2.SessionStatusResponse(status=status, state=state)

    def _state_now(self, session: Session) -> SetState:
        state = SetState(state="idle")
        if session.turns.working is not None or session.works.running:
            state.state = "requires_action" if session.waiting_for_user else "running"
        return self._with_background(session, state)

    async def _list(self, params: v2.ListSessionsRequest) -> v2.ListSessionsResponse:
        page = await self.sessions.list(or_none(params.cwd), or_none(params.cursor), params.archived or "exclude")
        return v2.ListSessionsResponse(
            sessions=[
                v2.SessionInfo(
                    session_id=info.id,
                    cwd=info.cwd,
                    title=info.title or UNSET,
                    updated_at=info.updated_at or UNSET,
                    additional_directories=info.additional_directories,
                    archived=bool(info.archived) if self.agent.unstable else UNSET,
                    meta=info.meta or UNSET,
                )
                for info in page.sessions
            ],
            next_cursor=UNSET if page.next_cursor is None else page.next_cursor,
        )

    async def _close(self, params: v2.CloseSessionRequest) -> None:
        await self.sessions.close(params.session_id)

    async def _delete(self, params: v2.DeleteSessionRequest) -> None:
        await self.sessions.delete(params.session_id)

    async def _prompt(self, params: v2.PromptRequest) -> v2.PromptResponse:
        session = self.sessions.find(params.session_id)
        content = [reading.content(block) for block in params.prompt]
        entry = self.side.prompts.submit(session, content, params.meta or None)
        try:
            id = await entry.until_inserted()
            return v2.PromptResponse(message_id=id, meta=entry.turn.response_meta or UNSET)
        except asyncio.CancelledError:
            if entry.is_inserted:
                return v2.PromptResponse(message_id=entry.turn.message_id)
            session.turns.cancel_entry(entry)
            raise RequestCancelled("session/prompt: cancelled before it became part of the conversation") from None

    async def _set_config_option(self, params: Any) -> Any:
        if not isinstance(params, (v2.SetSessionConfigId, v2.SetSessionConfigBoolean)):
            raise InvalidParams("session/set_config_option: type may be id or boolean", data={"path": "type"})
        session = self.sessions.find(params.session_id)
        setting = session.settings.set_by_client(params.config_id, params.value)
        if setting is not None:
            await setting
        return self._option_responses.find(session.settings.items)

    async def _cancel_tool_call(self, params: v2.CancelToolCallRequest) -> None:
        session = self.sessions.find(params.session_id)
        tool = session.open_tools.get(params.tool_call_id)
        if tool is None or not tool.can_cancel or not self.agent.offers("cancel_tool_call"):
            raise InvalidParams("tool_call/cancel: there is no running tool call of this id that can be cancelled")
        await self.agent.cancel_tool_call(session, params.tool_call_id)

    async def _cancel_terminal(self, params: v2.CancelTerminalRequest) -> None:
        session = self.sessions.find(params.session_id)
        if params.terminal_id not in session.terminals.cancellable or not self.agent.offers("cancel_terminal"):
            raise InvalidParams("terminal/cancel: there is no running terminal of this id that can be cancelled")
        await self.agent.cancel_terminal(session, params.terminal_id)

    # -- turns

    def prompt_joins(self, session: Session, turn: Turn) -> None:
        session.writer.state(WholeMessage(role="user", message_id=turn.message_id, content=turn.content))

    def turn_begins(self, session: Session, turn: Turn) -> None:
        self.prompt_joins(session, turn)
        self._send_state(session, SetState(state="running"))

    def turn_ends(self, session: Session, turn: Turn, outcome: Outcome) -> None:
        end, session.works.held_end = self._idle(outcome, turn.response_meta), None
        if session.works.running:
            session.writer.encode(end)  # raises now if it can't be sent
            session.works.held_end = end
        else:
            self._send_state(session, end)

    def _idle(self, outcome: Outcome, meta: Meta | None) -> SetState:
        error = None
        if outcome.error is not None:
            error = {"code": outcome.error.code, "message": outcome.error.message}
            if outcome.error.data is not UNSET:
                error["data"] = outcome.error.data
        return SetState(state="idle", stop_reason=outcome.stop_reason, error=error, tokens=outcome.tokens, meta=meta)

    def work_begins(self, session: Session, meta: Meta | None) -> None:
        self._send_state(session, SetState(state="running", meta=meta))

    def work_ends(self, session: Session, outcome: Outcome, meta: Meta | None) -> None:
        # A turn that ended meanwhile takes precedence: the user waits for its stop reason.
        held, session.works.held_end = session.works.held_end, None
        self._send_state(session, held or self._idle(outcome, meta))

    def state_named(self, session: Session, state: str | None, meta: Meta | None) -> None:
        now = self._state_now(session)
        now.meta = meta
        if state is not None:
            now.state = state
        self._send_state(session, now)

    def waiting_changed(self, session: Session, blocked: bool) -> None:
        working = session.turns.working
        is_stopping = working is not None and working.turn.cancelled and not blocked
        if (working is not None or session.works.running) and not is_stopping:
            self._send_state(session, SetState(state="requires_action" if blocked else "running"))

    def background_changed(self, session: Session) -> None:
        self._send_state(session, self._state_now(session))

    def _send_state(self, session: Session, state: SetState) -> None:
        if self.connection.is_open:
            session.writer.tell(self._with_background(session, state))

    def _with_background(self, session: Session, state: SetState) -> SetState:
        """Add the background work. Once an agent has reported any, it must report it with every state."""
        work = session.background.report()
        if work is not None:
            state.background = [Background(kind=kind, id=id) for kind, id in work]
        return state

    # -- updates and requests to the client

    def updates(self, session: Session, statement: Statement) -> Iterable[Any]:
        return writing.updates(statement, unstable=self.agent.unstable)

    async def request_permission(self, session: Session, request: PermissionRequest) -> tuple[str | None, Meta | None]:
        response = await self.connection.call(m.SESSION_REQUEST_PERMISSION, writing.permission(request))
        outcome = response.outcome
        chosen = outcome.option_id if isinstance(outcome, v2.SelectedPermissionOutcome) else None
        return chosen, response.meta or None

    async def elicit(self, question: Elicitation) -> Reply:
        params = encode_elicitation(question, v2.ElicitationFormMode, v2.ElicitationUrlMode)
        return read_reply(await self.connection.call(m.ELICITATION_CREATE, params))


def _read_setup(params: Any) -> SessionSetup:
    found = read_setup(params)
    names = [server.name for server in found.servers]
    for index, name in enumerate(names):
        if name in names[:index]:
            path = f"mcpServers[{index}].name"
            raise InvalidParams(f"{path} is that of another server", data={"path": path})
    return found


def _choices(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = {"meta": session.response_meta} if session.response_meta else {}
    if session.options:
        found["config_options"] = writing.config_options(session.options)
    if session.commands:
        found["available_commands"] = [writing.command(command) for command in session.commands]
    return found
