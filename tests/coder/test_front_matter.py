"""Front matter of commands and skills: the YAML that such files use."""

from __future__ import annotations

import pytest

from accord.coder.front_matter import split_front_matter


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("plain words", "plain words"),
        ("with: a colon", "with: a colon"),
        ("words # a comment", "words"),
        ('"quoted: # \\"text\\""', 'quoted: # "text"'),
        ("'it''s'", "it's"),
        ("'it''s' # a comment", "it's"),
        (">\n  folded\n  text", "folded text"),
        (">-\n  folded\n\n  text", "folded text"),
        ("|\n  two\n  lines", "two\nlines"),
        ("\n  continued\n  here", "continued here"),
        ("[Read, 'Bash(git *)']", "Read Bash(git *)"),
        ("\n  - Read\n  - Grep", "Read Grep"),
        ("\n- Read\n- Grep", "Read Grep"),
        ("", ""),
    ],
)
def test_a_field_has_the_value_that_yaml_gives_it(written: str, value: str) -> None:
    fields, body = split_front_matter(f"---\nname: x\ndescription: {written}\nlast: y\n---\nThe text.\n")
    assert fields == {"name": "x", "description": value, "last": "y"}
    assert body == "The text."


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("no front matter", "no front matter"),
        ("---\nname: x\nnever closed", "---\nname: x\nnever closed"),
        ("---\n---\nempty", "empty"),
        ("\ufeff---\r\nname: x\r\n---\r\nfrom Windows\r\n", "from Windows"),
        ("---\nmetadata:\n  name: nested\n? [complex]\n: key\n--- \nodd", "odd"),
        ("text\n---\nname: x\n---\n", "text\n---\nname: x\n---"),
    ],
)
def test_whatever_the_front_matter_is_the_text_after_it_is_found(text: str, body: str) -> None:
    assert split_front_matter(text)[1] == body


def test_a_nested_field_is_ignored() -> None:
    assert "name" not in split_front_matter("---\nmetadata:\n  name: nested\n---\nx")[0]


def test_hostile_front_matter_takes_no_time() -> None:
    for text in (
        "---\n" * 50_000,
        "---\n" + "a: '" * 50_000,
        "---\na: " + '"\\' * 50_000 + "\n---\nx",
        "---\na: " + " #" * 50_000,
    ):
        split_front_matter(text)
