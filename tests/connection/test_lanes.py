"""A thousand sessions share a few workers, and none waits for another."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

import pytest
from connection.one_end import a_client, passes, text_of, until, update

from accord.connection.backlog import Backlog
from accord.connection.lanes import Lanes, current_lane
from accord.connection.limits import Limits

SESSIONS = 1000
UPDATES = 20


async def flood(peer: Any) -> None:
    for number in range(UPDATES):
        for session in range(SESSIONS):
            await peer.tell("session/update", update(f"s{session}", str(number)))


def in_order() -> dict[str, list[str]]:
    return {f"s{session}": [str(number) for number in range(UPDATES)] for session in range(SESSIONS)}


async def test_a_thousand_sessions_are_each_in_order_with_plain_handlers() -> None:
    seen: dict[str, list[str]] = defaultdict(list)
    async with a_client(session_update=lambda p: seen[p.session_id].append(text_of(p))) as (peer, _):
        await flood(peer)
        await peer.quiet()

    assert seen == in_order()


async def test_a_thousand_sessions_are_each_in_order_with_handlers_that_wait() -> None:
    seen: dict[str, list[str]] = defaultdict(list)
    workers: set[Any] = set()
    count = 0

    async def session_update(params: Any) -> None:
        nonlocal count
        if count % 7 == 0:
            await asyncio.sleep(0)
        workers.add(asyncio.current_task())
        seen[params.session_id].append(text_of(params))
        count += 1

    async with a_client(session_update=session_update) as (peer, connection):
        await flood(peer)
        await until(lambda: count == SESSIONS * UPDATES)
        await passes()
        assert connection.connection.lanes.active == {}
        assert len(connection.connection.lanes._workers) <= 4

    assert seen == in_order()
    assert len(workers) < SESSIONS / 4  # not one each


async def test_stuck_sessions_keep_a_worker_each_and_the_others_continue() -> None:
    stuck = asyncio.Event()
    seen: list[str] = []

    async def session_update(params: Any) -> None:
        if params.session_id.startswith("stuck"):
            await stuck.wait()
        seen.append(params.session_id)

    async with a_client(session_update=session_update) as (peer, connection):
        for number in range(100):
            await peer.tell("session/update", update(f"stuck {number}", ""))
            await peer.tell("session/update", update(f"free {number}", ""))
        await until(lambda: len(seen) == 100)
        assert all(name.startswith("free") for name in seen)
        stuck.set()
        await until(lambda: len(seen) == 200)
        await passes()
        assert len(connection.connection.lanes._workers) <= 4


async def test_a_long_lane_lets_the_others_have_their_turn() -> None:
    story: list[str] = []
    go_on = asyncio.Event()

    async def session_update(params: Any) -> None:
        if text_of(params) == "first":
            await go_on.wait()
        story.append(params.session_id)

    async with a_client(session_update=session_update) as (peer, _):
        await peer.tell("session/update", update("long", "first"))
        for _ in range(1000):
            await peer.tell("session/update", update("long", ""))
        await peer.quiet()
        go_on.set()
        await peer.tell("session/update", update("short", ""))
        await until(lambda: len(story) == 1002)

    assert story.index("short") < 500


# -- the lanes alone


def lanes(failed: Any = None) -> Lanes:
    return Lanes(Backlog(Limits(), lambda: None, lambda: None, lambda: None), failed or pytest.fail)


async def test_a_handler_that_cancels_its_own_task_leaves_its_lane_working() -> None:
    some = lanes()
    done: list[str] = []

    async def step(name: str) -> None:
        if name == "mad":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
        await asyncio.sleep(0)
        done.append(name)

    for name in ("a", "mad", "b", "c"):
        some.push("s", step, name)
    await until(lambda: done == ["a", "b", "c"])
    await some.close(1)
    assert some.active == {}


async def run_steps(some: Lanes, *steps: Any) -> None:
    """Queues steps as a block that is read does: from the loop, in no task, and worked off at its end."""
    done = asyncio.get_running_loop().create_future()

    def block() -> None:
        some.collecting = True
        for step, value in steps:
            some.push("s", step, value)
        some.work()
        done.set_result(None)

    asyncio.get_running_loop().call_soon(block)
    await done


async def test_what_came_together_is_worked_off_at_once_while_nothing_waits() -> None:
    some = lanes()
    story: list[str] = []

    async def step(name: str) -> None:
        story.append(name)

    async def slow(name: str) -> None:
        story.append(f"{name} begins")
        await asyncio.sleep(0)
        story.append(f"{name} ends")

    await run_steps(some, (step, "first"))  # gets the spare worker ready
    await until(lambda: not some.active)
    story.clear()
    await run_steps(some, (step, "a"), (step, "b"), (slow, "c"), (step, "d"))
    assert story == ["a", "b", "c begins"]
    await until(lambda: not some.active)
    await some.close(1)

    assert story == ["a", "b", "c begins", "c ends", "d"]


async def test_a_handler_that_cancels_its_own_task_at_once_leaves_its_lane_working() -> None:
    some = lanes()
    done: list[str] = []

    async def step(name: str) -> None:
        if name == "mad":
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            raise asyncio.CancelledError
        done.append(name)

    await run_steps(some, (step, "a"))
    await until(lambda: not some.active)
    await run_steps(some, (step, "b"), (step, "mad"), (step, "c"))
    await until(lambda: done == ["a", "b", "c"])
    await some.close(1)
    assert some.active == {}


async def test_code_in_a_lane_knows_the_lane_and_later_code_does_not() -> None:
    some = lanes()
    found: list[Any] = []

    async def step(value: Any) -> None:
        found.append(current_lane.get())
        await asyncio.sleep(0)
        found.append(current_lane.get())

    some.push("s", step, None)
    lane = some.active["s"]
    await until(lambda: len(found) == 2)
    await some.close(1)

    assert found == [lane, lane]
    assert current_lane.get() is None


async def test_closing_waits_for_what_is_queued_within_its_grace() -> None:
    some = lanes()
    done: list[int] = []

    async def step(value: int) -> None:
        await asyncio.sleep(0)
        done.append(value)

    for number in range(250):
        some.push("s", step, number)
    await some.close(5)

    assert done == list(range(250))


async def test_past_its_grace_closing_ends_what_runs_and_forgets_what_waits() -> None:
    some = lanes()
    story: list[str] = []

    async def step(value: str) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            story.append(f"{value} was cancelled")
            raise

    some.push("s", step, "first")
    some.push("s", step, "second")
    some.push("s", None, step("made already"))  # closed, or it would complain that it was never awaited
    await some.close(0.01)
    await passes()

    assert story == ["first was cancelled"]


async def test_failures_are_reported_and_do_not_stop_the_lane() -> None:
    failures: list[str] = []
    done: list[str] = []

    def step(name: str) -> None:
        if name.startswith("bad"):
            raise ValueError(name)
        done.append(name)

    some = lanes(lambda error: failures.append(str(error)))
    for name in ("a", "bad 1", "b", "bad 2", "c"):
        some.push("s", step, name)
    await some.close(1)

    assert done == ["a", "b", "c"]
    assert failures == ["bad 1", "bad 2"]
