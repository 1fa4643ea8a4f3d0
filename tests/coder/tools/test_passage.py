"""Replace a passage: exactly, or by whole lines that differ in ways models get wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.coder.tools.base import ToolError
from accord.coder.tools.edits.lines import find_lines
from accord.coder.tools.edits.passage import Replaced, replace


def fail(text: str, old: str, new: str = "new", *, every: bool = False) -> str:
    with pytest.raises(ToolError) as caught:
        replace(text, old, new, every=every)
    return str(caught.value)


TWO_TABS = "class A:\n\tdef f(self):\n\t\treturn 1\n\n\tdef g(self):\n\t\treturn 2\n"


@pytest.mark.parametrize(
    "text, old, new, expected, adjusted",
    [
        pytest.param(
            "def f():\n    return 1   \nx\n",
            "def f():\n    return 1\n",
            "def f():\n    return 2\n",
            "def f():\n    return 2\nx\n",
            "The old text differs from lines 1 to 2 of the file in trailing whitespace.",
            id="trailing whitespace",
        ),
        pytest.param(
            "class A:\n    def f(self):\n        return 1\n",
            "def f(self):\n    return 1",
            "def f(self):\n    if x:\n        return 3\n    return 2",
            "class A:\n    def f(self):\n        if x:\n            return 3\n        return 2\n",
            "The old text differs from lines 2 to 3 of the file in indentation; the new text was indented to match.",
            id="lost indentation",
        ),
        pytest.param(
            "def f():\n    return 1\n",
            "        def f():\n            return 1\n",
            "        def f():\n            return 2\n        x = 1\n",
            "def f():\n    return 2\nx = 1\n",
            "The old text differs from lines 1 to 2 of the file in indentation; the new text was indented to match.",
            id="added indentation",
        ),
        pytest.param(
            "class A:\n    def f(self):  \n        return 1\n",
            "def f(self):\n        return 1",
            "def f(self, x):\n        if x:\n            return 3\n\n    def g(self): ...",
            "class A:\n    def f(self, x):\n        if x:\n            return 3\n\n    def g(self): ...\n",
            "The old text differs from lines 2 to 3 of the file in indentation; the new text was indented to match.",
            id="lost indentation of the first line",
        ),
        pytest.param(
            TWO_TABS,
            "    def g(self):\n        return 2",
            "    def g(self):\n        if x:\n            return 3",
            TWO_TABS.replace("\t\treturn 2", "\t\tif x:\n\t\t\treturn 3"),
            "The old text differs from lines 5 to 6 of the file in indentation; the new text was indented to match.",
            id="spaces for tabs",
        ),
        pytest.param(
            TWO_TABS,
            "        return 2",
            "        return 2 + (\n            3)",
            TWO_TABS.replace("\t\treturn 2", "\t\treturn 2 + (\n\t\t\t3)"),
            "The old text differs from line 6 of the file in indentation; the new text was indented to match.",
            id="spaces for tabs, of one line",
        ),
        pytest.param(
            "if a:\n  if b:\n    c()\n",
            "if a:\n    if b:\n        c()\n",
            "if a:\n    if b:\n        d()\n    else:\n        e()\n",
            "if a:\n  if b:\n    d()\n  else:\n    e()\n",
            "The old text differs from lines 1 to 3 of the file in indentation; the new text was indented to match.",
            id="four spaces for two",
        ),
        pytest.param(
            "say(“hello”)  # it’s – so…\nrest = 1\n",
            'say("hello")  # it\'s - so...\nrest = 1',
            'say("hello")  # it\'s - so...\nrest = 2',
            "say(“hello”)  # it’s – so…\nrest = 2\n",
            "The old text differs from lines 1 to 2 of the file in spacing or special characters.",
            id="typographic characters, kept where unchanged",
        ),
        pytest.param(
            "# cafe\u0301\nx = 1\n",
            "# caf\u00e9\nx = 1",
            "# caf\u00e9\nx = 2",
            "# cafe\u0301\nx = 2\n",
            "The old text differs from lines 1 to 2 of the file in spacing or special characters.",
            id="Unicode normalization",
        ),
        pytest.param(
            "x  =\t1\ny = 2\n",
            "x = 1\n",
            "x = 3\n",
            "x = 3\ny = 2\n",
            "The old text differs from line 1 of the file in spacing or special characters.",
            id="spacing within a line",
        ),
        pytest.param(
            "  a\r\n  b\r\nc\r\n",
            "a\nb\n",
            "a\nb\nd\n",
            "  a\r\n  b\r\n  d\r\nc\r\n",
            "The old text differs from lines 1 to 2 of the file in indentation; the new text was indented to match.",
            id="CRLF stays",
        ),
        pytest.param(
            "def f():\n    a = 1\n    b = 2\n",
            "    12\t    a = 1\n    13\t    b = 2\n",
            "    12\t    a = 3\n    13\t    b = 2\n",
            "def f():\n    a = 3\n    b = 2\n",
            "Removed pasted line numbers in the old and the new text.",
            id="line numbers of cat -n",
        ),
        pytest.param(
            "def f():\n    a = 1\n    b = 2\n",
            "2: a = 1\n3: b = 2",
            "2: a = 1",
            "def f():\n    a = 1\n",
            "Removed pasted line numbers in the old and the new text. The old text differs from lines 2 to 3 of the "
            "file in indentation; the new text was indented to match.",
            id="line numbers with a colon, without indentation",
        ),
        pytest.param(
            'a = "x"\nb = 2\n',
            'a = \\"x\\"\\nb = 2\\n',
            'a = \\"y\\"\\nb = 2\\n',
            'a = "y"\nb = 2\n',
            "Decoded escaped newlines in the old and the new text.",
            id="escaped twice",
        ),
        pytest.param(
            "if a < b && c > d:\n",
            "if a &lt; b &amp;&amp; c &gt; d:",
            "if a &lt; b:",
            "if a < b:\n",
            "Decoded HTML entities in the old and the new text.",
            id="HTML entities",
        ),
        pytest.param(
            "a\nb\nc",
            "\n\nb\nc\n\n",
            "\n\nd\n\n",
            "a\nd",
            "Ignored blank lines around the passage in the old and the new text.",
            id="blank lines around it",
        ),
        pytest.param(
            "a\n  b\nc\n",
            "    b\n",
            "",
            "a\nc\n",
            "The old text differs from line 2 of the file in indentation; the new text was indented to match.",
            id="removal",
        ),
    ],
)
def test_a_passage_that_a_model_copied_badly_still_matches(
    text: str, old: str, new: str, expected: str, adjusted: str
) -> None:
    result = replace(text, old, new)
    assert (result.text, result.adjusted) == (expected, adjusted)


def test_an_exact_occurrence_wins_over_similar_lines() -> None:
    assert replace("  x = 1\nx = 1;\nx = 1\n", "\nx = 1\n", "\ny\n") == Replaced("  x = 1\nx = 1;\ny\n", [2])


def test_the_closest_way_of_matching_wins() -> None:
    text = "    x = 1  \n  x = 1\n"
    assert replace(text, "    x = 1\n", "    x = 2\n").text == "    x = 2\n  x = 1\n"


def test_lines_that_match_twice_are_refused_with_their_numbers() -> None:
    words = fail("  x = 1 \ny\n    x = 1 \n", "x = 1;".replace(";", "\n"))
    assert "more than once, at lines 1, 3;" in words
    assert "at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and others;" in fail("  x \n" * 30, "x\n")


def test_similar_lines_are_never_all_replaced() -> None:
    assert "more than once" in fail("  x = 1 \n  x = 1 \n", "x = 1\n", every=True)


def test_a_part_of_a_line_is_matched_only_exactly() -> None:
    assert "was not found" in fail("print(“hello”)\n", '("hello")')


def test_indentation_that_cannot_be_derived_is_refused() -> None:
    words = fail("  a\n    b\n", "a\nb\n", "a\nc\n")
    assert "can't be derived" in words and words.endswith("  a\n    b")
    assert replace("  a\n    b\n", "a\nb\n", "b\na\n").text == "    b\n  a\n"  # known lines need no derivation


def test_whitespace_alone_matches_only_exactly() -> None:
    assert "was not found" in fail("a\n\nb\n", "   \n  \n")


def test_other_numbers_stay() -> None:
    assert "was not found" in fail("a\nb\n", "7: a\n9: b\n")


def test_a_backslash_in_exact_text_stays() -> None:
    assert replace('print("a\\n")\n', 'print("a\\n")', 'print("b\\n")').text == 'print("b\\n")\n'


def test_an_error_shows_the_most_similar_lines() -> None:
    words = fail("first\nthe quick brown fox\njumps\nlast\n", "the quick brown dog\njumps")
    assert words.endswith("In the file, lines 2 to 3 are the most similar:\nthe quick brown fox\njumps")
    assert "line 2 is the most similar:\nthe quick brown fox" in fail("a\nthe quick brown fox\n", "the quick brown dog")
    assert "Nothing similar" in fail("abc\n", "entirely different")
    assert "The file is empty" in fail("\n", "entirely different")


def test_an_error_reports_that_the_edit_may_have_been_made() -> None:
    assert "The file already contains the new text, at line 2" in fail("a\nx = 2\n", "x = 1", "x = 2")


LINE = st.text(alphabet="ab \t\"'“-—{", max_size=6)
TEXT = st.lists(LINE, min_size=1, max_size=12)


@given(
    st.text(alphabet="ab \n\t", max_size=40), st.text(alphabet="ab \n\t", min_size=1, max_size=5), st.text(max_size=9)
)
def test_an_exact_edit_is_never_changed(text: str, old: str, new: str) -> None:
    if sum(text.startswith(old, at) for at in range(len(text))) == 1 and old != new:
        assert replace(text, old, new) == Replaced(text.replace(old, new), [text[: text.find(old)].count("\n") + 1])


@given(
    TEXT,
    st.data(),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "  ", "\t", "        "]),
    st.sampled_from(["", "  ", "\t"]),
    st.lists(LINE, max_size=3).map("\n".join),
)
def test_nothing_outside_the_matched_lines_changes(
    lines: list[str], data: st.DataObject, end: str, lead: str, trail: str, new: str
) -> None:
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first + 1, len(lines)))
    old = "\n".join(lead + line.replace("“", '"').replace("—", "-") + trail for line in lines[first:last])
    text = end.join(lines)
    try:
        result = replace(text, old, new)
    except ToolError:
        return
    if not result.adjusted:
        return
    place = result.lines[0] - 1
    taken = len(old.split("\n"))
    before, after = lines[:place], text.split("\n")[place + taken :]
    assert result.text.split("\n")[:place] == text.split("\n")[:place] and len(before) == place
    assert not after or result.text.split("\n")[-len(after) :] == after


@given(st.lists(st.sampled_from("ab"), max_size=12), st.lists(st.sampled_from("ab"), min_size=1, max_size=4))
def test_lines_are_found_wherever_they_are(lines: list[str], wanted: list[str]) -> None:
    places = [at for at in range(len(lines)) if lines[at : at + len(wanted)] == wanted]
    assert find_lines(lines, wanted, most=99) == places


@pytest.mark.parametrize(
    "text, old",
    [
        ("a" * 3_000_000, "a" * 20_000 + "b"),
        ("a" * 3_000_000 + "\r\n", "a" * 20_000 + "b"),
        ("x \n" * 100_000, "x\n" * 30_000 + "y"),
        ("x \n" * 100_000, "x\n" * 30_000),
        ("\n" * 300_000, "\n" * 100_000 + "y"),
        ("\u0315\u0300" * 500_000, "\u0300\u0315" * 500_000 + "b"),
        ("1: " * 300_000, "1: " * 100_000 + "b"),
        (" " * 1_000_000 + "x\n", "\t" * 300_000 + "y"),
        ("&amp" * 300_000, "&lt;\\n" * 100_000),
    ],
    ids=["letters", "CRLF", "lines", "ambiguous", "blank", "combining", "numbers", "spaces", "escapes"],
)
def test_hostile_text_takes_linear_time(text: str, old: str) -> None:
    """Quadratic time would take hours here."""
    with pytest.raises(ToolError):
        replace(text, old, "new")
