"""Replacing passages of a text: once, in order, all or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.coder.tools.base import ToolFault
from accord.coder.tools.replacing import Edit, replaced


def edit(old: str, new: str, all: bool = False) -> Edit:
    return Edit(old=old, new=new, all=all)


def changed(text: str, *edits: Edit) -> str:
    return replaced(text, edits, "a.txt").text


def fault(text: str, *edits: Edit) -> str:
    with pytest.raises(ToolFault) as caught:
        replaced(text, edits, "a.txt")
    return str(caught.value)


def test_a_passage_that_is_there_once_is_replaced() -> None:
    assert changed("one two three", edit("two", "2")) == "one 2 three"
    assert changed("one\ntwo\nthree\n", edit("one\ntwo\n", "")) == "three\n"
    assert changed("a.b", edit(".", "\\1")) == "a\\1b"


def test_edits_are_made_in_order_each_on_what_the_one_before_left() -> None:
    assert changed("a", edit("a", "b"), edit("b", "c"), edit("c", "d e"), edit("e", "f")) == "d f"


def test_the_lines_of_the_replacements_are_told() -> None:
    assert replaced("x\ny\nx\ny\n", [edit("x", "z\nz", all=True)], "a").lines == [1, 4]


def test_a_passage_that_is_there_more_than_once_is_refused_with_its_lines() -> None:
    assert "occurs 3 times in a.txt, at lines 1, 2, 4" in fault("x\nx\ny\nx\n", edit("x", "z"))
    assert "all=true" in fault("xx", edit("x", "z"))
    assert "lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 8 more places" in fault("x\n" * 20, edit("x", "z"))


def test_places_that_overlap_are_more_than_one() -> None:
    assert "occurs 2 times" in fault("aaa", edit("aa", "b"))
    assert changed("aaa", edit("aa", "b", all=True)) == "ba"


def test_every_place_is_replaced_when_all_is_said() -> None:
    assert changed("x y x", edit("x", "xx", all=True)) == "xx y xx"


def test_one_edit_that_cannot_be_made_undoes_all() -> None:
    words = fault("a b", edit("a", "c"), edit("missing", "d"), edit("b", "e"))
    assert words.startswith("edit 2 of 3: the text 'missing' was not found in a.txt")
    assert words.endswith("a.txt was not changed")


def test_nothing_to_do_is_a_fault() -> None:
    assert "old and new are the same" in fault("a", edit("a", "a"))
    assert "would leave a.txt as it is" in fault("a", edit("a", "b"), edit("b", "a"))
    assert "old is empty" in fault("a", edit("", "b"))
    assert "no edits" in fault("a")


def test_a_passage_that_differs_in_white_space_is_shown_as_it_is() -> None:
    words = fault("def f():\n\treturn 1\n", edit("def f():\n    return 1\n", "x"))
    assert "Lines 1 to 2 differ from it only in white space:\ndef f():\n\treturn 1" in words


def test_the_nearest_line_is_named() -> None:
    words = fault("first\nthe quick brown fox\nlast\n", edit("the quick brown dog", "x"))
    assert "The nearest is line 2: 'the quick brown fox'" in words
    words = fault("first\nexactly this line\nlast\n", edit("exactly this line\nother\n", "x"))
    assert "Line 2 is in it, but the lines around it differ" in words
    assert "Read the file again" in fault("abc\n", edit("entirely different", "x"))


def test_braces_in_a_passage_are_no_trouble_for_the_fault() -> None:
    assert "'{path} {0}'" in fault("a", edit("{path} {0}", "x"))


@pytest.mark.parametrize(
    "text, old, new, expected",
    [
        ("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc\r\n"),
        ("a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"),
        ("a\r\nb\r\n", "a\r\n", "x\n", "x\nb\r\n"),
        ("a\nb\n", "a\nb", "x\ny", "x\ny\n"),
        ("a\nb\nc\r\nd\r\ne\r\nf\r\n", "a\nb", "x\ny", "x\ny\nc\r\nd\r\ne\r\nf\r\n"),
        ("a\nb\nc\nd\r\ne\r\n", "d\ne", "x\ny", "a\nb\nc\nx\r\ny\r\n"),
        ("a\r\nb", "b", "x\r\ny", "a\r\nx\r\ny"),
    ],
)
def test_line_ends_stay_what_they_were(text: str, old: str, new: str, expected: str) -> None:
    assert changed(text, edit(old, new)) == expected


@given(st.text(alphabet="ab \n\r", max_size=30), st.text(alphabet="ab \n\r", max_size=4), st.text(max_size=4))
def test_what_is_replaced_is_what_was_there_exactly_once(text: str, old: str, new: str) -> None:
    places = sum(text.startswith(old, at) for at in range(len(text))) if old else 0
    try:
        result = changed(text, edit(old, new))
    except ToolFault:
        assert places != 1 or "\n" in old or result_is_same(text, old, new)
        return
    if "\r" in old:
        assert places == 1 and result == text.replace(old, new, 1)
    elif "\n" not in old and "\n" not in new:
        assert places == 1 and result == text.replace(old, new)


def result_is_same(text: str, old: str, new: str) -> bool:
    return text.replace(old, new, 1) == text
