"""A message past the limit is skipped and answered, and the connection continues."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from connection.one_end import BOUND, a_client, an_agent, problems, update

from accord import v1
from accord.connection.limits import Limits
from accord.errors import AccordError

LIMITS = Limits(max_message_bytes=1000)
MUCH = "x" * 5000

pytestmark = pytest.mark.req("V1-FRAME-38")


def serve_sessions(**handlers: Any) -> Any:
    return an_agent(limits=LIMITS, session_list=lambda params: {"sessions": []}, **handlers)


@pytest.mark.parametrize("id", [7, "seven"])
async def test_a_request_that_is_too_long_is_refused_with_its_id(id: Any) -> None:
    async with serve_sessions() as (peer, connection):
        seen = problems(connection)
        await peer.ask("session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": MUCH}]}, id=id)
        error = (await peer.answer_to(id))["error"]
        assert (await peer.call("session/list"))["result"] == {"sessions": []}

    assert error["code"] == -32600
    assert error["message"].endswith("bytes; at most 1000 are read")
    assert [(trouble.kind, trouble.size > 5000) for trouble in seen] == [("oversized", True)]


async def test_an_id_behind_the_params_cannot_be_read_and_is_null() -> None:
    async with serve_sessions() as (peer, _):
        await peer.send(b'{"jsonrpc":"2.0","method":"m","params":{"id":3,"x":"%b"},"id":7}' % MUCH.encode())
        assert (await peer.receive())["error"]["code"] == -32600
        assert (await peer.call("session/list"))["result"] == {"sessions": []}

    assert peer.received[1]["id"] is None


async def test_a_notification_that_is_too_long_is_not_answered() -> None:
    async with serve_sessions(session_cancel=lambda params: None) as (peer, connection):
        await peer.tell("session/cancel", {"sessionId": MUCH})
        assert (await peer.call("session/list"))["result"] == {"sessions": []}

    assert len(peer.received) == 2
    assert connection.connection.problems == {"oversized": 1}


async def test_an_answer_that_is_too_long_fails_its_call_alone() -> None:
    async with a_client(limits=LIMITS) as (peer, connection):
        long = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        short = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        await peer.reply(await peer.next_call("session/list"), {"sessions": [], "_meta": {"x": MUCH}})
        with pytest.raises(AccordError, match=r"session/list: the response has \d+ bytes; the limit is 1000"):
            await asyncio.wait_for(long, BOUND)
        await peer.reply(await peer.next_call("session/list"), {"sessions": []})
        await asyncio.wait_for(short, BOUND)
        await peer.quiet()

    assert [message for message in peer.received if "method" not in message and "error" not in message] == []


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":99,"result":{"x":"%b"}}',  # an unknown id
        b'{"jsonrpc":"2.0","result":{"id":0,"x":"%b"},"id":99}',  # the first id isn't the message's
        b'DEBUG: a long line in a log, with an "id": 0 in it %b',
    ],
)
async def test_a_client_does_not_answer_oversized_responses_and_stray_output(line: bytes) -> None:
    async with a_client(limits=LIMITS) as (peer, connection):
        asking = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        request = await peer.next_call("session/list")
        await peer.send(line % MUCH.encode())
        await peer.quiet()
        assert not asking.done()
        await peer.reply(request, {"sessions": []})
        await asyncio.wait_for(asking, BOUND)

    assert [message.get("method", "answer") for message in peer.received] == ["session/list", "answer"]


async def test_messages_around_a_long_one_keep_their_order() -> None:
    seen: list[str] = []
    async with a_client(limits=LIMITS, session_update=lambda p: seen.append(p.update.content.text)) as (peer, _):
        for text in ("a", MUCH, "b", MUCH, MUCH, "c"):
            await peer.tell("session/update", update("s", text))
        await peer.quiet()

    assert seen == ["a", "b", "c"]


async def test_a_message_just_within_the_limit_is_read() -> None:
    seen: list[int] = []
    async with a_client(limits=LIMITS, session_update=lambda p: seen.append(len(p.update.content.text))) as (peer, _):
        frame = len(b'{"jsonrpc": "2.0", "method": "session/update", "params": ') + 1
        overhead = frame + len(str(update("s", "")).replace("'", '"'))
        await peer.tell("session/update", update("s", "x" * (1000 - overhead)))
        await peer.tell("session/update", update("s", "x" * (1001 - overhead)))
        await peer.quiet()

    assert seen == [1000 - overhead]


async def test_a_hundred_megabytes_pass_by_default() -> None:
    seen: list[int] = []
    async with a_client(session_update=lambda p: seen.append(len(p.update.content.text))) as (peer, _):
        head = b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":'
        head += b'"agent_message_chunk","content":{"type":"text","text":"'
        await peer.send(head + b"x" * 100_000_000 + b'"}}}}')
        await peer.quiet()

    assert seen == [100_000_000]
