"""Prompts in the shapes that some clients send."""

from __future__ import annotations

import pytest

from accord.agent.client_quirks import drop_repeated, unwrap_prompt
from accord.model.content import Content, ResourceLink, TextContent, prompt_text

CONTINUING = TextContent(
    "<system_context>Continuing from previous session with 2 recent user messages</system_context>"
)
LINK = ResourceLink(uri="file:///p/a.py", name="a.py")


def previous(text: str) -> TextContent:
    return TextContent(f"<previous_user_message>{text}</previous_user_message>")


def test_the_request_is_the_first_of_avantes_messages() -> None:
    sent: list[Content] = [previous("list files\nplease"), previous("hello"), LINK, CONTINUING]
    assert unwrap_prompt(sent) == [TextContent("list files\nplease"), LINK]


@pytest.mark.parametrize(
    "sent",
    [
        [],
        [LINK],
        [CONTINUING],
        [TextContent("hello")],
        [previous("hello")],
        [previous("hello"), TextContent("and this")],
        [TextContent("explain"), previous("hello"), CONTINUING],
        [previous("hello"), CONTINUING, TextContent("more")],
        [TextContent("what is <previous_user_message>x</previous_user_message>?"), CONTINUING],
    ],
)
def test_nothing_else_is_unwrapped(sent: list[Content]) -> None:
    assert unwrap_prompt(sent) == sent


def test_a_cancelled_prompt_that_is_sent_again_before_the_next_one_is_dropped() -> None:
    old, new = TextContent("run make"), TextContent("list files")
    assert drop_repeated([old, new], [old]) == [new]
    assert drop_repeated([old, LINK, new], [old, LINK]) == [new]
    assert drop_repeated([old], [old]) == [old]
    assert drop_repeated([new, old], [old]) == [new, old]
    assert drop_repeated([old, new], []) == [old, new]


@pytest.mark.parametrize(
    ("texts", "whole"),
    [
        (["run `echo a`", "list files"], "run `echo a`\n\nlist files"),
        (["read ", "a.py"], "read a.py"),
        (["read", " a.py"], "read a.py"),
        (["", "hello", ""], "hello"),
        ([" ", "hello"], " hello"),
    ],
)
def test_text_blocks_are_paragraphs_unless_a_sentence_continues(texts: list[str], whole: str) -> None:
    assert prompt_text([TextContent(text) for text in texts]) == whole
