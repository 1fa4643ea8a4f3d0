"""The sessions of the showcase are kept while it runs: they can be listed, opened again, forked and forgotten."""

from __future__ import annotations

import pytest
from support.link import Link
from support.stored_sessions import picture

from accord import NotFound
from accord.showcase.agent import Showcase


@pytest.mark.parametrize("shown", ["/thoughts", "/tools 3", "/diff", "/image", "/resource", "/plan", "/terminal"])
async def test_a_loaded_session_replays_as_it_was(link: Link, shown: str) -> None:
    agent = Showcase()
    async with link(agent) as client:
        session = await client.new_session("/project")
        await session.prompt(shown)
        await session.prompt("/title Kept")
    async with link(agent) as client:
        again = await client.load_session(session.id, "/project")

    assert picture(again)[-2:] == picture(session)[-2:]
    assert [type(item) for item in again.transcript.timeline] == [type(item) for item in session.transcript.timeline]
    assert again.title == "Kept"


async def test_sessions_are_listed_forked_closed_resumed_and_deleted(link: Link) -> None:
    async with link(Showcase(), unstable=True) as client:
        session = await client.new_session("/project")
        await session.prompt("/title First")
        fork = await session.fork()
        await fork.prompt("/title Second")
        titles = [info.title async for info in client.list_sessions("/project")]
        await fork.close()
        resumed = await client.resume_session(fork.id, "/project")
        quiet = resumed.transcript.text
        answered = await resumed.prompt("/refusal")
        await client.delete_session(session.id)
        left = [info.id async for info in client.list_sessions("/project")]
        with pytest.raises(NotFound):
            await client.load_session(session.id, "/project")

    assert sorted(title or "" for title in titles) == ["First", "Second"]
    assert quiet == "" and answered.stop_reason == "refusal"
    assert left == [fork.id]


async def test_the_content_of_a_prompt_is_offered_and_echoed(link: Link) -> None:
    from accord.showcase.media import image as painted
    from accord.showcase.media import sound

    async with link(Showcase()) as client:
        session = await client.new_session("/project", additional_directories=["/lib"])
        turn = await session.prompt("look and listen", painted(), sound())
        told = await session.prompt("/session")

    assert turn.text.startswith("Besides text, your prompt contained: Image, Audio.")
    assert '"/lib"' in told.text
