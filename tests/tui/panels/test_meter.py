"""Context usage and cost, whatever numbers an agent sends."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.model.session import Cost, Usage
from accord.testing import ScriptedAgent
from accord.tui.panels import meter


@pytest.mark.parametrize(
    ("used", "size", "share", "words"),
    [
        (50_000, 200_000, "25%", "50,000 of 200,000 tokens"),
        (0, 200_000, "0%", "0 of 200,000 tokens"),
        (200_000, 200_000, "100%", "200,000 of 200,000 tokens"),
        (200_001, 200_000, ">100%", "200,001 of 200,000 tokens"),
        (6_000_000, 200_000, ">100%", "6,000,000 of 200,000 tokens"),
        (-5, 200_000, "", "room for 200,000 tokens"),
        (10**18, 200_000, "", "room for 200,000 tokens"),
        (500, 0, "", "500 tokens"),
        (500, -1, "", "500 tokens"),
        (500, 10**18, "", "500 tokens"),
        (500, 2**64 - 1, "", "500 tokens"),
        (0, 0, "", ""),
        (-1, -1, "", ""),
        (10**18, 10**18, "", ""),
    ],
)
def test_a_percentage_needs_two_plausible_numbers(used: int, size: int, share: str, words: str) -> None:
    usage = Usage(used=used, size=size)
    told = meter.share_of(usage)
    assert ("" if told is None else meter.format_percent(told)) == share
    assert meter.format_tokens(usage) == words


@pytest.mark.parametrize(
    ("amount", "words"),
    [
        (0.25, "0.25 USD"),
        (0, ""),
        (0.004, "<0.01 USD"),
        (1234.5, "1234.50 USD"),
        (3e11, "3e+11 USD"),
        (1e308, "1e+308 USD"),
        (-1, ""),
        (math.nan, ""),
        (math.inf, ""),
        (-math.inf, ""),
    ],
)
def test_implausible_costs_are_hidden_and_huge_ones_stay_short(amount: float, words: str) -> None:
    assert meter.format_cost(Cost(amount=amount, currency="USD"), 10) == words


def test_a_currency_is_truncated_and_optional() -> None:
    assert meter.format_cost(Cost(amount=1, currency="crédits\n" * 100), 10) == "1.00 crédits c…"
    assert meter.format_cost(Cost(amount=1, currency=""), 10) == "1.00"
    assert meter.format_cost(None, 10) == ""


@pytest.mark.parametrize("size", [(120, 36), (80, 24)])
async def test_implausible_numbers_are_not_shown(opened: Opened, size: tuple[int, int]) -> None:
    told: list[dict[str, Any]] = [
        {"used": 6_000_000, "size": 200_000, "cost": {"amount": -3, "currency": "USD"}},
        {"used": 777, "size": 0, "cost": {"amount": 2.5, "currency": "USD"}},
        {"used": 888, "size": 10**18},
        {"used": 10**18, "size": 10**18},
    ]

    async def spend(turn: Turn) -> None:
        number = int(turn.text)
        await turn.session.update(1, {"sessionUpdate": "usage_update", **told[number]})
        await turn.say(f"spent {number}")

    async with opened(ScriptedAgent(*[[spend]] * len(told)), size=size) as chat:
        await chat.send("0")
        await chat.until(">100%")
        assert "3000" not in chat.text and "USD" not in chat.text
        await chat.send("1")
        await chat.until("777 tokens")
        await chat.until("2.50 USD")
        await chat.send("2")
        await chat.until("888 tokens")
        assert "0%" not in chat.text and "000,000" not in chat.text
        await chat.send("3")
        await chat.gone("tokens")
        await chat.until("spent 3")
