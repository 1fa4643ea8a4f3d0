"""Events that belong to no session, of an agent that sends more than the client reads."""

from __future__ import annotations

from accord.testing import wire_agent


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
