"""Keys that arrive all at once have the same effect as one by one."""

from __future__ import annotations

from support.tui_driver import Chat, Opened
from textual import events

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent


def burst(chat: Chat, *keys: str) -> None:
    """Send keys without waiting for their effect."""
    for key in keys:
        chat.app.post_message(events.Key(key, key if len(key) == 1 else None))


async def looks(turn: Turn) -> None:
    async with turn.tool("Look around", kind="search") as tool:
        await tool.show("three flowers")
    await turn.say("Looked.")


async def test_keys_after_tab_go_to_the_transcript(opened: Opened) -> None:
    async with opened(ScriptedAgent([looks])) as chat:
        await chat.send("look")
        await chat.until("Looked.")
        burst(chat, "tab", "up", "enter")
        await chat.until("three flowers")
        assert chat.tab.editor.text == ""
        assert len([line for line in chat.lines if "look" in line and "▌" in line]) == 1  # it was not sent again


async def test_keys_after_tab_go_to_the_permission_request(opened: Opened) -> None:
    async def asks(turn: Turn) -> None:
        await turn.say(f"allowed: {bool(await turn.permit('Go on'))}")

    async with opened(ScriptedAgent([asks])) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        chat.tab.editor.focus()
        chat.tab.editor.set_text("half a prompt")
        burst(chat, "tab", "down")
        await chat.until("❯ 2.")
        assert chat.tab.editor.text == "half a prompt"
