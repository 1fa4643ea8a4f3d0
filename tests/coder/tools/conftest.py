"""Run tools as the agent does: a session, its state, and a call in its five steps, over a real connection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from support.link import Link

from accord import Agent, Turn
from accord.client.local_workspace import LocalWorkspace
from accord.client.session import Session
from accord.coder.credentials import Keys
from accord.coder.history import Call, Result
from accord.coder.modes import MODES
from accord.coder.secrets import Secrets
from accord.coder.session import CoderSession
from accord.coder.shared_resources import SharedResources
from accord.coder.tool_calls import run_calls
from accord.coder.tools.registry import standard_tools
from accord.config.settings import CoderSettings
from accord.model.tool import ToolCall
from accord.policy.engine import Policy
from accord.policy.rule import Rule
from accord.testing import ScriptedClient
from accord.workspace.overlay import Overlay

ALLOWED = (Rule(effect="allow", everything=True),)


class Worker(Agent):
    """An agent that calls the requested tools."""

    modes = MODES
    additional_directories = True

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        self.calls: list[Call] = []
        self.results: list[Result] = []
        self.states: dict[str, CoderSession] = {}
        self.allow_private = False

    async def prompt(self, turn: Turn) -> None:
        session = turn.session
        state = self.states.get(session.id)
        if state is None:
            policy = Policy(session.cwd, agent="accord", flags=self.rules)
            state = self.states[session.id] = CoderSession(
                session, SharedResources(), policy, Secrets(Keys(), CoderSettings()), CoderSettings()
            )
        state.allow_private = self.allow_private
        self.results = []
        await run_calls(self.calls, turn, state, standard_tools(), self.results)

    async def close_session(self, session: Any) -> None:
        state = self.states.pop(session.id, None)
        if state is not None:
            await state.close()


class ToolHarness:
    """A session in a project, and its tools."""

    def __init__(self, agent: Worker, session: Session, project: Path) -> None:
        self.agent = agent
        self.session = session
        self.project = project

    @property
    def state(self) -> CoderSession:
        return self.agent.states[self.session.id]

    async def use(self, name: str, /, **arguments: Any) -> Result:
        """Call a tool, and return the result for the model."""
        self.start_of(name, arguments)
        await self.session.prompt("go")
        return self.agent.results[0]

    def start_of(self, name: str, arguments: dict[str, Any]) -> None:
        self.agent.calls = [Call(id="1", name=name, arguments=arguments)]

    async def call(self, name: str, /, **arguments: Any) -> str:
        """Call a tool that must succeed, and return the text for the model."""
        result = await self.use(name, **arguments)
        assert not result.failed, result.text
        return result.text

    async def call_failing(self, name: str, /, **arguments: Any) -> str:
        """Call a tool that must fail, and return the error for the model."""
        result = await self.use(name, **arguments)
        assert result.failed, result.text
        return result.text

    @property
    def shown(self) -> ToolCall:
        """The last call, as the user sees it."""
        return list(self.session.transcript.tool_calls.values())[-1]

    @property
    def shown_text(self) -> str:
        return "\n".join(getattr(item, "text", "") for item in self.shown.content)

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file of the project."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def text(self, path: str) -> str:
        return (self.project / path).read_bytes().decode()


def is_alive(pid: int) -> bool:
    """Return whether a process runs; zombies don't count."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


Harness = Callable[..., AbstractAsyncContextManager[ToolHarness]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project directory, next to another user's."""
    (tmp_path / "project").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.txt").write_text("the secret\n")
    return tmp_path / "project"


@pytest.fixture
def harness(link: Link, project: Path) -> Harness:
    """Open a session in the project. `client` answers requests; by default it offers no files or terminals."""

    @asynccontextmanager
    async def opened(
        client: ScriptedClient | None = None,
        *,
        rules: tuple[Rule, ...] = ALLOWED,
        additional: tuple[str, ...] = (),
        **options: Any,
    ) -> AsyncIterator[ToolHarness]:
        agent = Worker(rules)
        async with link(agent, client, **options) as connected:
            session = await connected.new_session(str(project), additional_directories=list(additional))
            yield ToolHarness(agent, session, project)

    return opened


@pytest.fixture(params=["own", "lent"])
def lent(request: pytest.FixtureRequest, project: Path) -> dict[str, Any]:
    """Options of a client with files and terminals, and of one without."""
    if request.param == "own":
        return {}
    policy = Policy(str(project), flags=ALLOWED)
    return {"workspace": LocalWorkspace(project, policy=policy, overlay=Overlay())}
