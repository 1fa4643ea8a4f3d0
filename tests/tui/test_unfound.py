"""A prompt that names a file which is not there says so below it, and is sent all the same."""

from __future__ import annotations

from pathlib import Path

from chatting import Chat, Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.prompt.unfound import told

HINT = "@nothere.txt is no file here: it is sent as text"


async def repeats(turn: Turn) -> None:
    await turn.say(f"heard: {turn.text}")


async def looked(chat: Chat) -> None:
    """Waits until files were looked for."""
    await chat.app.workers.wait_for_complete(
        [each for each in chat.app.workers if each.node is chat.pane.editor and each.group == "unfound"]
    )
    await chat.pilot.pause()


async def test_a_file_that_is_not_there_is_told_below_the_prompt(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.type("look at @nothere.txt")
        await chat.until(HINT)
        await chat.press(*["backspace"] * len("@nothere.txt"))
        await chat.gone("is no file here")


async def test_it_is_sent_all_the_same_and_told_until_the_next_prompt_is_begun(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.send("look at @nothere.txt")
        await chat.until("heard: look at @nothere.txt")
        await chat.until(HINT)
        await chat.type("x")
        await chat.gone("is no file here")


async def test_a_name_that_is_being_typed_is_not_told_while_it_may_become_a_file(opened: Opened, folders: Path) -> None:
    (folders / "readme.md.txt").write_text("")
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.type("@readme.md")
        await chat.until("tab takes it")
        await looked(chat)
        assert "is no file" not in chat.text
        await chat.press("escape", "space")
        await chat.until("@readme.md is no file here")


async def test_people_and_decorators_are_no_files(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.type("@property of @the.user or me@example.txt ")
        await looked(chat)
        assert not chat.pane.editor.border_subtitle


async def test_brackets_in_a_name_mean_nothing(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        chat.pane.area.hint.find = lambda text: ["[red]no[/].txt"]
        await chat.type("@x ")
        await chat.until("@[red]no[/].txt is no file here")


def test_several_names_are_told_in_one_line() -> None:
    assert told(["a.txt", "b.txt"])[0] == "@a.txt and @b.txt are no files here: they are sent as text"
    assert told(["a.txt", "b.txt", "c.txt"])[0] == "@a.txt and 2 more are no files here: they are sent as text"
