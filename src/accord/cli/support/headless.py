"""The run behind `accord run`: open a session with the agent, play the turns, and report the result."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from typing import TYPE_CHECKING, Any

import click

from accord.cli.support import output_events
from accord.cli.support.errors import CommandError, configure_logging, is_debugging
from accord.cli.support.interrupts import TIMED_OUT, Interrupts
from accord.cli.support.launch import StartedAgent, cannot_create_files
from accord.cli.support.named_sessions import NamedSessions
from accord.cli.support.output import JsonOutput, Output, TextOutput
from accord.cli.support.run_budget import RunBudget
from accord.cli.support.run_status import RunStatus
from accord.cli.support.session_opener import SessionOpener
from accord.cli.support.terminal import Terminal
from accord.cli.support.workspace import LazyWorkspace
from accord.client.connect import Connecting, connect
from accord.client.launch import preload
from accord.config.directories import remembered_file
from accord.errors import AccordError, RequestFailed
from accord.model.content import uri_of
from accord.model.session import NOT_UNDERSTOOD, Usage
from accord.model.tool import ToolCall
from accord.policy.project import load_configuration
from accord.process.child import Child
from accord.process.launch import start
from accord.transcript.plan_calls import is_plan_update
from accord.transports.subprocess import SubprocessTransport

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from accord.cli.run import RunOptions
    from accord.client.agent import ConnectedAgent
    from accord.client.local_workspace import LocalWorkspace
    from accord.client.offers import AgentOffers
    from accord.client.session import Session
    from accord.config.settings import Loaded
    from accord.model.requests import AuthMethod, PermissionRequest
    from accord.policy.action import Action
    from accord.policy.decision import Decision

_STEPS_TO_GREETING = 4
"""How many steps of the event loop it takes to write the `initialize` request."""
STATUS = {"end_turn": 0, "refusal": 3, "max_tokens": 4, "max_turn_requests": 5, "cancelled": 130}
UNKNOWN_AGENT = "The agent"
NOT_ASKED = 6
"""Exit status: all turns finished, but an action was refused because nobody could be asked."""
NOT_UNDERSTOOD_STATUS = 7
"""Exit status: the agent reports that it didn't understand the prompt."""


