"""Events that belong to no session, of an agent that sends more than the client reads."""

from __future__ import annotations

from accord.testing import wire_agent


async def test_events_end_with_the_connection_and_later_listeners_end_at_once(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        early = client.events()
        await peer.transport.close()
        assert [event async for event in early] == []
        assert [event async for event in client.events()] == []


async def test_after_close_a_listener_ends_at_once() -> None:
    async with wire_agent(1) as (_, client):
        await client.close()
        assert [event async for event in client.events()] == []


async def test_unread_events_count_as_undelivered(version: int) -> None:
    async with wire_agent(version, unstable=True) as (peer, client), client.events() as events:
        accounts = [{"label": "x" * 10_000}]
        for _ in range(10):
            await peer.tell("auth/status_update", {"state": "authenticated", "accounts": accounts})
        await peer.quiet()
        waiting = client.connection.backlog.bytes
        for _ in range(10):
            await anext(events)

        assert waiting > 50_000
        assert client.connection.backlog.bytes < 10_000
