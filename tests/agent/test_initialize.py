"""The first exchange, as an agent answers it."""

from __future__ import annotations

from typing import Any

import pytest
from support.wire_client import INFO, begin_session, hello, new_session, turn

from accord import Agent, AuthMethod, Client, MemoryStore, RequestFailed, Turn
from accord.testing import ScriptedAgent, WirePeer, wire_client


class Echo(Agent):
    name, title, version = "echo", "The Echo", "1.2"

    async def prompt(self, turn: Turn) -> None:
        await turn.say(turn.text)


class OnlyV1(Echo):
    versions = (1,)


class OnlyV2(Echo):
    versions = (2,)


async def initialize(peer: WirePeer, version: Any, **params: Any) -> dict[str, Any]:
    """The whole answer to a hello that says only this."""
    return await peer.call("initialize", {"protocolVersion": version, **params})


@pytest.mark.parametrize("requested, agreed", [(1.0, 1), (2.0, 2), (3e0, 2)])
async def test_a_requested_version_may_be_written_with_a_fraction_that_is_zero(requested: float, agreed: int) -> None:
    async with wire_client(ScriptedAgent([])) as peer:
        params = {"protocolVersion": requested, "info": {"name": "by hand", "version": "1"}, "capabilities": {}}
        answer = await peer.call("initialize", params)

    assert answer["result"]["protocolVersion"] == agreed


@pytest.mark.req("V1-INIT-05", "V1-INIT-07", "V1-INIT-08", "V1-INIT-17", "V1-INIT-18", "V1-INIT-12")
async def test_in_version_1_an_agent_says_who_it_is_and_what_it_can_do() -> None:
    async with wire_client(Echo()) as peer:
        answer = await hello(peer, 1)

    assert answer["protocolVersion"] == 1
    assert answer["agentInfo"] == {"name": "echo", "title": "The Echo", "version": "1.2"}
    assert answer["agentCapabilities"] == {
        "loadSession": False,
        "promptCapabilities": {"image": False, "audio": False, "embeddedContext": False},
        "mcpCapabilities": {"http": False, "sse": False},
        "sessionCapabilities": {"close": {}},
        "auth": {},
    }
    assert answer["authMethods"] == []


@pytest.mark.req("V2-INIT-02", "V2-INIT-03", "V2-INIT-17", "V2-INIT-23", "V2-INIT-22")
async def test_in_version_2_an_agent_says_who_it_is_and_what_it_can_do() -> None:
    async with wire_client(Echo()) as peer:
        answer = await hello(peer, 2)

    assert answer == {
        "protocolVersion": 2,
        "info": {"name": "echo", "title": "The Echo", "version": "1.2"},
        "capabilities": {"session": {"prompt": {}, "mcp": {"stdio": {}}}},
        "authMethods": [],
    }


@pytest.mark.req("V1-INIT-17", "V2-INIT-19", "V1-LIST-13", "V1-MCP-07")
async def test_capabilities_follow_from_what_the_author_wrote(version: int) -> None:
    class Able(Echo):
        content = ("image", "resource")
        mcp = ("stdio", "http")
        additional_directories = True
        store = MemoryStore()

        async def logout(self) -> None: ...

    async with wire_client(Able()) as peer:
        answer = await hello(peer, version)

    if version == 1:
        can = answer["agentCapabilities"]
        assert can["loadSession"] is True
        assert can["promptCapabilities"] == {"image": True, "audio": False, "embeddedContext": True}
        assert can["mcpCapabilities"] == {"http": True, "sse": False}
        assert set(can["sessionCapabilities"]) == {"list", "resume", "close", "delete", "additionalDirectories"}
        assert can["auth"] == {"logout": {}}
    else:
        can = answer["capabilities"]["session"]
        assert can["prompt"] == {"image": {}, "embeddedContext": {}}
        assert can["mcp"] == {"stdio": {}, "http": {}}
        assert set(can) == {"prompt", "mcp", "delete", "additionalDirectories"}