class HeadlessRun:
    """One invocation of `accord run`."""

    def __init__(
        self, options: RunOptions, launched: StartedAgent, on_start: Callable[[str], None] | None = None
    ) -> None:
        """`on_start` is called with the ID of the session when the first prompt has been sent."""
        self.options = options
        self.launched = launched
        self._on_start = on_start
        self.show: Output = _choose_output(options)
        self.stops: Interrupts = Interrupts(options.timeout, self._kill, lambda message: self._note("info", message))
        self.terminal: Terminal
        self.loaded: Loaded
        self._fresh = True
        self._transport: SubprocessTransport | None = None
        self._workspace: LazyWorkspace | None = None
        self._agent = UNKNOWN_AGENT
        self._logins: list[str] = []
        self._was_refused_unasked = False
        self._budget: RunBudget
        self._status = RunStatus(
            launched.found, options.agent, options.cwd, is_saved=options.saves, in_background=not options.waits
        )
        self._awaited = "to start"
        """The step that the agent is expected to do, for the message after a timeout."""

    async def run(self) -> int:
        """Return the exit status. Errors are printed in JSON mode, and raised as `CommandError`."""
        configure_logging()
        self.stops.watch()
        self.show.on_broken = self.stops.end
        self.terminal = Terminal()
        if self._on_start is not None:
            self._expect_session()
        try:
            self.loaded = self.launched.loaded or load_configuration(self.options.cwd)
            reads = not cannot_create_files(self.launched.found)
            return await self._run(LazyWorkspace(self.options.cwd, self._make_workspace, reads=reads))
        except asyncio.CancelledError:
            if self.show.is_broken:
                raise BrokenPipeError from None
            if self.stops.status is None:
                raise
            try:
                self._raise_timeout()
            except CommandError as error:
                self._report_error(str(error), None)
                raise
            return self.stops.status
        except CommandError as error:
            self._report_error(str(error), None)
            raise
        except click.ClickException as error:
            self._report_error(error.format_message(), error)
            raise
        except AccordError as error:
            message = self._describe(error)
            self._report_error(message, error)
            if is_debugging():
                raise
            raise CommandError(message) from error
        finally:
            if not self.show.is_broken:
                self.show.stop()
            if self._fresh:
                self.launched.started.abandon()
            self._status.close()
            self.stops.over()

    def _expect_session(self) -> None:
        """Let the attention list show that a run in the background failed before its session was open."""
        saved = NamedSessions().find(self.launched.found.name, self.options.cwd, self.options.name or "")
        if saved is not None:
            self._status.expect(saved, self.options.prompts[0])

    async def _run(self, workspace: LazyWorkspace) -> int:
        can_ask = self.terminal.is_there
        self._workspace = workspace
        async with workspace:
            connecting = asyncio.ensure_future(
                _await(
                    connect(
                        self._start,
                        cwd=self.options.cwd,
                        workspace=workspace,
                        permissions=workspace.permissions,
                        elicitation=self._elicit if can_ask else None,
                        login=self._log_in if can_ask else None,
                        # Declared even if nobody can be asked: agents list terminal logins only to clients that
                        # declare them, and the error message recommends one. The program of a remote agent
                        # isn't on this machine.
                        terminal_login=False if self.launched.found.is_remote else self._log_in_by_terminal,
                        versions=self.options.versions,
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
                usable = agent.usable_logins
                self._logins = [method.name for method in agent.auth_methods if method in usable]
                if agent.connection.first_stray:
                    self._note("info", f"stray output from the agent: {agent.connection.first_stray}")
                return await self._turns(agent)

    async def _prepare(self, workspace: LazyWorkspace) -> None:
        """Prepare the run while the agent starts, once the `initialize` request has been written."""
        for _ in range(_STEPS_TO_GREETING):
            await asyncio.sleep(0)
        for note in self.loaded.notes:
            self._note("warning", note)
        if self.launched.unsaved:
            self._note("warning", f"This session and its decisions won't be saved: {self.launched.unsaved}")
        if self._has_rules():
            workspace.local  # noqa: B018  # raises for an invalid rule
        preload(max(self.options.versions))

    def _has_rules(self) -> bool:
        loaded = self.loaded
        return bool(
            self.options.rules or loaded.user_rules or loaded.project_rules or os.path.exists(remembered_file())
        )

    def _make_workspace(self) -> LocalWorkspace:
        from accord.client.local_workspace import LocalWorkspace
        from accord.policy.audit import Audit
        from accord.policy.project import build_policy

        audit = Audit(on_problem=lambda message: None if self.launched.unsaved else self._note("warning", message))
        rules = build_policy(self.loaded, self.options.cwd, self.launched.found.name, self.options.rules, audit)
        for note in rules.notes:
            self._note("warning", note)
        ask = self._ask if self.terminal.is_there else None
        return LocalWorkspace(self.options.cwd, policy=rules, ask=ask, on_decision=self._report_decision)

    async def _start(self) -> SubprocessTransport:
        """Return the agent that was started early; after a login, start it again."""
        found = self.launched
        if self._fresh:
            self._fresh = False
            started = found.started
        else:
            started = start(found.found.argv, cwd=self.options.cwd, env=found.env)
        child = Child.of(started, on_stderr=self._show_stderr if self.options.shows_stderr else None)
        self._transport = SubprocessTransport(child)
        return self._transport

    def _kill(self) -> None:
        """Kill the agent and its terminals."""
        if self._transport is not None:
            self._transport.child.kill()
        elif self._fresh:
            self.launched.started.process.kill()
        if self._workspace is not None:
            self._workspace.kill()

    # -- the turns

    async def _turns(self, agent: ConnectedAgent) -> int:
        self._awaited = "to open the session"
        opener = SessionOpener(self.options, self.launched.found.name, self.loaded.settings, self._note)
        session = await opener.open(agent)
        self._awaited = "to answer"
        if self.options.options:
            from accord.cli.support.options import set_options

            await set_options(session, self.options.options)
        self.show.line(
            output_events.Session(
                session_id=session.id,
                agent=agent.name,
                protocol_version=agent.version,
                mode=_value(session, "mode"),
                model=_value(session, "model"),
            )
        )
        is_new = self.options.session_id is None and not self.options.newest and self.options.name is None
        self._budget = RunBudget(
            self._status.agent, self.loaded.settings, is_new=is_new, is_ignored=self.options.ignores_budget
        )
        status = 0
        for number, text in enumerate(self.options.prompts):
            content = self._content(text, self.options.images if number == 0 else (), agent.offers)
            status = await self._turn(session, text, content)
            if status:
                break
        if not self.options.saves and "--memory" not in self.launched.found.argv:
            await self._delete(agent, session)
        return status or (NOT_ASKED if self._was_refused_unasked else 0)

    async def _delete(self, agent: ConnectedAgent, session: Session) -> None:
        """Delete the session; warn if the agent can't."""
        if agent.offers.delete:
            await agent.delete_session(session.id)
        else:
            self._note("warning", f"{agent.name} may have saved this session: it can't delete sessions")

    def _content(self, text: str, images: Sequence[Path], offers: AgentOffers) -> list[Any]:
        if "@" not in text and not images:
            return [text]
        from accord.cli.support.attachments import prompt_content

        return prompt_content(text, images, self.options.cwd, offers)

    async def _turn(self, session: Session, text: str, content: list[Any]) -> int:
        await self._budget.check()
        turn = self.stops.turn = session.prompt(*content)
        self._status.start(session.id, session.title or text)
        if self._on_start is not None:
            self._on_start(session.id)
        self._budget.start_turn()
        self._awaited = "to answer"
        gc.enable()
        self.show.line(output_events.Prompt(text=text, attached=[uri for piece in content if (uri := uri_of(piece))]))
        error: AccordError | None = None
        is_silent = True
        try:
            async for event in turn:
                is_silent = is_silent and not output_events.is_output(event)
                if isinstance(event, ToolCall):
                    is_open = event.status in ("pending", "in_progress")
                    self._awaited = f"to finish {event.title!r}" if is_open else "to answer"
                # Clients show the plan itself; the call that changed it says nothing new.
                if self.options.as_json or not (isinstance(event, ToolCall) and is_plan_update(event)):
                    self.show.event(event)
                if isinstance(event, Usage) and await self._budget.follow(event):
                    await turn.cancel()
        except AccordError as failure:
            error = failure
        self.show.line(
            output_events.Ended(
                stop_reason=turn.stop_reason,
                text=turn.text,
                silent=error is None and turn.stop_reason == "end_turn" and is_silent,
                error=f"{self._describe(error)}{self._point_to_traceback()}" if error is not None else None,
                code=error.code if isinstance(error, RequestFailed) else None,
                data=self._data(error),
            )
        )
        await self._budget.finish(turn.tokens)
        self._status.end(turn.stop_reason, self._describe(error) if error is not None else "")
        if self.stops.status is not None:
            self._raise_timeout()
            return self.stops.status
        if turn.stop_reason == "cancelled":
            self._budget.raise_exceeded()
        if error is None and (turn.response_meta or {}).get(NOT_UNDERSTOOD) is True:
            return NOT_UNDERSTOOD_STATUS
        return 1 if error is not None else STATUS.get(str(turn.stop_reason), 1)

    # -- questions and notices

    async def _ask(self, question: Any) -> Any:
        from accord.cli.support.questions import ask_policy

        about = question.request.title if question.request is not None else question.action.title
        with self.show.suspended(), self._status.waiting(about or question.action.line or question.action.kind):
            return await self.stops.unless_cancelled(ask_policy(self.terminal, question))

    async def _elicit(self, question: Any) -> Any:
        from accord.cli.support.questions import fill_form

        with self.show.suspended(), self._status.waiting(question.message):
            return await self.stops.unless_cancelled(fill_form(self.terminal, question, self._agent))

    async def _log_in(self, methods: list[AuthMethod]) -> AuthMethod | None:
        from accord.cli.support.questions import ask_login

        with self.show.suspended():
            return await ask_login(self.terminal, methods)

    async def _log_in_by_terminal(self, method: AuthMethod) -> bool:
        from accord.client.launch import Command, log_in_by_terminal

        command = Command(self.launched.found.argv, self.launched.env)
        return await log_in_by_terminal(command, str(self.options.cwd), method)

    def _report_decision(self, what: Action | PermissionRequest, decision: Decision) -> None:
        from accord.policy.action import Action
        from accord.policy.rule import format_conditions

        title = what.title
        if isinstance(what, Action):
            if what.kind == "read" and decision.allowed:
                return
            title = title or what.line or ", ".join(what.paths)
        if decision.by == "nobody":
            self._was_refused_unasked = True
        self.show.line(
            output_events.Permission(
                title=title,
                decision="allowed" if decision.allowed else "refused",
                why=decision.why,
                allow=[format_conditions(rule) for rule in decision.would_allow],
            )
        )

    def _note(self, severity: str, text: str) -> None:
        self.show.line(output_events.Notice(severity=severity, title=text))

    def _describe(self, error: Exception) -> str:
        from accord.cli.support.errors import suggest
        from accord.config.redaction import redact_text

        # Methods and codes of the protocol are for programs and --verbose. During startup, they add
        # nothing to the message.
        text = str(error)
        if isinstance(error, RequestFailed) and (error.method == "initialize" or not self.options.shows_protocol):
            text = error.explanation
            failed = f"{error.method} failed: "
            text = f"the agent failed: {text.removeprefix(failed)}" if text.startswith(failed) else text
        message = redact_text(text, self.launched.found.env)
        return message + suggest(error, self._logins, self.options.versions, can_ask=self.terminal.is_there)

    def _show_stderr(self, line: str) -> None:
        """Show a line that the agent logs, for --verbose."""
        from accord.config.redaction import redact_text

        self.show.log(redact_text(line, self.launched.found.env))

    def _point_to_traceback(self) -> str:
        """Say where the agent's traceback is, if it has logged one."""
        if self._transport is None or self.options.shows_stderr or self.options.as_json:
            return ""
        has_traceback = "Traceback (most recent call last)" in self._transport.stderr_tail()
        return "\nThe agent logged a traceback; to see it, run again with --verbose" if has_traceback else ""

    def _data(self, error: Exception | None) -> Any:
        from accord.config.redaction import redact_data

        return redact_data(error.data, self.launched.found.env) if isinstance(error, RequestFailed) else None

    def _raise_timeout(self) -> None:
        """After a timeout, raise an error that names the missing step."""
        if self.stops.status == TIMED_OUT:
            who = self.launched.found.name if self._agent == UNKNOWN_AGENT else self._agent
            message = f"timed out after {self.options.timeout:g} s waiting for {who} {self._awaited}"
            raise CommandError(message, TIMED_OUT)

    def _report_error(self, message: str, error: Exception | None) -> None:
        """Report an error: as an event in JSON mode; `main` prints it otherwise."""
        if self._on_start is not None:
            self._status.end(None, message)
        if self.options.as_json:
            stage = error.stage or None if isinstance(error, AccordError) else None
            code = error.code if isinstance(error, RequestFailed) else None
            self.show.line(output_events.Error(message=message, stage=stage, code=code, data=self._data(error)))


def _choose_output(options: RunOptions) -> Output:
    if options.as_json:
        return JsonOutput()
    from accord.cli.support.terminal_output import TerminalOutput, fits_terminal

    if fits_terminal():
        return TerminalOutput(quiet=options.quiet)
    return TextOutput(progress=not options.quiet and sys.stderr is not None and sys.stderr.isatty())


async def _await(connecting: Connecting) -> ConnectedAgent:
    return await connecting


def _value(session: Session, name: str) -> str | None:
    option = session.option(name)
    return str(option.value) if option is not None else None
