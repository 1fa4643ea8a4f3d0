"""Keys that come all at once do what they do one by one."""

from __future__ import annotations

from chatting import Chat, Opened
from textual import events

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent


def burst(chat: Chat, *keys: str) -> None:
    """Presses keys faster than anything is done about them."""
    for key in keys:
        chat.app.post_message(events.Key(key, key if len(key) == 1 else None))


async def looks(turn: Turn) -> None:
    async with turn.tool("Look around", kind="search") as tool:
        await tool.show("three flowers")
    await turn.say("Looked.")


async def test_keys_behind_tab_are_for_the_conversation(opened: Opened) -> None:
    async with opened(ScriptedAgent([looks])) as chat:
        await chat.send("look")
        await chat.until("Looked.")
        burst(chat, "tab", "up", "enter")
        await chat.until("three flowers")
        assert chat.pane.editor.text == ""
        assert len([line for line in chat.lines if "look" in line and "▌" in line]) == 1  # it was not sent again


async def test_keys_behind_tab_are_for_the_question(opened: Opened) -> None:
    async def asks(turn: Turn) -> None:
        await turn.say(f"allowed: {bool(await turn.permit('Go on'))}")

    async with opened(ScriptedAgent([asks])) as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        chat.pane.editor.focus()
        chat.pane.editor.set_text("half a prompt")
        burst(chat, "tab", "down")
        await chat.until("❯ 2.")
        assert chat.pane.editor.text == "half a prompt"
