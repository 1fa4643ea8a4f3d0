"""How an agent speaks version 1: a prompt's answer ends its turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from accord.agent import hello_v1 as hello
from accord.agent import writing_v1 as writing
from accord.agent.dialect import Dialect
from accord.agent.offers import ClientOffers
from accord.agent.reading import place, reply
from accord.agent.session import Session
from accord.agent.turn import Turn
from accord.connection.dispatch import Answer, Handler, Routes
from accord.connection.handshake import INITIALIZE
from accord.errors import MethodNotFound, RequestFailed
from accord.model.requests import Elicitation, PermissionRequest, Reply
from accord.model.session import Tokens
from accord.model.statement import Raw, Statement, ToolPatch, WholeMessage
from accord.model.tool import FINAL, ExitStatus
from accord.schema import v1
from accord.schema.method import Method
from accord.schema.v1 import methods as m
from accord.transcript import reading_v1 as reading
from accord.transcript.reading import given

if TYPE_CHECKING:
    from accord.agent.local import LocalTerminal
    from accord.agent.terminals import DisplayTerminal, Output

GLIMPSE_EVERY = 0.25
"""How often, in seconds, what a running command of the agent's own printed is shown, ..."""
GLIMPSE_BYTES = 4096
"""... and how much of it."""


class V1(Dialect):
    """Version 1, for an agent."""

    def __init__(self, side: Any) -> None:
        super().__init__(side)
        self._terminals: dict[str, dict[str, list[bytes]]] = {}
        self._glimpses: dict[str, asyncio.TimerHandle] = {}

    def _shown(self, session: Session) -> dict[str, list[bytes]]:
        """The output of the agent's own terminals, which version 1 can only show as text."""
        return self._terminals.setdefault(session.id, {})

    def hello(self, params: dict[str, Any]) -> tuple[Any, ClientOffers]:
        client = hello.offers(params)
        return hello.answer(self.agent, client), client

    # -- what is served

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
            other_request=self.side.other_request,
            other_notification=agent.extension_notification,
        )

    def _unstable(self, stored: bool) -> dict[Method[Any, Any], Handler]:
        agent = self.agent
        from accord.agent.unstable import routes

        table = routes(self.side, m, stored)
        if stored or agent.offers("fork_session"):
            table[m.SESSION_FORK] = self._fork
        if stored or agent.offers("session_status"):
            table[m.SESSION_STATUS] = self._status
        return table

    async def _status(self, params: v1.SessionStatusRequest) -> v1.SessionStatusResponse:
        return v1.SessionStatusResponse(status=await self.side.session_status(params.session_id))

    async def _authenticate(self, params: v1.AuthenticateRequest) -> None:
        await self.side.login(params.method_id)

    async def _logout(self, params: v1.LogoutRequest) -> None:
        await self.side.logout()

    async def _new(self, params: v1.NewSessionRequest) -> Answer:
        session = await self.side.new_session(place(params))
        return Answer(v1.NewSessionResponse(session_id=session.id, **self._choices(session)), session.release)

    async def _fork(self, params: v1.ForkSessionRequest) -> Answer:
        session = await self.side.fork_session(params.session_id, place(params))
        return Answer(v1.ForkSessionResponse(session_id=session.id, **self._choices(session)), session.release)

    async def _load(self, params: v1.LoadSessionRequest) -> Answer:
        session = await self.side.open_session(params.session_id, place(params), replay=True)
        return Answer(v1.LoadSessionResponse(**self._choices(session)), lambda: self.side.opened(session))

    async def _resume(self, params: v1.ResumeSessionRequest) -> Answer:
        session = await self.side.open_session(params.session_id, place(params), replay=False)
        return Answer(v1.ResumeSessionResponse(**self._choices(session)), lambda: self.side.opened(session))

    def _choices(self, session: Session) -> dict[str, Any]:
        """The options twice: as themselves, and the modes and models as older clients know them."""
        if not session.options:
            return {}
        options = writing.config_options(session.options, self.side.client)
        models = writing.models(session.options) if self.agent.legacy_models else UNSET
        return {"config_options": options, "modes": writing.modes(session.options), "models": models}

    async def _list(self, params: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
        page = await self.side.list_sessions(given(params.cwd), given(params.cursor), params.archived or "exclude")
        archives = hello.archives(self.agent)
        return v1.ListSessionsResponse(
            sessions=[
                v1.SessionInfo(
                    session_id=info.id,
                    cwd=info.cwd,
                    title=info.title or UNSET,
                    updated_at=info.updated_at or UNSET,
                    additional_directories=info.additional_directories,
                    archived=bool(info.archived) if archives else UNSET,
                )
                for info in page.sessions
            ],
            next_cursor=UNSET if page.next_cursor is None else page.next_cursor,
        )

    async def _close(self, params: v1.CloseSessionRequest) -> None:
        await self.side.close_session(params.session_id)
        self._terminals.pop(params.session_id, None)

    async def _delete(self, params: v1.DeleteSessionRequest) -> None:
        await self.side.delete_session(params.session_id)

    async def _prompt(self, params: v1.PromptRequest) -> v1.PromptResponse:
        session = self.side.session(params.session_id)
        content = [reading.content(block) for block in params.prompt]
        entry = self.side.submit(session, content, params.meta or None)
        try:
            outcome = await asyncio.shield(entry.ended)
        except asyncio.CancelledError:
            session.turns.cancel_entry(entry)
            if not self.side.connection.is_open:
                raise
            outcome = await asyncio.shield(entry.ended)
        if outcome.error is not None:
            raise RequestFailed(outcome.error.message, code=outcome.error.code, data=given(outcome.error.data))
        usage: Any = UNSET
        if outcome.tokens is not None and self.agent.unstable:
            usage = tokens(outcome.tokens)
        return v1.PromptResponse(stop_reason=_stop_reason(outcome.stop_reason), usage=usage)

    async def _set_mode(self, params: v1.SetSessionModeRequest) -> None:
        await self._set_by_category(params.session_id, "mode", params.mode_id)

    async def _set_model(self, params: v1.SetSessionModelRequest) -> None:
        await self._set_by_category(params.session_id, "model", params.model_id)

    async def _set_by_category(self, session_id: str, category: str, value: str) -> None:
        session = self.side.session(session_id)
        option = session.by_category(category)
        if option is None:
            raise MethodNotFound(f"this session has no {category}s to choose from")
        await self.side.set_option(session, option.id, value)
        await session.tell_options(changed=option.id)

    async def _set_config_option(self, params: Any) -> v1.SetSessionConfigOptionResponse:
        session = self.side.session(params.session_id)
        option = session.option(params.config_id)
        value = params.value
        if option is not None and option.is_boolean and value in ("true", "false"):
            value = value == "true"  # shown as a list to clients without on/off options
        was = session.mode
        await self.side.set_option(session, params.config_id, value)
        if session.mode != was:  # clients that know modes alone must hear of it too
            await session.tell_options(changed=params.config_id)
        return v1.SetSessionConfigOptionResponse(
            config_options=writing.config_options(session.options, self.side.client)
        )

    # -- what is said and asked

    def turn_begins(self, session: Session, turn: Turn) -> None:
        # The client has what its user said; it is kept for those to whom the session is told again.
        session.keep(WholeMessage(role="user", message_id=turn.message_id, content=turn.content))

    def updates(self, session: Session, statement: Statement) -> Iterable[Any]:
        return writing.updates(statement, self.side.client, self._shown(session))

    def display_grew(self, session: Session, terminal: DisplayTerminal | LocalTerminal) -> None:
        if terminal.shown_in is not None and terminal.id not in self._glimpses:
            self._glimpses[terminal.id] = asyncio.get_running_loop().call_later(
                GLIMPSE_EVERY, self._glimpse, session, terminal
            )

    def _glimpse(self, session: Session, terminal: DisplayTerminal | LocalTerminal) -> None:
        """Shows the last of what a terminal printed. All of it each time would cost ever more."""
        self._glimpses.pop(terminal.id, None)
        call = terminal.shown_in
        if call is None or call.status in FINAL or session.closed or not self.side.connection.is_open:
            return
        terminals = self._shown(session)
        last = {**terminals, terminal.id: writing.last_bytes(terminals.get(terminal.id, []), GLIMPSE_BYTES)}
        session.tell(Raw(version=1, update=writing.tool_call(ToolPatch(id=call.id, content=call.content), last)))

    async def display_ended(self, session: Session, terminal: DisplayTerminal | LocalTerminal) -> None:
        waiting = self._glimpses.pop(terminal.id, None)
        if waiting is not None:
            waiting.cancel()
        if terminal.shown_in is not None:
            await terminal.shown_in.set_content(*terminal.shown_in.content)

    async def request_permission(self, session: Session, request: PermissionRequest) -> str | None:
        params = writing.permission(request, self._shown(session))
        try:
            response = await self.side.connection.call(m.SESSION_REQUEST_PERMISSION, params)
        finally:
            self._title_again(session, request)
        outcome = response.outcome
        return outcome.option_id if isinstance(outcome, v1.SelectedPermissionOutcome) else None

    def _title_again(self, session: Session, request: PermissionRequest) -> None:
        """The question had to be the call's title, which clients keep: gives the call its own back."""
        call = session.open_tools.get(request.tool_call.id) if request.tool_call is not None else None
        if call is not None and call.title != request.title and self.side.connection.is_open:
            session.tell(ToolPatch(id=call.id, title=call.title))

    async def elicit(self, session: Session, question: Elicitation) -> Reply:
        params: Any
        named = question.session_id is not None
        scope: Any = {"session_id": question.session_id} if named else {"request_id": question.request_id}
        if question.mode == "url":
            params = v1.ElicitationUrlMode(
                message=question.message, url=question.url or "", elicitation_id=question.id or "", **scope
            )
        else:
            schema: Any = question.schema
            params = v1.ElicitationFormMode(message=question.message, requested_schema=schema, **scope)
        return reply(await self.side.connection.call(m.ELICITATION_CREATE, params))

    async def read_file(self, session: Session, path: str, line: int | None, limit: int | None) -> str:
        request = v1.ReadTextFileRequest(
            session_id=session.id,
            path=path,
            line=UNSET if line is None else line,
            limit=UNSET if limit is None else limit,
        )
        return (await self.side.connection.call(m.FS_READ_TEXT_FILE, request)).content

    async def write_file(self, session: Session, path: str, text: str) -> None:
        request = v1.WriteTextFileRequest(session_id=session.id, path=path, content=text)
        await self.side.connection.call(m.FS_WRITE_TEXT_FILE, request)

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
        return (await self.side.connection.call(m.TERMINAL_CREATE, request)).terminal_id

    async def terminal_output(self, session: Session, id: str) -> Output:
        from accord.agent.terminals import Output

        request = v1.TerminalOutputRequest(session_id=session.id, terminal_id=id)
        answer = await self.side.connection.call(m.TERMINAL_OUTPUT, request)
        status = _exit(answer.exit_status) if _has(answer.exit_status) else None
        return Output(text=answer.output, truncated=answer.truncated, exit=status)

    async def wait_for_exit(self, session: Session, id: str) -> ExitStatus:
        request = v1.WaitForTerminalExitRequest(session_id=session.id, terminal_id=id)
        return _exit(await self.side.connection.call(m.TERMINAL_WAIT_FOR_EXIT, request))

    async def kill_terminal(self, session: Session, id: str) -> None:
        await self.side.connection.call(m.TERMINAL_KILL, v1.KillTerminalRequest(session_id=session.id, terminal_id=id))

    async def release_terminal(self, session: Session, id: str) -> None:
        request = v1.ReleaseTerminalRequest(session_id=session.id, terminal_id=id)
        await self.side.connection.call(m.TERMINAL_RELEASE, request)


def _stop_reason(reason: str) -> Any:
    """A stop reason of version 1, which has no others. What an author made up himself is an end like any other."""
    if reason in ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"):
        return reason
    if reason.startswith("_"):
        return "end_turn"
    raise RequestFailed(f"session/prompt: version 1 has no stop reason {reason[:40]!r}")


def tokens(used: Tokens) -> v1.Usage:
    return v1.Usage(
        total_tokens=used.total,
        input_tokens=used.input,
        output_tokens=used.output,
        thought_tokens=UNSET if used.thought is None else used.thought,
        cached_read_tokens=UNSET if used.cached_read is None else used.cached_read,
        cached_write_tokens=UNSET if used.cached_write is None else used.cached_write,
    )


def _exit(status: Any) -> ExitStatus:
    return ExitStatus(code=given(status.exit_code), signal=given(status.signal))


def _has(value: Any) -> bool:
    """Whether a capability object is there; an empty one counts."""
    return value is not UNSET and value is not None
