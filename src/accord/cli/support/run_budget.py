"""The budgets of an `accord run`: counts what it uses, and ends it when a budget is reached."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from accord.cli.support.errors import CommandError
from accord.process.thread import run_in_thread

if TYPE_CHECKING:
    from accord.config.budget import Exceeded, Spent
    from accord.config.settings import Settings
    from accord.model.session import Tokens, Usage

BUDGET_STATUS = 8
"""Exit status: a budget was reached."""


class RunBudget:
    """Follows the session of one run."""

    def __init__(self, agent: str, settings: Settings, *, is_new: bool, is_ignored: bool) -> None:
        from accord.status.meter import SessionMeter, build_meter

        self._meter = build_meter(agent, settings)
        self._session = SessionMeter(is_new=is_new)
        self._is_ignored = is_ignored
        self._exceeded: Exceeded | None = None

    async def check(self) -> None:
        """Raise an error if nothing more may be used today."""
        if self._meter.has_limits and not self._is_ignored:
            await self._compare()
            self.raise_exceeded()

    def start_turn(self) -> None:
        self._session.start_turn()
        self._exceeded = None

    async def follow(self, usage: Usage) -> bool:
        """Count what an update reports. Returns whether a budget is reached for the first time."""
        if usage.cost is None or self._exceeded is not None:
            return False
        await self._save(self._session.add_cost(usage.cost.amount, usage.cost.currency))
        return self._exceeded is not None

    async def finish(self, tokens: Tokens | None) -> None:
        """Count the tokens of a turn that has ended. The next turn is refused if they were too many."""
        if tokens is not None:
            await self._save(self._session.add_tokens(tokens.total))

    def raise_exceeded(self) -> None:
        """End the run if a budget is reached."""
        if self._exceeded is not None:
            message = f"stopped: {self._exceeded}; --ignore-budget continues"
            raise CommandError(message, BUDGET_STATUS)

    async def _save(self, more: Spent) -> None:
        from accord.config.budget import Spent

        if more != Spent():
            with contextlib.suppress(OSError):  # a data directory that isn't writable: this run is still compared
                await run_in_thread(self._meter.save, more, finishes=True)
            await self._compare()

    async def _compare(self) -> None:
        if not self._is_ignored:
            self._exceeded = await run_in_thread(self._meter.check, self._session.turn)
