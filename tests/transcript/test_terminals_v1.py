"""Terminals that a version 1 agent runs itself, reported in the metadata of tool calls by Zed's convention."""

from __future__ import annotations

from typing import Any

import pytest
from transcript.update_builders import Json, decode, message_chunk, tool, update

from accord.model.tool import ExitStatus, TerminalRef
from accord.transcript import Transcript
from accord.transcript.events import TerminalChanged, TerminalOutput
from accord.transcript.v1 import Fold

SHOWN = [{"type": "terminal", "terminalId": "c1"}]


def announce(id: str, **fields: Any) -> Json:
    return update("tool_call", toolCallId=id, title="Run it", **fields)


class Events(list[Any]):
    def push(self, event: Any) -> None:
        self.append(event)


def fold(*updates: Json) -> tuple[Transcript, list[Any]]:
    events = Events()
    fold = Fold(receiver=events)
    for each in updates:
        event = fold.apply(decode(1, each))  # what it pushes before comes first
        events.append(event)
    return fold.transcript, events


def meta(**keys: Any) -> Json:
    return {"_meta": {key: {"terminal_id": "c1", **value} for key, value in keys.items()}}


@pytest.mark.parametrize("key", ["terminal_output", "terminal_output_delta"])
def test_output_in_the_metadata_becomes_a_terminal(key: str) -> None:
    transcript, events = fold(
        announce("call", content=SHOWN, **meta(terminal_info={"cwd": "/project"})),
        tool("call", **meta(**{key: {"data": "one\n"}})),
        tool("call", **meta(**{key: {"data": "tw\u00f6\n"}})),
        tool("call", status="completed", **meta(terminal_exit={"exit_code": 0, "signal": None})),
    )
    terminal = transcript.terminals["c1"]
    assert (terminal.text, terminal.cwd, terminal.exit) == ("one\ntwö\n", "/project", ExitStatus(code=0))
    assert transcript.tool_calls["call"].content == [TerminalRef(terminal_id="c1")]
    kinds = [type(event).__name__ for event in events]
    # The terminal first: who draws the call finds its output there.
    assert kinds == ["TerminalChanged", "ToolCall", *["TerminalOutput", "ToolCall"] * 2, "TerminalChanged", "ToolCall"]
    assert [event.data for event in events if isinstance(event, TerminalOutput)] == [b"one\n", "twö\n".encode()]


def test_everything_may_come_in_one_update() -> None:
    keys = {"terminal_info": {"cwd": "/p"}, "terminal_output": {"data": "x"}, "terminal_exit": {"signal": "SIGTERM"}}
    transcript, _ = fold(announce("call", **meta(**keys)))
    terminal = transcript.terminals["c1"]
    assert (terminal.text, terminal.cwd, terminal.exit) == ("x", "/p", ExitStatus(signal="SIGTERM"))


def test_a_terminal_without_an_id_is_the_calls() -> None:
    transcript, _ = fold(announce("call", _meta={"terminal_output_delta": {"data": "x"}}))
    assert transcript.terminals["call"].text == "x"


@pytest.mark.parametrize(
    "told",
    [
        {"terminal_output": "text"},
        {"terminal_output": {"terminal_id": "c1", "data": 7}},
        {"terminal_output": {"terminal_id": "c1"}},
        {"terminal_output": None, "terminal_exit": []},
    ],
)
def test_what_is_shaped_otherwise_is_left_alone(told: Any) -> None:
    transcript, events = fold(announce("call", _meta=told))
    assert not transcript.terminals and len(events) == 1
    assert transcript.tool_calls["call"].meta == told


def test_an_exit_of_another_shape_still_ends_the_terminal() -> None:
    transcript, events = fold(announce("call", **meta(terminal_exit={"exit_code": "0", "signal": 9})))
    assert transcript.terminals["c1"].exit == ExitStatus()
    assert isinstance(events[0], TerminalChanged)


def test_other_updates_with_such_metadata_make_no_terminal() -> None:
    transcript, _ = fold(message_chunk("x", **meta(terminal_output={"data": "x"})))
    assert not transcript.terminals


def test_a_repeated_exit_is_ignored() -> None:
    ended = meta(terminal_output={"data": "x"}, terminal_exit={"exit_code": 0})
    _, before = fold(announce("call", **ended))
    transcript, events = fold(announce("call", **ended), *[tool("call", **meta(terminal_exit={"exit_code": 7}))] * 3)
    assert transcript.terminals["c1"].exit == ExitStatus(code=0)
    changes = [[each for each in heard if isinstance(each, TerminalChanged)] for heard in (before, events)]
    assert len(changes[0]) == len(changes[1]) == 1
