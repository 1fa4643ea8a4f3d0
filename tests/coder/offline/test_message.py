"""Quoted parts of a message, and text that only looks quoted."""

from __future__ import annotations

import pytest

from accord.coder.offline.message import mask, path_from_uri


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('say "a" and “b” and «c» and ‘d’', ["a", "b", "c", "d"]),
        ("don't say 'x y', it isn't", ["x y"]),
        ('"a "b" c" then', ['a "b" c']),
        ('f("x") is no quotation', ["x"]),
        ('"foo("bar")" is one', ['foo("bar")']),
        ('replace "x = " with ""', ["x = ", ""]),
        ('"unbalanced "inner" here', ['unbalanced "inner']),
        ('never "closed', []),
        ("`a` and ``b ` c``", ["a", "b ` c"]),
        ("```py\nx\n```\nafter", ["x\n"]),
        ("~~~\nx\n~~~", ["x\n"]),
        ("````\n```\ninner\n```\n````", ["```\ninner\n```\n"]),
        ("```in one line``` and more", ["in one line"]),
        ("```\nnever closed", []),
        ("```\r\na\r\n```", ["a\n"]),
        ("[@a b.py](file:///p/a%20b.py) and [x](https://y)", ["/p/a b.py"]),
        ("it's 'quoted' and rock 'n' roll", ["quoted", "n"]),
        ('"two\nlines"', ["two\nlines"]),
    ],
)
def test_quoted_parts_are_masked(text: str, values: list[str]) -> None:
    message = mask(text)
    assert [span.value for span in message.spans] == values
    assert message.raw(message.text) == text.replace("\r\n", "\n")


def test_a_message_may_contain_the_characters_of_a_mark() -> None:
    message = mask('\ue000 "x" \ue0010\ue002')
    assert [span.value for span in message.spans] == ["x"]
    assert message.raw(message.text) == '\ue000 "x" \ue0010\ue002'


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b%20c.py", "/a/b c.py"),
        ("file:///C:/a.py", "C:/a.py"),
        ("https://example.com/a", None),
        ("untitled:Untitled-1", None),
        ("http://[broken", None),
    ],
)
def test_only_file_uris_have_a_path(uri: str, path: str | None) -> None:
    assert path_from_uri(uri) == path
