"""Markdown looks like a page, not like its source."""

from __future__ import annotations

import pytest
from support.transcript_fixtures import look_of

from accord.tui.transcript.markdown import Prose, first_line


def render(source: str, width: int = 30) -> list[str]:
    prose = Prose(look_of("accord-dark"), width)
    prose.feed(source)
    return [line.text.rstrip() for line in prose.lines]


@pytest.mark.req("V1-CONTENT-03", "V2-CONTENT-06", "V2-CONTENT-07")
@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("3. three\n4. four", ["3. three", "4. four"]),
        ("9. nine\n10. ten", [" 9. nine", "10. ten"]),
        ("- [ ] open\n- [x] done\n- [X] `too`\n- [y] no", ["☐ open", "☑ done", "☑ too", "• [y] no"]),
        ("1. [ ] first\n2. [x] second", ["1. ☐ first", "2. ☑ second"]),
        ("- [ ] \n- [link](https://example.org)", ["☐", "• link"]),
        ("- one\n  - two\n    1. three", ["• one", "  • two", "    1. three"]),
        ("above\n\n---\n\nbelow", ["above", "", "─" * 30, "", "below"]),
        ("> said\n>\n> twice", ["▎ said", "▎ twice"]),
        ("```\ncode\n```", ["│ code"]),
    ],
)
def test_blocks_are_drawn(source: str, lines: list[str]) -> None:
    assert render(source) == lines


def test_a_task_list_looks_the_same_while_it_is_written() -> None:
    source = "- [ ] first\n- [x] second\n\nThe end[^1].\n\n[^1]: A note.\n"
    prose = Prose(look_of("accord-dark"), 30)
    for letter in source:
        prose.feed(letter)
        assert prose.lines is not None
    assert [line.text.rstrip() for line in prose.lines] == render(source)


def test_footnotes_are_raised_and_their_text_stays() -> None:
    assert render("A claim[^1] and another[^why].\n\n[^1]: Proof.\n\n[^why]: Because.") == [
        "A claim¹ and another[why].",
        "",
        "¹ Proof.",
        "",
        "[why] Because.",
    ]
    assert render("one[^1]\n\n[^1]: https://example.org") == ["one¹", "", "¹ https://example.org"]  # no link definition


def test_code_blocks_have_the_background_of_the_page() -> None:
    styles = look_of("accord-light")
    prose = Prose(styles, 40)
    prose.feed("```python\ndef f(): return 'x'  # why\n```")
    grounds = {segment.style.bgcolor for line in prose.lines for segment in line if segment.style is not None}
    assert grounds == {styles.ground}


@pytest.mark.parametrize(
    ("source", "line"),
    [("**Plan**\n\nmore", "Plan"), ("# Plan `x`", "Plan x"), ("- a", "a"), ("[a](b)", "[a](b)"), ("", "")],
)
def test_the_first_line_of_a_thought_is_shown_without_marks(source: str, line: str) -> None:
    assert first_line(source, look_of("accord-dark")).plain == line
