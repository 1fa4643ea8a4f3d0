"""How a client speaks version 2: a prompt is answered when it is part of the conversation, and the session's state
tells when the work is over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import UNSET

from accord.client.dialect import Dialect
from accord.client.offers import AgentOffers
from accord.client.session import Session
from accord.client.turn import Turn
from accord.client.waiting import Waiting
from accord.client.wire import block, servers, system_prompt, system_prompt_modes
from accord.connection.dispatch import Handler, Routes
from accord.errors import AuthRequired, RequestCancelled, RequestFailed
from accord.model.place import Place
from accord.model.requests import Implementation
from accord.model.session import Option, SessionInfo
from accord.schema import v2
from accord.schema.method import Method
from accord.schema.repair import read as repair_read
from accord.schema.v2 import methods as m
from accord.transcript import reading, reading_v2
from accord.transcript.events import StateChanged, UserText
from accord.transcript.transcript import Transcript
from accord.transcript.v2 import Fold

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent


_CANCEL_REQUEST: Method[Any, Any] = Method(name="$/cancel_request", served_by="agent", params=dict)


class V2(Dialect):
    """Version 2, for a client."""

    version = 2
    one_turn_at_a_time = False
    methods: ClassVar[Any] = m
    words: ClassVar[Any] = v2

    def __init__(self, agent: ConnectedAgent) -> None:
        super().__init__(agent)
        self._waiting: dict[str, Waiting] = {}

    def offers(self, answer: dict[str, Any]) -> AgentOffers:
        hello: v2.InitializeResponse = repair_read(v2.InitializeResponse, answer)
        can = hello.capabilities
        sessions = can.session or None
        prompt = (sessions.prompt or None) if sessions else None
        mcp = (sessions.mcp or None) if sessions else None
        auth = can.auth or None
        return AgentOffers(
            version=2,
            info=Implementation(name=hello.info.name, version=hello.info.version, title=hello.info.title or None),
            auth_methods=[reading_v2.auth_method(method) for method in hello.auth_methods],
            sessions=sessions is not None,
            load=sessions is not None,
            resume=sessions is not None,
            list=sessions is not None,
            close=sessions is not None,
            delete=_has(sessions and sessions.delete),
            fork=_has(sessions and sessions.fork),
            archive=_has(sessions and sessions.archive),
            status=_has(sessions and sessions.status),
            title=_has(sessions and sessions.title),
            logout=bool(hello.auth_methods),
            auth_status=_has(auth and auth.status),
            providers=_has(can.providers),
            additional_directories=_has(sessions and sessions.additional_directories),
            system_prompt=_has(sessions and sessions.system_prompt),
            system_prompt_modes=system_prompt_modes(sessions and sessions.system_prompt),
            image=_has(prompt and prompt.image),
            audio=_has(prompt and prompt.audio),
            resource=_has(prompt and prompt.embedded_context),
            mcp=frozenset(kind for kind in ("stdio", "http", "acp") if _has(mcp and getattr(mcp, kind))),
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
        return Routes(
            table,
            other_request=handlers.request,
            other_notification=handlers.notification,
            unreadable=lambda *what: handlers.unreadable(self.agent.sessions, *what),
        )

    async def _permission(self, params: v2.RequestPermissionRequest) -> v2.RequestPermissionResponse:
        session = self.agent.session_of(params.session_id)
        subject = params.subject
        if isinstance(subject, v2.ToolCallPermissionSubject):
            # The call is shown like an update of it before the question is asked.
            about = subject.tool_call
            session._push(session.transcript.patch_tool(about.tool_call_id, **reading_v2.tool_call_fields(about)), 0)
        request = reading_v2.permission(params, session.transcript.tool_calls)
        try:
            chosen = await self.agent.handlers.permit(session, request)
        except asyncio.CancelledError:
            chosen = None
        if chosen is None:
            return v2.RequestPermissionResponse(outcome=v2.CancelledPermissionOutcome())
        return v2.RequestPermissionResponse(outcome=v2.SelectedPermissionOutcome(option_id=chosen))

    async def _elicitation(self, params: Any) -> Any:
        reply = await self.agent.handlers.elicit(self.agent, reading_v2.elicitation(params))
        match reply.action:
            case "accept":
                return v2.ElicitationAcceptAction(content=UNSET if reply.content is None else reply.content)
            case "decline":
                return v2.ElicitationDeclineAction()
            case _:
                return v2.ElicitationCancelAction()

    # -- sessions

    def fold(self, transcript: Transcript) -> Fold:
        return Fold(transcript)

    async def new_session(self, place: Place, made: Callable[[str, Any], None]) -> None:
        request = v2.NewSessionRequest(**_where(place))
        await self.connection.call(m.SESSION_NEW, request, deadline=self.agent.deadline("session"), then=_made(made))

    async def open_session(self, id: str, place: Place, *, replay: bool, then: Callable[[Any], None]) -> None:
        request = v2.ResumeSessionRequest(session_id=id, **_where(place))
        if replay:
            request.replay_from = v2.ReplayFromStart()
        await self.connection.call(
            m.SESSION_RESUME,
            request,
            deadline=self.agent.deadline("session"),
            then=lambda done: None if done.exception() else then(done.result()),
        )

    async def fork_session(self, id: str, place: Place, made: Callable[[str, Any], None]) -> None:
        request = v2.ForkSessionRequest(session_id=id, **_where(place))
        await self.connection.call(m.SESSION_FORK, request, deadline=self.agent.deadline("session"), then=_made(made))

    def settle(self, session: Session, answer: Any) -> None:
        if answer.config_options:
            session._push(session.transcript.set_options(reading_v2.options(answer.config_options)), 0)
        if answer.available_commands:
            session._push(session.transcript.set_commands(reading_v2.commands(answer.available_commands)), 0)

    async def list_sessions(
        self, cwd: str | None, cursor: str | None, archived: str | None
    ) -> tuple[list[SessionInfo], str | None]:
        request = v2.ListSessionsRequest(
            cwd=UNSET if cwd is None else cwd,
            cursor=UNSET if cursor is None else cursor,
            archived=UNSET if archived is None else archived,
        )
        page = await self.connection.call(m.SESSION_LIST, request, deadline=self.agent.deadline("call"))
        return [reading.session_info(info) for info in page.sessions], reading.given(page.next_cursor)

    async def close_session(self, id: str) -> None:
        request = v2.CloseSessionRequest(session_id=id)
        await self.connection.call(m.SESSION_CLOSE, request, deadline=self.agent.deadline("session"))

    async def delete_session(self, id: str) -> None:
        request = v2.DeleteSessionRequest(session_id=id)
        await self.connection.call(m.SESSION_DELETE, request, deadline=self.agent.deadline("session"))

    # -- turns

    def start_turn(self, session: Session, turn: Turn) -> None:
        turn.place = len(session.transcript.timeline)
        self._send_prompt(session, turn, retry=True)

    def _send_prompt(self, session: Session, turn: Turn, *, retry: bool) -> None:
        request = v2.PromptRequest(
            session_id=session.id, prompt=[block(piece) for piece in turn.content], meta=turn.meta or UNSET
        )
        waiting = self._waiting.setdefault(session.id, Waiting())
        waiting.sent(turn)

        def answered(done: asyncio.Future[Any]) -> None:
            turn.request_id = None
            error = done.exception()
            if isinstance(error, AuthRequired) and retry:
                self.agent.spawn(self._log_in_and_retry(session, turn, error))
            elif isinstance(error, RequestCancelled):
                session.end_turn(turn, "cancelled")
            elif error is not None:
                session.end_turn(turn, None, error=error)
            else:
                self._inserted(session, turn, done.result())

        waiter, _ = self.connection.ask(m.SESSION_PROMPT, request, then=answered, patient=True)
        turn.request_id = waiter.id

    def _inserted(self, session: Session, turn: Turn, answer: v2.PromptResponse) -> None:
        transcript = session.transcript
        turn.inserted = True
        turn.message_id = answer.message_id or None
        if turn.on_inserted is not None:
            turn.on_inserted()
        if turn is not session.open_turns[0]:
            turn.place = len(transcript.timeline)
        if answer.stop_reason:
            # The first draft answered at the end of the work.
            self._end(session, turn, answer.stop_reason, None, None)
        elif self._waiting[session.id].is_over(turn):
            # The work was over before the answer came.
            self._end(session, turn, transcript.stop_reason, transcript.error, transcript.tokens)
        elif transcript.state not in ("unknown", "idle"):
            turn.saw_work = True

    async def _log_in_and_retry(self, session: Session, turn: Turn, error: AuthRequired) -> None:
        try:
            if await self.agent.log_in_again():
                # After a login the agent may be another process, and the session, with its turns, may be over.
                now = self.agent.dialect
                if not turn.ended and isinstance(now, V2):
                    now._send_prompt(session, turn, retry=False)
                return
        except Exception as failure:
            session.end_turn(turn, None, error=failure)
            return
        session.end_turn(turn, None, error=error)

    def noticed(self, session: Session, event: Any) -> None:
        """An idle state ends every turn whose prompt is part of the conversation and whose work was seen to begin."""
        waiting = self._waiting.setdefault(session.id, Waiting())
        if not isinstance(event, StateChanged):
            if isinstance(event, UserText) or event.role == "user":
                waiting.echoed(event.message_id)
            return
        if event.state != "idle":
            for turn in session.open_turns:
                turn.saw_work = turn.saw_work or turn.inserted
            return
        waiting.idle()
        for turn in session.open_turns:
            # Without work before it, a state that was told already may be told again: it must be about this prompt.
            about_it = event.stop_reason is not None and (turn.has_output or waiting.has_echo(turn))
            if turn.inserted and (turn.saw_work or about_it):
                self._end(session, turn, event.stop_reason, event.error, event.tokens)

    def _end(self, session: Session, turn: Turn, reason: Any, error: dict[str, Any] | None, tokens: Any) -> None:
        failure: Exception | None = None
        if reason == "error":
            error = error or {}
            failure = RequestFailed.of(
                int(error.get("code", -32603)),
                str(error.get("message", "the agent reported an error")),
                error.get("data"),
                "session/prompt",
            )
        if not self._waiting[session.id].has_echo(turn):
            self._show_prompt(session, turn)
        session.end_turn(turn, reason or "end_turn", tokens=tokens, error=failure)

    def _show_prompt(self, session: Session, turn: Turn) -> None:
        """The agent did not repeat what the user said: it stands where it was sent."""
        session.transcript.add_message("user", list(turn.content))
        timeline = session.transcript.timeline
        timeline.insert(turn.place, timeline.pop())

    def withdraw(self, turn: Turn) -> bool:
        if turn.inserted or turn.request_id is None:
            return False
        self.connection.tell(_CANCEL_REQUEST, {"requestId": turn.request_id})
        return True

    def over(self, session: Session) -> None:
        self._waiting.pop(session.id, None)

    async def cancel(self, session: Session) -> None:
        await self.connection.tell(m.SESSION_CANCEL, v2.CancelSessionNotification(session_id=session.id))

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        request: Any
        if isinstance(value, bool):
            request = v2.SetSessionConfigBoolean(session_id=session.id, config_id=option.id, value=value)
        else:
            request = v2.SetSessionConfigId(session_id=session.id, config_id=option.id, value=value)
        answer = await self.connection.call(m.SESSION_SET_CONFIG_OPTION, request, deadline=self.agent.deadline("call"))
        session._push(session.transcript.set_options(reading_v2.options(answer.config_options)), 0)

    async def cancel_tool_call(self, session: Session, id: str) -> None:
        request = v2.CancelToolCallRequest(session_id=session.id, tool_call_id=id)
        await self.connection.call(m.TOOL_CALL_CANCEL, request, deadline=self.agent.deadline("call"))

    async def cancel_terminal(self, session: Session, id: str) -> None:
        request = v2.CancelTerminalRequest(session_id=session.id, terminal_id=id)
        await self.connection.call(m.TERMINAL_CANCEL, request, deadline=self.agent.deadline("call"))

    async def login(self, method_id: str) -> None:
        request = v2.LoginAuthRequest(method_id=method_id)
        await self.connection.call(m.AUTH_LOGIN, request, deadline=self.agent.deadline("login"))

    async def logout(self) -> None:
        await self.connection.call(m.AUTH_LOGOUT, v2.LogoutAuthRequest(), deadline=self.agent.deadline("call"))


def _where(place: Place) -> dict[str, Any]:
    """Where a session works, as all that make or open one say it."""
    return {
        "cwd": place.cwd,
        "additional_directories": place.directories,
        "mcp_servers": servers(place.servers, v2),
        "system_prompt": system_prompt(place.system_prompt, v2),
        "meta": place.meta or UNSET,
    }


def _made(made: Callable[[str, Any], None]) -> Callable[[asyncio.Future[Any]], None]:
    """Registers a new session in its answer's place, so that nothing after the answer comes too early."""
    return lambda done: None if done.exception() else made(done.result().session_id, done.result())


def _has(value: Any) -> bool:
    return value is not UNSET and value is not None
