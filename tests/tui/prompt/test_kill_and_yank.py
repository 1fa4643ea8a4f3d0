"""Killing lines, words and the whole prompt, and yanking them."""

from __future__ import annotations

import pytest
from support.tui_driver import Opened

from accord.testing import ScriptedAgent


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        (["home", "ctrl+k", "x", "ctrl+y"], "one\nx" + "two words"),
        (["ctrl+w", "ctrl+w", "ctrl+y", "ctrl+y"], "one\ntwo wordstwo words"),
        (["ctrl+u", "ctrl+u", "ctrl+u", "ctrl+y"], "one\ntwo words"),
        (["ctrl+a", "up", "ctrl+k", "ctrl+k", "end", "ctrl+y"], "two words" + "one\n"),
        (["ctrl+w", "left", "ctrl+k", "ctrl+y"], "one\ntwo "),
        (["alt+k"], ""),
        (["alt+k", "x", "ctrl+y"], "x" + "one\ntwo words"),
        (["alt+k", "ctrl+underscore"], "one\ntwo words"),
        (["alt+k", "ctrl+underscore", "ctrl+y", "ctrl+y"], ""),
        (["alt+k", "alt+k", "ctrl+y"], "one\ntwo words"),
        (["ctrl+y"], "one\ntwo words"),
    ],
)
async def test_killed_text_is_yanked_at_the_cursor(opened: Opened, keys: list[str], text: str) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.tab.editor.insert("one\ntwo words")
        await chat.press(*keys)
        assert chat.tab.editor.text == text


async def test_text_typed_after_clearing_the_prompt_stays(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.tab.editor.insert("one\ntwo words")
        await chat.press("alt+k", "a", "b", "alt+k", "c")
        assert chat.tab.editor.text == "c"
