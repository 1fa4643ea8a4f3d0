"""Arguments that are almost JSON."""

from __future__ import annotations

from typing import Any

import pytest

from accord.coder.json_repair import decode


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('{"a": "x\ny\tz"}', {"a": "x\ny\tz"}),
        ('{"a": 1,}', {"a": 1}),
        ('{"a": [1, 2,],}', {"a": [1, 2]}),
        ("{'a': 'it\\'s', 'b': True, 'c': None}", {"a": "it's", "b": True, "c": None}),
        ("{'a': true, 'b': null}", {"a": True, "b": None}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('{"pattern": "\\d+\\.py"}', {"pattern": r"\d+\.py"}),
        ('{"a": "b"}<|call|>', {"a": "b"}),
        ('{"a": "b"}</tool_call>', {"a": "b"}),
        ('{"a": "b"}\\n', {"a": "b"}),
        ('{"a": "b"}}', {"a": "b"}),
        ('{"a": "b"', {"a": "b"}),
        ('{"a": [{"b": "c"}', {"a": [{"b": "c"}]}),
        ('{}{"a": "b"}', {"a": "b"}),
        ('{\n  // it\'s the file\n  "a": "http://b" /* here */\n}', {"a": "http://b"}),
        ("{'a': 'http://b'}", {"a": "http://b"}),
        ('{a: "b", c_d: [1]}', {"a": "b", "c_d": [1]}),
        ('{"a": "b"}{"a": "b"}', {"a": "b"}),
    ],
)
def test_text_with_one_possible_meaning_is_repaired(text: str, value: Any) -> None:
    assert decode(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "read the file",
        '{"a": "b',  # half a text must not be written as if it were whole
        '{"a": "b"}{"a": "c"}',
        '{"a": "say "hi" now"}',
        '{"a": 1 "b": 2}',
        '{"a": 12',  # of 123, perhaps
        '{"a": "\\ud800"}',
        "{'a': open('x')}",
        "{**{'a': 1}}",
        '{"a":' * 100_000,
    ],
)
def test_text_that_could_mean_something_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        decode(text)


def test_the_arguments_of_several_calls_are_named_as_such() -> None:
    with pytest.raises(ValueError, match="several values; send a separate call for each"):
        decode('{"a": "b"}{"a": "c"}')
