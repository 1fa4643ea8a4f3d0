"""The services that the terminal client gets from the command: finding and starting agents, policy, attachments."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accord.cli.support.launch import StartedAgent, ask_and_install, find_agent, install, start_agent
from accord.config.command import BUILT_IN, built_in
from accord.errors import AccordError
from accord.process.launch import start

if TYPE_CHECKING:
    from accord.client.offers import AgentOffers
    from accord.config.command import Resolved
    from accord.config.download import Progress
    from accord.config.registry import RegistryEntry
    from accord.config.settings import AgentEntry, Loaded
    from accord.model.requests import AuthMethod, McpServer
    from accord.model.session import Notice, SessionInfo
    from accord.policy.question import Ask
    from accord.policy.rule import Rule
    from accord.store.sqlite import SqliteStore
    from accord.transports.subprocess import SubprocessTransport
    from accord.tui.host import Finding, HostWorkspace, KeyStore, Launch


def default_target(cwd: Path) -> str:
    """Return the default agent: the configured one, or the built-in one."""
    return _load_configuration(cwd).settings.chosen_agent or BUILT_IN


def _load_configuration(cwd: Path) -> Loaded:
    from accord.policy.project import load_configuration

    return load_configuration(cwd)


class EarlyStart:
    """Starts an agent in a thread: the client is imported while the agent's process is being made."""

    def __init__(self, start: Callable[[], StartedAgent]) -> None:
        self._start = start
        self._outcome: StartedAgent | Exception | None = None
        self._thread = threading.Thread(target=self._run, name="accord-start", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._outcome = self._start()
        except Exception as error:
            self._outcome = error

    def wait(self) -> StartedAgent:
        """Wait for the agent's process. Raises why it couldn't be started."""
        self._thread.join()
        if isinstance(self._outcome, Exception):
            raise self._outcome
        assert self._outcome is not None
        return self._outcome

    def abandon(self) -> None:
        """End the agent, if it could be started."""
        with suppress(AccordError, OSError):
            self.wait().started.abandon()


class TuiHost:
    """Implements `accord.tui.host.Host`."""

    def __init__(self, cwd: Path, versions: frozenset[int], flags: Sequence[Rule] = ()) -> None:
        self.cwd = cwd
        self.versions = versions
        self._flags = flags
        self._early: EarlyStart | AccordError | None = None
        self._early_target: str | None = None

    @property
    def is_undecided(self) -> bool:
        """Whether several agents are configured and none is the default."""
        try:
            settings = _load_configuration(self.cwd).settings
        except AccordError:
            return False  # reported when the agent is started
        return settings.chosen_agent is None and bool(settings.agents)

    def begin(self, target: str | None, *, can_install: bool = False) -> None:
        """Start the first agent early. Errors are raised by `launch`.

        A missing agent is installed now, while the user can still be asked in the plain terminal."""
        self._early_target = target
        try:
            get = install if can_install else ask_and_install
            agent = find_agent(self._find_target(target), self.cwd, get)
            self._early = EarlyStart(lambda: agent.start(self.cwd))
        except AccordError as error:
            self._early = error

    def abandon(self) -> None:
        """End an agent that was started early and never used."""
        early, self._early = self._early, None
        if isinstance(early, EarlyStart):
            early.abandon()

    def _find_target(self, target: str | None) -> str:
        return target if target is not None else default_target(self.cwd)

    # -- for the client

    def resolve_name(self, target: str | None) -> str:
        try:
            return self._find_target(target)
        except AccordError:
            return BUILT_IN  # errors in the configuration are reported when the agent is started

    def configuration(self) -> Loaded:
        return _load_configuration(self.cwd)

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Progress) -> Launch:
        early, self._early = self._early, None
        if isinstance(early, AccordError):
            raise early
        if early is not None and target != self._early_target:
            early.abandon()
            early = None

        def get(entry: RegistryEntry) -> AgentEntry:
            from accord.config.agents import not_installed
            from accord.config.install import ensure_installed
            from accord.config.well_known import is_well_known

            if is_well_known(entry):  # unlike a row of the registry, its name doesn't say that it will be installed
                raise not_installed(entry)
            progress(f"installing {entry.id} {entry.version}", 0, 0)
            return ensure_installed(entry, progress=progress)

        launched = early.wait() if early is not None else start_agent(self._find_target(target), self.cwd, get)
        name = "built-in agent" if launched.found == built_in() else launched.found.name
        return AgentLaunch(launched, name, self.cwd, on_stderr)

    def describe_install(self, target: str) -> str:
        from accord.config.agents import find_listed
        from accord.config.install import describe_risks, describe_source, is_installed
        from accord.config.well_known import find_well_known

        settings = self.configuration().settings
        if target in settings.agents:
            return ""
        entry = find_listed(target, settings)
        if entry is not None:  # its row says that it will be installed
            return "" if is_installed(entry) else "\n".join(describe_risks(entry))
        agent = find_well_known(target)
        if agent is None or agent.installed is not None:
            return ""
        source = f"{agent.title} {agent.current.version} comes from {describe_source(agent.current)}."
        return "\n".join([source, *describe_risks(agent.current)])

    def install(self, target: str, progress: Progress) -> None:
        from accord.config.install import ensure_installed
        from accord.config.well_known import find_well_known

        agent = find_well_known(target)
        if agent is not None:
            ensure_installed(agent.current, progress=progress)

    def workspace(self, launch: Launch, ask: Ask, on_decision: Callable[[Any, Any], None]) -> HostWorkspace:
        from accord.cli.support.launch import cannot_create_files
        from accord.cli.support.workspace import LazyWorkspace
        from accord.client.local_workspace import LocalWorkspace
        from accord.tui.host import HostWorkspace

        def make() -> LocalWorkspace:
            from accord.policy.audit import Audit
            from accord.policy.project import build_policy

            rules = build_policy(self.configuration(), self.cwd, launch.name, self._flags, Audit())
            return LocalWorkspace(self.cwd, policy=rules, ask=ask, on_decision=on_decision)

        is_limited = isinstance(launch, AgentLaunch) and cannot_create_files(launch.agent)
        workspace = LazyWorkspace(self.cwd, make, reads=not is_limited)
        return HostWorkspace(workspace, workspace.local)

    def content(self, text: str, images: Sequence[Path], offers: AgentOffers) -> list[Any]:
        if "@" not in text and not images:
            return [text]
        from accord.cli.support.attachments import prompt_content

        return prompt_content(text, images, self.cwd, offers)

    def find_missing(self, text: str) -> list[str]:
        from accord.cli.support.attachments import find_missing

        return find_missing(text, self.cwd)

    def servers(self, offers: AgentOffers) -> tuple[list[McpServer], list[Notice]]:
        entries = dict(self.configuration().settings.mcp_servers)
        if not entries:
            return [], []
        from accord.config.mcp_servers import choose

        chosen = choose(entries, offers.mcp)
        return chosen.servers, chosen.notices

    def key_store(self, launch: Launch) -> KeyStore | None:
        if not isinstance(launch, AgentLaunch) or launch.agent != built_in():
            return None
        from accord.cli.support.keys import ProviderKeys

        return ProviderKeys(launch, lambda: self.configuration().settings.coder)

    def recent(self, most: int) -> list[SessionInfo]:
        """Return the latest sessions of the built-in agent in this project. Blocks: call it in a thread."""
        from accord.cli.support.errors import CommandError
        from accord.cli.support.stored_sessions import with_store

        async def newest(store: SqliteStore) -> list[SessionInfo]:
            return list((await store.list(cwd=str(self.cwd))).sessions[:most])

        try:
            return with_store(None, newest, [])
        except (CommandError, AccordError, OSError):
            return []

    async def read_changes(self) -> str:
        from accord.cli.support.changes import read_patch

        return await read_patch(self.cwd)

    async def diagnose(self, target: str | None) -> AsyncIterator[Finding]:
        from accord.cli.support.diagnosis import run_steps
        from accord.tui.host import Finding

        async for step in run_steps(self.resolve_name(target), None, 30, self.cwd, self.versions):
            if step.stage == "prompt":
                continue  # doctor sends no prompt here
            yield Finding(step.ok, step.stage, step.found, step.advice)


