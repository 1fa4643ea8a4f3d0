"""Coroutines whose first step runs at once: for the coroutine it looks as if it had its own task."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import pytest

from accord.transports.eager_tasks import EagerTasks

color: ContextVar[str] = ContextVar("color", default="none")


async def outside(start: Callable[[], Any]) -> Any:
    """Calls something as a transport does: from the loop, in no task."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()
    loop.call_soon(lambda: done.set_result(start()))
    return await done


async def wait_until_done(task: asyncio.Task[None]) -> None:
    await asyncio.wait([task])


async def nothing() -> None:
    """Never waits."""


@pytest.fixture
async def eager() -> Any:
    eager = EagerTasks()
    assert await outside(lambda: eager.start(nothing())) is None  # and a spare task stands by
    yield eager
    eager.close()
    await asyncio.sleep(0)


async def test_what_never_waits_is_over_at_once_and_no_task_is_made(eager: EagerTasks) -> None:
    story: list[Any] = []

    async def work(number: int) -> None:
        story.append(number)

    assert await outside(lambda: [eager.start(work(1)), eager.start(work(2))]) == [None, None]
    assert story == [1, 2]
    assert len([task for task in asyncio.all_tasks() if task.get_name() == "accord handler"]) == 1


async def test_a_coroutine_that_waits_continues_in_the_same_task(eager: EagerTasks) -> None:
    tasks: list[Any] = []
    gate = asyncio.Event()

    async def work() -> None:
        tasks.append(asyncio.current_task())
        await gate.wait()
        tasks.append(asyncio.current_task())
        await asyncio.sleep(0)
        tasks.append(asyncio.current_task())

    task = await outside(lambda: eager.start(work()))
    gate.set()
    await wait_until_done(task)
    assert tasks == [task, task, task]


async def test_a_timeout_that_was_entered_in_the_first_step_works(eager: EagerTasks) -> None:
    story: list[str] = []

    async def work() -> None:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            story.append("in time")

    await wait_until_done(await outside(lambda: eager.start(work())))
    assert story == ["in time"]


async def test_a_task_group_that_was_entered_in_the_first_step_works(eager: EagerTasks) -> None:
    story: list[str] = []

    async def fails() -> None:
        raise ValueError("child")

    async def work() -> None:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fails())
                await asyncio.Event().wait()
        except* ValueError as errors:
            story.append(str(errors.exceptions[0]))

    await wait_until_done(await outside(lambda: eager.start(work())))
    assert story == ["child"]


@pytest.mark.parametrize("when", ["at once", "later"])
async def test_cancelling_the_task_cancels_the_coroutine(eager: EagerTasks, when: str) -> None:
    story: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            story.append("cancelled")
            raise

    def begin() -> Any:
        task = eager.start(work())
        assert task is not None
        if when == "at once":
            task.cancel()
        return task

    task = await outside(begin)
    if when == "later":
        await asyncio.sleep(0)
        task.cancel()
    await wait_until_done(task)
    assert story == ["cancelled"]
    assert task.cancelled()


@pytest.mark.parametrize("stands_by", [True, False])
async def test_what_a_cancelled_coroutine_waits_for_is_cancelled_too(stands_by: bool) -> None:
    child: list[asyncio.Task[Any]] = []
    eager = EagerTasks()

    async def work() -> None:
        child.append(asyncio.ensure_future(asyncio.Event().wait()))
        await child[0]

    def begin() -> Any:
        task = eager.start(work())
        assert task is not None
        task.cancel()
        return task

    if stands_by:
        await outside(lambda: eager.start(nothing()))
        await asyncio.sleep(0)
    task = await outside(begin)
    await wait_until_done(task)
    assert task.cancelled()
    assert child[0].cancelled()
    eager.close()


async def test_many_waiting_coroutines_start_in_one_loop_iteration_each_in_its_own_task(eager: EagerTasks) -> None:
    gate = asyncio.Event()
    begun: list[Any] = []
    over: list[Any] = []

    async def work(number: int) -> None:
        begun.append(number)
        await gate.wait()
        over.append((number, asyncio.current_task()))

    def begin() -> list[Any]:
        tasks = [eager.start(work(number)) for number in range(5)]
        assert begun == [0, 1, 2, 3, 4]
        return tasks

    tasks = await outside(begin)
    gate.set()
    await asyncio.wait(tasks)
    assert over == list(enumerate(tasks))


async def test_a_coroutine_that_swallows_its_cancellation_continues(eager: EagerTasks) -> None:
    story: list[str] = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            story.append("went on")

    task = await outside(lambda: eager.start(work()))
    await asyncio.sleep(0)
    task.cancel()
    await wait_until_done(task)
    assert story == ["went on"]


