"""How an agent speaks version 1: a prompt's answer ends its turn."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from accord.agent import writing_v1 as writing
from accord.agent.dialect import Dialect
from accord.agent.offers import ClientOffers
from accord.agent.reading import mcp_server, reply
from accord.agent.session import Session
from accord.connection.dispatch import Answer, Handler, Routes
from accord.connection.handshake import INITIALIZE
from accord.errors import MethodNotFound, RequestFailed
from accord.model.requests import Elicitation, Implementation, McpServer, PermissionRequest, Reply
from accord.model.session import Tokens
from accord.model.statement import Statement
from accord.model.tool import ExitStatus
from accord.schema import v1
from accord.schema.method import Method
from accord.schema.repair import read as repair_read
from accord.schema.v1 import methods as m
from accord.transcript import reading_v1 as reading

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.agent.terminals import DisplayTerminal, Output


class V1(Dialect):
    """Version 1, for an agent."""

    def __init__(self, side: Any) -> None:
        super().__init__(side)
        self._terminals: dict[str, dict[str, list[bytes]]] = {}

    def _shown(self, session: Session) -> dict[str, list[bytes]]:
        """The output of the agent's own terminals, which version 1 can only show as text."""
        return self._terminals.setdefault(session.id, {})

    # -- hello

    def hello(self, params: dict[str, Any]) -> tuple[Any, ClientOffers]:
        request: v1.InitializeRequest = repair_read(v1.InitializeRequest, params)
        offered, extra = (
            request.client_capabilities,
            request.client_capabilities.session or v1.ClientSessionCapabilities(),
        )
        elicitation = offered.elicitation or v1.ElicitationCapabilities()
        info = request.client_info or None
        client = ClientOffers(
            version=1,
            info=Implementation(name=info.name, version=info.version, title=info.title or None) if info else None,
            read_files=offered.fs.read_text_file,
            write_files=offered.fs.write_text_file,
            terminals=offered.terminal,
            forms=_has(elicitation.form),
            urls=_has(elicitation.url),
            terminal_login=offered.auth.terminal,
            boolean_options=_has(extra.config_options) and _has(extra.config_options.boolean),  # type: ignore[union-attr]
            notices=_has(extra.notices),
            compaction=_has(extra.compaction),
            plans=_has(offered.plan),
            subagents=_has(offered.subagents),
            meta=offered.meta or None,
        )
        return self._answer(client), client

    def _answer(self, client: ClientOffers) -> v1.InitializeResponse:
        agent, content = self.agent, self.agent.content
        stored = agent.store is not None
        unstable = agent.unstable
        yes: Any = {}
        sessions = v1.SessionCapabilities(
            list=yes if stored or agent.offers("list_sessions") else UNSET,
            resume=yes if stored or agent.offers("resume_session") else UNSET,
            close=yes,
            delete=yes if stored or agent.offers("delete_session") else UNSET,
            additional_directories=yes if agent.additional_directories else UNSET,
            fork=yes if unstable and (stored or agent.offers("fork_session")) else UNSET,
            archive=yes if unstable and agent.offers("archive_session") else UNSET,
            status=yes if unstable and agent.offers("session_status") else UNSET,
            title=yes if unstable and agent.offers("set_title") else UNSET,
        )
        return v1.InitializeResponse(
            protocol_version=1,
            agent_info=v1.Implementation(
                name=agent.name or type(agent).__name__, version=agent.version, title=agent.title or UNSET
            ),
            agent_capabilities=v1.AgentCapabilities(
                load_session=stored or agent.offers("load_session"),
                prompt_capabilities=v1.PromptCapabilities(
                    image="image" in content, audio="audio" in content, embedded_context="resource" in content
                ),
                mcp_capabilities=_mcp_capabilities(agent),
                session_capabilities=sessions,
                auth=v1.AgentAuthCapabilities(
                    logout=yes if agent.offers("logout") else UNSET,
                    status=yes if unstable and agent.offers("auth_status") else UNSET,
                ),
                providers=yes if unstable and agent.offers("list_providers") else UNSET,
            ),
            auth_methods=[
                _auth_method(method)
                for method in agent.auth_methods
                if method.kind != "terminal" or client.terminal_login
            ],
        )

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
            other_request=agent.extension_request,
            other_notification=agent.extension_notification,
        )

    def _unstable(self, stored: bool) -> dict[Method[Any, Any], Handler]:
        agent = self.agent
        table: dict[Method[Any, Any], Handler] = {}
        if stored or agent.offers("fork_session"):
            table[m.SESSION_FORK] = self._fork
        from accord.agent.unstable import routes

        table.update(routes(agent, m, v1))
        return table

    async def _authenticate(self, params: v1.AuthenticateRequest) -> None:
        await self.side.login(params.method_id)

    async def _logout(self, params: v1.LogoutRequest) -> None:
        await self.side.logout()

    async def _new(self, params: v1.NewSessionRequest) -> Answer:
        session = await self.side.new_session(
            params.cwd, params.additional_directories, servers(params.mcp_servers), params.meta or None
        )
        answer = v1.NewSessionResponse(session_id=session.id, **self._choices(session))
        return Answer(answer, session.release)

    async def _fork(self, params: v1.ForkSessionRequest) -> Answer:
        session = await self.side.fork_session(
            params.session_id,
            params.cwd,
            params.additional_directories,
            servers(params.mcp_servers),
            params.meta or None,
        )
        answer = v1.ForkSessionResponse(session_id=session.id, **self._choices(session))
        return Answer(answer, session.release)

    async def _load(self, params: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
        return v1.LoadSessionResponse(**self._choices(await self._open(params, replay=True)))

    async def _resume(self, params: v1.ResumeSessionRequest) -> v1.ResumeSessionResponse:
        return v1.ResumeSessionResponse(**self._choices(await self._open(params, replay=False)))

    async def _open(self, params: Any, *, replay: bool) -> Session:
        return await self.side.open_session(
            params.session_id,
            params.cwd,
            params.additional_directories,
            servers(params.mcp_servers),
            params.meta or None,
            replay=replay,
        )

    def _choices(self, session: Session) -> dict[str, Any]:
        """The options twice: as themselves, and the modes as older clients know them."""
        if not session.options:
            return {}
        options = writing.config_options(session.options, self.side.client)
        return {"config_options": options, "modes": writing.modes(session.options)}

    async def _list(self, params: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
        page = await self.side.list_sessions(params.cwd or None, _value(params.cursor), params.archived or "exclude")
        return v1.ListSessionsResponse(
            sessions=[
                v1.SessionInfo(
                    session_id=info.id,
                    cwd=info.cwd,
                    title=info.title or UNSET,
                    updated_at=info.updated_at or UNSET,
                    additional_directories=info.additional_directories,
                    archived=UNSET if info.archived is None else info.archived,
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
        if outcome.exception is not None:
            raise outcome.exception
        usage: Any = UNSET
        if outcome.tokens is not None and self.agent.unstable:
            usage = tokens(outcome.tokens)
        stop_reason: Any = outcome.stop_reason
        if stop_reason not in ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"):
            raise RequestFailed(f"session/prompt: version 1 has no stop reason {str(stop_reason)[:40]!r}")
        return v1.PromptResponse(stop_reason=stop_reason, usage=usage)

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
        await session.change_option(option.id, value)

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

    def updates(self, session: Session, statement: Statement) -> Iterable[Any]:
        return writing.updates(statement, self.side.client, self._shown(session))

    async def display_ended(self, session: Session, terminal: DisplayTerminal) -> None:
        if terminal.shown_in is not None:
            await terminal.shown_in.set_content(*terminal.shown_in.content)

    async def request_permission(self, session: Session, request: PermissionRequest) -> str | None:
        params = writing.permission(request, self._shown(session))
        response = await self.side.connection.call(m.SESSION_REQUEST_PERMISSION, params)
        outcome = response.outcome
        return outcome.option_id if isinstance(outcome, v1.SelectedPermissionOutcome) else None

    async def elicit(self, session: Session, question: Elicitation) -> Reply:
        params: Any
        if question.mode == "url":
            params = v1.ElicitationUrlMode(
                message=question.message,
                session_id=session.id,
                url=question.url or "",
                elicitation_id=question.id or "",
            )
        else:
            schema: Any = question.schema
            params = v1.ElicitationFormMode(message=question.message, session_id=session.id, requested_schema=schema)
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


def servers(listed: Iterable[Any]) -> list[McpServer]:
    """The MCP servers of a request."""
    return [mcp_server(server) for server in listed]


def tokens(used: Tokens) -> v1.Usage:
    return v1.Usage(
        total_tokens=used.total,
        input_tokens=used.input,
        output_tokens=used.output,
        thought_tokens=UNSET if used.thought is None else used.thought,
        cached_read_tokens=UNSET if used.cached_read is None else used.cached_read,
        cached_write_tokens=UNSET if used.cached_write is None else used.cached_write,
    )


def _mcp_capabilities(agent: Agent) -> Any:
    """What only the unstable schema has is not even mentioned unless it is offered."""
    told = {kind: kind in agent.mcp for kind in ("http", "sse")}
    return {**told, "acp": True} if agent.unstable and "acp" in agent.mcp else told


def _auth_method(method: Any) -> Any:
    common = {"id": method.id, "name": method.name, "description": method.description or UNSET}
    if method.kind == "terminal":
        return v1.AuthMethodTerminal(**common, args=list(method.args), env=dict(method.env))
    return v1.AuthMethodAgent(**common)


def _exit(status: Any) -> ExitStatus:
    return ExitStatus(code=_value(status.exit_code), signal=_value(status.signal))


def _has(value: Any) -> bool:
    """Whether a capability object is there; an empty one counts."""
    return value is not UNSET and value is not None


def _value(value: Any) -> Any:
    return None if value is UNSET else value
