"""One run of `accord run`: a session with the agent that was started, its turns, and what becomes of them."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from accord.cli import events
from accord.cli.begin import Begun
from accord.cli.failing import Failure, is_debugging, settle_log
from accord.cli.lending import LazyWorkspace
from accord.cli.showing import Json, Plain
from accord.cli.stopping import Stops
from accord.cli.terminal import Terminal
from accord.client.connect import Connecting, connect
from accord.client.warming import warm
from accord.config.folders import remembered_file
from accord.errors import AccordError, RequestFailed
from accord.policy.project import configuration
from accord.process.child import Child
from accord.process.start import start
from accord.transports.subprocess import SubprocessTransport

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from accord.cli.run import Wanted
    from accord.client.agent import ConnectedAgent
    from accord.client.local import LocalWorkspace
    from accord.client.offers import AgentOffers
    from accord.client.session import Session
    from accord.config.settings import Loaded
    from accord.model.requests import AuthMethod, McpServer

_STEPS_TO_GREETING = 4
"""How many steps of the event loop it takes until the greeting has been written."""
STATUS = {"end_turn": 0, "refusal": 3, "max_tokens": 4, "max_turn_requests": 5, "cancelled": 130}


class Headless:
    """One call of the command."""

    def __init__(self, wanted: Wanted, begun: Begun) -> None:
        progress = not wanted.quiet and sys.stderr is not None and sys.stderr.isatty()
        self.wanted = wanted
        self.begun = begun
        self.show: Json | Plain = Json() if wanted.as_json else Plain(progress=progress)
        self.stops = Stops(wanted.timeout, self._kill, lambda words: self._note("info", words))
        self.terminal: Terminal
        self.loaded: Loaded
        self._fresh = True
        self._transport: SubprocessTransport | None = None
        self._workspace: LazyWorkspace | None = None
        self._agent = "The agent"
        self._logins: list[str] = []

    async def run(self) -> int:
        """The exit status. Failures are told, and raised as `Failure`."""
        settle_log()
        self.stops.watch()
        self.show.on_broken = self.stops.end
        self.terminal = Terminal()
        try:
            self.loaded = self.begun.loaded or configuration(self.wanted.cwd)
            return await self._run(LazyWorkspace(self.wanted.cwd, self._workspace_made))
        except asyncio.CancelledError:
            if self.show.is_broken:
                raise BrokenPipeError from None
            if self.stops.status is None:
                raise
            if self.stops.status == 124:
                self._failed(f"no end within {self.wanted.timeout:g} s", None)
            return self.stops.status
        except click.ClickException as error:
            self._failed(error.format_message(), error)
            raise
        except AccordError as error:
            words = self._masked(error)
            self._failed(words, error)
            if is_debugging():
                raise
            raise Failure(words) from error
        finally:
            if self._fresh:
                self.begun.started.abandon()
            self.stops.over()

    async def _run(self, workspace: LazyWorkspace) -> int:
        can_ask = self.terminal.is_there
        self._workspace = workspace
        async with workspace:
            connecting = asyncio.ensure_future(
                _awaited(
                    connect(
                        self._start,
                        cwd=self.wanted.cwd,
                        workspace=workspace,
                        permissions=workspace.permissions,
                        elicitation=self._elicit if can_ask else None,
                        login=self._log_in if can_ask else None,
                        terminal_login=self._log_in_by_terminal if can_ask else False,
                        versions=self.wanted.versions,
                        deadlines=self.loaded.settings.waits,
                    )
                )
            )
            try:
                await self._prepare(workspace)
            except BaseException:
                connecting.cancel()
                await asyncio.wait([connecting])
                raise
            async with await connecting as agent:
                self._agent = agent.name
                self._logins = [method.name for method in agent.auth_methods]
                if agent.connection.first_stray:
                    self._note("info", f"the agent printed what is no message: {agent.connection.first_stray}")
                return await self._turns(agent)

    async def _prepare(self, workspace: LazyWorkspace) -> None:
        """What can be done while the agent still starts. The greeting leaves first, so that it finds it there."""
        for _ in range(_STEPS_TO_GREETING):
            await asyncio.sleep(0)
        for note in self.loaded.notes:
            self._note("warning", note)
        if self._has_rules():
            workspace.local  # noqa: B018  # a rule that cannot be read ends the run before it begins
        warm(max(self.wanted.versions))

    def _has_rules(self) -> bool:
        loaded = self.loaded
        return bool(self.wanted.rules or loaded.user_rules or loaded.project_rules or os.path.exists(remembered_file()))

    def _workspace_made(self) -> LocalWorkspace:
        from accord.client.local import LocalWorkspace
        from accord.policy.audit import Audit
        from accord.policy.project import policy

        audit = Audit(on_fault=lambda words: self._note("warning", words))
        rules = policy(self.loaded, self.wanted.cwd, self.begun.found.name, self.wanted.rules, audit)
        for note in rules.notes:
            self._note("warning", note)
        ask = self._ask if self.terminal.is_there else None
        return LocalWorkspace(self.wanted.cwd, policy=rules, ask=ask, told=self._told)

    async def _start(self) -> SubprocessTransport:
        """The agent that was started already; after a login, one that is started now."""
        found = self.begun
        if self._fresh:
            self._fresh = False
            child = Child.of(found.started)
        else:
            child = Child.of(start(found.found.argv, cwd=self.wanted.cwd, env=found.env))
        self._transport = SubprocessTransport(child)
        return self._transport

    def _kill(self) -> None:
        """Ends the agent and its terminals at once."""
        if self._transport is not None:
            self._transport.child.kill()
        elif self._fresh:
            self.begun.started.process.kill()
        if self._workspace is not None:
            self._workspace.kill()

    # -- the turns

    async def _turns(self, agent: ConnectedAgent) -> int:
        session = await self._session(agent)
        if self.wanted.options:
            from accord.cli.options import set_options

            await set_options(session, self.wanted.options)
        self.show.line(
            events.Session(
                session_id=session.id,
                agent=agent.name,
                protocol_version=agent.version,
                mode=_value(session, "mode"),
                model=_value(session, "model"),
            )
        )
        status = 0
        for number, text in enumerate(self.wanted.prompts):
            content = self._content(text, self.wanted.images if number == 0 else (), agent.offers)
            status = await self._turn(session, text, content)
            if status:
                break
        return status

    def _content(self, text: str, images: Sequence[Path], offers: AgentOffers) -> list[Any]:
        if "@" not in text and not images:
            return [text]
        from accord.cli.attach import prompt_content

        return prompt_content(text, images, self.wanted.cwd, offers)

    async def _session(self, agent: ConnectedAgent) -> Session:
        servers = self._servers(agent.offers)
        id = self.wanted.session_id
        if id is None:
            return await agent.new_session(mcp_servers=servers)
        if agent.offers.resume or not agent.offers.load:
            return await agent.resume_session(id, mcp_servers=servers)
        return await agent.load_session(id, mcp_servers=servers)

    def _servers(self, offers: AgentOffers) -> list[McpServer]:
        entries = dict(self.loaded.settings.mcp_servers)
        if not entries and self.wanted.mcp_config is None:
            return []
        from accord.config.servers import choose, read_servers

        if self.wanted.mcp_config is not None:
            entries |= read_servers(self.wanted.mcp_config)
        chosen = choose(entries, offers.mcp)
        for notice in chosen.notices:
            self._note("warning", notice)
        return chosen.servers

    async def _turn(self, session: Session, text: str, content: list[Any]) -> int:
        turn = self.stops.turn = session.prompt(*content)
        gc.enable()
        self.show.line(events.Prompt(text=text, attached=[uri for piece in content if (uri := _uri(piece))]))
        error: AccordError | None = None
        try:
            async for event in turn:
                self.show.event(event)
        except AccordError as failure:
            error = failure
        self.show.line(
            events.Ended(
                stop_reason=turn.stop_reason,
                text=turn.text,
                error=self._masked(error) if error is not None else None,
                code=error.code if isinstance(error, RequestFailed) else None,
            )
        )
        if self.stops.status is not None:
            return self.stops.status
        return 1 if error is not None else STATUS.get(str(turn.stop_reason), 1)

    # -- questions and notes

    async def _ask(self, question: Any) -> Any:
        from accord.cli.asking import ask_policy

        return await self.stops.unless_cancelled(ask_policy(self.terminal, question))

    async def _elicit(self, question: Any) -> Any:
        from accord.cli.forms import fill_form

        return await self.stops.unless_cancelled(fill_form(self.terminal, question, self._agent))

    async def _log_in(self, methods: list[AuthMethod]) -> AuthMethod | None:
        from accord.cli.asking import ask_login

        return await ask_login(self.terminal, methods)

    async def _log_in_by_terminal(self, method: AuthMethod) -> bool:
        from accord.client.launch import Command, log_in_by_terminal

        command = Command(self.begun.found.argv, self.begun.env)
        return await log_in_by_terminal(command, str(self.wanted.cwd), method.args, method.env)

    def _told(self, what: Any, decision: Any) -> None:
        if getattr(what, "kind", None) == "read" and decision.allowed:
            return
        title = getattr(what, "title", "") or getattr(what, "line", None) or ", ".join(getattr(what, "paths", ()))
        self.show.line(
            events.Permission(title=title, decision="allowed" if decision.allowed else "refused", why=decision.why)
        )

    def _note(self, severity: str, text: str) -> None:
        self.show.line(events.Notice(severity=severity, title=text))

    def _masked(self, error: Exception) -> str:
        from accord.cli.advice import advice
        from accord.config.mask import masked

        words = masked(str(error), self.begun.found.env)
        return words + advice(error, self._logins, can_ask=self.terminal.is_there)

    def _failed(self, message: str, error: Exception | None) -> None:
        """Programs hear of a failure where they hear of everything else; people, on standard error."""
        if self.wanted.as_json:
            stage = getattr(error, "stage", None) or None
            code = error.code if isinstance(error, RequestFailed) else None
            self.show.line(events.Error(message=message, stage=stage, code=code))
        elif error is None:
            self._note("error", message)


async def _awaited(connecting: Connecting) -> ConnectedAgent:
    return await connecting


def _uri(piece: Any) -> str | None:
    resource = getattr(piece, "resource", None)
    return getattr(piece, "uri", None) or getattr(resource, "uri", None)


def _value(session: Session, name: str) -> str | None:
    option = session.option(name)
    return str(option.value) if option is not None else None
