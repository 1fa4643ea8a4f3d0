"""Some thousand hostile lines; `make fuzz` sends a million."""

from __future__ import annotations

import logging
from random import Random

import pytest
from fuzz.corpus import to_agent
from fuzz.hostile import Hostile, count_owed
from fuzz.lines import fuzz

SEED = 20


@pytest.mark.req("V1-FRAME-25", "V1-FRAME-27", "V1-FRAME-28", "V1-FRAME-24", "V2-FRAME-13", "V2-FRAME-14")
async def test_hostile_lines_break_neither_side(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "accord")  # thousands of warnings about the lines are expected
    assert await fuzz(8_000, SEED) == 8_000


def test_the_same_seed_gives_the_same_lines() -> None:
    first, second = (Hostile(Random("x"), *to_agent(1, "s")) for _ in range(2))

    assert [first.line() for _ in range(200)] == [second.line() for _ in range(200)]


def test_the_judge_knows_what_is_owed() -> None:
    ask = b'{"jsonrpc":"2.0","id":1,"method":"m"}'

    assert count_owed(ask) == ({("int", 1): 1}, {})
    assert count_owed(b"[" + ask + b"," + ask + b"]") == ({("int", 1): 2}, {})
    assert count_owed(b'{"id":"1","method":"m"}') == ({}, {("str", "1"): 1})
    assert count_owed(b'{"jsonrpc":"2.0","method":"m"}') == ({}, {})
    assert count_owed(b"garbage") == ({}, {})
