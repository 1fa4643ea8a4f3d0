"""A whole client, the real hub and an agent, with connections that break: nothing is lost, repeated or reordered.

`make cuts` runs the same conversations with many more cuts."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.cut_conversation import Shape
from support.cut_runs import SCHEMES, Scheme, run_in_memory, run_on_network
from support.faulty_proxy import Fault, Kind
from support.kill_runs import run_with_kills

SHAPE = Shape(sessions=1, turns=1, words=2)


async def test_a_cut_before_every_message_loses_repeats_and_reorders_nothing(version: int, tmp_path: Path) -> None:
    whole = await run_in_memory(set(), SHAPE, version, tmp_path)
    assert whole.tally.is_clean
    for index in range(1, whole.messages + 1):
        run = await run_in_memory({index}, SHAPE, version, tmp_path)
        assert run.tally.is_clean, f"cut before message {index}: {run.tally}"


async def test_many_cuts_in_one_conversation_lose_repeat_and_reorder_nothing(version: int, tmp_path: Path) -> None:
    run = await run_in_memory(set(range(5, 400, 9)), Shape(), version, tmp_path)
    assert run.tally.is_clean, run.tally
    assert run.cuts > 10


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_a_network_without_faults_needs_one_connection(scheme: Scheme, version: int, tmp_path: Path) -> None:
    run = await run_on_network(scheme, SHAPE, version, tmp_path)
    assert run.tally.is_clean
    assert run.tally.interruptions == 0


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_cuts_between_messages_of_a_real_connection_lose_nothing(
    scheme: Scheme, version: int, tmp_path: Path
) -> None:
    run = await run_on_network(scheme, SHAPE, version, tmp_path, cuts=set(range(2, 200, 7)))
    assert run.tally.is_clean, run.tally
    assert run.cuts > 3


@pytest.mark.parametrize("kind", ["drop", "stall", "duplicate"])
@pytest.mark.parametrize("scheme", SCHEMES)
async def test_faults_in_the_middle_of_a_byte_stream_lose_nothing(scheme: Scheme, kind: Kind, tmp_path: Path) -> None:
    faults = [Fault(at, kind) for at in ((2_500,) if kind == "stall" else (900, 2_500, 4_000))]
    run = await run_on_network(scheme, SHAPE, 1, tmp_path, faults=faults, patience=5.0)
    assert run.tally.is_clean, run.tally
    assert run.cuts > 0


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_kill_9_of_the_server_loses_nothing_that_was_sent(scheme: Scheme, tmp_path: Path) -> None:
    run = await run_with_kills(scheme, 2, 2, tmp_path, {2: 0.0, 6: 0.0})
    assert run.tally.is_clean, run.tally
    assert run.cuts == 2
