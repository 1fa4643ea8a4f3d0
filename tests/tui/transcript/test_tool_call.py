"""An expanded or failed tool call: its input and output, without repeating what is already visible."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from textual.strip import Strip

from accord.model.content import TextContent
from accord.model.tool import Diff, ExitStatus, Location, TerminalRef, ToolCall
from accord.transcript.message import Message
from accord.tui.agent.workspace import CommandOutput
from accord.tui.theme import TextStyles
from accord.tui.transcript.block_cache import BlockCache
from accord.tui.transcript.blocks.base import BlockContext
from accord.tui.transcript.blocks.tool import ToolBlock


def words(lines: list[Strip]) -> list[str]:
    return [line.text.rstrip() for line in lines]


def opened_lines(call: ToolCall, text_styles: TextStyles, **context: Any) -> list[str]:
    return [
        line.removeprefix("  │ ")
        for line in words(ToolBlock(call, BlockContext(text_styles, **context), True).lines)[1:]
    ]


def test_the_command_comes_first_and_the_other_input_below_the_output(
    text_styles: TextStyles,
) -> None:
    call = ToolCall(
        id="t",
        title="Run the tests",
        kind="execute",
        status="completed",
        content=[TextContent("ok")],
        raw_input={"command": "make test", "timeout": 30},
    )
    assert opened_lines(call, text_styles) == ["$ make test", "ok", 'input {"timeout": 30}']
    call = msgspec.structs.replace(call, raw_input={"command": ["make", "two words"]})
    assert opened_lines(call, text_styles) == ["$ make 'two words'", "ok"]
    call = msgspec.structs.replace(call, title="make test", raw_input={"command": "make test"})
    assert opened_lines(call, text_styles) == ["ok"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"status": "in_progress"}, ["other, in progress"]),
        ({"status": "completed"}, ["The agent sent no output for this terminal"]),
        ({"status": "completed", "replayed": True}, ["The output of this terminal is no longer available"]),
    ],
)
def test_an_unknown_terminal_is_described_as_such(
    text_styles: TextStyles, more: dict[str, Any], said: list[str]
) -> None:
    call = ToolCall(id="t", title="Run", content=[TerminalRef(terminal_id="one")], **more)
    assert opened_lines(call, text_styles, terminal=lambda id: None) == said


def test_a_command_that_its_terminal_shows_is_not_shown_twice(text_styles: TextStyles) -> None:
    call = ToolCall(id="t", title="Run", content=[TerminalRef(terminal_id="one")], raw_input={"command": "make"})
    printed = CommandOutput("done\n", False, ExitStatus(code=0), "make")
    assert opened_lines(call, text_styles, terminal=lambda id: printed) == ["$ make", "done", "exit status 0"]


def test_input_that_fits_is_shown_in_one_line_and_other_input_is_split(text_styles: TextStyles) -> None:
    call = ToolCall(id="t", title="Find", name="grep", kind="search", raw_input={"pattern": "x"}, status="completed")
    assert opened_lines(call, text_styles) == ['input {"pattern": "x"}', "search, grep, completed"]
    call = msgspec.structs.replace(call, raw_input={"pattern": "x" * 70})
    assert opened_lines(call, text_styles)[:2] == ["input", "{"]


@pytest.mark.parametrize(
    ("more", "last"),
    [
        ({"content": [TextContent("Traceback\n```\nValueError: no\n```\n")]}, "ValueError: no"),
        ({"raw_output": {"exit_code": 1, "stderr": "warning\nmake: *** Error 1\n\n"}}, "make: *** Error 1"),
        ({"raw_output": "it broke"}, "it broke"),
        ({"raw_output": {"code": 1}}, None),
        ({}, None),
    ],
)
def test_a_folded_failed_call_shows_its_last_line_of_output(
    text_styles: TextStyles, more: dict[str, Any], last: str | None
) -> None:
    call = ToolCall(id="t", title="Run", status="failed", **more)
    assert words(ToolBlock(call, BlockContext(text_styles)).lines)[1:] == ([f"  │ {last}"] if last else [])
    call = msgspec.structs.replace(call, status="completed")
    assert words(ToolBlock(call, BlockContext(text_styles)).lines)[1:] == []


def test_the_last_lines_of_a_command_are_shown_while_its_call_is_folded(
    text_styles: TextStyles,
) -> None:
    call = ToolCall(id="t", title="Run", status="completed", content=[TerminalRef(terminal_id="one")])
    for code in (2, 0):
        printed = CommandOutput("ok\n\x1b[31mFAIL three\x1b[0m\n\n", False, ExitStatus(code=code), "make")
        block = ToolBlock(call, BlockContext(text_styles, terminal=lambda id, printed=printed: printed))  # type: ignore[misc]
        assert words(block.lines)[1:] == ["  │ ok", "  │ FAIL three"]
    long = CommandOutput("x" * 200, False, ExitStatus(code=2), "make")
    (line,) = words(ToolBlock(call, BlockContext(text_styles, terminal=lambda id: long)).lines)[1:]
    assert line.endswith("…")


def test_only_the_last_lines_of_a_long_output_are_shown(text_styles: TextStyles) -> None:
    printed = CommandOutput("".join(f"line {number}\n" for number in range(9)), False, ExitStatus(code=0), "make")
    call = ToolCall(id="t", title="Run", status="completed", content=[TerminalRef(terminal_id="one")])
    lines = words(ToolBlock(call, BlockContext(text_styles, terminal=lambda id: printed)).lines)
    assert lines[1:] == ["  │ ⋯ +4 lines", *(f"  │ line {number}" for number in range(4, 9))]
    reported = ToolCall(id="t", title="Run", kind="execute", status="completed", content=[TextContent("```\nok\n```")])
    assert words(ToolBlock(reported, BlockContext(text_styles)).lines)[1:] == ["  │ ok"]


def test_a_single_line_is_not_left_out_of_the_output(text_styles: TextStyles) -> None:
    printed = CommandOutput("".join(f"line {number}\n" for number in range(6)), False, ExitStatus(code=0), "make")
    call = ToolCall(id="t", title="Run", status="completed", content=[TerminalRef(terminal_id="one")])
    lines = words(ToolBlock(call, BlockContext(text_styles, terminal=lambda id: printed)).lines)
    assert lines[1:] == [f"  │ line {number}" for number in range(6)]


@pytest.mark.parametrize(
    ("end", "head"),
    [
        (ExitStatus(code=0), "  ▸ ✓ $ Run make"),
        (ExitStatus(code=2), "  ▸ ✗ $ Run make  exit status 2"),
        (ExitStatus(signal="SIGKILL"), "  ▸ ✗ $ Run make  signal SIGKILL"),
    ],
)
def test_a_failed_command_is_not_marked_as_a_success(text_styles: TextStyles, end: ExitStatus, head: str) -> None:
    content = [TerminalRef(terminal_id="one")]
    call = ToolCall(id="t", title="Run make", kind="execute", status="completed", content=content)
    printed = CommandOutput("", False, end, "make")
    assert words(ToolBlock(call, BlockContext(text_styles, terminal=lambda id: printed)).lines) == [head]


def test_plan_updates_are_not_listed_unless_they_failed_or_are_read_aloud(text_styles: TextStyles) -> None:
    steps = {"todos": [{"content": "Dig", "status": "pending"}]}
    call = ToolCall(id="t", title="Plan", kind="think", status="completed", raw_input=steps)
    assert ToolBlock(call, BlockContext(text_styles)).lines == []
    assert ToolBlock(call, BlockContext(text_styles), is_open=True).lines == []
    assert ToolBlock(call, BlockContext(text_styles, names_speakers=True)).lines != []
    assert ToolBlock(msgspec.structs.replace(call, status="failed"), BlockContext(text_styles)).lines != []


def test_a_plan_update_that_is_not_listed_does_not_change_the_space_between_its_neighbors(
    text_styles: TextStyles,
) -> None:
    update = ToolCall(id="p", title="Plan", kind="think", raw_input={"steps": [{"status": "pending"}]})
    first, second = (ToolCall(id=id, title=f"Read {id}", kind="read", status="completed") for id in "ab")
    blocks = BlockCache(BlockContext(text_styles))
    blocks.timeline = [Message(role="agent", id="m", pieces=["Reading…"]), update, first, update, second]
    blocks.extend()
    lines = [words(blocks.lines(index)) for index in range(5)]
    assert [len(each) for each in lines] == [2, 0, 2, 0, 1]
    assert lines[2][0] == "", "as between a text and a call"


def test_moves_and_deletions_are_named_even_in_version_1(text_styles: TextStyles) -> None:
    moved = ToolCall(
        id="t",
        kind="move",
        status="completed",
        content=[Diff.of("/p/new.py", "x\n", "x\n")],
        locations=[Location(path="/p/old.py"), Location(path="/p/new.py")],
    )
    assert "  │ old.py → new.py" in words(ToolBlock(moved, BlockContext(text_styles, cwd="/p")).lines)
    gone = ToolCall(id="t", kind="delete", status="completed", content=[Diff.of("/p/old.py", None, "")])
    assert "  │ old.py (deleted)" in words(ToolBlock(gone, BlockContext(text_styles, cwd="/p")).lines)
