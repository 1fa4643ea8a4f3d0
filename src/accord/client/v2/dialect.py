"""Version 2 for clients: a prompt is answered when it joins the conversation, and state updates report the end of the
work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from accord.client.dialect import Dialect, is_given, system_prompt_modes
from accord.client.offers import AgentOffers
from accord.client.session import Session
from accord.client.turn import Turn
from accord.client.v2.prompt_progress import PromptProgress
from accord.codec import from_v2, from_wire
from accord.errors import AuthRequired, RequestCancelled, RequestFailed
from accord.model.requests import Elicitation, PermissionRequest, SessionSetup
from accord.model.session import Option
from accord.schema import v2
from accord.schema.method import Method
from accord.schema.repair import read as repair_read
from accord.schema.v2 import methods as m
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
    types: ClassVar[Any] = v2

    def __init__(self, agent: ConnectedAgent) -> None:
        super().__init__(agent)
        self._progress: dict[str, PromptProgress] = {}

    def offers(self, response: dict[str, Any]) -> AgentOffers:
        hello: v2.InitializeResponse = repair_read(v2.InitializeResponse, response)
        can = hello.capabilities
        sessions = can.session or None
        prompt = (sessions.prompt or None) if sessions else None
        mcp = (sessions.mcp or None) if sessions else None
        auth = can.auth or None
        return AgentOffers(
            version=2,
            info=from_wire.implementation(hello.info),
            auth_methods=[from_v2.auth_method(method) for method in hello.auth_methods],
            sessions=sessions is not None,
            load=sessions is not None,
            resume=sessions is not None,
            list=sessions is not None,
            close=sessions is not None,
            delete=is_given(sessions and sessions.delete),
            fork=is_given(sessions and sessions.fork),
            archive=is_given(sessions and sessions.archive),
            status=is_given(sessions and sessions.status),
            title=is_given(sessions and sessions.title),
            logout=bool(hello.auth_methods),
            auth_status=is_given(auth and auth.status),
            providers=is_given(can.providers),
            additional_directories=is_given(sessions and sessions.additional_directories),
            system_prompt=is_given(sessions and sessions.system_prompt),
            system_prompt_modes=system_prompt_modes(sessions and sessions.system_prompt),
            image=is_given(prompt and prompt.image),
            audio=is_given(prompt and prompt.audio),
            resource=is_given(prompt and prompt.embedded_context),
            mcp=frozenset(kind for kind in ("stdio", "http", "acp") if is_given(mcp and getattr(mcp, kind))),
            meta=can.meta or None,
            response_meta=hello.meta or None,
        )

    # -- requests of the agent

    def read_permission(self, session: Session, params: v2.RequestPermissionRequest) -> PermissionRequest:
        subject = params.subject
        if isinstance(subject, v2.ToolCallPermissionSubject):
            # Show the call, like an update of it, before asking about it.
            call = subject.tool_call
            session.push(session.transcript.patch_tool(call.tool_call_id, **from_v2.tool_call_fields(call)))
        return from_v2.permission(params, session.transcript.tool_calls)

    def read_elicitation(self, params: Any) -> Elicitation:
        return from_v2.elicitation(params)

    # -- sessions

    def fold(self, transcript: Transcript, session: Session) -> Fold:
        return Fold(transcript)

    async def open_session(self, id: str, setup: SessionSetup, *, replay: bool, then: Callable[[Any], None]) -> None:
        request = v2.ResumeSessionRequest(session_id=id, **self.setup_fields(setup))
        if replay:
            request.replay_from = v2.ReplayFromStart()
        await self._open_session(m.SESSION_RESUME, request, then)

    def apply_opened(self, session: Session, response: Any) -> None:
        if response.config_options:
            session.push(session.transcript.set_options(from_v2.options(response.config_options)))
        if response.available_commands:
            session.push(session.transcript.set_commands(from_v2.commands(response.available_commands)))

    # -- turns

    def start_turn(self, session: Session, turn: Turn) -> None:
        turn.position = len(session.transcript.timeline)
        self._send_prompt(session, turn, retry=True)

    def _send_prompt(self, session: Session, turn: Turn, *, retry: bool) -> None:
        progress = self._progress.setdefault(session.id, PromptProgress())
        progress.add_prompt(turn)

        def on_response(done: asyncio.Future[Any]) -> None:
            turn.request_id = None
            error = done.exception()
            if isinstance(error, AuthRequired) and retry and self.agent.logins.can_help(error):
                self.agent.tasks.spawn(self._log_in_and_retry(session, turn, error))
            elif isinstance(error, RequestCancelled):
                session.end_turn(turn, "cancelled")
            elif error is not None:
                session.end_turn(turn, None, error=error)
            else:
                self._on_inserted(session, turn, done.result())

        waiter, _ = self.connection.ask(
            m.SESSION_PROMPT, turn.request, session=session.id, then=on_response, long_running=True
        )
        turn.request_id = waiter.id

    def _on_inserted(self, session: Session, turn: Turn, answer: v2.PromptResponse) -> None:
        transcript = session.transcript
        turn.inserted = True
        turn.message_id = answer.message_id or None
        turn.response_meta = answer.meta or None
        if turn.on_inserted is not None:
            turn.on_inserted()
        if turn is not session.open_turns[0]:
            turn.position = len(transcript.timeline)
        if answer.stop_reason:
            # In the first draft of version 2, the response came at the end of the work.
            self._end(session, turn, answer.stop_reason, None, None)
        elif self._progress[session.id].is_over(turn):
            # The work ended before the response came.
            self._end(session, turn, transcript.stop_reason, transcript.error, transcript.tokens)
        elif transcript.state not in ("unknown", "idle"):
            turn.saw_work = True

    async def _log_in_and_retry(self, session: Session, turn: Turn, error: AuthRequired) -> None:
        try:
            if await self.agent.logins.log_in_again():
                # After a login the agent may be another process, and the session and its turns may have ended.
                now = self.agent.dialect
                if not turn.ended and isinstance(now, V2):
                    now._send_prompt(session, turn, retry=False)
                return
        except Exception as failure:
            session.end_turn(turn, None, error=failure)
            return
        session.end_turn(turn, None, error=error)

    def progress_reported(self, session: Session, event: Any) -> None:
        """End turns on an idle state: those whose prompt is part of the conversation and whose work has started."""
        progress = self._progress.setdefault(session.id, PromptProgress())
        if not isinstance(event, StateChanged):
            if isinstance(event, UserText) or event.role == "user":
                progress.add_echo(event.message_id)
            return
        if event.state != "idle":
            for turn in session.open_turns:
                turn.saw_work = turn.saw_work or turn.inserted
            return
        progress.add_idle()
        for turn in session.open_turns:
            # An idle state without work before it may repeat an old one, so it must clearly be about this prompt.
            about_it = event.stop_reason is not None and (turn.has_output or progress.has_echo(turn))
            if turn.inserted and (turn.saw_work or about_it):
                if event.meta:
                    turn.response_meta = {**(turn.response_meta or {}), **event.meta}
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
        if not self._progress[session.id].has_echo(turn):
            self._show_prompt(session, turn)
        session.end_turn(turn, reason or "end_turn", tokens=tokens, error=failure)

    def _show_prompt(self, session: Session, turn: Turn) -> None:
        """Show a prompt that the agent didn't echo where it was sent."""
        session.transcript.add_message("user", list(turn.content), place=turn.position)

    def withdraw(self, turn: Turn) -> bool:
        if turn.inserted or turn.request_id is None:
            return False
        self.connection.tell(_CANCEL_REQUEST, {"requestId": turn.request_id})
        return True

    def session_ended(self, session: Session) -> None:
        self._progress.pop(session.id, None)

    async def cancel(self, session: Session) -> None:
        await self.connection.tell(m.SESSION_CANCEL, v2.CancelSessionNotification(session_id=session.id))

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        request = self.option_request(session, option, value)

        def on_response(done: asyncio.Future[Any]) -> None:
            """Apply the response in the order of messages, so that later updates win."""
            if done.exception() is None:
                session.push(session.transcript.set_options(from_v2.options(done.result().config_options)))

        deadline = self.agent.deadline("call")
        await self.connection.call(m.SESSION_SET_CONFIG_OPTION, request, deadline=deadline, then=on_response)

    async def cancel_tool_call(self, session: Session, id: str) -> None:
        await self._call(m.TOOL_CALL_CANCEL, v2.CancelToolCallRequest(session_id=session.id, tool_call_id=id))

    async def cancel_terminal(self, session: Session, id: str) -> None:
        await self._call(m.TERMINAL_CANCEL, v2.CancelTerminalRequest(session_id=session.id, terminal_id=id))

    async def login(self, method_id: str) -> None:
        await self._call(m.AUTH_LOGIN, v2.LoginAuthRequest(method_id=method_id), "login")

    async def logout(self) -> None:
        await self._call(m.AUTH_LOGOUT, v2.LogoutAuthRequest())
