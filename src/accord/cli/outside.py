"""What the terminal client gets of the rest of the program: agents that are found and started, the policy, files."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from accord.cli.begin import Begun, begin
from accord.config.command import BUILT_IN, built_in
from accord.config.settings import Loaded
from accord.errors import AccordError
from accord.policy.project import configuration
from accord.process.start import start

if TYPE_CHECKING:
    from accord.cli.lending import LazyWorkspace
    from accord.client.offers import AgentOffers
    from accord.config.fetch import Progress
    from accord.config.registry import RegistryEntry
    from accord.config.settings import AgentEntry
    from accord.model.requests import AuthMethod, McpServer
    from accord.model.session import SessionInfo
    from accord.policy.choices import Ask
    from accord.policy.rule import Rule
    from accord.store.sqlite import SqliteStore
    from accord.transports.subprocess import SubprocessTransport
    from accord.tui.outside import Finding, Launch


def default_target(cwd: Path) -> str:
    """The agent that is meant when none is named: the configured one, or else the one that comes with us."""
    return configuration(cwd).settings.chosen_agent or BUILT_IN


class _Later(Exception):
    """It has to be installed first, which the user is to see."""


def _later(entry: RegistryEntry) -> AgentEntry:
    raise _Later


class Beyond:
    """Implements `accord.tui.outside.Outside`."""

    def __init__(self, cwd: Path, versions: frozenset[int], flags: Sequence[Rule] = ()) -> None:
        self.cwd = cwd
        self.versions = versions
        self._flags = flags
        self._early: Begun | AccordError | None = None
        self._early_target: str | None = None

    @property
    def is_undecided(self) -> bool:
        """Whether there are several agents and none of them is meant when none is named."""
        try:
            settings = configuration(self.cwd).settings
        except AccordError:
            return False  # told when the agent is to be started
        return settings.chosen_agent is None and bool(settings.agents)

    def begin(self, target: str | None) -> None:
        """Starts the first agent at once; what goes wrong is told when it is asked for."""
        self._early_target = target
        try:
            self._early = begin(self._named(target), self.cwd, _later)
        except _Later:
            self._early = None
        except AccordError as error:
            self._early = error

    def abandon(self) -> None:
        """Ends an agent that was started and never used."""
        early, self._early = self._early, None
        if isinstance(early, Begun):
            early.started.abandon()

    def _named(self, target: str | None) -> str:
        return target if target is not None else default_target(self.cwd)

    # -- for the client

    def named(self, target: str | None) -> str:
        try:
            return self._named(target)
        except AccordError:
            return BUILT_IN  # what is wrong with the configuration is told when the agent is started

    def configuration(self) -> Loaded:
        return configuration(self.cwd)

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Progress) -> Launch:
        early, self._early = self._early, None
        if isinstance(early, AccordError):
            raise early
        if early is not None and target != self._early_target:
            early.started.abandon()
            early = None

        def get(entry: RegistryEntry) -> AgentEntry:
            from accord.config.install import installed

            progress(f"installing {entry.id} {entry.version}", 0, 0)
            return installed(entry, progress=progress)

        begun = early if early is not None else begin(self._named(target), self.cwd, get)
        name = "built-in agent" if begun.found == built_in() else begun.found.name
        return Launching(begun, name, self.cwd, on_stderr)

    def workspace(self, launch: Launch, ask: Ask, told: Callable[[Any, Any], None]) -> LazyWorkspace:
        from accord.cli.lending import LazyWorkspace
        from accord.client.local import LocalWorkspace

        def make() -> LocalWorkspace:
            from accord.policy.audit import Audit
            from accord.policy.project import policy

            rules = policy(self.configuration(), self.cwd, launch.name, self._flags, Audit())
            return LocalWorkspace(self.cwd, policy=rules, ask=ask, told=told)

        return LazyWorkspace(self.cwd, make)

    def content(self, text: str, images: Sequence[Path], offers: AgentOffers) -> list[Any]:
        if "@" not in text and not images:
            return [text]
        from accord.cli.attach import prompt_content

        return prompt_content(text, images, self.cwd, offers)

    def unfound(self, text: str) -> list[str]:
        from accord.cli.unfound import unfound

        return unfound(text, self.cwd)

    def servers(self, offers: AgentOffers) -> tuple[list[McpServer], list[str]]:
        entries = dict(self.configuration().settings.mcp_servers)
        if not entries:
            return [], []
        from accord.config.servers import choose

        chosen = choose(entries, offers.mcp)
        return chosen.servers, chosen.notices

    def recent(self, most: int) -> list[SessionInfo]:
        """The newest sessions of the built-in agent in this project. Reads a file: call it in a thread."""
        from accord.cli.failing import Failure
        from accord.cli.stored import with_store

        async def newest(store: SqliteStore) -> list[SessionInfo]:
            return list((await store.list(cwd=str(self.cwd))).sessions[:most])

        try:
            return with_store(None, newest, [])
        except (Failure, AccordError, OSError):
            return []

    async def diagnose(self, target: str | None) -> AsyncIterator[Finding]:
        from accord.cli.diagnosis import stations
        from accord.tui.outside import Finding

        async for step in stations(self.named(target), None, 30, self.cwd):
            if step.stage == "prompt":
                continue  # which is not tried here, and cannot be
            yield Finding(step.ok, step.stage, step.found, step.advice)


class Launching:
    """Implements `accord.tui.outside.Launch`: a program that was started, and how to start it again."""

    def __init__(self, begun: Begun, name: str, cwd: Path, on_stderr: Callable[[str], None]) -> None:
        self.name = name
        self._begun: Begun = begun
        self._cwd = cwd
        self._on_stderr = on_stderr
        self._fresh = True
        self._transport: SubprocessTransport | None = None

    @property
    def target(self) -> Any:
        return self._start

    async def _start(self) -> SubprocessTransport:
        from accord.process.child import Child
        from accord.transports.subprocess import SubprocessTransport

        if self._fresh:
            self._fresh = False
            started = self._begun.started
        else:
            started = start(self._begun.found.argv, cwd=self._cwd, env=self._begun.env)
        self._transport = SubprocessTransport(Child.of(started, on_stderr=self._on_stderr))
        return self._transport

    async def log_in(self, method: AuthMethod) -> bool:
        from accord.client.launch import Command, log_in_by_terminal

        command = Command(self._begun.found.argv, self._begun.env)
        return await log_in_by_terminal(command, str(self._cwd), method.args, method.env)

    def kill(self) -> None:
        if self._transport is not None:
            self._transport.child.kill()
        elif self._fresh:
            self._fresh = False
            self._begun.started.abandon()
