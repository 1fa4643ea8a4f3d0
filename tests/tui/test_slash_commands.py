"""The client's own slash commands: listed beside the agent's, run here, and never sent to the agent by mistake."""

from __future__ import annotations

import asyncio

import pytest
from support.tui_driver import Chat, Opened

from accord.agent.turn import Turn
from accord.model.session import Command
from accord.testing import ScriptedAgent
from accord.tui.app import AccordApp
from accord.tui.prompt.completion import commands_for
from accord.tui.screens.keys import KeysScreen
from accord.tui.slash_commands import SLASH_COMMANDS, find_command, find_name, list_commands

REVIEW = Command(name="review", description="Review the changes", hint="what")
KEYS = Command(name="keys", description="Find keys")


async def repeats(turn: Turn) -> None:
    await turn.say(f"heard: {turn.text}")


def test_the_agents_commands_come_before_ours_unless_ours_matches_exactly() -> None:
    found = commands_for("/", [REVIEW], list_commands([REVIEW]))
    assert [(each.label, each.is_own) for each in found[:2]] == [("/review", False), ("/accord:review", True)]
    (exact, *_) = commands_for("/mode", [Command(name="modes", description="")], list_commands([]))
    assert exact.label == "/mode"


def test_an_agents_command_of_the_same_name_wins_and_ours_gets_a_prefix() -> None:
    assert find_command("/keys", [KEYS]) is None
    assert "accord:keys" in [each.name for each in list_commands([KEYS])]
    renamed = find_command("/accord:keys", [KEYS])
    assert renamed is not None
    assert renamed.command.name == "keys"


@pytest.mark.parametrize(
    ("text", "name"), [("/foo", "foo"), ("/foo bar", "foo"), ("/etc/hosts", None), ("a /foo", None), ("/", None)]
)
def test_a_path_is_not_a_slash_command(text: str, name: str | None) -> None:
    assert find_name(text) == name


def test_every_slash_command_runs_an_action_of_the_application() -> None:
    for each in SLASH_COMMANDS:
        assert callable(AccordApp.__dict__.get(f"action_{each.action.partition('(')[0]}")), each.name


async def test_our_command_runs_and_is_not_sent_to_the_agent(opened: Opened) -> None:
    agent = ScriptedAgent([repeats])
    async with opened(agent) as chat:
        await chat.send("/keys")
        await chat.until(lambda: isinstance(chat.app.screen, KeysScreen))
        await chat.press("escape")
        await chat.send("hello")
        await chat.until("heard: hello")


def test_a_command_may_have_an_argument() -> None:
    found = find_command("/model  gpt 'x'", [])
    assert found is not None
    assert (found.command.name, found.argument, found.problem) == ("model", "gpt 'x'", "")
    too_much = find_command("/keys all", [])
    assert too_much is not None
    assert too_much.problem == "/keys takes no argument."


async def test_a_mistyped_command_is_answered_with_a_suggestion(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.send("/modle")
        await chat.until(lambda: chat.is_notified("There is no command /modle. Did you mean /mode"))


async def test_an_unexpected_argument_returns_the_text_to_the_prompt(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.send("/keys please")
        await chat.until(lambda: chat.is_notified("/keys takes no argument."))
        assert chat.tab.editor.text == "/keys please"


async def test_the_argument_of_our_commands_is_dim_and_in_a_column(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats]), size=(80, 24)) as chat:
        await chat.type("/mod")
        await chat.until("Choose the model")
        lines = [line for line in chat.lines if "Choose the mod" in line]
        assert "/model [name]" in chat.text
        assert len({line.index("Choose the mod") for line in lines}) == 1


async def test_an_unknown_command_is_sent_only_when_enter_is_pressed_again(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.send("/nothing here")
        await chat.until(lambda: chat.is_notified("There is no command /nothing"))
        assert chat.tab.editor.text == "/nothing here"
        assert "heard" not in chat.text
        await chat.press("enter")
        await chat.until("heard: /nothing here")


async def test_a_command_that_the_agent_announces_later_is_sent_then(opened: Opened) -> None:
    is_typed = asyncio.Event()

    async def announces(turn: Turn) -> None:
        await is_typed.wait()
        await turn.session.set_commands([Command(name="late", description="Comes late")])

    async with opened(ScriptedAgent([announces])) as chat:
        await chat.send("go")
        await chat.until(lambda: chat.tab.controller.state == "running")
        await chat.send("/late one")
        await chat.until(lambda: chat.is_notified("There is no command /late"))
        is_typed.set()
        await chat.until("You said: /late one")


async def test_clear_replaces_the_session_of_the_tab(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.send("hello")
        await chat.until("heard: hello")
        before = chat.tab.controller
        await chat.until(lambda: before.state == "idle")
        await chat.send("/clear")
        await chat.until(lambda: chat.tab.controller is not before and chat.tab.controller.session is not None)
        await chat.until(lambda: len(chat.app.tabs) == 1)
        await chat.gone("heard: hello")


async def test_missing_settings_and_usage_are_reported(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.send("/model")
        await chat.until(lambda: chat.is_notified("This agent has no model setting"))
        await chat.send("/cost")
        await chat.until(lambda: chat.is_notified("This agent hasn't reported its usage"))


@pytest.mark.parametrize("text", ["exit", "quit", ":q", "bye"])
async def test_a_prompt_that_is_just_an_exit_word_quits(opened: Opened, text: str) -> None:
    agent = ScriptedAgent([repeats])
    async with opened(agent) as chat:
        await chat.send(text)
        await chat.until(lambda: chat.app._ending.has_begun)
    assert not agent.prompts


async def test_an_exit_word_in_a_sentence_is_sent(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats])) as chat:
        await chat.send("quit smoking")
        await chat.until("heard: quit smoking")


async def test_a_higher_window_lists_more_commands(opened: Opened) -> None:
    async with opened(ScriptedAgent([repeats]), size=(100, 36)) as chat:
        await chat.type("/")
        await chat.until(lambda: count_rows(chat) == 14)
        await chat.press(*["down"] * 12)
        await chat.pilot.resize_terminal(100, 24)
        await chat.until(lambda: count_rows(chat) == 8)
        await chat.until(lambda: any("❯ /" in line for line in chat.lines))


def count_rows(chat: Chat) -> int:
    return sum(" ◆ " in line and "/" in line for line in chat.lines[1:])
