"""`accord.v1` and `accord.v2`: every method of the version, both ways, in exactly its types."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from connection.examples import example
from connection.one_end import BOUND, Serves, a_client, an_agent, hello_v1, hello_v2, passes, until

from accord import v1, v2
from accord.connection.typed_connection import python_name
from accord.errors import LocalProtocolError, MethodNotFound
from accord.schema.method import Method
from accord.transports.memory import pair

WORDS: dict[int, Any] = {1: v1, 2: v2}
HELLO: dict[int, Any] = {1: hello_v1, 2: hello_v2}


def methods(kind: str) -> list[Any]:
    return [
        pytest.param(version, method, id=f"v{version} {method.name}")
        for version, words in WORDS.items()
        for method in getattr(words.methods, kind).values()
        if method.served_by in ("agent", "client") and method.name != "initialize"
    ]


@asynccontextmanager
async def both_ends(version: int, agent: Any = None, client: Any = None, **options: Any) -> AsyncIterator[Any]:
    """An agent and a client of one version, past the handshake."""
    words, (ours, theirs) = WORDS[version], pair()
    agent = agent or Serves()
    agent.initialize = HELLO[version]
    async with (
        words.serve(ours, agent, **options) as to_client,
        words.connect(theirs, client or Serves(), **options) as to_agent,
    ):
        await to_agent.initialize(example(words.InitializeRequest))
        yield to_agent, to_client


def ends_for(method: Method[Any, Any], version: int, handler: Any, **options: Any) -> Any:
    serves = Serves(**{python_name(method): handler})
    return both_ends(version, **{method.served_by: serves}, **options)


@pytest.mark.req("V1-INIT-21", "V2-INIT-17", "V1-FRAME-34")
@pytest.mark.parametrize("version, method", methods("REQUESTS"))
@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
async def test_every_request_reaches_its_handler_and_its_result_the_caller(
    version: int, method: Method[Any, Any], is_async: bool
) -> None:
    asked: list[Any] = []
    result = example(method.result)

    def plain(params: Any) -> Any:
        asked.append(params)
        return result

    async def later(params: Any) -> Any:
        await asyncio.sleep(0)
        return plain(params)

    params = example(method.params)
    async with ends_for(method, version, later if is_async else plain, unstable=True) as (to_agent, to_client):
        caller = to_agent if method.served_by == "agent" else to_client
        answer = await asyncio.wait_for(getattr(caller, python_name(method))(params), BOUND)

    assert asked == [params]
    assert answer == result


@pytest.mark.parametrize("version, method", methods("NOTIFICATIONS"))
async def test_every_notification_reaches_its_handler(version: int, method: Method[Any, Any]) -> None:
    told: list[Any] = []
    params = example(method.params)
    async with ends_for(method, version, told.append, unstable=True) as (to_agent, to_client):
        teller = to_agent if method.served_by == "agent" else to_client
        await getattr(teller, python_name(method))(params)
        await until(lambda: told)

    assert told == [params]


@pytest.mark.parametrize("version, method", [*methods("REQUESTS"), *methods("NOTIFICATIONS")])
async def test_a_method_is_spelt_once_in_the_table_and_once_on_the_connection(
    version: int, method: Method[Any, Any]
) -> None:
    words = WORDS[version]
    cls = words.AgentConnection if method.served_by == "agent" else words.ClientConnection
    written = inspect.get_annotations(getattr(cls, python_name(method)))
    if isinstance(method.params, type):
        assert written["params"] == f"schema.{method.params.__name__}"
    if isinstance(method.result, type):
        assert f"schema.{method.result.__name__}]" in written["return"]


@pytest.mark.req("V1-INIT-24", "V2-FRAME-26")
@pytest.mark.parametrize("version, method", methods("REQUESTS"))
async def test_a_method_without_a_handler_is_not_found(version: int, method: Method[Any, Any]) -> None:
    async with both_ends(version, unstable=True) as (to_agent, to_client):
        caller = to_agent if method.served_by == "agent" else to_client
        with pytest.raises(MethodNotFound) as caught:
            await asyncio.wait_for(getattr(caller, python_name(method))(example(method.params)), BOUND)

    assert caught.value.code == -32601
    assert caught.value.data == {"method": method.name}


@pytest.mark.parametrize(
    "version, method",
    [each for each in [*methods("REQUESTS"), *methods("NOTIFICATIONS")] if each.values[1].unstable],
)
async def test_unstable_methods_are_neither_sent_nor_served_uninvited(version: int, method: Method[Any, Any]) -> None:
    called: list[Any] = []
    async with ends_for(method, version, called.append) as (to_agent, to_client):
        caller, other = (to_agent, to_client) if method.served_by == "agent" else (to_client, to_agent)
        with pytest.raises(
            LocalProtocolError, match=f"{method.name} is unstable; open the connection with unstable=True"
        ):
            await getattr(caller, python_name(method))(example(method.params))
        # and if a peer sends it anyway, it is not served
        if method.is_notification:
            await caller.notify(method.name, {})
            await passes()
        else:
            with pytest.raises(MethodNotFound):
                await asyncio.wait_for(caller.request(method.name, {}), BOUND)
        assert other.connection.is_open

    assert called == []


# -- beyond the protocol


@pytest.mark.req("V1-EXT-06", "V1-EXT-07", "V2-EXT-01")
@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("is_async", [False, True], ids=["plain", "async"])
async def test_extension_methods_go_both_ways(version: int, is_async: bool) -> None:
    told: list[Any] = []

    class Extended:
        def extension_request(self, method: str, params: Any) -> Any:
            async def later() -> Any:
                return {"method": method, "params": params}

            return later() if is_async else {"method": method, "params": params}

        def extension_notification(self, method: str, params: Any) -> None:
            told.append((method, params))

    async with both_ends(version, Extended(), Extended()) as ends:
        for end in ends:
            for params in ({"a": [1, None]}, [1, 2], None):
                answer = await asyncio.wait_for(end.request("_x/y", params), BOUND)
                assert answer == {"method": "_x/y", "params": params if params is not None else {}}
            await end.notify("_x/z", {"b": 2})
        await until(lambda: len(told) == 2)

    assert told == [("_x/z", {"b": 2})] * 2


@pytest.mark.req("V1-EXT-08", "V1-EXT-09")
async def test_unserved_extension_requests_are_rejected_and_notifications_ignored() -> None:
    async with both_ends(1) as (to_agent, to_client):
        for end in (to_agent, to_client):
            with pytest.raises(MethodNotFound):
                await asyncio.wait_for(end.request("_nope"), BOUND)
            await end.notify("_nope")
            await passes()
        assert to_agent.connection.problems == to_client.connection.problems == {"dropped": 1}


async def test_extension_calls_of_a_session_keep_its_order() -> None:
    story: list[str] = []
    go_on = asyncio.Event()

    async def session_update(params: Any) -> None:
        await go_on.wait()
        story.append("update")

    handlers = {
        "session_update": session_update,
        "extension_notification": lambda method, params: story.append(method),
        "extension_request": lambda method, params: story.append(method) or {},
    }
    async with a_client(**handlers) as (peer, _):
        await peer.tell("session/update", {"sessionId": "s", "update": {"sessionUpdate": "_new", "x": 1}})
        await peer.tell("_in/session", {"sessionId": "s"})
        asked = await peer.ask("_ask/session", {"sessionId": "s"})
        await peer.tell("_elsewhere", {"sessionId": "other"})
        await peer.quiet()
        assert story == ["_elsewhere", "_accord/quiet"]
        go_on.set()
        await peer.answer_to(asked)

    assert story[2:] == ["update", "_in/session", "_ask/session"]


@pytest.mark.req("V1-EXT-01", "V1-EXT-11")
async def test_meta_and_unknown_variants_arrive_whole() -> None:
    told: list[Any] = []
    async with a_client(session_update=told.append) as (peer, _):
        await peer.tell(
            "session/update",
            {"sessionId": "s", "_meta": {"sessionId": "t"}, "update": {"sessionUpdate": "_new", "x": [1, {"y": None}]}},
        )
        await until(lambda: told)

    assert told[0].session_id == "s"
    assert told[0].meta == {"sessionId": "t"}
    assert v1.encode(told[0].update) == b'{"sessionUpdate":"_new","x":[1,{"y":null}]}'


# -- handlers


async def test_handlers_may_be_methods_of_any_object_with_attributes_made_on_the_fly() -> None:
    class Any_:
        def __getattr__(self, name: str) -> Any:
            if name == "fs_read_text_file":
                return lambda params: {"content": params.path}
            raise AttributeError(name)

    ours, theirs = pair()
    async with v1.serve(ours, Serves(initialize=hello_v1)) as to_client, v1.connect(theirs, Any_()) as to_agent:
        await to_agent.initialize(v1.InitializeRequest(protocol_version=1))
        answer = await to_client.fs_read_text_file(v1.ReadTextFileRequest(session_id="s", path="/a"))

    assert answer.content == "/a"


async def test_an_agent_without_initialize_rejects_it() -> None:
    ours, theirs = pair()
    async with v1.serve(ours, Serves()), v1.connect(theirs, Serves()) as to_agent:
        with pytest.raises(MethodNotFound):
            await to_agent.initialize(v1.InitializeRequest(protocol_version=1))


async def test_the_connection_tells_when_it_ended() -> None:
    async with an_agent() as (peer, connection):
        await peer.transport.close()
        assert await asyncio.wait_for(connection.wait_ended(), BOUND) is None
