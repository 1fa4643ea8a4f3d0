"""How a client speaks version 1: a turn lasts as long as its prompt is open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from accord.client.dialect import Dialect, Place
from accord.client.offers import AgentOffers
from accord.client.session import Session
from accord.client.turn import Turn
from accord.client.wire import block, refusal, servers
from accord.client.workspace import TERMINAL_METHODS, TerminalCommand
from accord.connection.dispatch import Handler, Routes
from accord.errors import AuthRequired, NotFound
from accord.model.requests import Implementation
from accord.model.session import Option, SessionInfo
from accord.schema import v1
from accord.schema.method import Method
from accord.schema.repair import read as repair_read
from accord.schema.v1 import methods as m
from accord.transcript import reading, reading_v1
from accord.transcript.transcript import Transcript
from accord.transcript.v1 import Fold


class V1(Dialect):
    """Version 1, for a client."""

    version = 1
    one_turn_at_a_time = True

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
            image=can.prompt_capabilities.image,
            audio=can.prompt_capabilities.audio,
            resource=can.prompt_capabilities.embedded_context,
            mcp=frozenset(["stdio", *mcp]),
            meta=can.meta or None,
        )

    # -- what the agent may ask and tell

    def routes(self) -> Routes:
        handlers, workspace = self.agent.handlers, self.agent.workspace
        table: dict[Method[Any, Any], Handler] = {
            m.SESSION_UPDATE: self.agent.update,
            m.SESSION_REQUEST_PERMISSION: self._permission,
            m.ELICITATION_COMPLETE: lambda params: None,
        }
        if handlers.elicitation is not None:
            table[m.ELICITATION_CREATE] = self._elicitation
        if workspace is not None:
            if workspace.offers("read"):
                table[m.FS_READ_TEXT_FILE] = self._read
            if workspace.offers("write"):
                table[m.FS_WRITE_TEXT_FILE] = self._write
            if workspace.offers(*TERMINAL_METHODS):
                table[m.TERMINAL_CREATE] = self._create_terminal
                table[m.TERMINAL_OUTPUT] = self._terminal_output
                table[m.TERMINAL_WAIT_FOR_EXIT] = self._wait_for_exit
                table[m.TERMINAL_KILL] = self._kill
                table[m.TERMINAL_RELEASE] = self._release
        return Routes(table, other_request=handlers.request, other_notification=handlers.notification)

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
        question = reading_v1.elicitation(params)
        refusal(question)
        session = self.agent.sessions.get(question.session_id or "")
        reply = await self.agent.handlers.elicit(session, question)
        match reply.action:
            case "accept":
                return v1.ElicitationAcceptAction(content=UNSET if reply.content is None else reply.content)
            case "decline":
                return v1.ElicitationDeclineAction()
            case _:
                return v1.ElicitationCancelAction()

    async def _read(self, params: v1.ReadTextFileRequest) -> v1.ReadTextFileResponse:
        self.agent.session_of(params.session_id)
        assert self.agent.workspace is not None
        text = await self.agent.workspace.read(
            params.session_id, params.path, _value(params.line), _value(params.limit)
        )
        return v1.ReadTextFileResponse(content=text)

    async def _write(self, params: v1.WriteTextFileRequest) -> None:
        self.agent.session_of(params.session_id)
        assert self.agent.workspace is not None
        await self.agent.workspace.write(params.session_id, params.path, params.content)

    async def _create_terminal(self, params: v1.CreateTerminalRequest) -> v1.CreateTerminalResponse:
        session = self.agent.session_of(params.session_id)
        assert self.agent.workspace is not None
        command = TerminalCommand(
            command=params.command,
            args=list(params.args),
            env={variable.name: variable.value for variable in params.env},
            cwd=params.cwd or session.cwd,
            output_limit=_value(params.output_byte_limit),
        )
        id = await self.agent.workspace.create_terminal(params.session_id, command)
        return v1.CreateTerminalResponse(terminal_id=id)

    async def _terminal_output(self, params: v1.TerminalOutputRequest) -> v1.TerminalOutputResponse:
        assert self.agent.workspace is not None
        state = await self.agent.workspace.terminal_output(params.session_id, params.terminal_id)
        response = v1.TerminalOutputResponse(output=state.output, truncated=state.truncated)
        if state.exit is not None:
            response.exit_status = v1.TerminalExitStatus(
                exit_code=UNSET if state.exit.code is None else state.exit.code, signal=state.exit.signal or UNSET
            )
        return response

    async def _wait_for_exit(self, params: v1.WaitForTerminalExitRequest) -> v1.WaitForTerminalExitResponse:
        assert self.agent.workspace is not None
        status = await self.agent.workspace.wait_for_exit(params.session_id, params.terminal_id)
        return v1.WaitForTerminalExitResponse(
            exit_code=UNSET if status.code is None else status.code, signal=status.signal or UNSET
        )

    async def _kill(self, params: v1.KillTerminalRequest) -> None:
        assert self.agent.workspace is not None
        await self.agent.workspace.kill_terminal(params.session_id, params.terminal_id)

    async def _release(self, params: v1.ReleaseTerminalRequest) -> None:
        assert self.agent.workspace is not None
        await self.agent.workspace.release_terminal(params.session_id, params.terminal_id)

    # -- sessions

    def fold(self, transcript: Transcript) -> Fold:
        return Fold(transcript)

    async def new_session(self, place: Place, made: Callable[[str, Any], Any]) -> None:
        request = v1.NewSessionRequest(
            cwd=place.cwd,
            additional_directories=place.directories,
            mcp_servers=servers(place.servers, v1),
            meta=place.meta or UNSET,
        )
        await self.connection.call(m.SESSION_NEW, request, deadline=self.agent.deadline("session"), then=_made(made))

    async def open_session(self, id: str, place: Place, *, replay: bool, then: Callable[[Any], None]) -> None:
        kind = v1.LoadSessionRequest if replay else v1.ResumeSessionRequest
        request = kind(
            session_id=id,
            cwd=place.cwd,
            additional_directories=place.directories,
            mcp_servers=servers(place.servers, v1),
            meta=place.meta or UNSET,
        )
        await self.connection.call(
            m.SESSION_LOAD if replay else m.SESSION_RESUME,
            request,
            deadline=self.agent.deadline("session"),
            then=lambda done: None if done.exception() else then(done.result()),
        )

    async def fork_session(self, id: str, place: Place, made: Callable[[str, Any], Any]) -> None:
        request = v1.ForkSessionRequest(
            session_id=id,
            cwd=place.cwd,
            additional_directories=place.directories,
            mcp_servers=servers(place.servers, v1),
            meta=place.meta or UNSET,
        )
        await self.connection.call(m.SESSION_FORK, request, deadline=self.agent.deadline("session"), then=_made(made))

    def settle(self, session: Session, answer: Any) -> None:
        options = reading_v1.options(answer.config_options, answer.modes, answer.models)
        if options:
            session._push(session.transcript.set_options(options), 0)

    async def list_sessions(
        self, cwd: str | None, cursor: str | None, archived: str | None
    ) -> tuple[list[SessionInfo], str | None]:
        request = v1.ListSessionsRequest(
            cwd=UNSET if cwd is None else cwd,
            cursor=UNSET if cursor is None else cursor,
            archived=UNSET if archived is None else archived,
        )
        page = await self.connection.call(m.SESSION_LIST, request, deadline=self.agent.deadline("call"))
        return [reading.session_info(info) for info in page.sessions], _value(page.next_cursor)

    async def close_session(self, id: str) -> None:
        try:
            await self.connection.call(m.SESSION_CLOSE, v1.CloseSessionRequest(session_id=id))
        except NotFound:
            return

    async def delete_session(self, id: str) -> None:
        await self.connection.call(m.SESSION_DELETE, v1.DeleteSessionRequest(session_id=id))

    # -- turns

    def start_turn(self, session: Session, turn: Turn) -> None:
        session.transcript.add_message("user", list(turn.content))
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
                session.end_turn(turn, None, error=error)
            else:
                answer: v1.PromptResponse = done.result()
                tokens = reading.tokens(answer.usage) if _has(answer.usage) else None
                session.end_turn(turn, answer.stop_reason, tokens=tokens)

        self.connection.ask(m.SESSION_PROMPT, request, patient=True, then=ended)

    async def _log_in_and_retry(self, session: Session, turn: Turn, error: AuthRequired) -> None:
        try:
            if await self.agent.log_in_again():
                self._send_prompt(session, turn, retry=False)
                return
        except Exception as failure:
            session.end_turn(turn, None, error=failure)
            return
        session.end_turn(turn, None, error=error)

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


def _made(made: Callable[[str, Any], Any]) -> Callable[[asyncio.Future[Any]], None]:
    """Registers a new session in its answer's place, so that nothing after the answer comes too early."""
    return lambda done: None if done.exception() else made(done.result().session_id, done.result())


def _has(value: Any) -> bool:
    return value is not UNSET and value is not None


def _value(value: Any) -> Any:
    return None if value is UNSET else value