@pytest.mark.req("V2-INIT-20", "V1-PROV-01", "V1-FORK-07")
async def test_unstable_parts_are_offered_only_by_agents_that_ask_for_them(version: int) -> None:
    class Settled(Echo):
        store = MemoryStore()
        system_prompts = ("append", "override")

        async def auth_status(self) -> Any: ...

        async def list_providers(self) -> Any: ...

    class Daring(Settled):
        unstable = True

    async with wire_client(Settled()) as peer:
        settled = await hello(peer, version)
    async with wire_client(Daring()) as peer:
        daring = await hello(peer, version)

    unstable = {"fork", "archive", "status", "title", "systemPrompt"}
    if version == 1:
        assert not unstable & set(settled["agentCapabilities"]["sessionCapabilities"])
        can = daring["agentCapabilities"]
        assert unstable | {"list"} <= set(can["sessionCapabilities"])
        assert (can["auth"], can["providers"]) == ({"status": {}}, {})
    else:
        assert not unstable & set(settled["capabilities"]["session"])
        can = daring["capabilities"]
        assert unstable <= set(can["session"])
        assert can["session"]["systemPrompt"] == {"mode": {"override": {}}}
        assert (can["auth"], can["providers"]) == ({"status": {}}, {})


@pytest.mark.req("V1-INIT-03", "V2-INIT-04")
@pytest.mark.parametrize("asked", ["1", 1.5, -1, 65536, None, True, [1]])
async def test_an_invalid_version_is_rejected(asked: Any) -> None:
    async with wire_client(Echo()) as peer:
        refused = await initialize(peer, asked, info=INFO)
        assert (await initialize(peer, 1))["result"]["protocolVersion"] == 1

    assert refused["error"]["code"] == -32602
    assert refused["error"]["data"] == {"path": "protocolVersion"}


@pytest.mark.req("V1-INIT-09")
@pytest.mark.parametrize("asked", [0, 1, 2, 99])
async def test_an_agent_of_version_1_alone_answers_1_to_everything(asked: int) -> None:
    async with wire_client(OnlyV1()) as peer:
        assert (await initialize(peer, asked, info=INFO))["result"]["protocolVersion"] == 1


@pytest.mark.req("V1-INIT-08", "V2-INIT-05", "V2-INIT-25")
@pytest.mark.parametrize(("asked", "agreed"), [(1, 1), (2, 2), (3, 2), (99, 2)])
async def test_an_agent_of_both_versions_takes_the_highest_that_is_not_above_the_request(
    asked: int, agreed: int
) -> None:
    async with wire_client(Echo()) as peer:
        answer = await initialize(peer, asked, info=INFO)

    assert answer["result"]["protocolVersion"] == agreed


@pytest.mark.req("V2-INIT-06", "V2-INIT-12")
async def test_an_agent_without_a_fitting_version_says_which_it_has_and_stays() -> None:
    async with wire_client(OnlyV2()) as peer:
        refused = await initialize(peer, 1)
        assert (await initialize(peer, 2, info=INFO))["result"]["protocolVersion"] == 2

    assert refused["error"]["code"] == -32022
    assert refused["error"]["data"] == {"requested": 1, "supported": [2]}


@pytest.mark.req("V1-INIT-11", "V1-INIT-24", "V2-INIT-09", "V2-RESUME-01", "V2-CONF-01")
async def test_after_the_hello_one_version_is_spoken_and_no_other(version: int) -> None:
    theirs = {
        1: ["auth/login", "auth/logout", "tool_call/cancel", "terminal/cancel"],
        2: ["authenticate", "logout", "session/load", "session/set_mode", "session/set_model"],
    }
    async with wire_client(Echo()) as peer:
        session = await begin_session(peer, version)
        for method in theirs[version]:
            params = {"sessionId": session, "cwd": "/", "methodId": "x", "toolCallId": "x", "terminalId": "x"}
            refused = await peer.call(method, params)
            assert refused["error"]["code"] == -32601, method


