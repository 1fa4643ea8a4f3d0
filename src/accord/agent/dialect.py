"""What a dialect does: the same face for both versions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

from accord.agent.offers import ClientOffers
from accord.connection.dispatch import Routes
from accord.errors import CapabilityError
from accord.model.requests import Elicitation, PermissionRequest, Reply
from accord.model.statement import Statement
from accord.model.tool import ExitStatus

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.agent.local import LocalTerminal
    from accord.agent.session import Session
    from accord.agent.side import AgentSide
    from accord.agent.terminals import DisplayTerminal, Output
    from accord.agent.turn import Turn
    from accord.agent.turns import Outcome


class Dialect(ABC):
    """Speaks one version for an agent."""

    def __init__(self, side: AgentSide) -> None:
        self.side = side

    @property
    def agent(self) -> Agent:
        return self.side.agent

    @abstractmethod
    def hello(self, params: dict[str, Any]) -> tuple[Any, ClientOffers]:
        """Reads the client's `initialize`, and gives the answer and what the client offers."""

    @abstractmethod
    def routes(self) -> Routes:
        """What is served from now on."""

    @abstractmethod
    def updates(self, session: Session, statement: Statement) -> Iterable[Any]:
        """A statement as updates of this version: one, several, or none where it has no words for it."""

    @abstractmethod
    async def request_permission(self, session: Session, request: PermissionRequest) -> str | None:
        """Asks; gives the chosen option's id, or None when the question was cancelled."""

    @abstractmethod
    async def elicit(self, session: Session, question: Elicitation) -> Reply:
        """Asks a person for something."""

    # -- where turns begin and end differently

    inserts: ClassVar[bool] = False
    """Whether a prompt may become part of a turn that is running."""

    def prompt_joins(self, session: Session, turn: Turn) -> None:
        """A prompt becomes part of the turn that is running."""

    def turn_begins(self, session: Session, turn: Turn) -> None:
        """A prompt becomes part of the conversation."""

    def turn_ends(self, session: Session, turn: Turn, outcome: Outcome) -> None:
        """The work for it is over."""

    def waiting(self, session: Session, blocked: bool) -> None:
        """The work waits for a person, or goes on."""

    def background_changed(self, session: Session) -> None:
        """Other work than before goes on outside turns."""

    # -- the client's files and terminals: version 1 only

    async def read_file(self, session: Session, path: str, line: int | None, limit: int | None) -> str:
        raise _nothing_offered("files")

    async def write_file(self, session: Session, path: str, text: str) -> None:
        raise _nothing_offered("files")

    async def create_terminal(
        self, session: Session, command: str, args: list[str], cwd: str, env: dict[str, str], limit: int | None
    ) -> str:
        raise _nothing_offered("terminals")

    async def terminal_output(self, session: Session, id: str) -> Output:
        raise _nothing_offered("terminals")

    async def wait_for_exit(self, session: Session, id: str) -> ExitStatus:
        raise _nothing_offered("terminals")

    async def kill_terminal(self, session: Session, id: str) -> None:
        raise _nothing_offered("terminals")

    async def release_terminal(self, session: Session, id: str) -> None:
        raise _nothing_offered("terminals")

    def display_grew(self, session: Session, terminal: DisplayTerminal | LocalTerminal) -> None:
        """A terminal of the agent's own has printed something, which has been told."""

    async def display_ended(self, session: Session, terminal: DisplayTerminal | LocalTerminal) -> None:
        """A terminal of the agent's own has ended."""


def _nothing_offered(what: str) -> CapabilityError:
    return CapabilityError(f"version 2 of the protocol has no {what} of the client's; use your own")
