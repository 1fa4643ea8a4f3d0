"""Version 1 for clients: a turn lasts as long as its `session/prompt` request is open."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Raw

from accord.client.dialect import Dialect, is_given, system_prompt_modes
from accord.client.offers import AgentOffers
from accord.client.session import Session
from accord.client.turn import Turn
from accord.client.v1.workspace import WorkspaceServer
from accord.codec import from_v1, from_wire
from accord.connection.dispatch import Handler, read_result
from accord.errors import AuthRequired
from accord.model.requests import Elicitation, PermissionRequest, SessionSetup
from accord.model.session import Option
from accord.schema import v1
from accord.schema.method import Method
from accord.schema.repair import read as repair_read
from accord.schema.v1 import methods as m
from accord.transcript.transcript import Transcript
from accord.transcript.v1 import Fold

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent


class V1(Dialect):
    """Version 1, for a client."""

    version = 1
    one_turn_at_a_time = True
    methods: ClassVar[Any] = m
    types: ClassVar[Any] = v1

    def __init__(self, agent: ConnectedAgent) -> None:
        super().__init__(agent)
        self._workspace = WorkspaceServer(agent, agent.workspace) if agent.workspace is not None else None
        self._listed: dict[
            str, tuple[bytes, list[Option]]
        ] = {}  # by session: the last response to a change, raw and decoded

    def offers(self, response: dict[str, Any]) -> AgentOffers:
        hello: v1.InitializeResponse = repair_read(v1.InitializeResponse, {**response, "protocolVersion": 1})
        can, sessions, info = hello.agent_capabilities, hello.agent_capabilities.session_capabilities, hello.agent_info
        mcp = [kind for kind in ("http", "sse", "acp") if getattr(can.mcp_capabilities, kind)]
        return AgentOffers(
            version=1,
            info=from_wire.implementation(info),
            auth_methods=[from_v1.auth_method(method) for method in hello.auth_methods],
            load=can.load_session,
            resume=is_given(sessions.resume),
            list=is_given(sessions.list),
            close=is_given(sessions.close),
            delete=is_given(sessions.delete),
            fork=is_given(sessions.fork),
            archive=is_given(sessions.archive),
            status=is_given(sessions.status),
            title=is_given(sessions.title),
            logout=is_given(can.auth.logout),
            auth_status=is_given(can.auth.status),
            providers=is_given(can.providers),
            additional_directories=is_given(sessions.additional_directories),
            system_prompt=is_given(sessions.system_prompt),
            system_prompt_modes=system_prompt_modes(sessions.system_prompt),
            image=can.prompt_capabilities.image,
            audio=can.prompt_capabilities.audio,
            resource=can.prompt_capabilities.embedded_context,
            mcp=frozenset(["stdio", *mcp]),
            meta=can.meta or None,
            response_meta=hello.meta or None,
        )

    # -- requests of the agent

    def workspace_routes(self) -> dict[Method[Any, Any], Handler]:
        return self._workspace.routes() if self._workspace is not None else {}

    def read_permission(self, session: Session, params: v1.RequestPermissionRequest) -> PermissionRequest:
        session.receive_call(params.tool_call)
        return from_v1.permission(params, session.transcript.tool_calls)

    def read_elicitation(self, params: Any) -> Elicitation:
        return from_v1.elicitation(params)

    # -- sessions

    def fold(self, transcript: Transcript, session: Session) -> Fold:
        return Fold(transcript, session)

    async def open_session(self, id: str, setup: SessionSetup, *, replay: bool, then: Callable[[Any], None]) -> None:
        kind = v1.LoadSessionRequest if replay else v1.ResumeSessionRequest
        request = kind(session_id=id, **self.setup_fields(setup))
        await self._open_session(m.SESSION_LOAD if replay else m.SESSION_RESUME, request, then)

    def apply_opened(self, session: Session, response: Any) -> None:
        options = from_v1.options(response.config_options, response.modes, response.models)
        if options:
            session.push(session.transcript.set_options(options))
        if not session.busy:
            session.transcript.set_state("idle")

    def session_ended(self, session: Session) -> None:
        self._listed.pop(session.id, None)
        if self._workspace is not None:
            self._workspace.release_all(session)

    # -- turns

    def start_turn(self, session: Session, turn: Turn) -> None:
        # Version 1 reports neither the user's messages nor the state. Add them, as version 2 would.
        session.push(session.transcript.add_message("user", list(turn.content)))
        session.push(session.transcript.set_state("running"))
        self._send_prompt(session, turn, retry=True)

    def _send_prompt(self, session: Session, turn: Turn, *, retry: bool) -> None:
        then = _PromptResponse(self, session, turn, retry)
        self.connection.ask(m.SESSION_PROMPT, turn.request, session=session.id, long_running=True, then=then)

    def end_prompt(self, session: Session, turn: Turn, retry: bool, done: asyncio.Future[Any]) -> None:
        """Handle the response to a prompt. With `retry`, a login that it asks for is tried."""
        error = done.exception()
        if error is None:
            answer: v1.PromptResponse = done.result()
            turn.response_meta = answer.meta or None
            self._end(session, turn, answer.stop_reason, from_wire.tokens(answer.usage), None)
        elif isinstance(error, AuthRequired) and retry and self.agent.logins.can_help(error):
            self.agent.tasks.spawn(self._log_in_and_retry(session, turn, error))
        else:
            self._end(session, turn, None, None, error)

    def _end(self, session: Session, turn: Turn, reason: str | None, tokens: Any, error: BaseException | None) -> None:
        if session.is_open(turn):
            session.push(session.transcript.set_state("idle", stop_reason=reason, tokens=tokens))
        session.end_turn(turn, reason, tokens=tokens, error=error)

    def questions_changed(self, session: Session) -> None:
        if session.busy:
            state = "requires_action" if session.is_asking else "running"
            if session.transcript.state != state:
                session.push(session.transcript.set_state(state))

    async def _log_in_and_retry(self, session: Session, turn: Turn, error: AuthRequired) -> None:
        try:
            if await self.agent.logins.log_in_again():
                # After a login the agent may be another process, and the session and its turns may have ended.
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

    def set_option(self, session: Session, option: Option, value: str | bool) -> Awaitable[Any]:
        call: Callable[..., Awaitable[Any]] = self.agent.connection.call
        deadline = self.agent.deadline("call")
        if option.legacy:

            def on_response(done: asyncio.Future[Any]) -> None:
                if done.exception() is None:
                    session.push(session.transcript.set_option(option.id, value))

            if option.legacy == "modes":
                mode = v1.SetSessionModeRequest(session_id=session.id, mode_id=str(value))
                return call(m.SESSION_SET_MODE, mode, deadline=deadline, then=on_response)
            model = v1.SetSessionModelRequest(session_id=session.id, model_id=str(value))
            return call(m.SESSION_SET_MODEL, model, deadline=deadline, then=on_response)
        request = self.option_request(session, option, value)
        return call(
            m.SESSION_SET_CONFIG_OPTION,
            request,
            session=session.id,
            deadline=deadline,
            read=partial(self._take_options, session),
        )

    def _take_options(self, session: Session, method: Method[Any, Any], result: bytes | Raw) -> None:
        """Apply the full list of options in a response, in the order of messages, so that later updates win.

        An unchanged list isn't decoded again: with two dozen models that takes longer than the rest of the call."""
        text, options = bytes(result), session.transcript.options
        known = self._listed.get(session.id)
        if known is None or known[0] != text or known[1] is not options:
            answer = read_result(method, text)
            options = from_v1.with_config(options, answer.config_options)
            self._listed[session.id] = text, options
        session.push(session.transcript.set_options(options))

    async def login(self, method_id: str) -> None:
        await self._call(m.AUTHENTICATE, v1.AuthenticateRequest(method_id=method_id), "login")

    async def logout(self) -> None:
        await self._call(m.LOGOUT, v1.LogoutRequest())


class _PromptResponse:
    """Called with the response to a prompt. A `partial` of a method would be four objects for the garbage collector."""

    __slots__ = ("_dialect", "_retry", "_session", "_turn")

    def __init__(self, dialect: V1, session: Session, turn: Turn, retry: bool) -> None:
        self._dialect = dialect
        self._session = session
        self._turn = turn
        self._retry = retry

    def __call__(self, done: asyncio.Future[Any]) -> None:
        self._dialect.end_prompt(self._session, self._turn, self._retry, done)
