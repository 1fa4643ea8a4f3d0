"""Durations of tool calls and turns, without the time that the user takes to answer."""

from __future__ import annotations

import pytest

from accord.model.tool import ToolCall
from accord.transcript import timing as timing_module
from accord.transcript.timing import Span, Timing


class Watch:
    """The time, as the test sets it."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    monkeypatch.setattr(timing_module, "time", watch)
    return watch


def start(timing: Timing, *ids: str) -> None:
    for id in ids:
        timing.record(ToolCall(id=id, title=id, status="in_progress"))


def test_a_question_about_no_call_in_particular_pauses_the_one_that_started_last(watch: Watch) -> None:
    timing = Timing()
    start(timing, "first", "second", "abandoned")
    timing.abandon("abandoned")
    watch.now += 1
    with timing.pause() as id:
        watch.now += 60
    watch.now += 1
    assert id == "second"
    assert [timing.spans[each].seconds(watch.now) for each in ("first", "second")] == [62, 2]


def test_without_a_call_only_the_turn_is_paused(watch: Watch) -> None:
    timing = Timing()
    with timing.pause() as id:
        watch.now += 5
    assert id == "" and not timing.spans
    assert timing.waited_since(100.0) == 5


def test_time_with_several_open_questions_counts_once(watch: Watch) -> None:
    timing = Timing()
    with timing.pause("a"):
        watch.now += 10
        with timing.pause("b"):
            watch.now += 10
        assert timing.waited_since(100.0) == 20
        watch.now += 10
    watch.now += 10
    assert timing.waited_since(100.0) == 30
    assert timing.waited_since(125.0) == 5, "a turn that started meanwhile"
    assert timing.waited_since(135.0) == 0


def test_a_span_stops_at_its_end_and_while_the_user_is_asked() -> None:
    assert Span(10.0).seconds(12.0) == 2.0
    assert Span(10.0, asked=11.0).seconds(30.0) == 1.0
    assert Span(10.0, ended=15.0).seconds(30.0) == 5.0
