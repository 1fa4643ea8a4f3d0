"""How long tool calls and turns took: without the time that the user took to answer."""

from __future__ import annotations

import sys

import pytest
from chatting import Opened

from accord.agent.turn import Turn
from accord.model.tool import ToolCall
from accord.testing import ScriptedAgent
from accord.tui import clocks as clocks_module
from accord.tui.clocks import Clocks


class Watch:
    """The time, as the test sets it."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    monkeypatch.setattr(clocks_module, "time", watch)
    return watch


def begun(clocks: Clocks, *ids: str) -> None:
    for id in ids:
        clocks.heard(ToolCall(id=id, title=id, status="in_progress"))


def test_a_question_about_no_call_in_particular_stops_the_clock_of_the_one_that_began_last(watch: Watch) -> None:
    clocks = Clocks()
    begun(clocks, "first", "second", "left")
    clocks.left("left")
    watch.now += 1
    with clocks.standing() as id:
        watch.now += 60
    watch.now += 1
    assert id == "second"
    assert [clocks.spans[each].seconds(watch.now) for each in ("first", "second")] == [62, 2]


def test_without_any_call_only_the_turn_stands(watch: Watch) -> None:
    clocks = Clocks()
    with clocks.standing() as id:
        watch.now += 5
    assert id == "" and not clocks.spans
    assert clocks.thought_since(100.0) == 5


def test_questions_that_are_open_at_the_same_time_are_thought_about_once(watch: Watch) -> None:
    clocks = Clocks()
    with clocks.standing("a"):
        watch.now += 10
        with clocks.standing("b"):
            watch.now += 10
        assert clocks.thought_since(100.0) == 20
        watch.now += 10
    watch.now += 10
    assert clocks.thought_since(100.0) == 30
    assert clocks.thought_since(125.0) == 5, "a turn that began meanwhile"
    assert clocks.thought_since(135.0) == 0


async def test_a_call_whose_command_is_asked_about_waits_for_the_user(opened: Opened) -> None:
    async def run(turn: Turn) -> None:
        async with (
            turn.tool("Run it", kind="execute") as tool,
            await turn.terminals.create(sys.executable, ["-c", "print('hi')"]) as terminal,
        ):
            await tool.show(terminal)
            await terminal.wait()
        await turn.say("That was it.")

    async with opened(ScriptedAgent([run])) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        await chat.until("Run it  waits for you")
        await chat.until("number or")
        assert chat.pane.talk.clocks.thought_since(chat.pane.talk.turn_began) > 0
        await chat.press("y")
        await chat.until("That was it.")
        assert "waits for you" not in chat.text
