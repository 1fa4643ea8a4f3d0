"""The first exchange: which version is spoken, what is refused before it, and what waits for it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from connection.one_end import BOUND, HELLO, a_client, an_agent, hello_v1, passes, until

import accord
from accord import v1
from accord.connection.handshake import agreed_version, choose, requested_version, version_to_retry
from accord.errors import DeadlineExceeded, InvalidParams, RequestFailed, VersionError
from accord.schema.repair import Unreadable
from accord.testing import ScriptedAgent, WirePeer, wire_client
from accord.transports.memory import pair

INFO = {"name": "agent", "version": "1"}

# -- an agent chooses


@pytest.mark.req("V1-INIT-03", "V2-INIT-04")
@pytest.mark.parametrize("asked", ["1", 1.5, -1, 65536, True, None, [1], {}])
def test_a_version_is_an_integer_of_sixteen_bits(asked: Any) -> None:
    with pytest.raises(Unreadable, match="protocolVersion must be an integer from 0 to 65535"):
        requested_version({"protocolVersion": asked})


@pytest.mark.req("V1-INIT-03")
def test_a_missing_version_is_named() -> None:
    with pytest.raises(Unreadable, match="protocolVersion is missing"):
        requested_version({})
    with pytest.raises(Unreadable, match="params must be an object"):
        requested_version([1])


@pytest.mark.req("V1-INIT-08", "V1-INIT-09", "V2-INIT-05")
@pytest.mark.parametrize(
    "asked, enabled, chosen",
    [
        (1, {1}, 1),
        (0, {1}, 1),
        (2, {1}, 1),
        (99, {1}, 1),
        (1, {1, 2}, 1),
        (2, {1, 2}, 2),
        (99, {1, 2}, 2),
        (2, {2}, 2),
        (65535, {2}, 2),
    ],
)
def test_an_agent_chooses_the_highest_version_that_is_not_above_the_request(
    asked: int, enabled: set[int], chosen: int
) -> None:
    assert choose(asked, enabled) == chosen


@pytest.mark.req("V2-INIT-06", "V2-FRAME-28", "V2-FRAME-27")
@pytest.mark.parametrize("asked, enabled", [(0, {1, 2}), (1, {2}), (0, {2})])
def test_an_agent_without_a_fitting_version_says_which_it_has(asked: int, enabled: set[int]) -> None:
    with pytest.raises(RequestFailed) as caught:
        choose(asked, enabled)

    assert caught.value.code == -32022
    assert caught.value.data == {"requested": asked, "supported": sorted(enabled)}


# -- a client judges


@pytest.mark.req("V1-INIT-10", "V2-INIT-07")
@pytest.mark.parametrize(
    "answer, enabled, agreed",
    [
        ({"protocolVersion": 1}, {1}, 1),
        ({"protocolVersion": 1}, {1, 2}, 1),
        ({"protocolVersion": 2, "info": INFO}, {1, 2}, 2),
        ({"protocolVersion": 2}, {1, 2}, 1),  # an agent that repeats the number it was asked for
        ({"protocolVersion": 2, "info": None}, {1}, 1),
    ],
)
def test_an_answer_is_judged_by_its_shape_as_well_as_its_number(
    answer: dict[str, Any], enabled: set[int], agreed: int
) -> None:
    assert agreed_version(answer, enabled) == agreed


@pytest.mark.req("V1-INIT-10", "V2-INIT-07", "V2-INIT-08")
@pytest.mark.parametrize(
    "answer, enabled, why",
    [
        ({"protocolVersion": 7, "info": INFO}, {1, 2}, "speaks protocol version 7, this client 1 and 2"),
        ({"protocolVersion": 2, "info": INFO}, {1}, "speaks protocol version 2, this client 1"),
        ({"protocolVersion": 99}, {1}, "speaks protocol version 99, this client 1"),
        ({"protocolVersion": 1}, {2}, "speaks protocol version 1, this client 2"),
        ({"protocolVersion": 0}, {1}, "speaks protocol version 0"),
        ({"protocolVersion": "1"}, {1}, "protocolVersion must be an integer from 0 to 65535"),
        ({}, {1}, "has no protocolVersion"),
        ([], {1}, "is not an object"),
        (None, {1}, "is not an object"),
    ],
)
def test_an_unsupported_version_in_the_response_is_rejected_with_a_reason(
    answer: Any, enabled: set[int], why: str
) -> None:
    with pytest.raises(VersionError, match=why):
        agreed_version(answer, enabled)


@pytest.mark.parametrize(
    "error, again",
    [
        (RequestFailed("no", code=-32022, data={"requested": 2, "supported": [1]}), 1),
        (RequestFailed("no", code=-32022, data={"supported": [1, 3]}), 1),
        (RequestFailed("no", code=-32022, data={"supported": [3]}), None),
        (RequestFailed("no", code=-32022, data={"supported": [2]}), None),  # that was tried
        (RequestFailed("no", code=-32022, data={"supported": []}), None),
        (RequestFailed("no", code=-32022, data={"supported": "1"}), None),
        (RequestFailed("no", code=-32022, data={"supported": [{}, [1], "1", None, True]}), None),
        (RequestFailed("no", code=-32022), None),
        (InvalidParams("no", data={"supported": [1]}), None),
    ],
)
def test_an_unsupported_version_is_tried_again_with_one_that_both_have(error: RequestFailed, again: int | None) -> None:
    assert version_to_retry(error, {1, 2}, tried=2) == again


async def start_connecting(**options: Any) -> tuple[WirePeer, asyncio.Future[Any]]:
    ours, theirs = pair()
    peer = WirePeer(ours)

    async def connect() -> Any:
        return await accord.connect(theirs, **options)

    return peer, asyncio.ensure_future(connect())


@pytest.mark.req("V2-INIT-06", "V1-INIT-02", "V2-INIT-01")
async def test_a_client_asks_for_its_highest_version_and_falls_back_once() -> None:
    peer, client = await start_connecting(versions={1, 2})
    first = await peer.next_call("initialize")
    await peer.refuse(first, -32022, "no", {"requested": 2, "supported": [1]})
    second = await peer.next_call("initialize")
    await peer.reply(second, {"protocolVersion": 1})
    agent = await asyncio.wait_for(client, BOUND)

    assert (first["params"]["protocolVersion"], second["params"]["protocolVersion"]) == (2, 1)
    assert agent.version == 1
    await agent.close()


@pytest.mark.req("V1-INIT-10", "V2-INIT-08")
async def test_a_client_that_cannot_speak_the_answer_hangs_up_and_says_why() -> None:
    peer, client = await start_connecting(versions={1, 2})
    await peer.reply(await peer.next_call("initialize"), {"protocolVersion": 7, "info": INFO})

    with pytest.raises(VersionError, match="update one of the two"):
        await asyncio.wait_for(client, BOUND)
    await asyncio.wait_for(peer.ended.wait(), BOUND)


@pytest.mark.parametrize("answer", [b"7", b'"yes"', b"[]", b'{"protocolVersion":"\xff"}', b'{"protocolVersion":1e999}'])
async def test_an_invalid_response_ends_the_attempt_with_a_reason(answer: bytes) -> None:
    peer, client = await start_connecting()
    request = await peer.next_call("initialize")
    await peer.send(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (request["id"], answer))

    with pytest.raises(accord.AccordError, match="initialize"):
        await asyncio.wait_for(client, BOUND)


async def test_a_silent_agent_is_too_late_with_its_first_byte_and_a_slow_one_with_its_answer() -> None:
    _, silent = await start_connecting(deadlines={"first byte": 0.02})
    with pytest.raises(DeadlineExceeded) as caught:
        await asyncio.wait_for(silent, BOUND)
    assert caught.value.stage == "first byte"

    peer, slow = await start_connecting(deadlines={"initialize": 0.02})
    await peer.send(b"a banner")
    with pytest.raises(DeadlineExceeded) as caught:
        await asyncio.wait_for(slow, BOUND)
    assert caught.value.stage == "initialize"


# -- before the handshake, an agent


def serve(**more: Any) -> Any:
    handlers: dict[str, Any] = {
        "session_new": lambda params: v1.NewSessionResponse(session_id="s"),
        "session_list": lambda params: {"sessions": []},
    }
    return an_agent(said_hello=False, **{**handlers, **more})


@pytest.mark.req("V1-INIT-25", "V2-INIT-11")
async def test_before_the_handshake_requests_are_refused_and_notifications_ignored() -> None:
    async with serve() as (peer, _):
        for method in ("session/new", "session/list", "session/prompt", "_x/y", "nonsense"):
            error = (await peer.call(method, {"cwd": "/", "mcpServers": []}))["error"]
            assert error == {"code": -32600, "message": f"{method} arrived before initialize; send initialize first"}
        await peer.tell("session/cancel", {"sessionId": "s"})
        await peer.tell("_x/y", {})
        await peer.tell("$/cancel_request", {"requestId": 3})
        await peer.tell("initialize", HELLO[1])  # no request, so no handshake
        assert (await peer.call("session/list"))["error"]["code"] == -32600
        assert "result" in await peer.call("initialize", HELLO[1])
        assert (await peer.call("session/list"))["result"] == {"sessions": []}

    assert len(peer.received) == 8


@pytest.mark.req("V2-INIT-12")
@pytest.mark.parametrize(
    "params", [None, {}, [], {"protocolVersion": "1"}, {"protocolVersion": 1, "clientCapabilities": {"x": "\ud800"}}]
)
async def test_a_failed_handshake_may_be_tried_again(params: Any) -> None:
    tries = 0

    def initialize(request: Any) -> Any:
        nonlocal tries
        tries += 1
        if tries == 1 and params is not None and request.protocol_version == 1:
            raise InvalidParams("not yet")
        return hello_v1(request)

    async with serve(initialize=initialize) as (peer, _):
        assert (await peer.call("initialize", params))["error"]["code"] == -32602
        assert (await peer.call("session/list"))["error"]["code"] == -32600
        first = await peer.call("initialize", HELLO[1])
        if "error" in first:
            first = await peer.call("initialize", HELLO[1])
        assert "result" in first
        assert (await peer.call("session/list"))["result"] == {"sessions": []}


class SlowHello:
    def __init__(self, fails: int = 0) -> None:
        self.may_go_on = asyncio.Event()
        self.began = 0
        self.fails = fails

    async def __call__(self, params: Any) -> Any:
        self.began += 1
        await self.may_go_on.wait()
        if self.began <= self.fails:
            raise RequestFailed("not today", code=-32000)
        return hello_v1(params)


async def test_what_is_pipelined_behind_the_handshake_waits_and_is_served_in_order() -> None:
    hello = SlowHello()
    story: list[str] = []
    handlers = {
        "initialize": hello,
        "session_new": lambda params: story.append("new") or v1.NewSessionResponse(session_id="s"),
        "session_cancel": lambda params: story.append("cancel"),
        "session_list": lambda params: story.append("list") or {"sessions": []},
    }
    async with serve(**handlers) as (peer, _):
        await peer.ask("initialize", HELLO[1], id="hello")
        await peer.ask("session/new", {"cwd": "/", "mcpServers": []}, id="new")
        await peer.tell("session/cancel", {"sessionId": "s"})
        await peer.send(
            b'{"params":{"_meta":{"result":"%b"}},"jsonrpc":"2.0","id":"l","method":"session/list"}' % bytes(300 * b"x")
        )
        await passes()
        assert story == []
        hello.may_go_on.set()
        await peer.ask("session/list", {}, id="last")
        await peer.answer_to("last")

    assert story == ["new", "cancel", "list", "list"]
    assert [message["id"] for message in peer.received] == ["hello", "new", "l", "last"]


async def test_what_waits_is_refused_when_the_handshake_fails_and_after_its_answer() -> None:
    hello = SlowHello(fails=1)
    async with serve(initialize=hello) as (peer, _):
        await peer.ask("initialize", HELLO[1], id="first")
        await peer.ask("session/list", {}, id="too early")
        await peer.ask("initialize", HELLO[1], id="second")
        await peer.ask("session/list", {}, id="in time")
        await passes()
        assert hello.began == 1
        hello.may_go_on.set()
        assert (await peer.answer_to("in time"))["result"] == {"sessions": []}

    assert [(message["id"], message.get("error", {}).get("code")) for message in peer.received] == [
        ("first", -32000),
        ("too early", -32600),
        ("second", None),
        ("in time", None),
    ]


async def test_an_agent_that_refuses_a_client_hears_its_next_attempt_in_order() -> None:
    class Wary(ScriptedAgent):
        tries = 0

        def __init__(self) -> None:
            super().__init__()
            self.may_go_on = asyncio.Event()

        async def on_connect(self, client: Any) -> None:
            self.tries += 1
            await self.may_go_on.wait()
            if self.tries == 1:
                raise RequestFailed("not today", code=-32000)
            await asyncio.sleep(0)

    agent = Wary()
    async with wire_client(agent) as peer:
        await peer.ask("initialize", HELLO[1], id="first")
        await peer.ask("session/new", {"cwd": "/", "mcpServers": []}, id="too early")
        await peer.ask("initialize", HELLO[1], id="second")
        await peer.ask("session/new", {"cwd": "/", "mcpServers": []}, id="in time")
        await until(lambda: agent.tries)
        agent.may_go_on.set()
        await peer.answer_to("in time")

    assert [(message["id"], message.get("error", {}).get("code")) for message in peer.received] == [
        ("first", -32000),
        ("too early", -32600),
        ("second", None),
        ("in time", None),
    ]


@pytest.mark.req("V2-INIT-11", "V1-CANCEL-13")
async def test_the_handshake_itself_may_be_cancelled_and_tried_again() -> None:
    hello = SlowHello()
    async with serve(initialize=hello) as (peer, _):
        await peer.ask("initialize", HELLO[1], id="hello")
        await until(lambda: hello.began)
        await peer.ask("session/list", {}, id="waits")
        await peer.tell("$/cancel_request", {"requestId": "waits"})
        await peer.tell("$/cancel_request", {"requestId": "hello"})
        assert (await peer.answer_to("hello"))["error"]["code"] == -32800
        assert (await peer.answer_to("waits"))["error"]["code"] == -32600
        hello.may_go_on.set()
        assert "result" in await peer.call("initialize", HELLO[1])
        assert (await peer.call("session/list"))["result"] == {"sessions": []}


async def test_a_request_that_waits_for_the_handshake_may_be_cancelled() -> None:
    hello, finish = SlowHello(), asyncio.Event()

    async def session_list(params: Any) -> Any:
        await finish.wait()

    async with serve(initialize=hello, session_list=session_list) as (peer, _):
        await peer.ask("initialize", HELLO[1], id="hello")
        await peer.ask("session/list", {}, id="waits")
        await peer.tell("$/cancel_request", {"requestId": "waits"})
        await passes()
        hello.may_go_on.set()
        assert (await peer.answer_to("waits"))["error"]["code"] == -32800


async def test_stray_text_during_the_handshake_is_answered_at_once() -> None:
    hello = SlowHello()
    async with serve(initialize=hello) as (peer, _):
        await peer.ask("initialize", HELLO[1], id="hello")
        await peer.send(b"{oops")
        assert (await peer.receive())["error"]["code"] == -32700
        hello.may_go_on.set()
        await peer.answer_to("hello")


async def test_a_peer_that_goes_during_the_handshake_leaves_nothing_to_be_served() -> None:
    hello = SlowHello()
    served: list[Any] = []
    async with serve(initialize=hello, session_list=served.append) as (peer, _):
        await peer.ask("initialize", HELLO[1], id="hello")
        await peer.ask("session/list", {})
        await until(lambda: hello.began)
        await peer.transport.close()

    assert served == []


async def test_an_agent_whose_answer_cannot_be_sent_hears_the_next_attempt() -> None:
    tries = 0

    def initialize(params: Any) -> Any:
        nonlocal tries
        tries += 1
        return {"protocolVersion": object()} if tries == 1 else hello_v1(params)

    async with serve(initialize=initialize) as (peer, _):
        assert (await peer.call("initialize", HELLO[1]))["error"]["code"] == -32603
        assert "result" in await peer.call("initialize", HELLO[1])
        assert (await peer.call("session/list"))["result"] == {"sessions": []}


@pytest.mark.req("V1-INIT-26")
async def test_a_second_handshake_is_refused_in_version_1() -> None:
    async with an_agent(version=1) as (peer, _):
        error = (await peer.call("initialize", HELLO[1]))["error"]

    assert error == {"code": -32600, "message": "initialize: this connection is already initialized"}


@pytest.mark.req("V2-INIT-10")
async def test_a_second_handshake_is_for_the_handler_to_judge_in_version_2() -> None:
    async with an_agent(version=2) as (peer, _):
        assert "result" in await peer.call("initialize", HELLO[2])


@pytest.mark.req("V2-FRAME-10", "V1-FRAME-18")
@pytest.mark.parametrize("version", [1, 2])
async def test_after_the_handshake_a_null_id_is_legal_in_version_1_alone(version: int) -> None:
    async with an_agent(version=version, session_list=lambda params: {"sessions": []}) as (peer, _):
        await peer.send(b'{"jsonrpc":"2.0","id":null,"method":"session/list"}')
        answer = await peer.receive()

    assert answer["id"] is None
    assert answer.get("error", {}).get("code") == (None if version == 1 else -32600)


# -- before the handshake, a client


async def test_what_an_agent_says_right_behind_its_answer_is_not_lost() -> None:
    told: list[Any] = []
    peer, client = await start_connecting(extensions={"_x/tell": told.append, "_x/ask": lambda params: {"got": params}})
    request = await peer.next_call("initialize")
    await peer.send(
        b'{"jsonrpc":"2.0","method":"_x/tell","params":{"n":1}}\n'
        b'{"jsonrpc":"2.0","id":0,"method":"_x/ask","params":{"n":2}}\n'
        b'{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":1}}\n'
        b'{"jsonrpc":"2.0","method":"_x/tell","params":{"n":3}}\n'
        b'{"jsonrpc":"2.0","id":"late","method":"_x/ask","params":{"n":4}}' % request["id"]
    )
    agent = await asyncio.wait_for(client, BOUND)
    assert (await peer.answer_to(0))["result"] == {"got": {"n": 2}}
    assert (await peer.answer_to("late"))["result"] == {"got": {"n": 4}}
    await agent.close()

    assert told == [{"n": 1}, {"n": 3}]


async def test_a_typed_client_serves_from_its_first_moment() -> None:
    async with a_client(fs_read_text_file=lambda params: {"content": ""}) as (peer, _):
        assert (await peer.call("fs/read_text_file", {"sessionId": "s", "path": "/a"}))["result"] == {"content": ""}
