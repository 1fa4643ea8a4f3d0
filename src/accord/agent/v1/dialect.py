"""Version 1 for agents: the response to a prompt ends its turn."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from accord.agent.dialect import Dialect, encode_elicitation, encode_tokens, read_reply, read_setup, unstable_routes
from accord.agent.offers import ClientOffers, is_present
from accord.agent.options import OptionResponses
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.agent.v1 import initialize
from accord.agent.v1 import updates as writing
from accord.codec import from_v1 as reading
from accord.codec.from_wire import or_none
from accord.connection.dispatch import Answer, Handler, Routes
from accord.connection.handshake import INITIALIZE
from accord.errors import MethodNotFound, RequestFailed
from accord.model.content import Content
from accord.model.record import Meta
from accord.model.requests import Elicitation, PermissionRequest, Reply
from accord.model.session import Option
from accord.model.statement import Raw, Statement, ToolPatch, WholeMessage
from accord.model.tool import FINAL, ExitStatus
from accord.schema import v1
from accord.schema.method import Method
from accord.schema.v1 import methods as m

if TYPE_CHECKING:
    from accord.agent.local_machine import LocalTerminal
    from accord.agent.side import AgentSide
    from accord.agent.turn_queue import Entry, Outcome
    from accord.agent.workspace import DisplayTerminal, Output

PREVIEW_SECONDS = 0.25
"""The interval at which the output of a running command is shown."""
PREVIEW_BYTES = 4096
"""How much of that output is shown."""


class V1(Dialect):
    """Version 1, for an agent."""

    allows_null_ids = True
    starts_in_place = True

    def __init__(self, side: AgentSide) -> None:
        super().__init__(side)
        self._terminals: dict[str, dict[str, list[bytes]]] = {}
        self._preview_timers: dict[str, asyncio.TimerHandle] = {}
        self._option_responses = OptionResponses(self._list_options)

    def _terminal_output(self, session: Session) -> dict[str, list[bytes]]:
        """Return the output of the agent's own terminals, which version 1 can only show as text."""
        return self._terminals.setdefault(session.id, {})

    def initialize(self, params: dict[str, Any]) -> tuple[Any, ClientOffers]:
        client = initialize.read_offers(params, self.agent)
        return initialize.build_response(self.agent, client), client

    # -- requests of the client

    def routes(self) -> Routes:
        agent, stored = self.agent, self.agent.store is not None
        table: dict[Method[Any, Any], Handler] = {
            INITIALIZE: self.side.initialize_again,
            m.AUTHENTICATE: self._authenticate,
            m.SESSION_NEW: self._new,
            m.SESSION_PROMPT: self._prompt,
            m.SESSION_CANCEL: lambda params: self.side.cancel(params.session_id),
            m.SESSION_SET_MODE: self._set_mode,
            m.SESSION_SET_CONFIG_OPTION: self._set_config_option,
            m.SESSION_SET_MODEL: self._set_model,
            m.SESSION_CLOSE: self._close,
        }
        if stored or agent.offers("load_session"):
            table[m.SESSION_LOAD] = self._load
        if stored or agent.offers("resume_session"):
            table[m.SESSION_RESUME] = self._resume
        if stored or agent.offers("list_sessions"):
            table[m.SESSION_LIST] = self._list
        if stored or agent.offers("delete_session"):
            table[m.SESSION_DELETE] = self._delete
        if agent.offers("logout"):
            table[m.LOGOUT] = self._logout
        if agent.unstable:
            table.update(self._unstable(stored))
        return Routes(
            table,
            other_request=agent.extension_request,
            other_notification=agent.extension_notification,
        )

    def _unstable(self, stored: bool) -> dict[Method[Any, Any], Handler]:
        agent = self.agent
        table = unstable_routes(self, m, stored)
        if stored or agent.offers("fork_session"):
            table[m.SESSION_FORK] = self._fork
        if stored or agent.offers("session_status"):
            table[m.SESSION_STATUS] = self._status
        return table

    async def _status(self, params: v1.SessionStatusRequest) -> v1.SessionStatusResponse:
        return v1.SessionStatusResponse(status=await self.sessions.status(params.session_id))

    async def _authenticate(self, params: v1.AuthenticateRequest) -> None:
        await self.side.login(params.method_id)

    async def _logout(self, params: v1.LogoutRequest) -> None:
        await self.side.logout()

    async def _new(self, params: v1.NewSessionRequest) -> Answer:
        session = await self.sessions.create(read_setup(params))
        return Answer(v1.NewSessionResponse(session_id=session.id, **self._choices(session)), session.release)

    async def _fork(self, params: v1.ForkSessionRequest) -> Answer:
        session = await self.sessions.fork(params.session_id, read_setup(params))
        return Answer(v1.ForkSessionResponse(session_id=session.id, **self._choices(session)), session.release)

    async def _load(self, params: v1.LoadSessionRequest) -> Answer:
        session = await self.sessions.reopen(params.session_id, read_setup(params), replay=True)
        response = v1.LoadSessionResponse(**self._choices(session))
        return Answer(response, lambda: self.sessions.finish_reopening(session))

    async def _resume(self, params: v1.ResumeSessionRequest) -> Answer:
        session = await self.sessions.reopen(params.session_id, read_setup(params), replay=False)
        return Answer(
            v1.ResumeSessionResponse(**self._choices(session)), lambda: self.sessions.finish_reopening(session)
        )

    def _choices(self, session: Session) -> dict[str, Any]:
        """Return the options, and the modes and models in the form that older clients expect."""
        meta = {"meta": session.response_meta} if session.response_meta else {}
        if not session.options:
            return meta
        options = writing.config_options(session.options, self.side.client.offers)
        models = writing.models(session.options) if self.agent.legacy_models else UNSET
        return {**meta, "config_options": options, "modes": writing.modes(session.options), "models": models}

    async def _list(self, params: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
        page = await self.sessions.list(or_none(params.cwd), or_none(params.cursor), params.archived or "exclude")
        can_archive = initialize.can_archive(self.agent)
        return v1.ListSessionsResponse(
            sessions=[
                v1.SessionInfo(
                    session_id=info.id,
                    cwd=info.cwd,
                    title=info.title or UNSET,
                    updated_at=info.updated_at or UNSET,
                    additional_directories=info.additional_directories,
                    archived=bool(info.archived) if can_archive else UNSET,
                    meta=info.meta or UNSET,
                )
                for info in page.sessions
            ],
            next_cursor=UNSET if page.next_cursor is None else page.next_cursor,
        )

    async def _close(self, params: v1.CloseSessionRequest) -> None:
        await self.sessions.close(params.session_id)
        self._terminals.pop(params.session_id, None)

    async def _delete(self, params: v1.DeleteSessionRequest) -> None:
        await self.sessions.delete(params.session_id)

    def _prompt(self, params: v1.PromptRequest) -> v1.PromptResponse | Coroutine[Any, Any, v1.PromptResponse]:
        """Handle a prompt. If its handler has already finished without waiting, no task is needed for the response."""
        session = self.sessions.find(params.session_id)
        content = [reading.content(block) for block in params.prompt]
        entry = self.side.prompts.submit(session, content, params.meta or None)
        if entry.outcome is None:
            return self._wait_for_end(session, entry)
        return self._prompt_response(entry.outcome, entry.turn.response_meta)

    async def _wait_for_end(self, session: Session, entry: Entry) -> v1.PromptResponse:
        try:
            outcome = await entry.until_ended()
        except asyncio.CancelledError:
            session.turns.cancel_entry(entry)
            if not self.connection.is_open:
                raise
            outcome = await entry.until_ended()
        return self._prompt_response(outcome, entry.turn.response_meta)

    def _prompt_response(self, outcome: Outcome, meta: Meta | None) -> v1.PromptResponse:
        if outcome.error is not None:
            raise RequestFailed(outcome.error.message, code=outcome.error.code, data=or_none(outcome.error.data))
        usage: Any = UNSET
        if outcome.tokens is not None and self.agent.unstable:
            usage = encode_tokens(outcome.tokens)
        return v1.PromptResponse(stop_reason=_stop_reason(outcome.stop_reason), usage=usage, meta=meta or UNSET)

    async def _set_mode(self, params: v1.SetSessionModeRequest) -> None:
        await self._set_by_category(params.session_id, "mode", params.mode_id)

    async def _set_model(self, params: v1.SetSessionModelRequest) -> None:
        await self._set_by_category(params.session_id, "model", params.model_id)

    async def _set_by_category(self, session_id: str, category: str, value: str) -> None:
        session = self.sessions.find(session_id)
        option = session.by_category(category)
        if option is None:
            raise MethodNotFound(f"this session has no {category}s to choose from")
        was = option.value
        setting = session.settings.set_by_client(option.id, value)
        if setting is not None:
            await setting
        if value != was:
            # The response is enough for clients that use modes; keep the equivalent option in sync (V1-MODE-09).
            options = writing.config_options(session.options, session.client.offers)
            await session.writer.tell(Raw(version=1, update=v1.ConfigOptionUpdate(config_options=options)))

    def _set_config_option(self, params: Any) -> Any:
        session = self.sessions.find(params.session_id)
        settings, value = session.settings, params.value
        if value in ("true", "false"):
            option = settings.find(params.config_id)
            if option is not None and option.is_boolean:
                value = value == "true"  # shown as a list to clients without boolean options
        mode = settings.by_category("mode")
        was = mode.value if mode is not None else None
        setting = settings.set_by_client(params.config_id, value)
        if setting is None and (mode is None or mode.value == was):
            return self._option_responses.find(settings.items)
        return self._finish_config_option(session, setting, was)

    async def _finish_config_option(
        self, session: Session, setting: Coroutine[Any, Any, None] | None, was: str | bool | None
    ) -> Any:
        if setting is not None:
            await setting
        mode = session.mode
        if mode is not None and mode != was:  # the response has all options; keep the modes in sync
            await session.writer.tell(Raw(version=1, update=v1.CurrentModeUpdate(current_mode_id=mode)))
        return self._option_responses.find(session.settings.items)

    def _list_options(self, options: list[Option]) -> v1.SetSessionConfigOptionResponse:
        return v1.SetSessionConfigOptionResponse(
            config_options=writing.config_options(options, self.side.client.offers)
        )

    # -- updates and requests to the client

    def turn_begins(self, session: Session, turn: Turn) -> None:
        # The client already has the user's message; save it for replays.
        session.writer.save(WholeMessage(role="user", message_id=turn.message_id, content=turn.content))

    def updates(self, session: Session, statement: Statement) -> Iterable[Any]:
        return writing.updates(statement, self.side.client.offers, self._terminal_output(session))

    def encodable(self, content: Content) -> Any:
        return writing.encodable(content)

    def display_grew(self, session: Session, terminal: DisplayTerminal | LocalTerminal) -> None:
        if terminal.shown_in is not None and terminal.id not in self._preview_timers:
            self._preview_timers[terminal.id] = asyncio.get_running_loop().call_later(
                PREVIEW_SECONDS, self._send_preview, session, terminal
            )

    def _send_preview(self, session: Session, terminal: DisplayTerminal | LocalTerminal) -> None:
        """Show the end of a terminal's output. Sending all of it each time would cost more with every update."""
        self._preview_timers.pop(terminal.id, None)
        call = terminal.shown_in
        if call is None or call.status in FINAL or session.closed or not self.connection.is_open:
            return
        terminals = self._terminal_output(session)
        last = {**terminals, terminal.id: writing.last_bytes(terminals.get(terminal.id, []), PREVIEW_BYTES)}
        session.writer.tell(Raw(version=1, update=writing.tool_call(ToolPatch(id=call.id, content=call.content), last)))

    async def display_ended(self, session: Session, terminal: DisplayTerminal | LocalTerminal) -> None:
        waiting = self._preview_timers.pop(terminal.id, None)
        if waiting is not None:
            waiting.cancel()
        if terminal.shown_in is not None:
            await terminal.shown_in.set_content(*terminal.shown_in.content)

    async def request_permission(self, session: Session, request: PermissionRequest) -> tuple[str | None, Meta | None]:
        params = writing.permission(request, self._terminal_output(session))
        try:
            response = await self.connection.call(m.SESSION_REQUEST_PERMISSION, params)
        finally:
            self._restore_title(session, request)
        outcome = response.outcome
        chosen = outcome.option_id if isinstance(outcome, v1.SelectedPermissionOutcome) else None
        return chosen, response.meta or None

    def _restore_title(self, session: Session, request: PermissionRequest) -> None:
        """Restore the call's title: the request replaced it, and clients keep that."""
        call = session.open_tools.get(request.tool_call.id) if request.tool_call is not None else None
        if call is not None and call.title != request.title and self.connection.is_open:
            session.writer.tell(ToolPatch(id=call.id, title=call.title))

    async def elicit(self, question: Elicitation) -> Reply:
        params = encode_elicitation(question, v1.ElicitationFormMode, v1.ElicitationUrlMode)
        return read_reply(await self.connection.call(m.ELICITATION_CREATE, params))

    async def read_file(self, session: Session, path: str, line: int | None, limit: int | None) -> str:
        request = v1.ReadTextFileRequest(
            session_id=session.id,
            path=path,
            line=UNSET if line is None else line,
            limit=UNSET if limit is None else limit,
        )
        return (await self.connection.call(m.FS_READ_TEXT_FILE, request)).content

    async def write_file(self, session: Session, path: str, text: str) -> None:
        request = v1.WriteTextFileRequest(session_id=session.id, path=path, content=text)
        await self.connection.call(m.FS_WRITE_TEXT_FILE, request)

    async def create_terminal(
        self, session: Session, command: str, args: list[str], cwd: str, env: dict[str, str], limit: int | None
    ) -> str:
        request = v1.CreateTerminalRequest(
            session_id=session.id,
            command=command,
            args=args,
            env=[v1.EnvVariable(name=name, value=value) for name, value in env.items()],
            cwd=cwd,
            output_byte_limit=UNSET if limit is None else limit,
        )
        return (await self.connection.call(m.TERMINAL_CREATE, request)).terminal_id

    async def terminal_output(self, session: Session, id: str) -> Output:
        from accord.agent.workspace import Output

        request = v1.TerminalOutputRequest(session_id=session.id, terminal_id=id)
        answer = await self.connection.call(m.TERMINAL_OUTPUT, request)
        status = _exit(answer.exit_status) if is_present(answer.exit_status) else None
        return Output(text=answer.output, truncated=answer.truncated, exit=status)

    async def wait_for_exit(self, session: Session, id: str) -> ExitStatus:
        request = v1.WaitForTerminalExitRequest(session_id=session.id, terminal_id=id)
        return _exit(await self.connection.call(m.TERMINAL_WAIT_FOR_EXIT, request))

    async def kill_terminal(self, session: Session, id: str) -> None:
        await self.connection.call(m.TERMINAL_KILL, v1.KillTerminalRequest(session_id=session.id, terminal_id=id))

    async def release_terminal(self, session: Session, id: str) -> None:
        request = v1.ReleaseTerminalRequest(session_id=session.id, terminal_id=id)
        await self.connection.call(m.TERMINAL_RELEASE, request)


def _stop_reason(reason: str) -> Any:
    """Convert to a version 1 stop reason. Version 1 allows no custom ones, so those become `end_turn`."""
    return reason if reason in ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled") else "end_turn"


def _exit(status: Any) -> ExitStatus:
    return ExitStatus(code=or_none(status.exit_code), signal=or_none(status.signal))
