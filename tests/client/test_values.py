"""Values from a client's author that the protocol can't express: repaired, or rejected at the call."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from support.link import Link

from accord import AccordError, Agent, InvalidValue, Turn
from accord.model.content import TextContent

CAFE = os.fsdecode(b"caf\xe9")  # as os.listdir gives the name of a file that is not UTF-8


class Echo(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say(turn.text)

    async def extension_request(self, method: str, params: Any) -> Any:
        return params


def nest(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


async def test_a_prompt_with_lone_surrogates_is_sent_with_a_replacement_character(link: Link) -> None:
    async with link(Echo()) as client:
        turn = await (await client.new_session()).prompt(CAFE, meta={"name": CAFE})

    assert turn.text == "caf\ufffd"


WRONG: dict[str, Any] = {
    "object": {"a": object()},
    "path": {"a": Path("/x")},
    "deep": nest(100_000),
    "key": {(1, 2): 3},
}


@pytest.mark.parametrize("meta", WRONG.values(), ids=WRONG.keys())
async def test_a_prompt_that_cannot_be_sent_leaves_the_session_as_it_was(link: Link, meta: dict[str, Any]) -> None:
    async with link(Echo()) as client:
        session = await client.new_session()
        with pytest.raises(InvalidValue):
            session.prompt("lost", meta=meta)
        assert not session.busy and session.last_turn is None and session.transcript.timeline == []
        turn = await session.prompt("hello")

    assert (turn.text, turn.number, session.busy) == ("hello", 1, False)


async def test_a_prompt_that_cannot_be_sent_is_refused_though_it_would_wait(link: Link) -> None:
    async with link(Echo()) as client:
        session = await client.new_session()
        first = session.prompt("one")
        with pytest.raises(InvalidValue, match=r"meta\.a: an object can't be sent as JSON"):
            session.prompt("two", meta={"a": object()})
        third = session.prompt("three")
        texts = [(await first).text, (await third).text]

    assert texts == ["one", "three"]


@pytest.mark.parametrize("content", [5, None, {"type": "text", "text": "x"}, TextContent(5)])  # type: ignore[arg-type]
async def test_invalid_content_is_refused_by_argument_name(link: Link, content: Any) -> None:
    async with link(Echo()) as client:
        session = await client.new_session()
        with pytest.raises(InvalidValue, match=r"^content\[1\]"):
            session.prompt("see", content)
        turn = await session.prompt("hello")

    assert turn.text == "hello"


async def test_a_directory_that_cannot_be_named_is_refused(link: Link) -> None:
    """With a character replaced it would be another one."""
    async with link(Echo()) as client:
        for place in ({"cwd": f"/{CAFE}"}, {"cwd": "/", "additional_directories": [f"/{CAFE}"]}):
            with pytest.raises(InvalidValue, match="isn't valid Unicode"):
                await client.new_session(**place)
        assert (await client.new_session()).id


async def test_a_request_that_cannot_be_sent_is_refused_at_the_call(link: Link) -> None:
    async with link(Echo()) as client:
        for wrong in (object(), {"a": {1j}}, nest(100_000)):
            with pytest.raises(AccordError):
                await client.request("_echo", {"value": wrong})
            with pytest.raises(AccordError):
                await client.notify("_echo", {"value": wrong})
        with pytest.raises(AccordError):
            await client.new_session(meta={"a": object()})
        answer = await client.request("_echo", {"value": CAFE})
        session = await client.new_session()

    assert answer == {"value": "caf\ufffd"} and session.id
