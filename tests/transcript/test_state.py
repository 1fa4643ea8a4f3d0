from __future__ import annotations

from typing import Any

import pytest
from transcript.update_builders import events, message_chunk, tool, update, v2

from accord.model.session import Background, Tokens
from accord.transcript import Transcript
from accord.transcript.events import StateChanged


def state(name: str, **more: Any) -> dict[str, Any]:
    return update("state_update", state=name, **more)


ENDED = state(
    "idle",
    stopReason="error",
    error={"code": -32603, "message": "lost"},
    usage={"totalTokens": 3, "inputTokens": 1, "outputTokens": 2},
)


def test_a_session_that_has_said_nothing_is_not_idle() -> None:
    assert Transcript().state == "unknown"


@pytest.mark.req("V2-STATE-01")
def test_work_that_ends_says_why_and_what_it_took() -> None:
    transcript = v2(state("running"), ENDED)

    assert (transcript.state, transcript.stop_reason) == ("idle", "error")
    assert transcript.error == {"code": -32603, "message": "lost"}
    assert transcript.tokens == Tokens(total=3, input=1, output=2)


def test_the_event_of_a_state_tells_all_that_was_reported() -> None:
    assert events(2, ENDED, state("requires_action", background=[])) == [
        StateChanged("idle", "error", {"code": -32603, "message": "lost"}, Tokens(total=3, input=1, output=2), None),
        StateChanged("requires_action", background=[]),
    ]


def test_new_work_makes_the_old_end_a_thing_of_the_past() -> None:
    for busy in ("running", "requires_action", "_pondering"):
        transcript = v2(ENDED, state(busy))
        assert (transcript.stop_reason, transcript.error, transcript.tokens) == (None, None, None)


@pytest.mark.req("V2-STATE-04")
def test_an_unknown_state_takes_the_earlier_one_back_and_nothing_else() -> None:
    transcript = v2(tool("t", status="in_progress", capabilities={"cancel": {}}), ENDED, state("unknown"))

    assert transcript.state == "unknown"
    assert transcript.stop_reason == "error"
    assert transcript.tool_calls["t"].can_cancel


@pytest.mark.req("V2-STATE-06")
def test_an_unrecognized_state_is_itself_and_not_idle() -> None:
    assert v2(state("idle"), state("_pondering", stopReason="end_turn")).state == "_pondering"
    assert v2(state("_pondering", stopReason="end_turn")).stop_reason is None


@pytest.mark.req("V2-STATE-08", "V2-TOOL-10")
def test_updates_while_idle_do_not_change_the_state() -> None:
    transcript = v2(state("idle", stopReason="end_turn"), message_chunk("late", "m"), tool("t", status="in_progress"))

    assert (transcript.state, transcript.stop_reason) == ("idle", "end_turn")


@pytest.mark.req("V2-RESUME-11")
def test_the_same_snapshot_again_changes_nothing() -> None:
    once, twice = v2(state("running"), ENDED), v2(state("running"), ENDED, ENDED)

    assert once.snapshot() == twice.snapshot()


def test_an_idle_snapshot_without_a_reason_does_not_undo_the_one_that_was_given() -> None:
    assert v2(ENDED, state("idle", background=[])).stop_reason == "error"
    assert v2(ENDED, state("running"), state("idle")).stop_reason is None


@pytest.mark.req("V2-STATE-09")
@pytest.mark.parametrize(
    ("second", "left"),
    [
        ({}, [Background(kind="terminal", id="x")]),
        ({"background": None}, [Background(kind="terminal", id="x")]),
        ({"background": [{"type": "terminal"}]}, [Background(kind="terminal", id="x")]),
        ({"background": []}, []),
        ({"background": [{"type": "tool_call", "toolCallId": "t"}]}, [Background(kind="tool_call", id="t")]),
    ],
    ids=["omitted", "null", "malformed", "empty", "another"],
)
def test_a_background_is_a_whole_list_or_not_reported(second: dict[str, Any], left: list[Background]) -> None:
    first = state("idle", background=[{"type": "terminal", "terminalId": "x"}])

    assert v2(first, state("idle", **second)).background == left


@pytest.mark.req("V2-STATE-09")
def test_a_background_that_was_never_reported_is_not_an_empty_one() -> None:
    assert v2(state("idle")).background is None


@pytest.mark.req("V2-STATE-12")
def test_background_work_of_an_unknown_kind_still_counts() -> None:
    work = [{"type": "_timer", "at": 5}, {"type": "subagent", "sessionId": "child"}]

    assert v2(state("idle", background=work)).background == [
        Background(kind="_timer", id=""),
        Background(kind="subagent", id="child"),
    ]
