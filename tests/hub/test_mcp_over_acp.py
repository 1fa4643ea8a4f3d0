"""MCP servers of clients through the hub: requests reach only the client that offered the server."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import mcp
import pytest
from mcp import MCPError
from support.hub_client import BOB, HubClient, InProcessSpawner, joined

import accord
from accord import Agent, MemoryStore, Turn
from accord.hub.hub import Hub
from accord.hub.mcp_relay import McpRelay
from accord.hub.principal import Principal

DONE = {"result": {"resultType": "complete", "content": [{"type": "text", "text": "done"}]}}
NO_TOOLS = {"result": {"resultType": "complete", "tools": [], "ttlMs": 0, "cacheScope": "private"}}


class Caller(Agent):
    """`call` calls a tool of the first MCP server; `ID` sends a request to the server with that id."""

    unstable = True
    mcp = ("stdio", "acp")

    async def prompt(self, turn: Turn) -> None:
        if turn.text != "call":
            params = {"serverId": turn.text, "requestId": "1", "method": "tools/list"}
            try:
                await turn.session.request("mcp/message", params)
            except Exception as error:
                await turn.say(str(error))
            return
        server = turn.session.mcp_servers[0]
        seen: list[str] = []

        async def progress(done: float, total: float | None, words: str | None) -> None:
            seen.append(str(words))

        try:
            async with mcp.Client(turn.session.mcp_transport(server), mode="2026-07-28") as client:
                result = await client.call_tool("work", {}, progress_callback=progress)
                words = " ".join([*seen, result.content[0].text])  # type: ignore[union-attr]
        except* MCPError as group:
            words = str(group.exceptions[0])
        await turn.say(words)


class Stored(Caller):
    """The same, with sessions that can be restored."""

    store = MemoryStore()


def setup(cwd: Path, *ids: str) -> dict[str, Any]:
    servers = [{"type": "acp", "name": f"notes{number}", "serverId": id} for number, id in enumerate(ids)]
    return {"cwd": str(cwd), "mcpServers": servers}


async def offer(client: HubClient, cwd: Path, *ids: str) -> str:
    """Open a session with servers of the client."""
    result = await client.call("session/new", setup(cwd, *ids))
    id: str = result["sessionId"]
    return id


async def serve_call(client: HubClient, after: int = 0) -> dict[str, Any]:
    """Answer a tool call and the listing that follows it. Returns the request."""
    request = await client.wait(_calls("tools/call"), after)
    client.answer(request, DONE)
    client.answer(await client.wait(_calls("tools/list"), after), NO_TOOLS)
    return request


def _calls(method: str) -> Any:
    return lambda m: m.get("method") == "mcp/message" and m["params"]["method"] == method


def mcp_messages(client: HubClient) -> list[dict[str, Any]]:
    return [each for each in client.messages if each.get("method") == "mcp/message"]


@pytest.mark.parametrize("isolation", ["session", "principal", "shared"])
async def test_a_call_reaches_the_client_that_offered_the_server(version: int, isolation: Any, tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Caller), root=tmp_path, isolation=isolation, shared_sessions=True) as hub,
        joined(hub, version=version) as alice,
        joined(hub, BOB, version=version) as bob,
    ):
        session = await offer(alice, tmp_path, "same")
        other = await offer(bob, tmp_path, "same")
        for client, id, idle in ((alice, session, bob), (bob, other, alice)):
            before = len(mcp_messages(idle))
            client.prompt(id, "call")
            request = await client.wait(_calls("tools/call"))
            token = request["params"]["params"]["_meta"]["progressToken"]
            told = {"serverId": "same", "requestId": request["params"]["requestId"]}
            inner = {"progressToken": token, "progress": 1, "message": "half"}
            client.notify("mcp/message", {**told, "method": "notifications/progress", "params": inner})
            await serve_call(client)
            await client.wait(lambda m: "half done" in str(m))
            assert request["params"]["serverId"] == "same"
            assert len(mcp_messages(idle)) == before


async def test_agents_cannot_guess_servers_and_clients_cannot_report_progress_for_others(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Caller), root=tmp_path, isolation="shared", shared_sessions=True) as hub,
        joined(hub) as alice,
        joined(hub, BOB) as bob,
    ):
        session = await offer(alice, tmp_path, "secret")
        other = await offer(bob, tmp_path, "bobs")
        await bob.response(bob.prompt(other, "secret"))
        await bob.wait(lambda m: "there is no MCP server with this id" in str(m))
        assert not mcp_messages(alice)

        alice.prompt(session, "call")
        request = await alice.wait(_calls("tools/call"))
        token = request["params"]["params"]["_meta"]["progressToken"]
        told = {"serverId": "secret", "requestId": request["params"]["requestId"]}
        inner = {"progressToken": token, "progress": 1, "message": "forged"}
        bob.notify("mcp/message", {**told, "method": "notifications/progress", "params": inner})
        await bob.call("session/list")
        await serve_call(alice)
        await alice.wait(lambda m: "done" in str(m) and "agent_message_chunk" in str(m))
        assert "forged" not in str(alice.messages)


async def test_another_driver_of_the_session_neither_gets_calls_nor_replaces_the_server(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Caller), root=tmp_path, shared_sessions=True) as hub,
        joined(hub) as alice,
        joined(hub, BOB) as bob,
    ):
        session = await offer(alice, tmp_path, "a")
        await bob.call("session/load", {"sessionId": session, **setup(tmp_path, "b")})
        bob.prompt(session, "call")
        await serve_call(alice)
        await bob.wait(lambda m: "done" in str(m) and "agent_message_chunk" in str(m))
        assert not mcp_messages(bob)


async def test_a_call_fails_if_its_client_disconnects(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Caller), root=tmp_path, shared_sessions=True) as hub,
        joined(hub, BOB) as bob,
    ):
        async with joined(hub) as alice:
            session = await offer(alice, tmp_path, "a")
            await bob.call("session/load", {"sessionId": session, **setup(tmp_path)})
            bob.prompt(session, "call")
            await alice.wait(_calls("tools/call"))
        await bob.wait(lambda m: "the client with this MCP server disconnected" in str(m))
        bob.prompt(session, "call")
        await bob.wait(lambda m: "the client with this MCP server isn't connected" in str(m))
        assert not mcp_messages(bob)


async def test_an_open_call_is_delivered_again_to_a_client_that_reconnects(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Caller), root=tmp_path) as hub:
        async with joined(hub, name="c1", version=version) as first:
            session = await offer(first, tmp_path, "a")
            first.prompt(session, "call", key="1")
            lost = await first.wait(_calls("tools/call"))
        async with joined(hub, name="c1", version=version) as second:
            await second.call("session/resume", {"sessionId": session, **setup(tmp_path, "a")})
            again = await serve_call(second)
            await second.wait(lambda m: "done" in str(m) and "agent_message_chunk" in str(m))
    assert again["params"]["_meta"]["accord/request"] == lost["params"]["_meta"]["accord/request"]
    assert again["params"]["requestId"] == lost["params"]["requestId"]


async def test_a_client_that_takes_a_server_over_does_not_get_calls_that_another_one_is_working_on(
    version: int, tmp_path: Path
) -> None:
    async with (
        Hub(InProcessSpawner(Caller), root=tmp_path) as hub,
        joined(hub, name="c1", version=version) as first,
        joined(hub, name="c2", version=version) as second,
    ):
        session = await offer(first, tmp_path, "a")
        first.prompt(session, "call")
        request = await first.wait(_calls("tools/call"))
        await second.call("session/resume", {"sessionId": session, **setup(tmp_path, "b")})
        first.answer(request, DONE)
        client = await second.wait(_calls("tools/list"))
        second.answer(client, NO_TOOLS)
        await second.wait(lambda m: "done" in str(m) and "agent_message_chunk" in str(m))
        assert [each["params"]["method"] for each in mcp_messages(second)] == ["tools/list"]


@pytest.mark.parametrize("is_first", [False, True], ids=["after it is taken over", "before it is taken over"])
async def test_a_call_fails_if_its_client_disconnects_and_another_one_takes_the_server_over(
    version: int, is_first: bool, tmp_path: Path
) -> None:
    async with (
        Hub(InProcessSpawner(Caller), root=tmp_path, shared_sessions=True) as hub,
        joined(hub, BOB, version=version) as bob,
        joined(hub, name="c2", version=version) as second,
    ):
        first = HubClient(hub, name="c1", version=version)
        await first.initialize()
        session = await offer(first, tmp_path, "a")
        await bob.call("session/resume", {"sessionId": session, **setup(tmp_path)})
        bob.prompt(session, "call")
        await first.wait(_calls("tools/call"))
        if is_first:
            await first.close()
        await second.call("session/resume", {"sessionId": session, **setup(tmp_path, "b")})
        if not is_first:
            await first.close()
        await bob.wait(lambda m: "the client with this MCP server disconnected" in str(m))
        assert not mcp_messages(second)


async def test_a_client_that_starts_again_offers_its_servers_under_new_ids(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Caller), root=tmp_path) as hub:
        async with joined(hub, version=version) as first:
            session = await offer(first, tmp_path, "old")
            keeper = HubClient(hub, version=version)
            await keeper.initialize()
            await keeper.call("session/resume", {"sessionId": session, **setup(tmp_path)})
        async with joined(hub, version=version) as second:
            await second.call("session/resume", {"sessionId": session, **setup(tmp_path, "new")})
            second.prompt(session, "call")
            request = await serve_call(second)
            await second.wait(lambda m: "done" in str(m) and "agent_message_chunk" in str(m))
        await keeper.close()
    assert request["params"]["serverId"] == "new"


async def test_a_session_keeps_its_servers_when_its_agent_process_is_replaced(tmp_path: Path) -> None:
    spawner = InProcessSpawner(Stored)
    async with Hub(spawner, root=tmp_path) as hub, joined(hub, name="c") as alice:
        session = await offer(alice, tmp_path, "a")
        for transport in spawner.transports:
            await transport.close()
        await alice.wait_for("_accord/agent_ended")
        alice.prompt(session, "call")
        await serve_call(alice)
        await alice.wait(lambda m: "done" in str(m) and "agent_message_chunk" in str(m))


async def test_a_cancelled_turn_cancels_the_call_at_the_client(version: int, tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Caller), root=tmp_path) as hub, joined(hub, version=version) as alice:
        session = await offer(alice, tmp_path, "a")
        alice.prompt(session, "call")
        request = await alice.wait(_calls("tools/call"))
        alice.notify("session/cancel", {"sessionId": session})
        cancel = await alice.wait_for("$/cancel_request")
        assert cancel["params"]["requestId"] == request["id"]


async def test_calls_do_not_wait_forever_for_a_client_that_does_not_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accord.hub.mcp_relay.RECONNECT_SECONDS", 0.0)
    async with (
        Hub(InProcessSpawner(Caller), root=tmp_path, shared_sessions=True) as hub,
        joined(hub, BOB) as bob,
    ):
        async with joined(hub, name="c1") as alice:
            session = await offer(alice, tmp_path, "a")
            await bob.call("session/load", {"sessionId": session, **setup(tmp_path)})
        bob.prompt(session, "call")
        await bob.wait(lambda m: "the client with this MCP server disconnected" in str(m))


async def test_an_open_call_fails_if_the_client_comes_back_without_the_server(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Caller), root=tmp_path) as hub:
        async with joined(hub, name="c1") as first:
            session = await offer(first, tmp_path, "a", "b")
            first.prompt(session, "call", key="1")
            await first.wait(_calls("tools/call"))
        async with joined(hub, name="c1") as second:
            params = setup(tmp_path, "a", "b")
            await second.call(
                "session/resume", {"sessionId": session, **params, "mcpServers": params["mcpServers"][1:]}
            )
            await second.wait(lambda m: "the client no longer offers this MCP server" in str(m))
            assert not mcp_messages(second)


async def test_a_watcher_with_the_name_of_the_owner_does_not_get_its_calls(tmp_path: Path) -> None:
    async with (
        Hub(InProcessSpawner(Caller), root=tmp_path) as hub,
        joined(hub) as alice,
        joined(hub, Principal("alice", "watcher")) as watcher,
    ):
        session = await offer(alice, tmp_path, "a")
        await watcher.call("session/resume", {"sessionId": session, **setup(tmp_path, "w")})
        alice.prompt(session, "call")
        await serve_call(alice)
        await alice.wait(lambda m: "done" in str(m) and "agent_message_chunk" in str(m))
        assert not mcp_messages(watcher)


def count_relays() -> int:
    gc.collect()
    return sum(isinstance(each, McpRelay) for each in gc.get_objects())


class Refusing(Caller):
    """Rejects all sessions."""

    async def session_opened(self, session: Any, how: Any) -> None:
        raise RuntimeError("no")


async def test_sessions_that_could_not_be_opened_leave_nothing_behind(tmp_path: Path) -> None:
    async with Hub(InProcessSpawner(Refusing), root=tmp_path, isolation="shared") as hub, joined(hub) as alice:
        before = count_relays()
        for _ in range(20):
            await alice.fail("session/new", setup(tmp_path, "a"))
        assert count_relays() - before < 5


async def test_a_session_from_before_the_hub_uses_the_servers_of_the_client_that_opens_it(tmp_path: Path) -> None:
    class Keeper(Caller):
        store = MemoryStore()

    agent = Keeper()
    async with accord.connect(agent, cwd=tmp_path) as connected:
        old = await connected.new_session()
        await old.prompt("hello")
    async with (
        Hub(InProcessSpawner(lambda: agent), root=tmp_path, shared_sessions=True) as hub,
        joined(hub) as alice,
    ):
        await alice.call("session/load", {"sessionId": old.id, **setup(tmp_path, "mine")})
        alice.prompt(old.id, "call")
        request = await serve_call(alice)
        await alice.wait(lambda m: "done" in str(m) and "agent_message_chunk" in str(m))
    assert request["params"]["serverId"] == "mine"
