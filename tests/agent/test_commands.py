"""Slash commands: told to the client, recognized in a prompt."""

from __future__ import annotations

from typing import Any

import pytest
from support.link import Link, until
from support.wire_client import hello, new_session

from accord import Agent, AgentSession, Command, CommandsChanged, ResourceLink, Turn, command
from accord.testing import wire_client


class Commanding(Agent):
    commands = (Command(name="web", description="Search", hint="what to look for"),)

    async def prompt(self, turn: Turn) -> None:
        await turn.say(f"prompt: {turn.text}")

    @command("plan", "Make a plan", hint="what for")
    async def make_plan(self, turn: Turn) -> None:
        await turn.say(f"planning {turn.argument!r}")

    @command("stop", "Refuse")
    async def refuse(self, turn: Turn) -> str:
        return "refusal"


@pytest.mark.feature("slash commands", "agent", "client")
@pytest.mark.req("V1-CMD-01", "V1-CMD-02", "V2-CMD-01", "V2-CMD-02", "V1-CMD-03")
async def test_commands_are_known_once_a_session_has_begun(link: Link) -> None:
    async with link(Commanding()) as client:
        session = await client.new_session()
        await until(lambda: len(session.commands) == 3)

    assert session.commands == [
        Command(name="plan", description="Make a plan", hint="what for"),
        Command(name="stop", description="Refuse"),
        Command(name="web", description="Search", hint="what to look for"),
    ]


@pytest.mark.req("V1-CMD-04", "V1-CMD-05", "V2-CMD-04", "V2-PROMPT-23")
@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("/plan", "planning ''"),
        ("/plan a cake", "planning 'a cake'"),
        ("/plan\na cake\nand tea", "planning 'a cake\\nand tea'"),
        ("  /plan   a cake", "planning 'a cake'"),
        ("/planet x", "prompt: /planet x"),
        ("/web x", "prompt: /web x"),
        ("please /plan", "prompt: please /plan"),
        ("/", "prompt: /"),
        ("/ plan", "prompt: / plan"),
    ],
)
async def test_a_prompt_that_names_a_command_is_one(link: Link, said: str, answer: str) -> None:
    async with link(Commanding()) as client:
        turn = await (await client.new_session()).prompt(said)

    assert turn.text == answer
    assert turn.stop_reason == "end_turn"


async def test_a_command_ends_its_turn_like_any_prompt(link: Link) -> None:
    async with link(Commanding()) as client:
        turn = await (await client.new_session()).prompt("/stop")

    assert turn.stop_reason == "refusal"


@pytest.mark.req("V1-CMD-04")
async def test_a_command_may_stand_among_other_content(link: Link) -> None:
    async with link(Commanding()) as client:
        session = await client.new_session()
        turn = await session.prompt(ResourceLink(uri="file:///a", name="a"), "/plan with a")

    assert turn.text == "planning 'with a'"


@pytest.mark.req("V1-CMD-01", "V1-CMD-03", "V2-CMD-01", "V1-UPD-15")
async def test_the_list_may_change_at_any_time_and_is_always_whole(link: Link) -> None:
    class Changing(Commanding):
        async def prompt(self, turn: Turn) -> None:
            await turn.session.set_commands([Command(name="new", description="New")])

    async with link(Changing()) as client:
        session = await client.new_session()
        events = [event async for event in session.prompt("go") if isinstance(event, CommandsChanged)]

    assert [each.name for each in events[-1].commands] == ["plan", "stop", "new"]
    assert [each.name for each in session.commands] == ["plan", "stop", "new"]


@pytest.mark.req("V1-CMD-02", "V2-CMD-02")
async def test_on_the_wire_a_command_has_a_name_without_its_slash(version: int) -> None:
    async with wire_client(Commanding()) as peer:
        await hello(peer, version)
        await new_session(peer)
        await peer.quiet()

    listed: list[dict[str, Any]] = peer.updates[-1]["availableCommands"]
    tags = {} if version == 1 else {"type": "command"}
    input_tags = {} if version == 1 else {"type": "text"}
    assert listed[0] == {
        **tags,
        "name": "plan",
        "description": "Make a plan",
        "input": {**input_tags, "hint": "what for"},
    }
    assert listed[1] == {**tags, "name": "stop", "description": "Refuse"}


async def test_a_subclass_inherits_and_overrides_commands(link: Link) -> None:
    class Child(Commanding):
        @command("plan", "Plan better")
        async def make_plan(self, turn: Turn) -> None:
            await turn.say("better")

    async with link(Child()) as client:
        session = await client.new_session()
        turn = await session.prompt("/plan")

    assert turn.text == "better"
    assert session.commands[0].description == "Plan better"


async def test_a_session_can_start_with_its_own_commands(link: Link) -> None:
    class Local(Commanding):
        async def new_session(self, session: AgentSession) -> None:
            await session.set_commands([Command(name=session.cwd.strip("/"), description="Here")])

    async with link(Local()) as client:
        session = await client.new_session("/here")
        await until(lambda: len(session.commands) == 3)

    assert session.commands[-1].name == "here"


@pytest.mark.req("V1-CMD-03", "V2-CMD-01")
async def test_commands_that_are_hidden_are_not_listed_and_not_handled(link: Link) -> None:
    class Moody(Commanding):
        async def prompt(self, turn: Turn) -> None:
            if turn.text == "hide":
                await turn.session.set_commands([], hide=["plan"])
            elif turn.text == "show":
                await turn.session.set_commands([])
            await super().prompt(turn)

    async with link(Moody()) as client:
        session = await client.new_session()
        await session.prompt("hide")
        hidden = [each.name for each in session.commands]
        unhandled = await session.prompt("/plan a cake")
        await session.prompt("show")
        shown = [each.name for each in session.commands]
        handled = await session.prompt("/plan a cake")

    assert (hidden, shown) == (["stop"], ["plan", "stop"])
    assert (unhandled.text, handled.text) == ("prompt: /plan a cake", "planning 'a cake'")


async def test_hiding_an_unknown_command_raises(link: Link) -> None:
    faults: list[str] = []

    class Typing(Commanding):
        async def prompt(self, turn: Turn) -> None:
            try:
                await turn.session.set_commands([], hide=["plam"])
            except ValueError as error:
                faults.append(str(error))

    async with link(Typing()) as client:
        await (await client.new_session()).prompt("go")

    assert faults == ["hide contains 'plam', which is not an @command of this agent"]
