"""A prompt that mentions a missing file shows a hint, and is sent anyway."""

from __future__ import annotations

from pathlib import Path

from support.tui_driver import Chat, Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.prompt.missing_files import describe_missing

HINT = "@nothere.txt not found; it will be sent as text"


async def repeats(turn: Turn) -> None:
    await turn.say(f"heard: {turn.text}")


async def wait_for_check(chat: Chat) -> None:
    """Wait until the file check has finished."""
    await chat.app.workers.wait_for_complete(
        [each for each in chat.app.workers if each.node is chat.tab.editor and each.group == "missing-files"]
    )
    await chat.pilot.pause()


async def test_a_missing_file_is_reported_below_the_prompt(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.type("look at @nothere.txt")
        await chat.until(HINT)
        await chat.press(*["backspace"] * len("@nothere.txt"))
        await chat.gone("not found")


async def test_a_prompt_with_a_missing_file_is_sent_and_the_hint_stays_until_the_next(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.send("look at @nothere.txt")
        await chat.until("heard: look at @nothere.txt")
        await chat.until(HINT)
        await chat.type("x")
        await chat.gone("not found")


async def test_an_unfinished_file_name_is_not_reported_as_missing(opened: Opened, folders: Path) -> None:
    (folders / "readme.md.txt").write_text("")
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.type("@readme.md")
        await chat.until("tab accept")
        await wait_for_check(chat)
        assert "not found" not in chat.text
        await chat.press("escape", "space")
        await chat.until("@readme.md not found")


async def test_user_names_and_decorators_are_not_taken_for_files(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.type("@property of @the.user or me@example.txt ")
        await wait_for_check(chat)
        assert not chat.tab.editor.border_subtitle


async def test_brackets_in_a_name_are_shown_literally(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        chat.tab.area.hint.find = lambda text: ["[red]no[/].txt"]
        await chat.type("@x ")
        await chat.until("@[red]no[/].txt not found")


def test_several_missing_files_are_reported_in_one_line() -> None:
    assert describe_missing(["a.txt", "b.txt"])[0] == "@a.txt and @b.txt not found; they will be sent as text"
    assert describe_missing(["a.txt", "b.txt", "c.txt"])[0] == "@a.txt and 2 more not found; they will be sent as text"
