"""The conductor: handshakes, wrapping, nested chains, and components that exit."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from support.chains import (
    PATIENT,
    agent_command,
    between,
    conductor_command,
    initialize,
    proxy_command,
    wire_peer,
)
from support.server import serving

import accord
from accord import Agent, Turn, UsageError
from accord.proxy import Conductor, Proxy, Request, chain, run, serve, to_agent
from accord.transports.memory import pair

PROMPT = {"sessionId": "s", "prompt": [{"type": "text", "text": "hello"}]}


class Played:
    """A conductor with components that the test plays."""

    def __init__(self, count: int) -> None:
        ends = [pair() for _ in range(count)]
        near, theirs = pair()
        self.conductor = Conductor(*(end for _, end in ends))
        self.components = [wire_peer(end) for end, _ in ends]
        self.client = wire_peer(near)
        self.serving = asyncio.create_task(self.conductor.serve(theirs))

    async def __aenter__(self) -> Played:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.client.transport.close()
        await self.serving


@pytest.mark.req("V1-PROXY-01", "V1-PROXY-02", "V1-PROXY-03")
async def test_components_with_a_successor_get_proxy_initialize_and_the_agent_initialize(version: int) -> None:
    params = {"protocolVersion": version, "info": {"name": "c", "version": "1"}, "x": 1}
    supported = {"mcpCapabilities": {"acp": True}}  # so that the conductor has nothing to add
    result = {"protocolVersion": version, "info": {"name": "a", "version": "1"}, "agentCapabilities": supported, "y": 2}
    async with Played(3) as played:
        first, second, agent = played.components
        id = await played.client.ask("initialize", params)
        asked = [await first.next_call("proxy/initialize")]
        onward = await first.ask("proxy/successor", {"method": "initialize", "params": params})
        asked.append(await second.next_call("proxy/initialize"))
        last = await second.ask("proxy/successor", {"method": "initialize", "params": params})
        asked.append(await agent.next_call("initialize"))
        await agent.reply(asked[2], result)
        await second.reply(asked[1], (await second.answer_to(last))["result"])
        await first.reply(asked[0], (await first.answer_to(onward))["result"])

        assert [each["params"] for each in asked] == [params, params, params]
        assert (await played.client.answer_to(id))["result"] == result


@pytest.mark.req("V1-PROXY-02", "V2-PROXY-01")
async def test_a_proxy_answers_only_after_its_successor_has(version: int) -> None:
    near, theirs = pair()
    serving = asyncio.create_task(serve(Proxy(), theirs))
    conductor = wire_peer(near)
    params = {"protocolVersion": version, "x": [1]}
    id = await conductor.ask("proxy/initialize", params)
    asked = await conductor.next_call("proxy/successor")
    assert asked["params"] == {"method": "initialize", "params": params}
    assert len(conductor.received) == 1
    await conductor.reply(asked, {"protocolVersion": version, "y": 2})
    assert (await conductor.answer_to(id))["result"] == {"protocolVersion": version, "y": 2}
    await near.close()
    await serving


@pytest.mark.req("V1-PROXY-04")
@pytest.mark.parametrize(("requested", "sent"), [(99, 2), (2, 2), (1, 1), (0, 0)])
async def test_a_conductor_asks_for_the_clients_version_or_its_own_lower_one(requested: int, sent: int) -> None:
    async with Played(2) as played:
        await played.client.ask("initialize", {"protocolVersion": requested, "x": 1})
        asked = await played.components[0].next_call("proxy/initialize")
        assert asked["params"] == {"protocolVersion": sent, "x": 1}


@pytest.mark.req("V1-PROXY-05", "V1-PROXY-06", "V1-PROXY-07", "V2-PROXY-01")
async def test_requests_and_notifications_are_wrapped_in_both_directions() -> None:
    inner = {"a": 1, "_meta": {"of": "the message"}}
    async with Played(2) as played:
        proxy, agent = played.components
        down = {"method": "_down", "params": inner, "_meta": {"of": "the hop"}}
        id = await proxy.ask("proxy/successor", down)
        asked = await agent.next_call("_down")
        await agent.reply(asked, {"r": 1})
        assert asked["params"] == inner
        assert (await proxy.answer_to(id))["result"] == {"r": 1}

        await proxy.tell("proxy/successor", down)
        note = await agent.next_call("_down")
        assert ("id" in note, note["params"]) == (False, inner)

        id = await agent.ask("_up", inner)
        asked = await proxy.next_call("proxy/successor")
        await proxy.send({"id": asked["id"], "error": {"code": -5, "message": "m", "data": [1], "more": 1}})
        assert asked["params"] == {"method": "_up", "params": inner}
        assert (await agent.answer_to(id))["error"] == {"code": -5, "message": "m", "data": [1], "more": 1}

        await agent.tell("_up")
        note = await proxy.next_call("proxy/successor")
        assert ("id" in note, note["params"]) == (False, {"method": "_up"})


@pytest.mark.req("V1-PROXY-07")
@pytest.mark.parametrize("params", [{}, {"method": 1}, {"method": "m", "params": 1}, {"method": "m", "params": "x"}])
async def test_an_envelope_that_wraps_no_message_is_refused(params: Any) -> None:
    async with Played(2) as played:
        proxy, agent = played.components
        assert (await proxy.call("proxy/successor", params))["error"]["code"] == -32602
        await proxy.tell("proxy/successor", params)
        await proxy.tell("proxy/successor", {"method": "_after", "params": None})
        assert (await agent.receive()) == {"jsonrpc": "2.0", "method": "_after"}


@pytest.mark.req("V1-PROXY-08", "V2-PROXY-01")
async def test_each_hop_cancels_its_own_request() -> None:
    async with between(Proxy(), Proxy(), Proxy()) as ends:
        await initialize(ends)
        await ends.client.tell("_shift")  # so that ids differ between hops
        id = await ends.client.ask("session/prompt", PROMPT, id="the client's")
        asked = await ends.agent.next_call("session/prompt")
        await ends.client.tell("$/cancel_request", {"requestId": "the client's"})
        cancelled = await ends.agent.next_call("$/cancel_request")
        await ends.agent.refuse(asked, -32800, "cancelled here")

        assert cancelled["params"] == {"requestId": asked["id"]}
        assert (await ends.client.answer_to(id))["error"] == {"code": -32800, "message": "cancelled here"}


@pytest.mark.req("V1-PROXY-08")
async def test_a_cancellation_is_never_forwarded_to_another_hop() -> None:
    async with Played(2) as played:
        proxy, agent = played.components
        id = await proxy.ask("proxy/successor", {"method": "_work"})
        asked = await agent.next_call("_work")
        await proxy.tell("proxy/successor", {"method": "$/cancel_request", "params": {"requestId": asked["id"]}})
        await proxy.tell("$/cancel_request", {"requestId": 12345})
        await played.client.tell("$/cancel_request", {"requestId": id})
        await proxy.tell("proxy/successor", {"method": "_after"})
        assert (await agent.receive())["method"] == "_after"
        assert proxy.received == []


@pytest.mark.req("V1-PROXY-08")
async def test_a_request_is_cancelled_while_its_handler_works_waits_or_queues() -> None:
    class Slow(Proxy):
        started = asyncio.Event()

        @to_agent("_slow")
        async def slow(self, request: Request[Any, Any]) -> Any:
            self.started.set()
            await asyncio.Event().wait()

        @to_agent("_forward")
        async def forward(self, request: Request[Any, Any]) -> Any:
            return await request.forward()

    async with between(Slow()) as ends:
        await initialize(ends)
        working = await ends.client.ask("_slow", {"sessionId": "s"})
        queued = await ends.client.ask("_queued", {"sessionId": "s"})
        waiting = await ends.client.ask("_forward", {"sessionId": "t"})
        asked = await ends.agent.next_call("_forward")
        await ends.client.tell("$/cancel_request", {"requestId": waiting})
        assert (await ends.agent.next_call("$/cancel_request"))["params"] == {"requestId": asked["id"]}
        await ends.agent.reply(asked, "in time")
        assert (await ends.client.answer_to(waiting))["result"] == "in time"
        await Slow.started.wait()
        await ends.client.tell("$/cancel_request", {"requestId": queued})
        await ends.client.tell("$/cancel_request", {"requestId": working})
        assert (await ends.client.answer_to(working))["error"]["code"] == -32800
        assert (await ends.client.answer_to(queued))["error"]["code"] == -32800
        await ends.client.tell("_after")
        assert (await ends.agent.receive())["method"] == "_after"


@pytest.mark.req("V1-PROXY-01", "V1-PROXY-10", "V2-PROXY-01")
async def test_a_chain_of_processes_looks_like_one_agent(version: int) -> None:
    command = conductor_command(proxy_command("one"), proxy_command("two"), proxy_command(), agent_command())
    async with accord.connect(command, deadlines=PATIENT, versions={version}) as agent:
        session = await agent.new_session()
        turn = await session.prompt("hello")
        assert (agent.name, turn.text) == ("interop-agent", "two one hello")


@pytest.mark.req("V1-PROXY-10", "V2-PROXY-01")
async def test_chains_can_be_nested(version: int) -> None:
    inner = conductor_command(proxy_command("two"), proxy_command("three"))
    innermost = conductor_command(conductor_command(proxy_command("four")))
    command = conductor_command(proxy_command("one"), inner, innermost, agent_command())
    async with accord.connect(command, deadlines=PATIENT, versions={version}, permissions=accord.allow_all) as agent:
        session = await agent.new_session()
        assert (await session.prompt("hello")).text == "four three two one hello"


async def test_messages_of_the_agent_pass_through_nested_chains() -> None:
    command = conductor_command(conductor_command(proxy_command(), proxy_command()), agent_command())
    async with accord.connect(command, deadlines=PATIENT, permissions=accord.allow_all) as agent:
        session = await agent.new_session()
        assert (await session.prompt("permission")).text == "allowed"
        waiting = session.prompt("wait")
        async for event in waiting:
            if isinstance(event, accord.Text):
                await session.cancel()
        assert (await waiting).stop_reason == "cancelled"


@pytest.mark.req("V1-PROXY-10")
async def test_the_client_of_a_chain_sees_nothing_of_the_proxy_protocol() -> None:
    async with Played(1) as played:
        agent = played.components[0]
        assert (await agent.call("proxy/successor", {"method": "_up"}))["error"]["code"] == -32601
        await agent.tell("proxy/successor", {"method": "_up"})
        await agent.tell("_after")
        assert (await played.client.receive())["method"] == "_after"


@pytest.mark.req("V1-PROXY-12")
async def test_a_component_that_exits_gives_a_clear_error_and_the_chain_survives() -> None:
    command = conductor_command(proxy_command(), proxy_command("die"), agent_command())
    async with accord.connect(command, deadlines=PATIENT) as agent:
        session = await agent.new_session()
        with pytest.raises(accord.RequestFailed, match=r"proxy_component\.py die.*status 7.*last words of the proxy"):
            await session.prompt("hello")
        with pytest.raises(accord.RequestFailed, match="status 7"):  # later requests, too
            await agent.new_session()


@pytest.mark.req("V1-PROXY-12")
async def test_requests_of_a_component_that_exits_are_cancelled() -> None:
    async with Played(3) as played:
        first, second, agent = played.components
        id = await played.client.ask("_work")
        await first.next_call("_work")
        down = await first.ask("proxy/successor", {"method": "_work"})
        await second.next_call("_work")
        await second.ask("proxy/successor", {"method": "_work"})
        asked = await agent.next_call("_work")
        await second.transport.close()
        assert (await agent.next_call("$/cancel_request"))["params"] == {"requestId": asked["id"]}
        assert "closed the connection" in (await first.answer_to(down))["error"]["message"]
        assert "closed the connection" in (await agent.call("_up"))["error"]["message"]
        await first.reply({"id": 0}, "still here")
        assert (await played.client.answer_to(id))["result"] == "still here"


@pytest.mark.req("V1-PROXY-12")
async def test_a_component_that_cannot_be_started_gives_a_clear_error() -> None:
    with pytest.raises(accord.RequestFailed, match="no-such-program"):
        await accord.connect(chain(Proxy(), ["no-such-program-anywhere"]))


class Echo(Agent):
    async def prompt(self, turn: Turn) -> None:
        await turn.say(turn.text)


async def test_proxies_and_agents_in_this_process_can_be_chained(version: int) -> None:
    class Shout(Proxy):
        @to_agent("session/prompt")
        async def prompt(self, request: Request[Any, Any]) -> Any:
            request.params.prompt[0].text = request.params.prompt[0].text.upper()
            return await request.forward()

    async with accord.connect(chain(Shout(), Proxy(), Echo()), versions={version}) as agent:
        session = await agent.new_session()
        assert (await session.prompt("hello")).text == "HELLO"


async def test_a_conductor_in_this_process_can_be_a_component() -> None:
    async with accord.connect(chain(Conductor(Proxy(), Conductor(Proxy())), Echo())) as agent:
        session = await agent.new_session()
        assert (await session.prompt("hello")).text == "hello"


async def test_a_proxy_starts_its_successor_itself(version: int) -> None:
    command = proxy_command("one", *proxy_command("two", *agent_command()))
    async with accord.connect(command, deadlines=PATIENT, versions={version}) as agent:
        session = await agent.new_session()
        assert (await session.prompt("hello")).text == "two one hello"


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_component_can_be_a_remote_agent(scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(tmp_path) as served:
        monkeypatch.setenv("ACCORD_TOKEN", served.token("proxy"))
        url = served.url.replace("http", scheme, 1)
        async with accord.connect(chain(Proxy(), url), deadlines=PATIENT) as agent:
            session = await agent.new_session()
            assert (await session.prompt("hello")).text == "You said: hello"


async def test_a_proxy_ends_with_its_successor_and_passes_the_reason_on() -> None:
    command = proxy_command("pass", *proxy_command("die", *agent_command()))
    async with accord.connect(command, deadlines=PATIENT) as agent:
        events = agent.events()
        session = await agent.new_session()
        with pytest.raises(accord.RequestFailed, match="status 7"):
            await session.prompt("hello")
        assert [event async for event in events] == []  # they end with the proxy, which exits after its answer
        with pytest.raises(accord.PeerDied, match=r"exited with status 1.*status 7"):
            await agent.new_session()


async def test_a_proxy_without_a_successor_says_how_to_start_it() -> None:
    with pytest.raises(accord.RequestFailed, match="start it through a conductor"):
        await accord.connect(proxy_command(), deadlines=PATIENT)


def test_run_reports_wrong_arguments() -> None:
    with pytest.raises(UsageError, match=r"Proxy is a class; a component is an object: Proxy\(\)"):
        run(Proxy)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="Echo is a class"):
        chain(Proxy(), Echo)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a Proxy or a Conductor, not Echo"):
        run(Echo())  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="starts its components itself"):
        run(Conductor(Proxy()), "agent")
    with pytest.raises(UsageError, match="needs components"):
        Conductor()
