"""Budgets: how they are written, and when a limit is reached."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.config.budget import Limits, Spent, parse_budget
from accord.config.settings import parse
from accord.errors import ConfigError


@pytest.mark.parametrize(
    "text, limits",
    [
        ("$2/turn, $20/day", Limits(cost_per_turn=2, cost_per_day=20)),
        ("$0.50 / turn", Limits(cost_per_turn=0.5)),
        ("500k tokens/day,1.5M tokens/turn", Limits(tokens_per_day=500_000, tokens_per_turn=1_500_000)),
    ],
)
def test_a_budget_is_parsed(text: str, limits: Limits) -> None:
    assert parse_budget(text) == limits


@pytest.mark.parametrize("text", ["", "2/turn", "$2", "$2/month", "$-1/day", "$2/turn, $3/turn", "€2/day"])
def test_an_invalid_budget_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="expected amounts such as"):
        parse_budget(text)


def test_an_invalid_budget_in_a_file_is_reported_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"line 3: budgets\.claude: found 'lots'"):
        parse("budget = '$2/day'\n[budgets]\nclaude = 'lots'\n", Path("config.toml"))


@pytest.mark.parametrize(
    "turn, day, words",
    [
        (Spent(cost=1.99), Spent(cost=19), None),
        (Spent(cost=2), Spent(cost=19), "the budget of $2 per turn is reached ($2.00)"),
        (Spent(cost=0), Spent(cost=20.5), "the budget of $20 per day is reached ($20.50)"),
        (Spent(), Spent(tokens=1000), "the budget of 1,000 tokens per day is reached (1,000)"),
    ],
)
def test_a_limit_is_exceeded_when_it_is_reached(turn: Spent, day: Spent, words: str | None) -> None:
    found = Limits(cost_per_turn=2, cost_per_day=20, tokens_per_day=1000).find_exceeded(turn, day)
    assert (str(found) if found else None) == words
