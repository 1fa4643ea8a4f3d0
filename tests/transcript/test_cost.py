"""The cost of an update must not depend on the number of updates before it. Counted, not timed: executed lines, memory
needed, and memory kept."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from transcript.update_builders import Telling, block, decode, message_chunk, text_block, thought, tool, update

SHORT, LONG = 3, 2_000


def steps(act: Callable[[], object]) -> int:
    """Count the lines, calls and returns of Accord's code during an action."""
    count = 0

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        if "accord" not in frame.f_code.co_filename:
            return None
        count += 1
        return trace

    before = sys.gettrace()
    gc.disable()  # a collection would run other people's finalizers here
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
        gc.enable()
    return count


def memory(act: Callable[[], object]) -> int:
    """Measure the peak of additional memory during an action, which reveals copies.

    Returns the minimum of three runs, because lists grow in large steps."""
    peaks = []
    for _ in range(3):
        tracemalloc.start()
        try:
            act()
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(peaks)


UPDATES = {
    1: {
        "chunk": message_chunk("x", "m"),
        "chunk without an id": message_chunk("x"),
        "thought": thought("x", "m"),
        "new tool call": update("tool_call", toolCallId="new", title="T", content=[text_block("x")]),
        "tool call": tool("t", status="in_progress"),
        "plan": update("plan", entries=[]),
        "usage": update("usage_update", used=1, size=2),
        "notice": update("notice", severity="info", title="n"),
        "summary": update("compaction_summary_chunk", compactionId="c", content=block("x")),
        "between sessions": update("session_message_chunk", messageId="m", content=block("x")),
        "unknown": update("_x"),
    },
    2: {
        "chunk": message_chunk("x", "m"),
        "thought": thought("x", "m"),
        "whole message": update("agent_message", messageId="new", content=[block("x")]),
        "tool call": tool("t", status="in_progress", _meta={"a": 1}),
        "tool content": update("tool_call_content_chunk", toolCallId="t", content=text_block("x")),
        "output": update("terminal_output_chunk", terminalId="x", data="aGk="),
        "terminal": update("terminal_update", terminalId="x", exitStatus={}),
        "state": update("state_update", state="running", background=[]),
        "summary": update("compaction_summary_chunk", compactionId="c", content=block("x")),
    },
}
CASES = [(version, name) for version, table in UPDATES.items() for name in table]


def after(version: int, length: int) -> Telling:
    """A session in which everything has happened many times."""
    telling = Telling(version)
    every = [decode(version, u) for u in UPDATES[version].values()]
    for number in range(length):
        for one in every:
            telling.fold.apply(one)
        telling.fold.apply(decode(version, tool(f"t{number}", content=[text_block("x")])))
    return telling


@pytest.fixture(scope="module")
def sessions() -> dict[tuple[int, int], Telling]:
    return {(version, length): after(version, length) for version in (1, 2) for length in (SHORT, LONG)}


@pytest.mark.parametrize(("version", "name"), CASES, ids=lambda part: str(part))
def test_an_update_takes_as_much_in_a_long_session_as_in_a_short_one(
    sessions: dict[tuple[int, int], Telling], version: int, name: str
) -> None:
    one = decode(version, UPDATES[version][name])
    short, long = (sessions[version, length].fold for length in (SHORT, LONG))
    short.apply(one), long.apply(one)  # so that both continue the same message

    assert steps(lambda: long.apply(one)) == steps(lambda: short.apply(one))
    assert memory(lambda: long.apply(one)) < memory(lambda: short.apply(one)) + LONG


@pytest.mark.parametrize("version", [1, 2])
def test_a_small_chunk_takes_few_steps(version: int) -> None:
    fold = after(version, 1).fold
    one = decode(version, message_chunk("x", "m"))
    fold.apply(one)

    assert steps(lambda: fold.apply(one)) <= 20


@pytest.mark.parametrize("version", [1, 2])
def test_a_chunk_copies_no_earlier_data(version: int) -> None:
    fold = after(version, 1).fold
    one = decode(version, message_chunk("x", "m"))
    pieces = fold.transcript.messages["agent", "m"].pieces
    timeline = fold.transcript.timeline
    for _ in range(LONG):
        fold.apply(one)

    assert fold.transcript.messages["agent", "m"].pieces is pieces
    assert fold.transcript.timeline is timeline
    assert len(pieces) > LONG


def test_the_event_of_a_tool_call_shares_its_content() -> None:
    telling = after(2, 50)
    event = telling.fold.apply(decode(2, UPDATES[2]["tool content"]))

    assert event.content is telling.transcript.tool_calls["t"].content


def test_a_message_that_is_set_without_content_is_joined_once() -> None:
    telling = Telling(2)
    telling.tell(*[message_chunk("x", "m")] * LONG)
    named = decode(2, update("agent_message", messageId="m", _meta={"a": 1}))
    first = steps(lambda: telling.fold.apply(named))

    assert telling.transcript.messages["agent", "m"].text == "x" * LONG
    assert steps(lambda: telling.fold.apply(named)) < first / 10


@pytest.mark.parametrize("version", [1, 2])
def test_a_kept_chunk_takes_little_memory(version: int) -> None:
    fold = Telling(version).fold
    chunk = message_chunk("some words ", "message-1")
    fold.apply(decode(version, chunk))
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(LONG):
            fold.apply(decode(version, chunk))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept / LONG < 150
