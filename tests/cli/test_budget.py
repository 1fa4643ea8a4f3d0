"""Budgets of accord run: the turn is stopped, the exit status reports it, and the counters are saved."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest
from support.cli_runner import Accord

COSTLY = shlex.join([sys.executable, str(Path(__file__).resolve().parents[1] / "agents" / "costly_agent.py")])


@pytest.fixture
def budget(accord: Accord) -> Accord:
    accord.config.write_text("budget = '$1/turn, $2/day'\n")
    return accord


def test_a_turn_that_reaches_its_budget_is_stopped(budget: Accord) -> None:
    done = budget("run", "--agent", COSTLY, "spend 3")
    assert done.status == 8
    assert "accord: stopped: the budget of $1 per turn is reached" in done.err
    assert "--ignore-budget" in done.err


def test_json_reports_the_budget_as_an_error(budget: Accord) -> None:
    done = budget("run", "--agent", COSTLY, "--json", "spend 3")
    assert done.status == 8
    (error,) = done.events("error")
    assert error["message"].startswith("stopped: the budget of $1 per turn is reached")


def test_the_budget_of_a_day_is_shared_by_all_runs(budget: Accord) -> None:
    for _ in range(4):
        assert budget("run", "--agent", COSTLY, "hello").out == "spent 0.5\n"
    done = budget("run", "--agent", COSTLY, "hello")
    assert (done.status, done.out) == (8, "")
    assert "the budget of $2 per day is reached ($2.00)" in done.err
    assert budget("run", "--agent", COSTLY, "--ignore-budget", "hello").out == "spent 0.5\n"
    shown = budget("status", "--clear").out
    assert "All agents" in shown and "$2.50  (budget: $1/turn, $2/day)" in shown


def test_yes_does_not_ignore_a_budget(budget: Accord) -> None:
    assert budget("run", "--agent", COSTLY, "--yes", "spend 3").status == 8


def test_without_a_budget_nothing_is_stopped_but_everything_counted(accord: Accord) -> None:
    assert accord("run", "--agent", COSTLY, "hello").status == 0
    assert "$0.50" in accord("status").out
