"""The end of what a command printed, as lines: the same whether all of it is looked at or only its end."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from accord.model.tool import ExitStatus, Terminal
from accord.tui.conversation.ansi import printed_lines
from accord.tui.lent import SHOWN, end_of

pieces = st.lists(st.sampled_from(["a", "bb", "\n", "\r\n", "\t", "\x1b[31mred\x1b[0m", "50%\r", "\n\n"]), max_size=120)


@settings(max_examples=150, deadline=None)
@given(pieces, st.integers(1, 8))
def test_the_last_lines_are_those_of_the_whole(words: list[str], most: int) -> None:
    text = "".join(words) + "end"
    whole, _ = printed_lines(text, 10_000)
    rows, skipped = printed_lines(text, most)
    assert [row.plain for row in rows] == [row.plain for row in whole[-most:]]
    assert skipped == len(whole) - len(rows)


def test_of_a_terminal_of_the_agents_own_the_end_is_taken_and_lines_before_it_counted() -> None:
    line = b"some words of output\n"
    terminal = Terminal(id="t", command="make", chunks=[line * 20_000])
    printed = end_of(terminal, goes_on=True)
    assert len(printed.text) == SHOWN
    _, skipped = printed_lines(printed.text, 10)
    assert skipped + printed.skipped == 20_000 - 10
    assert (printed.goes_on, printed.command) == (True, "make")
    terminal.exit = ExitStatus(code=0)
    assert not end_of(terminal, goes_on=True).goes_on
