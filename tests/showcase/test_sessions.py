"""The sessions of the showcase are kept while it runs: they can be listed, opened again, forked and forgotten."""

from __future__ import annotations

import pytest
from kept import picture
from linked import Link

from accord import NotFound
from accord.showcase.showcase import Showcase


@pytest.mark.parametrize("shown", ["/thoughts", "/tools 3", "/diff", "/image", "/resource", "/plan", "/terminal"])
async def test_a_session_is_told_again_as_it_was(link: Link, shown: str) -> None:
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


async def test_what_a_prompt_may_hold_is_offered_and_told_back(link: Link) -> None:
    from accord.showcase.specimens import picture as painted
    from accord.showcase.specimens import sound

    async with link(Showcase()) as client:
        session = await client.new_session("/project", additional_directories=["/lib"])
        turn = await session.prompt("look and listen", painted(), sound())
        told = await session.prompt("/session")

    assert turn.text.startswith("With your text came: Image, Audio.")
    assert '"/lib"' in told.text
