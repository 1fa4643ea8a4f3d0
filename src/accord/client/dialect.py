"""What a dialect does for a client: the same face for both versions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from accord.client.offers import AgentOffers
from accord.client.unstable import Unstable
from accord.connection.dispatch import Routes
from accord.errors import CapabilityError
from accord.model.place import Place
from accord.model.session import Option, SessionInfo
from accord.transcript.transcript import Transcript

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.client.session import Session
    from accord.client.turn import Turn


class Dialect(Unstable, ABC):
    """Speaks one version for a client."""

    version: ClassVar[int]
    one_turn_at_a_time: ClassVar[bool]

    def __init__(self, agent: ConnectedAgent) -> None:
        self.agent = agent

    @property
    def connection(self) -> Any:
        return self.agent.connection

    @abstractmethod
    def offers(self, answer: dict[str, Any]) -> AgentOffers:
        """Reads the answer to `initialize`."""

    @abstractmethod
    def routes(self) -> Routes:
        """What the agent may ask and tell."""

    @abstractmethod
    def fold(self, transcript: Transcript) -> Any:
        """What reads this version's updates into a transcript."""

    @abstractmethod
    async def new_session(self, place: Place, made: Callable[[str, Any], Any]) -> None:
        """Begins a session; `made` is told its id and the answer, in the answer's place among the other messages."""

    @abstractmethod
    async def open_session(self, id: str, place: Place, *, replay: bool, then: Callable[[Any], None]) -> None:
        """Opens a stored session, with its history told or not; `then` gets the answer in its place."""

    @abstractmethod
    async def fork_session(self, id: str, place: Place, made: Callable[[str, Any], Any]) -> None:
        """Begins a session with another's history."""

    @abstractmethod
    def settle(self, session: Session, answer: Any) -> None:
        """Takes options and commands from the answer that opened a session."""

    @abstractmethod
    async def list_sessions(
        self, cwd: str | None, cursor: str | None, archived: str | None
    ) -> tuple[list[SessionInfo], str | None]:
        """One page of sessions, and where the next begins."""

    @abstractmethod
    async def close_session(self, id: str) -> None: ...

    @abstractmethod
    async def delete_session(self, id: str) -> None: ...

    @abstractmethod
    def start_turn(self, session: Session, turn: Turn) -> None:
        """Sends a prompt now, and ends the turn when the agent does."""

    @abstractmethod
    async def cancel(self, session: Session) -> None: ...

    @abstractmethod
    async def set_option(self, session: Session, option: Option, value: str | bool) -> None: ...

    @abstractmethod
    async def login(self, method_id: str) -> None: ...

    @abstractmethod
    async def logout(self) -> None: ...

    def noticed(self, session: Session, event: Any) -> None:
        """The agent told the session's state, or repeated what the user said."""

    def asking(self, session: Session) -> None:
        """A question to the user was asked, or is no longer open."""

    def withdraw(self, turn: Turn) -> bool:
        """Takes back a prompt that the agent has not begun with, where a version has words for it."""
        return False

    def over(self, session: Session) -> None:
        """A session is gone, or its connection."""

    async def cancel_tool_call(self, session: Session, id: str) -> None:
        raise CapabilityError("version 1 cannot cancel a single tool call; nothing was sent")

    async def cancel_terminal(self, session: Session, id: str) -> None:
        raise CapabilityError("version 1 has no terminals of the agent's own; nothing was sent")