async def test_each_has_its_own_context_through_all_its_steps(eager: EagerTasks) -> None:
    seen: list[str] = []

    async def work(name: str, wait: bool) -> None:
        seen.append(color.get())
        color.set(name)
        if wait:
            await asyncio.sleep(0)
        seen.append(color.get())

    task = await outside(lambda: [eager.start(work("red", False)), eager.start(work("blue", True))][1])
    await wait_until_done(task)
    assert seen == ["none", "red", "none", "blue"]
    assert color.get() == "none"


async def test_a_coroutine_started_by_a_first_step_has_its_own_task(eager: EagerTasks) -> None:
    tasks: list[Any] = []

    async def inner() -> None:
        tasks.append(asyncio.current_task())

    async def work() -> None:
        tasks.append(asyncio.current_task())
        task = eager.start(inner())
        assert task is not None
        await task

    await wait_until_done(await outside(lambda: eager.start(work())))
    assert tasks[0] is not tasks[1]


@pytest.mark.parametrize("waits", [False, True])
async def test_from_within_a_task_it_is_started_at_once_too_and_that_task_is_itself_again(
    eager: EagerTasks, waits: bool
) -> None:
    ours, seen = asyncio.current_task(), []

    async def work() -> None:
        seen.append(asyncio.current_task())
        if waits:
            await asyncio.sleep(0)

    task = eager.start(work())
    assert asyncio.current_task() is ours
    assert len(seen) == 1 and seen[0] is not ours
    assert (task is not None) == waits
    if task is not None:
        assert seen == [task]
        await wait_until_done(task)


@pytest.mark.parametrize("raises", [False, True])
async def test_one_that_cancels_its_own_task_and_ends_at_once_harms_no_other(eager: EagerTasks, raises: bool) -> None:
    story: list[str] = []

    async def mad() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        if raises:
            raise asyncio.CancelledError

    async def work() -> None:
        await asyncio.sleep(0)
        story.append("done")

    def begin() -> Any:
        with suppress(asyncio.CancelledError):
            eager.start(mad())
        return eager.start(work())

    await wait_until_done(await outside(begin))
    assert story == ["done"]


async def test_once_closed_coroutines_run_in_their_own_tasks_and_no_spare_is_made(eager: EagerTasks) -> None:
    eager.close()
    task = await outside(lambda: eager.start(nothing()))
    await wait_until_done(task)
    await asyncio.sleep(0)
    assert [task for task in asyncio.all_tasks() if task.get_name() == "accord handler"] == []


async def test_a_first_step_that_raises_raises_where_it_was_started(eager: EagerTasks) -> None:
    async def work() -> None:
        raise ValueError("at once")

    def begin() -> str:
        with pytest.raises(ValueError, match="at once"):
            eager.start(work())
        return "told"

    assert await outside(begin) == "told"


async def test_a_later_step_that_raises_ends_its_task_with_it(eager: EagerTasks) -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        raise ValueError("later")

    task = await outside(lambda: eager.start(work()))
    with pytest.raises(ValueError, match="later"):
        await task


async def test_any_awaitable_can_be_waited_for_in_the_first_step(eager: EagerTasks) -> None:
    story: list[Any] = []

    async def child() -> str:
        await asyncio.sleep(0)
        return "child"

    def waits() -> list[Awaitable[Any]]:
        return [asyncio.sleep(0, "sleep"), asyncio.create_task(child()), asyncio.gather(child(), child())]

    async def work() -> None:
        for waiting in waits():
            story.append(await waiting)  # noqa: PERF401

    await wait_until_done(await outside(lambda: eager.start(work())))
    assert story == ["sleep", "child", ["child", "child"]]


async def test_closing_leaves_no_task_behind(eager: EagerTasks) -> None:
    assert await outside(lambda: eager.start(nothing())) is None
    eager.close()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert [task for task in asyncio.all_tasks() if task.get_name() == "accord handler"] == []


# -- contracts of asyncio's private names


async def test_enter_task_and_leave_task_change_the_current_task() -> None:
    loop, here = asyncio.get_running_loop(), asyncio.current_task()
    other = loop.create_task(asyncio.sleep(0))
    assert here is not None

    asyncio.tasks._leave_task(loop, here)
    assert asyncio.current_task(loop) is None
    asyncio.tasks._enter_task(loop, other)
    assert asyncio.current_task(loop) is other
    asyncio.tasks._leave_task(loop, other)
    asyncio.tasks._enter_task(loop, here)

    assert asyncio.current_task(loop) is here
    await other
