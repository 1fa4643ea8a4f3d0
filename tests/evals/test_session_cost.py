"""The cost of a long session: by how much caching lowers it, and how little a smaller prompt would."""

from __future__ import annotations

import pytest
from evals.session_cost import ANCHORS, Sent, cost, former_cost

from accord.coder.models.snapshot import Price

PRICE = Price(input=2.0, output=10.0, cached_read=0.1, cached_write=2.5)
FIRST = Sent(4_000, 1_000, 0, 0, "")
SECOND = Sent(4_000, 2_000, 4_000, 1_000, "mode")


def test_what_a_request_shares_with_the_last_one_costs_less() -> None:
    assert cost([FIRST], PRICE) == pytest.approx((5_000 * 2.5 + 300 * 10) / 1e6)
    assert cost([SECOND], PRICE) == pytest.approx((1_000 * 2.5 + 5_000 * 0.1 + 300 * 10) / 1e6)


def test_a_change_of_the_mode_used_to_lose_the_cache() -> None:
    assert former_cost("anthropic", [SECOND], PRICE) == pytest.approx((5_500 * 2.5 + 300 * 10) / 1e6)
    assert former_cost("openrouter", [SECOND], PRICE) == pytest.approx((5_500 * 2.0 + 300 * 10) / 1e6)


def test_a_larger_prompt_costs_more() -> None:
    costs = [cost([FIRST, SECOND], PRICE, size) for size in ANCHORS.values()]
    assert costs == sorted(costs)
