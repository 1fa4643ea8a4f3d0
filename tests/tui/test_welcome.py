"""The welcome of a session without messages, and what it puts into the prompt."""

from __future__ import annotations

import pytest
from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.model.session import NO_MODEL, Choice, Notice, Option
from accord.testing import ScriptedAgent
from accord.tui.panels.welcome import FOR_A_MODEL, FOR_AN_EMPTY_DIRECTORY, Facts, lay_out
from accord.tui.theme import TextStyles
from accord.version import __version__

FACTS = Facts("built-in agent", "~/work/project", "main", "Claude Sonnet 5.5")


async def repeats(turn: Turn) -> None:
    await turn.say(f"heard: {turn.text}")


def texts(facts: Facts, text_styles: TextStyles, width: int, height: int) -> list[str]:
    return ["".join(text for text, _ in row.parts) for row in lay_out(facts, text_styles, width, height)]


async def test_the_welcome_names_the_agent_and_the_branch_until_a_prompt_is_sent(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats]), size=(80, 24)) as chat:
        head = chat.app.host.cwd / ".git"
        head.mkdir()
        (head / "HEAD").write_text("ref: refs/heads/topic\n")
        chat.tab.welcome.load()
        await chat.until("· topic")
        assert f"Accord {__version__}" in chat.text
        await chat.send("hello")
        await chat.until("heard: hello")
        assert f"Accord {__version__}" not in chat.text


@pytest.mark.parametrize(("width", "height"), [(80, 24), (60, 20), (40, 15)])
async def test_the_welcome_makes_room_for_a_list_and_for_a_long_prompt(opened: Opened, width: int, height: int) -> None:
    """The prompt was pushed out of windows of 24 lines by the first slash."""

    def is_prompt_visible() -> bool:
        region = chat.tab.editor.region
        is_above_status = region.bottom < height and "● ready" in chat.lines[region.bottom]
        return region.height >= 3 and is_above_status and "? keys" in chat.lines[-1]

    async with opened(ScriptedAgent([repeats]), size=(width, height)) as chat:
        await chat.until(f"Accord {__version__}")
        before = chat.text
        await chat.type("/")
        await chat.until("tab accept")
        await chat.until(is_prompt_visible)
        await chat.press("backspace")
        await chat.until(lambda: chat.text == before)
        await chat.press(*["ctrl+j"] * 4)
        await chat.until(lambda: chat.tab.editor.region.height >= 6)
        await chat.until(is_prompt_visible)


async def test_the_keys_are_listed_once_after_a_resize(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats]), size=(80, 15)) as chat:
        await chat.until("? keys")
        assert chat.text.count("? keys") == 2, "in the welcome and on the status line"
        await chat.pilot.resize_terminal(80, 24)
        await chat.until("ctrl+o sessions")
        await chat.until(lambda: chat.text.count("? keys") == 1)


async def test_a_number_puts_a_suggestion_into_the_empty_prompt(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.until(FOR_AN_EMPTY_DIRECTORY[1])
        await chat.press("2")
        assert chat.tab.editor.text == FOR_AN_EMPTY_DIRECTORY[1]
        await chat.press("enter")
        await chat.until(f"heard: {FOR_AN_EMPTY_DIRECTORY[1]}")
        await chat.press("2")
        assert chat.tab.editor.text == "2", "the welcome is gone"


async def test_enter_takes_the_first_suggestion_and_typed_digits_stay(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.until(FOR_AN_EMPTY_DIRECTORY[0])
        await chat.type("x1")
        assert chat.tab.editor.text == "x1"
        await chat.press("backspace", "backspace", "enter")
        assert chat.tab.editor.text == FOR_AN_EMPTY_DIRECTORY[0]


async def test_a_click_takes_a_suggestion(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats]), size=(80, 24)) as chat:
        await chat.until(FOR_AN_EMPTY_DIRECTORY[2])
        row = next(at for at, line in enumerate(chat.lines) if FOR_AN_EMPTY_DIRECTORY[2] in line)
        await chat.pilot.click(offset=(6, row))
        await chat.until(lambda: chat.tab.editor.text == FOR_AN_EMPTY_DIRECTORY[2])


class WithModels(ScriptedAgent):
    """An agent with two models."""

    options = (
        Option(
            id="model",
            name="Model",
            value="p:one",
            choices=[Choice(value="p:one", name="Model One"), Choice(value="p:two", name="Model Two")],
            category="model",
        ),
    )


async def test_the_model_is_named_and_follows_a_change(opened: Opened) -> None:
    async with opened(WithModels([repeats])) as chat:
        await chat.until("· Model One")
        await chat.send("/model two")
        await chat.until("· Model Two")


@pytest.mark.parametrize(("width", "height"), [(36, 9), (76, 18), (116, 34), (20, 4)])
def test_every_line_fits_and_the_most_important_ones_stay(text_styles: TextStyles, width: int, height: int) -> None:
    lines = texts(FACTS, text_styles, width, height)
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    assert lines[0].startswith("Accord") or lines[1].startswith("Accord")


def test_the_offline_demo_is_named_with_how_to_add_a_model(text_styles: TextStyles) -> None:
    shown = "\n".join(texts(FACTS._replace(is_demo=True), text_styles, 76, 20))
    assert "Offline demo" in shown and "/login adds a model" in shown
    assert FOR_A_MODEL[0] not in shown


async def test_the_agents_notice_that_there_is_no_model_is_not_repeated_below_the_welcome(opened: Opened) -> None:
    async def say_more(turn: Turn) -> None:
        await turn.session.notice("No model here", meta={NO_MODEL: True})
        await turn.session.notice("Something else")
        await turn.say("hello there")

    async with opened(ScriptedAgent([say_more])) as chat:
        await chat.send("go")
        await chat.until("hello there")
        await chat.until("Something else")
        assert "No model here" not in chat.text
        await chat.press("tab", "up", "up", "up", "up")
        selected = []
        for _ in range(4):
            selected.append(chat.tab.transcript_view.selected)
            await chat.press("down")
        assert all((each.meta or {}).get(NO_MODEL) is None for each in selected if isinstance(each, Notice))
