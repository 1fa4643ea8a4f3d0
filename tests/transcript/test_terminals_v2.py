from __future__ import annotations

import base64
from typing import Any

import pytest
from transcript.update_builders import Telling, events, tool, update, v2

from accord.model.tool import ExitStatus, Terminal, TerminalRef
from accord.transcript.events import TerminalChanged, TerminalOutput

ANCHOR = tool("t", content=[{"type": "terminal", "terminalId": "x"}])


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def terminal(**fields: Any) -> dict[str, Any]:
    return update("terminal_update", terminalId="x", **fields)


def print_output(data: bytes) -> dict[str, Any]:
    return update("terminal_output_chunk", terminalId="x", data=b64(data))


@pytest.mark.req("V2-TERM-02")
def test_a_terminal_and_the_call_that_shows_it_may_come_in_either_order() -> None:
    first, last = v2(ANCHOR, print_output(b"a")), v2(print_output(b"a"), ANCHOR)

    for transcript in (first, last):
        assert transcript.tool_calls["t"].content == [TerminalRef(terminal_id="x")]
        assert transcript.terminals["x"].output == b"a"


@pytest.mark.req("V2-TERM-03")
def test_an_update_of_a_terminal_keeps_replaces_and_clears() -> None:
    full = terminal(
        command="make",
        cwd="/p",
        output={"data": b64(b"hi")},
        exitStatus={"exitCode": 1},
        size={"cols": 80, "rows": 24},
        capabilities={"cancel": {}},
        _meta={"a": 1},
    )
    expected = Terminal(
        id="x",
        command="make",
        cwd="/p",
        exit=ExitStatus(code=1),
        columns=80,
        rows=24,
        can_cancel=True,
        chunks=[b"hi"],
        meta={"a": 1},
    )
    assert v2(full, terminal()).terminals["x"] == expected

    nothing = dict.fromkeys(["command", "cwd", "output", "exitStatus", "size", "capabilities", "_meta"])
    assert v2(full, terminal(**nothing)).terminals["x"] == Terminal(id="x")

    changed = v2(full, terminal(command="ls", _meta={"b": 2})).terminals["x"]
    assert (changed.command, changed.cwd, changed.meta) == ("ls", "/p", {"a": 1, "b": 2})


@pytest.mark.req("V2-TERM-05")
def test_output_replaces_all_bytes_there_were() -> None:
    telling = Telling(2)
    telling.tell(print_output(b"old"), terminal(output={"data": b64(b"new")}), print_output(b"er"))

    assert telling.transcript.terminals["x"].output == b"newer"


@pytest.mark.req("V2-TERM-06")
def test_each_chunk_is_encoded_separately() -> None:
    # "a" and "b" alone are padded, so their concatenation isn't valid base64.
    assert v2(print_output(b"a"), print_output(b"b")).terminals["x"].output == b"ab"


@pytest.mark.req("V2-TERM-07")
def test_a_character_or_an_escape_may_be_split_between_chunks() -> None:
    emoji = "🙂".encode()

    assert v2(print_output(emoji[:1]), print_output(emoji[1:3]), print_output(emoji[3:])).terminals["x"].text == "🙂"
    assert v2(print_output(b"\x1b["), print_output(b"31mred")).terminals["x"].output == b"\x1b[31mred"


@pytest.mark.req("V2-TERM-08")
@pytest.mark.parametrize(
    ("status", "exit"),
    [
        ({}, ExitStatus()),
        ({"exitCode": 0}, ExitStatus(code=0)),
        ({"exitCode": -1073741510}, ExitStatus(code=-1073741510)),
        ({"signal": "SIGTERM", "exitCode": None}, ExitStatus(signal="SIGTERM")),
        (None, None),
    ],
    ids=str,
)
def test_any_exit_status_means_the_command_has_ended(status: Any, exit: ExitStatus | None) -> None:
    assert v2(terminal(exitStatus=status)).terminals["x"].exit == exit


@pytest.mark.req("V2-TERM-09")
def test_a_size_out_of_range_counts_as_left_out() -> None:
    sized = v2(terminal(size={"cols": 80, "rows": 24}), terminal(size={"cols": 0, "rows": 24})).terminals["x"]

    assert (sized.columns, sized.rows) == (80, 24)


@pytest.mark.req("V2-TERM-10")
def test_the_end_of_a_command_and_the_end_of_a_call_are_two_things() -> None:
    exited = v2(ANCHOR, terminal(exitStatus={"exitCode": 1}))
    assert exited.tool_calls["t"].status == "pending"

    completed = v2(terminal(command="make"), tool("t", status="completed"))
    assert completed.terminals["x"].exit is None


@pytest.mark.parametrize("capabilities", [None, {}, 7], ids=str)
def test_missing_or_invalid_terminal_capabilities_remove_earlier_ones(capabilities: Any) -> None:
    transcript = v2(terminal(capabilities={"cancel": {}}), terminal(capabilities=capabilities))

    assert transcript.terminals["x"].can_cancel is False


def test_base64_without_its_padding_is_read() -> None:
    assert v2(update("terminal_output_chunk", terminalId="x", data="YQ")).terminals["x"].output == b"a"


def test_invalid_base64_is_ignored() -> None:
    bad = "ä"
    transcript = v2(
        print_output(b"a"), update("terminal_output_chunk", terminalId="x", data=bad), terminal(output={"data": bad})
    )

    assert transcript.terminals["x"].output == b"a"


def test_the_events_of_a_terminal_tell_what_is_new_and_how_it_stands() -> None:
    assert events(2, terminal(command="ls"), print_output(b"a"), print_output(b"b")) == [
        TerminalChanged(Terminal(id="x", command="ls", chunks=[b"a", b"b"])),  # the output is the transcript's own list
        TerminalOutput("x", b"a"),
        TerminalOutput("x", b"b"),
    ]
