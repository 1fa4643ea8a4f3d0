"""How a client speaks version 1: a turn lasts as long as its prompt is open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import UNSET

from accord.client.dialect import Dialect
from accord.client.lending_v1 import Lending
from accord.client.offers import AgentOffers
from accord.client.session import Session
from accord.client.turn import Turn
from accord.client.wire import block, servers, system_prompt, system_prompt_modes
from accord.connection.dispatch import Handler, Routes
from accord.errors import AuthRequired
from accord.model.place import Place
from accord.model.requests import Implementation
from accord.model.session import Option, SessionInfo
from accord.schema import v1
from accord.schema.method import Method
from accord.schema.repair import read as repair_read
from accord.schema.v1 import methods as m
from accord.transcript import reading, reading_v1
from accord.transcript.transcript import Transcript
from accord.transcript.v1 import Fold

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent


class V1(Dialect):
    """Version 1, for a client."""

    version = 1
    one_turn_at_a_time = True
    methods: ClassVar[Any] = m
    words: ClassVar[Any] = v1

    def __init__(self, agent: ConnectedAgent) -> None:
        super().__init__(agent)
        self._lending = Lending(agent, agent.workspace) if agent.workspace is not None else None

    def offers(self, answer: dict[str, Any]) -> AgentOffers:
        hello: v1.InitializeResponse = repair_read(v1.InitializeResponse, {**answer, "protocolVersion": 1})
        can, sessions, info = hello.agent_capabilities, hello.agent_capabilities.session_capabilities, hello.agent_info
        mcp = [kind for kind in ("http", "sse", "acp") if getattr(can.mcp_capabilities, kind)]
        return AgentOffers(
            version=1,
            info=Implementation(name=info.name, version=info.version, title=info.title or None) if info else None,
            auth_methods=[reading_v1.auth_method(method) for method in hello.auth_methods],
            load=can.load_session,
            resume=_has(sessions.resume),
            list=_has(sessions.list),
            close=_has(sessions.close),
            delete=_has(sessions.delete),
            fork=_has(sessions.fork),
            archive=_has(sessions.archive),
            status=_has(sessions.status),
            title=_has(sessions.title),
            logout=_has(can.auth.logout),
            auth_status=_has(can.auth.status),
            providers=_has(can.providers),
            additional_directories=_has(sessions.additional_directories),
            system_prompt=_has(sessions.system_prompt),
            system_prompt_modes=system_prompt_modes(sessions.system_prompt),
            image=can.prompt_capabilities.image,
            audio=can.prompt_capabilities.audio,
            resource=can.prompt_capabilities.embedded_context,
            mcp=frozenset(["stdio", *mcp]),
            meta=can.meta or None,
        )

    # -- what the agent may ask and tell

    def routes(self) -> Routes:
        handlers = self.agent.handlers
        table: dict[Method[Any, Any], Handler] = {
            m.SESSION_UPDATE: self.agent.update,
            m.SESSION_REQUEST_PERMISSION: self._permission,
            m.ELICITATION_CREATE: self._elicitation,
            m.ELICITATION_COMPLETE: lambda params: handlers.page_done(params.elicitation_id),
        }
        if self._lending is not None:
            table.update(self._lending.routes())
        return Routes(
            table,
            other_request=handlers.request,
            other_notification=handlers.notification,
            unreadable=lambda *what: handlers.unreadable(self.agent.sessions, *what),
        )

    async def _permission(self, params: v1.RequestPermissionRequest) -> v1.RequestPermissionResponse:
        session = self.agent.session_of(params.session_id)
        # What the request says of the call is shown like an update of it.
        call = session.transcript.patch_tool(
            params.tool_call.tool_call_id, **reading_v1.tool_call_fields(params.tool_call)
        )
        session._push(call, 0)
        request = reading_v1.permission(params, session.transcript.tool_calls)
        try:
            chosen = await self.agent.handlers.permit(session, request)
        except asyncio.CancelledError:
            chosen = None
        if chosen is None:
            return v1.RequestPermissionResponse(outcome=v1.CancelledPermissionOutcome())
        return v1.RequestPermissionResponse(outcome=v1.SelectedPermissionOutcome(option_id=chosen))

    async def _elicitation(self, params: Any) -> Any:
        reply = await self.agent.handlers.elicit(self.agent, reading_v1.elicitation(params))
        match reply.action:
            case "accept":
                return v1.ElicitationAcceptAction(content=UNSET if reply.content is None else reply.content)
            case "decline":
                return v1.ElicitationDeclineAction()
            case _:
                return v1.ElicitationCancelAction()

    # -- sessions

    def fold(self, transcript: Transcript) -> Fold:
        return Fold(transcript)

    async def new_session(self, place: Place, made: Callable[[str, Any], None]) -> None:
        request = v1.NewSessionRequest(**_where(place))
        await self.connection.call(m.SESSION_NEW, request, deadline=self.agent.deadline("session"), then=_made(made))

    async def open_session(self, id: str, place: Place, *, replay: bool, then: Callable[[Any], None]) -> None:
        kind = v1.LoadSessionRequest if replay else v1.ResumeSessionRequest
        await self.connection.call(
            m.SESSION_LOAD if replay else m.SESSION_RESUME,
            kind(session_id=id, **_where(place)),
            deadline=self.agent.deadline("session"),
            then=lambda done: None if done.exception() else then(done.result()),
        )

    async def fork_session(self, id: str, place: Place, made: Callable[[str, Any], None]) -> None:
        request = v1.ForkSessionRequest(session_id=id, **_where(place))
        await self.connection.call(m.SESSION_FORK, request, deadline=self.agent.deadline("session"), then=_made(made))

    def settle(self, session: Session, answer: Any) -> None:
        options = reading_v1.options(answer.config_options, answer.modes, answer.models)
        if options:
            session._push(session.transcript.set_options(options), 0)
        if not session.busy:
            session.transcript.set_state("idle")

    async def list_sessions(
        self, cwd: str | None, cursor: str | None, archived: str | None
    ) -> tuple[list[SessionInfo], str | None]:
        request = v1.ListSessionsRequest(
            cwd=UNSET if cwd is None else cwd,
            cursor=UNSET if cursor is None else cursor,
            archived=UNSET if archived is None else archived,
        )
        page = await self.connection.call(m.SESSION_LIST, request, deadline=self.agent.deadline("call"))
        return [reading.session_info(info) for info in page.sessions], reading.given(page.next_cursor)

    async def close_session(self, id: str) -> None:
        request = v1.CloseSessionRequest(session_id=id)
        await self.connection.call(m.SESSION_CLOSE, request, deadline=self.agent.deadline("session"))

    async def delete_session(self, id: str) -> None:
        request = v1.DeleteSessionRequest(session_id=id)
        await self.connection.call(m.SESSION_DELETE, request, deadline=self.agent.deadline("session"))

    def over(self, session: Session) -> None:
        if self._lending is not None:
            self._lending.take_back(session)

    # -- turns

    def start_turn(self, session: Session, turn: Turn) -> None:
        # Version 1 tells neither what the user said nor the state; here they read as in version 2.
        session._push(session.transcript.add_message("user", list(turn.content)), 0)
        session._push(session.transcript.set_state("running"), 0)
        self._send_prompt(session, turn, retry=True)

    def _send_prompt(self, session: Session, turn: Turn, *, retry: bool) -> None:
        request = v1.PromptRequest(
            session_id=session.id, prompt=[block(piece) for piece in turn.content], meta=turn.meta or UNSET
        )

        def ended(done: asyncio.Future[Any]) -> None:
            error = done.exception()
            if isinstance(error, AuthRequired) and retry:
                self.agent.spawn(self._log_in_and_retry(session, turn, error))
            elif error is not None:
                self._end(session, turn, None, None, error)
            else:
                answer: v1.PromptResponse = done.result()
                self._end(session, turn, answer.stop_reason, reading.tokens(answer.usage), None)

        self.connection.ask(m.SESSION_PROMPT, request, patient=True, then=ended)

    def _end(self, session: Session, turn: Turn, reason: str | None, tokens: Any, error: BaseException | None) -> None:
        if not turn.ended and turn in session.open_turns:
            session._push(session.transcript.set_state("idle", stop_reason=reason, tokens=tokens), 0)
        session.end_turn(turn, reason, tokens=tokens, error=error)

    def asking(self, session: Session) -> None:
        if session.busy:
            state = "requires_action" if session.is_asking else "running"
            if session.transcript.state != state:
                session._push(session.transcript.set_state(state), 0)

    async def _log_in_and_retry(self, session: Session, turn: Turn, error: AuthRequired) -> None:
        try:
            if await self.agent.log_in_again():
                # After a login the agent may be another process, and the session, with its turns, may be over.
                now = self.agent.dialect
                if not turn.ended and isinstance(now, V1):
                    now._send_prompt(session, turn, retry=False)
                return
        except Exception as failure:
            self._end(session, turn, None, None, failure)
            return
        self._end(session, turn, None, None, error)

    async def cancel(self, session: Session) -> None:
        await self.connection.tell(m.SESSION_CANCEL, v1.CancelNotification(session_id=session.id))

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        deadline = self.agent.deadline("call")
        if option.legacy == "modes":
            mode = v1.SetSessionModeRequest(session_id=session.id, mode_id=str(value))
            await self.connection.call(m.SESSION_SET_MODE, mode, deadline=deadline)
            session._push(session.transcript.set_option(option.id, value), 0)
        elif option.legacy == "models":
            model = v1.SetSessionModelRequest(session_id=session.id, model_id=str(value))
            await self.connection.call(m.SESSION_SET_MODEL, model, deadline=deadline)
            session._push(session.transcript.set_option(option.id, value), 0)
        else:
            request: Any
            if isinstance(value, bool):
                request = v1.SetSessionConfigBoolean(session_id=session.id, config_id=option.id, value=value)
            else:
                request = v1.SetSessionConfigId(session_id=session.id, config_id=option.id, value=value)
            answer = await self.connection.call(m.SESSION_SET_CONFIG_OPTION, request, deadline=deadline)
            options = reading_v1.with_config(session.transcript.options, answer.config_options)
            session._push(session.transcript.set_options(options), 0)

    async def login(self, method_id: str) -> None:
        request = v1.AuthenticateRequest(method_id=method_id)
        await self.connection.call(m.AUTHENTICATE, request, deadline=self.agent.deadline("login"))

    async def logout(self) -> None:
        await self.connection.call(m.LOGOUT, v1.LogoutRequest(), deadline=self.agent.deadline("call"))


def _where(place: Place) -> dict[str, Any]:
    """Where a session works, as all that make or open one say it."""
    return {
        "cwd": place.cwd,
        "additional_directories": place.directories,
        "mcp_servers": servers(place.servers, v1),
        "system_prompt": system_prompt(place.system_prompt, v1),
        "meta": place.meta or UNSET,
    }


def _made(made: Callable[[str, Any], None]) -> Callable[[asyncio.Future[Any]], None]:
    """Registers a new session in its answer's place, so that nothing after the answer comes too early."""
    return lambda done: None if done.exception() else made(done.result().session_id, done.result())


def _has(value: Any) -> bool:
    return value is not UNSET and value is not None
