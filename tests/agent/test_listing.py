"""Sessions listed, a page at a time."""

from __future__ import annotations

from typing import Any

import pytest
from support.link import Link
from support.stored_sessions import Kept
from support.wire_client import begin_session, hello, new_session, turn

from accord import (
    Agent,
    InvalidParams,
    MemoryStore,
    SessionInfo,
    Turn,
)
from accord.store.base import Page
from accord.testing import wire_client


@pytest.mark.feature("listing, closing, deleting", "agent", "client")
@pytest.mark.req("V1-LIST-02", "V1-LIST-03", "V1-LIST-04", "V1-LIST-05", "V1-LIST-12", "V1-UPD-18")
@pytest.mark.req("V2-LIST-01", "V2-LIST-02", "V2-LIST-03", "V2-LIST-09")
async def test_sessions_are_listed_newest_first_with_their_titles(link: Link) -> None:
    async def name(turn: Turn) -> None:
        await turn.set_title(f"About {turn.text}")

    async with link(Kept([name], [name])) as client:
        old = await client.new_session("/one")
        new = await client.new_session("/two")
        await old.prompt("milk")
        listed = [info async for info in client.list_sessions()]
        again = [info async for info in client.list_sessions()]
        here = [info.id async for info in client.list_sessions("/two")]
        nowhere = [info async for info in client.list_sessions("/two/sub")]

    assert [(info.id, info.cwd, info.title) for info in listed] == [
        (old.id, "/one", "About milk"),
        (new.id, "/two", None),
    ]
    assert listed[0].updated_at is not None and listed[0].updated_at.endswith("Z")
    assert again == listed
    assert here == [new.id]
    assert nowhere == []


@pytest.mark.req("V1-LIST-03", "V2-LIST-03")
async def test_a_session_is_listed_with_its_additional_directories(link: Link) -> None:
    class Wide(Kept):
        additional_directories = True

    async with link(Wide()) as client:
        await client.new_session("/one", additional_directories=["/two", "/three"])
        (listed,) = [info async for info in client.list_sessions()]

    assert listed.additional_directories == ["/two", "/three"]


@pytest.mark.req("V1-LIST-06", "V1-LIST-07", "V1-LIST-10", "V2-LIST-04", "V2-LIST-07")
async def test_a_long_list_comes_in_pages(link: Link) -> None:
    async with link(Kept()) as client:
        made = [(await client.new_session()).id for _ in range(120)]
        listed = [info.id async for info in client.list_sessions()]

    assert listed == list(reversed(made))


@pytest.mark.req("V1-LIST-06", "V2-LIST-04", "V1-LIST-09", "V2-LIST-06", "V1-LIST-10", "V2-LIST-07")
async def test_a_page_ends_with_where_the_next_begins_and_a_made_up_place_is_refused(version: int) -> None:
    async with wire_client(Kept()) as peer:
        await hello(peer, version)
        for _ in range(51):
            await new_session(peer)
        first = (await peer.call("session/list", {}))["result"]
        second = (await peer.call("session/list", {"cursor": first["nextCursor"]}))["result"]
        refused = await peer.call("session/list", {"cursor": "zzz"})
        relative = await peer.call("session/list", {"cwd": "here"})
        nulls = await peer.call("session/list", {"cwd": None, "cursor": None})

    assert (len(first["sessions"]), len(second["sessions"])) == (50, 1)
    assert "nextCursor" not in second
    assert refused["error"]["code"] == relative["error"]["code"] == -32602
    assert len(nulls["result"]["sessions"]) == 50


async def test_the_author_may_list_sessions_himself(link: Link) -> None:
    class Author(Agent):
        async def prompt(self, turn: Turn) -> None: ...

        async def list_sessions(self, *, cwd: str | None, cursor: str | None) -> Page:
            if cursor is None:
                return Page(sessions=[SessionInfo(id="1", cwd=cwd or "/")], next_cursor="")
            assert cursor == ""
            return Page(sessions=[SessionInfo(id="2", cwd=cwd or "/", title="Two", archived=True)])

    async with link(Author()) as client:
        listed = [(info.id, info.cwd, info.title) async for info in client.list_sessions("/x")]

    assert listed == [("1", "/x", None)]  # what is archived is not listed unless asked for


async def _first_title(client: Any) -> str | None:
    async for info in client.list_sessions():
        title: str | None = info.title
        return title
    raise AssertionError("there is no session")


async def test_the_title_is_sent_and_saved(link: Link) -> None:
    async def name(turn: Turn) -> None:
        await turn.set_title("Shopping")

    async def unname(turn: Turn) -> None:
        await turn.set_title(None)

    async with link(Kept([name], [unname])) as client:
        session = await client.new_session()
        await session.prompt("a")
        titles = [session.title, await _first_title(client)]
        await session.prompt("b")
        titles += [session.title, await _first_title(client)]

    assert titles == ["Shopping", "Shopping", None, None]


async def test_an_invalid_cursor_of_the_store_is_the_clients_mistake() -> None:
    with pytest.raises(InvalidParams):
        await MemoryStore().list(cursor="nothing")


@pytest.mark.req("V2-LIST-10")
async def test_session_info_changes_only_the_fields_it_names(version: int) -> None:
    async def name(turn: Turn) -> None:
        await turn.set_title("Shopping", meta={"example.com/color": "red", "example.com/size": 3})
        await turn.set_title("Shopping list", meta={"example.com/color": None})
        await turn.set_title(None)

    async with wire_client(Kept([name])) as peer:
        session = await begin_session(peer, version)
        await turn(peer, version, session, "go")
        told = [update for update in peer.updates if update["sessionUpdate"] == "session_info_update"]

    assert [update["title"] for update in told] == ["Shopping", "Shopping list", None]
    assert all(update["updatedAt"].endswith("Z") for update in told)
    assert [update.get("_meta", "absent") for update in told] == [
        {"example.com/color": "red", "example.com/size": 3},
        {"example.com/color": None},
        "absent",
    ]
