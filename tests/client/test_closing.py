"""Sessions ended by their client."""

from __future__ import annotations

import asyncio
import logging

import pytest
from support.link import until
from support.wire_agent import Played, tell

from accord import CapabilityError, RequestFailed
from accord.testing import wire_agent


@pytest.mark.req("V2-CLOSE-06", "V1-CLOSE-04", "V1-CLOSE-07")
async def test_a_missing_session_counts_as_closed_and_deleted(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        session = await Played(peer, client, version).begin()
        for ending in (session.close(), client.close_session("x"), client.delete_session("x")):
            waiting = asyncio.ensure_future(ending)
            request = await peer.receive()
            await peer.refuse(request, -32002)
            await waiting

    assert session.closed


async def test_an_agent_that_will_not_close_a_session_says_why(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        session = await Played(peer, client, version).begin()
        closing = asyncio.ensure_future(session.close())
        await peer.refuse(await peer.next_call("session/close"), -32603, "not now")
        with pytest.raises(RequestFailed, match="not now"):
            await closing

    assert "s" not in client.sessions


@pytest.mark.req("V1-CLOSE-01", "V1-CLOSE-05", "V1-LOAD-01", "V1-RESUME-01", "V1-LIST-01", "V2-CLOSE-07")
async def test_what_was_not_offered_is_not_sent(version: int) -> None:
    hellos = {
        1: {"protocolVersion": 1, "agentInfo": {"name": "bare", "version": "0"}},
        2: {"protocolVersion": 2, "info": {"name": "bare", "version": "0"}, "capabilities": {"session": {}}},
    }
    async with wire_agent(version, hello=hellos[version]) as (peer, client):
        session = await Played(peer, client, version).begin()
        asked = [client.delete_session("x")]
        if version == 1:
            asked += [client.close_session("x"), client.load_session("x"), client.resume_session("x")]
        for each in asked:
            with pytest.raises(CapabilityError, match="bare did not offer"):
                await each
        with pytest.raises(CapabilityError):
            await client.new_session(additional_directories=["/lib"])
        if version == 1:
            with pytest.raises(CapabilityError):
                await anext(client.list_sessions())
            await session.close()

    assert [message["method"] for message in peer.received] == ["initialize", "session/new"]


@pytest.mark.req("V1-SETUP-13", "V1-SETUP-19", "V2-SETUP-07")
async def test_further_directories_are_sent_once_each_and_without_the_working_directory() -> None:
    hello = {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"additionalDirectories": {}}}}
    async with wire_agent(1, hello=hello) as (peer, client):
        roots = ["/lib", "/project", "/lib", "/project/../other"]
        making = asyncio.ensure_future(client.new_session("/project", additional_directories=roots))
        request = await peer.next_call("session/new")
        await peer.reply(request, {"sessionId": "s"})
        session = await making

    assert request["params"]["additionalDirectories"] == ["/lib", "/other"]
    assert session.transcript.additional_directories == ["/lib", "/other"]


@pytest.mark.req("V1-NOTICE-04", "V1-UPD-13")
async def test_notifications_are_never_answered(version: int) -> None:
    async with wire_agent(version) as (peer, client):
        session = await Played(peer, client, version).begin()
        before = len(peer.received)
        await tell(peer, "s", {"sessionUpdate": "notice", "severity": "error", "title": "Broken"})
        await peer.tell("_odd", {})
        await peer.tell("session/unknown", {})
        await until(lambda: session.transcript.notices)
        await peer.quiet()

    assert len(peer.received) == before + 1


@pytest.mark.req("V1-AUTH-31")
async def test_accounts_are_not_logged(version: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    hellos = {
        1: {"protocolVersion": 1, "agentCapabilities": {"auth": {"status": {}}}},
        2: {
            "protocolVersion": 2,
            "info": {"name": "a", "version": "0"},
            "capabilities": {"session": {}, "auth": {"status": {}}},
        },
    }
    async with wire_agent(version, hello=hellos[version], unstable=True) as (peer, client):
        asking = asyncio.ensure_future(client.auth_status())
        request = await peer.next_call("auth/status")
        await peer.reply(request, {"state": "authenticated", "accounts": [{"label": "ada@example.com"}, {"x": 1}]})
        status = await asking
        await peer.tell("auth/status_update", {"state": "authenticated", "accounts": [{"label": "ada@example.com"}]})
        await peer.quiet()

    assert [account.label for account in status.accounts] == ["ada@example.com"]
    assert "ada@example.com" not in caplog.text
