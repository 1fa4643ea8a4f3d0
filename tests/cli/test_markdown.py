"""Markdown of `accord run`: the cost of a block grows with its length, not with its square."""

from __future__ import annotations

from accord.cli.support.markdown import MAX_BLOCK, MAX_PREVIEW, MarkdownStream


def make_code(lines: int) -> str:
    return "".join(f"number_{number} = {number}\n" for number in range(lines))


def test_a_long_code_block_is_printed_in_pieces_as_it_arrives() -> None:
    stream = MarkdownStream(color=False)
    code = make_code(3 * MAX_BLOCK // 15)
    stream.feed(f"Look:\n\n```python\n{code}")
    printed = stream.take(80)
    assert len(printed) > 500, "the block isn't complete, but most of it is printed"
    stream.feed("```\n\n*After* it.\n")
    printed += stream.take(80, everything=True)
    lines = [line.strip() for line in printed if line.strip()]
    assert lines == ["Look:", *code.splitlines(), "After it."], "the rest is still code"
    assert printed.count("") <= 4


def test_the_preview_of_a_long_block_is_its_end() -> None:
    stream = MarkdownStream(color=False)
    code = make_code(MAX_BLOCK // 15 - 100)
    stream.feed(f"```python\n{code}")
    assert stream.take(80) == []
    preview = [line.strip() for line in stream.preview(80) if line.strip()]
    assert len("\n".join(preview)) <= MAX_PREVIEW + 80  # a whole line more
    assert preview == code.splitlines()[-len(preview) :] and len(preview) > 50


def test_a_long_line_without_an_end_is_printed_in_pieces() -> None:
    stream = MarkdownStream(color=False)
    stream.feed("x" * (3 * MAX_BLOCK))
    printed = stream.take(80) + stream.take(80, everything=True)
    assert sum(line.count("x") for line in printed) == 3 * MAX_BLOCK


def test_code_in_a_line_has_no_background_which_would_be_black_on_a_light_terminal() -> None:
    stream = MarkdownStream(color=True)
    stream.feed("Read `greet.py` first.\n")
    assert stream.take(80, everything=True) == ["Read \x1b[1;36mgreet.py\x1b[0m first."]
