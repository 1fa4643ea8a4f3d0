"""The last lines of command output: the same whether all of it is parsed or only its end."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accord.model.tool import ExitStatus, Terminal
from accord.tui.agent.workspace import MAX_DRAWN_BYTES, last_output
from accord.tui.transcript.ansi import printed_lines

pieces = st.lists(st.sampled_from(["a", "bb", "\n", "\r\n", "\t", "\x1b[31mred\x1b[0m", "50%\r", "\n\n"]), max_size=120)


@settings(max_examples=150, deadline=None)
@given(pieces, st.integers(1, 8))
def test_the_last_lines_are_those_of_the_whole(words: list[str], most: int) -> None:
    text = "".join(words) + "end"
    whole, _ = printed_lines(text, 10_000)
    rows, skipped = printed_lines(text, most)
    assert [row.plain for row in rows] == [row.plain for row in whole[-most:]]
    assert skipped == len(whole) - len(rows)


def test_the_end_of_an_agents_own_terminal_is_shown_and_earlier_lines_are_counted() -> None:
    line = b"some words of output\n"
    terminal = Terminal(id="t", command="make", chunks=[line * 20_000])
    printed = last_output(terminal, is_running=True)
    assert len(printed.text) == MAX_DRAWN_BYTES
    _, skipped = printed_lines(printed.text, 10)
    assert skipped + printed.skipped == 20_000 - 10
    assert (printed.is_running, printed.command) == (True, "make")
    terminal.exit = ExitStatus(code=0)
    assert not last_output(terminal, is_running=True).is_running


@pytest.mark.req("V2-TERM-12")
@pytest.mark.parametrize(
    "hostile",
    [
        "\x1b]52;c;cHduZWQ=\x07",
        "\x1b]0;title\x1b\\",
        "\x1b[2J\x1b[H",
        "\x1b[?1049h",
        "\x1bP+q544e\x1b\\",
        "\x1b_Gi=1;AAAA\x1b\\",
        "\x9b31m",
        "\x1b]8;;file:///etc/passwd\x1b\\x\x1b]8;;\x1b\\",
        "a\x08\x08b",
        "\u202etxt",
    ],
)
def test_output_cannot_control_the_terminal(hostile: str) -> None:
    (row,), _ = printed_lines(f"before {hostile} after")
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e]", row.plain)
    assert all(not getattr(span.style, "link", None) for span in row.spans)
    assert row.plain.startswith("before ") and row.plain.endswith(" after")
