"""Counting what agents use: differences of cost, one counter for all processes, and limits that the user raises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from accord.config.budget import Limits, Spent
from accord.status.meter import BudgetMeter, SessionMeter
from accord.status.spending_log import SpendingLog

DAY = 86400.0


@pytest.fixture
def spending(tmp_path: Path) -> SpendingLog:
    return SpendingLog(tmp_path / "data" / "spending.sqlite", clock=lambda: 1_000_000.0)


def test_the_cost_of_a_session_is_counted_by_its_differences() -> None:
    meter = SessionMeter(is_new=True)
    assert meter.add_cost(0.5, "USD") == Spent(cost=0.5)
    assert meter.add_cost(0.75, "USD") == Spent(cost=0.25)
    assert meter.add_cost(0.75, "USD") == Spent()
    assert meter.turn.cost == 0.75
    meter.start_turn()
    assert meter.add_cost(1.0, "USD") == Spent(cost=0.25) and meter.turn.cost == 0.25


def test_what_a_session_used_before_is_not_counted() -> None:
    meter = SessionMeter(is_new=False)
    assert meter.add_cost(7.0, "USD") == Spent()
    assert meter.add_cost(7.5, "USD") == Spent(cost=0.5)


@pytest.mark.parametrize("amount, currency", [(1.0, "EUR"), (-1.0, "USD"), (float("nan"), "USD"), (1e12, "USD")])
def test_other_currencies_and_nonsense_are_not_counted(amount: float, currency: str) -> None:
    assert SessionMeter(is_new=True).add_cost(amount, currency) == Spent()


def test_a_cost_that_shrinks_adds_nothing() -> None:
    meter = SessionMeter(is_new=True)
    meter.add_cost(2.0, "USD")
    assert meter.add_cost(1.0, "USD") == Spent()
    assert meter.add_cost(1.5, "USD") == Spent(cost=0.5)


def test_several_processes_share_one_counter(spending: SpendingLog) -> None:
    program = (
        "import sys; from pathlib import Path; from accord.status.spending_log import *;"
        "s = SpendingLog(Path(sys.argv[1]), clock=lambda: 1_000_000.0);"
        "[s.add('claude', Spent(2, 0.25)) for _ in range(20)]"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(spending.path)]) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert spending.read_today() == {"claude": Spent(120, 15.0)}
    assert spending.path.stat().st_mode & 0o077 == 0


def test_each_day_counts_by_itself(spending: SpendingLog) -> None:
    spending.add("claude", Spent(cost=1.0))
    tomorrow = SpendingLog(spending.path, clock=lambda: 1_000_000.0 + DAY)
    assert tomorrow.read_today() == {}
    much_later = SpendingLog(spending.path, clock=lambda: 1_000_000.0 + 500 * DAY)
    much_later.add("claude", Spent(cost=1.0))
    assert spending.read_today() == {}, "old days are deleted"


def test_a_damaged_file_counts_as_empty(spending: SpendingLog) -> None:
    spending.path.parent.mkdir()
    spending.path.write_bytes(b"not a database" * 100)
    assert spending.read_today() == {}
    with pytest.raises(OSError, match="not a database"):
        spending.add("claude", Spent(cost=1.0))


def test_the_budget_for_all_agents_counts_all_of_them(spending: SpendingLog) -> None:
    spending.add("codex", Spent(cost=3.0))
    spending.add("claude", Spent(cost=1.0))
    own, common = Limits(cost_per_day=2), Limits(cost_per_day=4)
    assert BudgetMeter("claude", spending, own, None).check(Spent()) is None
    exceeded = BudgetMeter("claude", spending, own, common).check(Spent())
    assert exceeded is not None and (exceeded.name, exceeded.used) == ("cost_per_day", 4.0)


def test_a_raised_limit_allows_as_much_again(spending: SpendingLog) -> None:
    meter = BudgetMeter("claude", spending, Limits(cost_per_turn=2), None)
    exceeded = meter.check(Spent(cost=2.5))
    assert exceeded is not None
    meter.raise_limit(exceeded)
    assert meter.check(Spent(cost=4.4)) is None
    assert meter.check(Spent(cost=4.5)) is not None


def test_an_impossible_number_of_tokens_is_not_counted(spending: SpendingLog) -> None:
    meter = SessionMeter(is_new=True)
    BudgetMeter("agent", spending, None, None).save(meter.add_tokens(2**64 - 1))
    assert spending.read_today() == {} and meter.turn == Spent()
