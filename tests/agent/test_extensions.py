"""Beyond the protocol: requests and notifications of one's own, both ways, and metadata kept apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.link import Link, script_agent, until
from support.wire_client import begin_session, hello

import accord
from accord import Agent, InvalidParams, MethodNotFound, RequestFailed, Turn
from accord.testing import wire_client


class Extended(Agent):
    def __init__(self) -> None:
        self.told: list[Any] = []

    async def prompt(self, turn: Turn) -> None:
        answer = await turn.request("_editor/selection", {"of": turn.text})
        await turn.notify("_editor/flash", {"line": 3})
        await turn.say(str(answer))

    async def extension_request(self, method: str, params: Any) -> Any:
        match method:
            case "_agent/double":
                return {"twice": params["n"] * 2}
            case "_agent/fail":
                raise InvalidParams("n is missing", data={"path": "n"})
            case "_agent/odd":
                return object()
        return await super().extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        self.told.append((method, params))


@pytest.mark.feature("extension methods", "agent", "client")
@pytest.mark.req("V1-EXT-06", "V1-EXT-07", "V2-EXT-01")
async def test_both_sides_can_use_extension_requests_and_notifications(link: Link) -> None:
    flashes: list[Any] = []

    async def selection(params: Any) -> Any:
        return {"text": f"selected in {params['of']}"}

    agent = Extended()
    extensions = {"_editor/selection": selection, "_editor/flash": flashes.append}
    async with link(agent, extensions=extensions) as client:
        doubled = await client.request("_agent/double", {"n": 21})
        await client.notify("_agent/note", {"a": [None]})
        turn = await (await client.new_session()).prompt("main.py")

    assert doubled == {"twice": 42}
    assert agent.told == [("_agent/note", {"a": [None]})]
    assert turn.text == "{'text': 'selected in main.py'}"
    assert flashes == [{"line": 3}]


@pytest.mark.req("V1-EXT-08")
async def test_an_unknown_request_is_rejected_by_name(link: Link) -> None:
    errors: list[MethodNotFound] = []

    async def ask(turn: Turn) -> None:
        try:
            await turn.request("_editor/unknown")
        except MethodNotFound as error:
            errors.append(error)

    async with link(script_agent(ask)) as client:
        with pytest.raises(MethodNotFound, match="_agent/unknown"):
            await client.request("_agent/unknown", {"secret": 1})
        await (await client.new_session()).prompt("go")

    assert errors[0].code == -32601
    assert "_editor/unknown" in str(errors[0])


@pytest.mark.req("V1-EXT-09", "V1-CANCEL-17")
async def test_unknown_notifications_are_ignored(link: Link) -> None:
    async def tell(turn: Turn) -> None:
        await turn.notify("_editor/unknown", {"a": 1})
        await turn.notify("editor/unknown")
        await turn.notify("$/unknown", {"b": 2})

    async with link(script_agent(tell)) as client:
        await client.notify("_agent/unknown", {"a": 1})
        await client.notify("$/unknown")
        turn = await (await client.new_session()).prompt("go")

    assert turn.stop_reason == "end_turn"


async def test_an_error_of_ones_own_arrives_as_it_is(link: Link) -> None:
    async with link(Extended()) as client:
        with pytest.raises(InvalidParams) as caught:
            await client.request("_agent/fail")

    assert (caught.value.message, caught.value.data) == ("n is missing", {"path": "n"})


async def test_an_answer_that_cannot_be_written_is_an_error_and_not_silence(link: Link) -> None:
    async with link(Extended()) as client:
        with pytest.raises(RequestFailed, match="can't be encoded") as caught:
            await client.request("_agent/odd")
        assert await client.request("_agent/double", {"n": 1}) == {"twice": 2}

    assert caught.value.code == -32603


@pytest.mark.req("V1-EXT-01", "V1-EXT-03", "V1-EXT-11", "V2-EXT-06")
async def test_metadata_never_takes_the_place_of_a_parameter(version: int) -> None:
    seen: list[Any] = []

    class Looking(Agent):
        async def new_session(self, session: Any) -> None:
            seen.append((session.cwd, session.meta))

        async def prompt(self, turn: Turn) -> None:
            seen.append((turn.text, turn.meta))

    async with wire_client(Looking()) as peer:
        await hello(peer, version)
        meta = {"cwd": "/elsewhere", "example.com/x": {"deep": [1]}, "traceparent": "00-1"}
        answer = await peer.call("session/new", {"cwd": "/here", "mcpServers": [], "_meta": meta, "unknownKey": 1})
        session = answer["result"]["sessionId"]
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "hi"}], "_meta": {"prompt": "no"}}
        await peer.call("session/prompt", prompt)
        await until(lambda: len(seen) == 2)

    assert seen == [("/here", meta), ("hi", {"prompt": "no"})]


TRACE = {
    "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "tracestate": "a=1",
    "baggage": "b=2",
}


@pytest.mark.req("V1-EXT-04", "V2-EXT-07")
async def test_trace_context_passes_both_ways_as_it_was_given(link: Link) -> None:
    seen: list[Any] = []

    class Traced(Agent):
        async def prompt(self, turn: Turn) -> None:
            seen.append(turn.meta)
            await turn.say("Hello.", meta=TRACE)
            await turn.say(" More.")

    lines: list[dict[str, Any]] = []

    def watch(direction: str, block: bytes) -> None:
        lines.extend(json.loads(line) for line in block.splitlines())

    async with link(Traced()) as client:
        client.connection.watch(watch)
        session = await client.new_session("/project")
        await session.prompt("hi", meta=TRACE)

    assert seen == [TRACE]
    metas = [meta for line in lines for meta in _metas(line)]
    assert metas == [TRACE, TRACE], "what the two authors gave, and nothing of our own"


def _metas(value: Any) -> list[Any]:
    """Every `_meta` in a message."""
    if isinstance(value, list):
        return [meta for each in value for meta in _metas(each)]
    if not isinstance(value, dict):
        return []
    return [meta for key, each in value.items() for meta in ([each] if key == "_meta" else _metas(each))]


@pytest.mark.req("V1-EXT-04", "V2-EXT-07")
def test_our_metadata_keys_do_not_collide_with_trace_context() -> None:
    source = Path(accord.__file__).parent
    names = [path for path in source.rglob("*.py") if any(f'"{key}"' in path.read_text("utf-8") for key in TRACE)]
    assert names == []


@pytest.mark.req("V1-EXT-02", "V1-EXT-03")
async def test_metadata_of_a_tool_call_travels_with_it(version: int) -> None:
    async def work(turn: Turn) -> None:
        async with turn.tool("Do", meta={"example.com/cost": 3}):
            pass

    async with wire_client(script_agent(work)) as peer:
        session = await begin_session(peer, version)
        await peer.call("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]})
        while not any("toolCallId" in update for update in peer.updates):
            await peer.receive()

    call = next(update for update in peer.updates if "toolCallId" in update)
    assert call["_meta"] == {"example.com/cost": 3}
    known = {"sessionUpdate", "toolCallId", "title", "kind", "status", "content", "locations", "_meta"}
    assert set(call) <= known


@pytest.mark.feature("unknown updates and content", "agent", "client")
async def test_updates_in_the_words_of_one_version_are_sent_in_that_version_alone(link: Link, version: int) -> None:
    async def say(turn: Turn) -> None:
        await turn.session.update(1, {"sessionUpdate": "_old_trick", "n": 1})
        await turn.session.update(2, {"sessionUpdate": "_new_trick", "n": 2})

    async with link(script_agent(say)) as client:
        session = await client.new_session()
        await session.prompt("go")

    assert [(unknown.kind, unknown.data["n"]) for unknown in session.transcript.unknown] == [
        {1: ("_old_trick", 1), 2: ("_new_trick", 2)}[version]
    ]
