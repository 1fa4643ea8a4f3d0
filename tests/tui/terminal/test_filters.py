"""Line filters: invisible characters, and images without colors."""

from __future__ import annotations

import pytest
from support.tui_driver import Opened
from textual import events

from accord.testing import ScriptedAgent
from accord.tui.terminal.filters import NoColorFilter


async def test_typed_joiners_are_preserved(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        for character in "👨\u200d👩\u200d👧 می\u200cخواهم":
            chat.app.post_message(events.Key(f"u{ord(character)}", character))
        await chat.until(lambda: chat.tab.editor.text == "👨\u200d👩\u200d👧 می\u200cخواهم")


async def test_without_colors_the_terminals_own_colors_are_unchanged(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with opened(ScriptedAgent()) as chat:
        await chat.send("hello")
        await chat.until("You said: hello")
        strips = chat.app.screen._compositor.render_strips()
        styles = [
            segment.style
            for strip in strips
            for segment in strip.apply_filter(NoColorFilter(), chat.app.screen.background_colors[1])
        ]
        assert any(isinstance(each, NoColorFilter) for each in chat.app.get_line_filters())
        assert not any(style.color or style.bgcolor for style in styles if style is not None)
