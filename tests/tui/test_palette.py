"""The command palette finds everything the client and the agent can do."""

from __future__ import annotations

from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.commands import COMMANDS


async def test_commands_settings_and_slash_commands_are_found(opened: Opened) -> None:
    async def offer(turn: Turn) -> None:
        await turn.say("ready to compact")

    async with opened(ScriptedAgent([offer]), size=(100, 30)) as chat:
        ids = {row.id for row in chat.app.palette._list_rows()}
        assert {"sessions", "settings", "toggle_setting('follow')", "send_now"} <= ids
        assert {"setting images", "setting screen_reader"} <= ids
        await chat.press("ctrl+p")
        await chat.until("❯ Sessions")
        await chat.type("images")
        await chat.until("❯ Images")
        await chat.press("enter")
        await chat.until("best the terminal supports")


async def test_the_latest_choice_comes_first(opened: Opened) -> None:
    async with opened(ScriptedAgent(), size=(100, 30)) as chat:
        await chat.press("ctrl+p")
        await chat.type("show all keys")
        await chat.press("enter")
        await chat.until("Most used")
        await chat.press("escape", "ctrl+p")
        await chat.until("❯ Keys")


def test_every_key_that_terminals_keep_has_a_command_in_the_palette() -> None:
    kept = [each for each in COMMANDS if each.keys.startswith(("alt+", "f"))]
    assert kept and all(each.title for each in kept)