@pytest.mark.req("V1-INIT-24", "V1-LOAD-01", "V1-RESUME-01", "V1-LIST-01", "V1-CLOSE-05", "V1-AUTH-19", "V1-FORK-01")
@pytest.mark.req("V2-INIT-18", "V2-CLOSE-07", "V2-FORK-01", "V1-FORK-16", "V1-AUTH-25", "V1-PROV-01")
async def test_what_was_not_offered_is_not_served(version: int) -> None:
    missing = ["session/delete", "session/fork", "session/archive", "session/status", "session/set_title"]
    missing += ["auth/status", "providers/list", "providers/set", "providers/disable"]
    missing += {1: ["session/load", "session/resume", "session/list", "logout"], 2: ["auth/login", "auth/logout"]}[
        version
    ]
    async with wire_client(Echo()) as peer:
        session = await begin_session(peer, version)
        for method in missing:
            refused = await peer.call(method, {"sessionId": session, "cwd": "/", "mcpServers": [], "methodId": "x"})
            assert refused["error"]["code"] == -32601, method


@pytest.mark.req("V1-INIT-13", "V1-INIT-14", "V1-INIT-18", "V2-INIT-15")
async def test_a_client_that_offers_nothing_is_offered_everything_that_needs_nothing(version: int) -> None:
    async with wire_client(Echo()) as peer:
        answer = await initialize(peer, version, **({} if version == 1 else {"info": INFO}))
        assert answer["result"]["protocolVersion"] == version
        assert await turn(peer, version, await new_session(peer), "hi") == "end_turn"


@pytest.mark.req("V1-INIT-19", "V2-INIT-14", "V1-ELIC-01")
@pytest.mark.parametrize(
    ("marker", "offered"), [({"form": {}}, True), ({"form": None}, False), ({}, False), (None, False), ("yes", False)]
)
async def test_a_capability_is_supported_if_its_object_is_present(version: int, marker: Any, offered: bool) -> None:
    seen: list[Client] = []

    class Looking(Echo):
        async def on_connect(self, client: Client) -> None:
            seen.append(client)

    async with wire_client(Looking()) as peer:
        await hello(peer, version, {"elicitation": marker})

    assert seen[0].offers.forms is offered
    assert seen[0].offers.urls is False


@pytest.mark.req("V1-INIT-20", "V1-INIT-27", "V2-INIT-15")
async def test_an_unreadable_capability_is_unsupported_and_an_unknown_one_ignored(version: int) -> None:
    seen: list[Client] = []

    class Looking(Echo):
        async def on_connect(self, client: Client) -> None:
            seen.append(client)

    async with wire_client(Looking()) as peer:
        await hello(peer, version, {"terminal": "yes", "fs": {"readTextFile": 1}, "futureThing": {}, "auth": []})

    offers = seen[0].offers
    assert (offers.terminals, offers.read_files, offers.terminal_login) == (False, False, False)


@pytest.mark.req("V1-INIT-22", "V1-AUTH-07")
async def test_in_version_1_authenticate_is_answered_even_where_there_is_nothing_to_log_in_to() -> None:
    async with wire_client(Echo()) as peer:
        await hello(peer, 1)
        refused = await peer.call("authenticate", {"methodId": "x"})

    assert refused["error"]["code"] == -32602


@pytest.mark.req("V1-INIT-25", "V1-INIT-01", "V2-INIT-11")
async def test_before_the_hello_nothing_else_is_served(version: int) -> None:
    async with wire_client(Echo()) as peer:
        await peer.tell("session/cancel", {"sessionId": "x"})
        refused = await peer.call("session/new", {"cwd": "/", "mcpServers": []})
        await begin_session(peer, version)

    assert refused["error"]["code"] == -32600
    assert "initialize" in refused["error"]["message"]


