"""Runs tools as the agent does: a session, a desk, a call in its five steps, all of it over a real connection."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from linked import Link

from accord import Agent, Turn
from accord.client.local import LocalWorkspace
from accord.client.session import Session
from accord.coder.calls import carry_out
from accord.coder.desk import Desk
from accord.coder.history import Call, Result
from accord.coder.modes import MODES
from accord.coder.tools import standard_tools
from accord.model.tool import ToolCall
from accord.policy.engine import Policy
from accord.policy.rule import Rule
from accord.testing import ScriptedClient
from accord.workspace.overlay import Overlay

ALLOWED = (Rule(effect="allow", everything=True),)


class Worker(Agent):
    """An agent that uses the tools it is told to."""

    modes = MODES
    additional_directories = True

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        self.calls: list[Call] = []
        self.results: list[Result] = []
        self.desks: dict[str, Desk] = {}
        self.allow_private = False

    async def prompt(self, turn: Turn) -> None:
        session = turn.session
        desk = self.desks.get(session.id)
        if desk is None:
            policy = Policy(session.cwd, agent="accord", flags=self.rules)
            desk = self.desks[session.id] = Desk(session, policy)
        desk.allow_private = self.allow_private
        self.results = []
        await carry_out(self.calls, turn, desk, standard_tools(), self.results)

    async def close_session(self, session: Any) -> None:
        desk = self.desks.pop(session.id, None)
        if desk is not None:
            await desk.close()


class Bench:
    """A session in a project, and its tools."""

    def __init__(self, agent: Worker, session: Session, project: Path) -> None:
        self.agent = agent
        self.session = session
        self.project = project

    @property
    def desk(self) -> Desk:
        return self.agent.desks[self.session.id]

    async def use(self, name: str, /, **arguments: Any) -> Result:
        """Calls a tool and gives what the model is told."""
        self.start_of(name, arguments)
        await self.session.prompt("go")
        return self.agent.results[0]

    def start_of(self, name: str, arguments: dict[str, Any]) -> None:
        self.agent.calls = [Call(id="1", name=name, arguments=arguments)]

    async def told(self, name: str, /, **arguments: Any) -> str:
        """What the model is told by a call that did what it should."""
        result = await self.use(name, **arguments)
        assert not result.failed, result.text
        return result.text

    async def fault(self, name: str, /, **arguments: Any) -> str:
        """What the model is told by a call that failed."""
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
        """Puts a file into the project."""
        file = self.project / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def text(self, path: str) -> str:
        return (self.project / path).read_bytes().decode()


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


Benches = Callable[..., AbstractAsyncContextManager[Bench]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder, with somebody else's beside it."""
    (tmp_path / "project").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.txt").write_text("the secret\n")
    return tmp_path / "project"


@pytest.fixture
def bench(link: Link, project: Path) -> Benches:
    """Opens a session in the project. `client` answers and lends; by default it lends nothing."""

    @asynccontextmanager
    async def opened(
        client: ScriptedClient | None = None,
        *,
        rules: tuple[Rule, ...] = ALLOWED,
        additional: tuple[str, ...] = (),
        **options: Any,
    ) -> AsyncIterator[Bench]:
        agent = Worker(rules)
        async with link(agent, client, **options) as connected:
            session = await connected.new_session(str(project), additional_directories=list(additional))
            yield Bench(agent, session, project)

    return opened


@pytest.fixture(params=["own", "lent"])
def lent(request: pytest.FixtureRequest, project: Path) -> dict[str, Any]:
    """Options of a client that lends its files and terminals, and of one that does not."""
    if request.param == "own":
        return {}
    policy = Policy(str(project), flags=ALLOWED)
    return {"workspace": LocalWorkspace(project, policy=policy, overlay=Overlay())}
