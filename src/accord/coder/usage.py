"""Usage of a session of the coding agent: context, tokens and money."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.model.session import Tokens

if TYPE_CHECKING:
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.coder.models.base import Spent


class SessionUsage:
    """The usage of one session. That of a sub-agent counts for its parent, too."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.context: int = 0
        """How many tokens the context held when the model last answered."""
        self.cost: float | None = None
        """The cost so far in US dollars; None while unknown."""
        self.tokens: Tokens = Tokens(total=0, input=0, output=0)
        """The tokens of all requests since the session was opened."""
        self.saved: float | None = None
        """US dollars that the provider's cache has saved since then; None while unknown."""
        self._cost_before_turn = 0.0
        self._payer: tuple[SessionUsage, Turn] | None = None

    def charge(self, parent: SessionUsage, turn: Turn) -> None:
        """Charge all later usage to the parent's turn, too."""
        self._payer = parent, turn

    def add(self, spent: Spent, turn: Turn) -> None:
        """Add a request to the session and the turn."""
        if spent.cost is not None:
            self.cost = (self.cost or 0.0) + spent.cost
        if spent.saved is not None:
            self.saved = (self.saved or 0.0) + spent.saved
        self.tokens = _sum(self.tokens, spent)
        turn.tokens = _sum(turn.tokens, spent)
        if self._payer is not None:
            parent, parent_turn = self._payer
            parent.add(spent, parent_turn)

    async def report(self, window: int) -> None:
        """Report the context and the cost to the client. `window` is the model's context window."""
        await self._session.usage(min(self.context, window), window, cost=self.cost)

    def begin_turn(self) -> None:
        """Start to count the cost of a turn."""
        self._cost_before_turn = self.cost or 0.0

    @property
    def turn_cost(self) -> float:
        """The cost of the current turn in US dollars, as far as it is known."""
        return (self.cost or 0.0) - self._cost_before_turn


def _sum(before: Tokens | None, spent: Spent) -> Tokens:
    if before is None:
        before = Tokens(total=0, input=0, output=0)
    return Tokens(
        total=before.total + spent.input + spent.output,
        input=before.input + spent.input,
        output=before.output + spent.output,
        thought=(before.thought or 0) + spent.thought or None,
        cached_read=(before.cached_read or 0) + spent.cached_read or None,
        cached_write=(before.cached_write or 0) + spent.cached_write or None,
    )
