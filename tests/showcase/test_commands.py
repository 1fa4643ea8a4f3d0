"""Every command of the showcase, in each version: how its turn ends, and that all it sends fits the protocol."""

from __future__ import annotations

from typing import Any

import pytest
from schema import published_schemas
from showcase.schema_check import Watched
from support.link import Link

from accord import AuthRequired, RequestFailed
from accord.showcase.agent import Showcase
from accord.testing import ScriptedClient

QUICKLY = {"slow": "0.01", "v2-cancel": "0.01", "v2-background": "0.01", "subagent": "0.01", "big": "4"}
STOPS = {"refusal": "refusal", "max-tokens": "max_tokens", "max-turn-requests": "max_turn_requests"}
RAISES: dict[str, type[Exception]] = {"error": RequestFailed, "auth": AuthRequired}
COMMANDS = [command.name for commands in Showcase().table().values() for command in commands]


@pytest.fixture(params=["offers everything", "offers nothing"])
def offered(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Arguments of `link`: a client that offers all there is, or one that offers nothing at all."""
    if request.param == "offers nothing":
        return {}
    client = ScriptedClient(replies=[{"name": "Ada"}, {"color": "red"}, {}])
    return {"client": client, "unstable": True}


@pytest.mark.skipif(published_schemas.folder() is None, reason=published_schemas.MISSING)
@pytest.mark.parametrize("name", COMMANDS)
async def test_every_command_ends_as_it_says_and_sends_only_what_the_protocol_knows(
    name: str, link: Link, version: int, offered: dict[str, Any]
) -> None:
    watched = Watched()
    async with link(Showcase(), **offered) as client:
        client.connection.watch(watched)
        session = await client.new_session("/project")
        prompt = f"/{name} {QUICKLY.get(name, '')}"
        if name in RAISES:
            with pytest.raises(RAISES[name]):
                await session.prompt(prompt)
        else:
            turn = await session.prompt(prompt)
            own = "_accord.showcase/curtain" if name == "unknown" and version == 2 else "end_turn"
            assert turn.stop_reason == STOPS.get(name, own)
            assert turn.text
            assert all(call.is_final for call in turn.tool_calls)

    assert watched.updates
    assert watched.faults(version) == []


async def test_a_command_in_avantes_wrapping_is_understood(link: Link) -> None:
    context = "<system_context>Continuing from previous session with 1 recent user messages</system_context>"
    async with link(Showcase()) as client:
        session = await client.new_session()
        plain = await session.prompt("/help")
        wrapped = await session.prompt(["<previous_user_message>/help</previous_user_message>", context])
    assert wrapped.text == plain.text


async def test_other_prompts_are_answered_with_a_list_of_the_commands(link: Link) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        turn = await session.prompt("what can you do?")
        helped = await session.prompt("/help")

    for name in COMMANDS:
        assert f"`/{name}" in turn.text
        assert f"`/{name}" in helped.text


async def test_the_commands_are_told_to_the_client_in_the_order_of_the_table(link: Link) -> None:
    async with link(Showcase()) as client:
        session = await client.new_session()
        await session.prompt("/refusal")
        told = [command.name for command in session.commands]

    assert told == [*COMMANDS, "help"]