@pytest.mark.req("V1-INIT-26")
async def test_in_version_1_a_second_hello_is_refused() -> None:
    async with wire_client(Echo()) as peer:
        await hello(peer, 1)
        assert (await initialize(peer, 1))["error"]["code"] == -32600
        await new_session(peer)


@pytest.mark.req("V2-INIT-10")
async def test_in_version_2_hello_may_be_said_again_until_something_else_is_asked() -> None:
    seen: list[bool] = []

    class Looking(Echo):
        async def on_connect(self, client: Client) -> None:
            seen.append(client.offers.forms)

    async with wire_client(Looking()) as peer:
        await hello(peer, 2)
        await hello(peer, 2, {"elicitation": {"form": {}}})
        assert (await initialize(peer, 1))["error"]["code"] == -32600
        assert (await initialize(peer, 2))["error"]["code"] == -32602  # and the one before still counts
        await peer.call("session/list", {})
        assert (await initialize(peer, 2, info=INFO))["error"]["code"] == -32600

    assert seen == [False, True]


@pytest.mark.req("V2-INIT-02")
async def test_in_version_2_a_hello_without_a_name_is_refused() -> None:
    async with wire_client(Echo()) as peer:
        refused = await initialize(peer, 2)

    assert (refused["error"]["code"], refused["error"]["data"]) == (-32602, {"path": "info"})


@pytest.mark.req("V2-INIT-13")
@pytest.mark.parametrize("odd", [{}, {"info": "me"}, {"info": {"name": 7}, "capabilities": [1]}])
async def test_a_hello_of_a_version_from_the_future_is_read_as_far_as_it_goes(odd: dict[str, Any]) -> None:
    seen: list[Client] = []

    class Looking(Echo):
        async def on_connect(self, client: Client) -> None:
            seen.append(client)

    async with wire_client(Looking()) as peer:
        answer = await initialize(peer, 3, **odd)

    assert answer["result"]["protocolVersion"] == 2
    assert seen[0].info is not None and seen[0].info.name == "unknown"


@pytest.mark.req("V1-INIT-28", "V1-EXT-10", "V2-INIT-24")
async def test_capabilities_beyond_the_protocol_travel_as_metadata_both_ways(version: int) -> None:
    seen: list[Client] = []

    class Extended(Echo):
        capability_meta = {"example.com/dictation": {"languages": ["de"]}}

        async def on_connect(self, client: Client) -> None:
            seen.append(client)

    async with wire_client(Extended()) as peer:
        answer = await hello(peer, version, {"_meta": {"example.com/voice": True}})

    told = answer["agentCapabilities" if version == 1 else "capabilities"]
    assert told["_meta"] == {"example.com/dictation": {"languages": ["de"]}}
    assert seen[0].offers.meta == {"example.com/voice": True}


async def test_an_agent_may_refuse_a_client_and_hear_it_again(version: int) -> None:
    class Choosy(Echo):
        async def on_connect(self, client: Client) -> None:
            if client.info is None or client.info.name != "by hand":
                raise RequestFailed("who are you?", code=-31000)

    async with wire_client(Choosy()) as peer:
        params = {"info": {"name": "x", "version": "0"}, "clientInfo": {"name": "x", "version": "0"}}
        refused = await initialize(peer, version, **params)
        await begin_session(peer, version)

    assert refused["error"]["code"] == -31000


async def test_an_agent_hears_that_its_client_is_gone(version: int) -> None:
    story: list[str] = []

    class Hearing(Echo):
        auth_methods = (AuthMethod(id="x", name="X"),)

        async def on_connect(self, client: Client) -> None:
            story.append(f"hello, version {client.version}")

        async def close_session(self, session: Any) -> None:
            story.append(f"closed {session.cwd}")

        async def on_disconnect(self, client: Client) -> None:
            story.append("gone")

    async with wire_client(Hearing()) as peer:
        await begin_session(peer, version)

    assert story == [f"hello, version {version}", "closed /project", "gone"]