class AgentLaunch:
    """Implements `accord.tui.host.Launch`: a started process, and how to start it again."""

    def __init__(self, launched: StartedAgent, name: str, cwd: Path, on_stderr: Callable[[str], None]) -> None:
        self.name = name
        self.agent: Resolved = launched.found
        self._launched: StartedAgent = launched
        self._cwd = cwd
        self._on_stderr = on_stderr
        self._fresh = True
        self._transport: SubprocessTransport | None = None

    @property
    def target(self) -> Any:
        return self._start

    @property
    def env(self) -> dict[str, str]:
        """The environment of the process; changes apply to its next start."""
        return self._launched.env

    async def _start(self) -> SubprocessTransport:
        from accord.process.child import Child
        from accord.transports.subprocess import SubprocessTransport

        if self._fresh:
            self._fresh = False
            started = self._launched.started
        else:
            started = start(self._launched.found.argv, cwd=self._cwd, env=self._launched.env)
        self._transport = SubprocessTransport(Child.of(started, on_stderr=self._on_stderr))
        return self._transport

    @property
    def has_program(self) -> bool:
        return not self.agent.is_remote

    async def log_in(self, method: AuthMethod) -> bool:
        from accord.client.launch import Command, log_in_by_terminal

        command = Command(self._launched.found.argv, self._launched.env)
        return await log_in_by_terminal(command, str(self._cwd), method)

    def leave(self) -> None:
        if self._transport is not None:
            self._transport.child.detach()

    def kill(self) -> None:
        if self._transport is not None:
            self._transport.child.kill()
        elif self._fresh:
            self._fresh = False
            self._launched.started.abandon()
