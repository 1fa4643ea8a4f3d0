"""The last lines of command output: the same whether all of it is parsed or only its end."""

from __future__ import annotations

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
