"""By what name an agent goes: by its own title once that is known, made fit for a line. The log names its command."""

from __future__ import annotations

from pathlib import Path

import pytest
from chatting import Chat, Memory

from accord.testing import ScriptedAgent
from accord.tui.app import AccordApp

COMMAND = "python3 agents/wombat.py"


class Titled(ScriptedAgent):
    name = "wombat"
    title = "Wombat\n\x1b]0;mine\x07 the Wise"


class Untitled(ScriptedAgent):
    name = "wombat"


@pytest.mark.parametrize(
    ("agent", "target", "shown"),
    [
        (Titled, COMMAND, "Wombat ␛]0;mine␇ the Wise"),
        (Untitled, COMMAND, "wombat"),
        (Untitled, "digger", "digger"),
    ],
)
async def test_tabs_and_the_window_name_the_agent_by_its_title(
    folders: Path, agent: type[ScriptedAgent], target: str, shown: str
) -> None:
    app = AccordApp(Memory(folders, agent(), frozenset({1})), target)
    async with app.run_test(size=(120, 24)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        assert chat.pane.talk.title == shown
        await chat.app.action_new_session()
        await chat.until(lambda: f"1   {shown}" in chat.lines[0])
        await chat.press("ctrl+l")
        whose = f"{shown} ({target})" if target == COMMAND else shown
        await chat.until(f"Log of {whose}: everything")
