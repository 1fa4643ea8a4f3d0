"""Messages without a handler pass unchanged, in both directions, through one proxy and through chains."""

from __future__ import annotations

from typing import Any

import pytest
from support.chains import between, initialize, proxy_command

from accord.proxy import Proxy, Request, to_agent, to_client
from accord.testing import WirePeer

ODD = (
    b'{ "sessionId":"s" , "a":1.0,"b":1e3,"c":12345678901234567890123,"d":"\\u00e9\\/","e":[ ],'
    b'"_meta":{"x.y/z":[1,{"k":null}]},"new":{"deep":[{"er":true}]} }'
)


class Handled(Proxy):
    """Handles other methods than those of the tests."""

    @to_agent("session/prompt")
    async def prompt(self, request: Request[Any, Any]) -> Any:
        return await request.forward()

    @to_client("session/update")
    async def update(self, notification: Any) -> None:
        await notification.forward()


CHAINS = {
    "one proxy": lambda: [Proxy()],
    "a proxy with handlers": lambda: [Handled()],
    "a chain": lambda: [Proxy(), Handled(), Proxy()],
    "processes": lambda: [proxy_command(), proxy_command("more")],
}


def watch(peer: WirePeer) -> list[bytes]:
    """Collect the lines that a peer receives from now on."""
    lines: list[bytes] = []
    take = peer._take

    def see(block: bytes) -> None:
        lines.extend(line for line in block.split(b"\n") if line)
        take(block)

    peer._take = see  # type: ignore[method-assign]
    return lines


@pytest.mark.req("V1-PROXY-07", "V1-PROXY-09", "V2-SDK-04")
@pytest.mark.parametrize("chain", CHAINS)
async def test_unknown_methods_and_fields_keep_their_bytes(chain: str) -> None:
    async with between(*CHAINS[chain]()) as ends:
        await initialize(ends)
        seen, back = watch(ends.agent), watch(ends.client)
        await ends.client.send(b'{"jsonrpc":"2.0","method":"_vendor/note","params":%b}' % ODD)
        await ends.client.send(b'{"jsonrpc":"2.0","id":"q","method":"session/future","params":%b}' % ODD)
        asked = await ends.agent.next_call("session/future")
        await ends.agent.send(b'{"jsonrpc":"2.0","method":"session/novelty","params":%b}' % ODD)
        await ends.agent.send(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (asked["id"], ODD))
        await ends.client.answer_to("q")

        assert seen[0] == b'{"jsonrpc":"2.0","method":"_vendor/note","params":%b}' % ODD
        assert seen[1] == b'{"jsonrpc":"2.0","id":%d,"method":"session/future","params":%b}' % (asked["id"], ODD)
        assert back[0] == b'{"jsonrpc":"2.0","method":"session/novelty","params":%b}' % ODD
        assert back[1] == b'{"jsonrpc":"2.0","id":"q","result":%b}' % ODD


@pytest.mark.req("V1-PROXY-06")
@pytest.mark.parametrize("chain", CHAINS)
async def test_an_error_passes_unchanged(chain: str) -> None:
    error = b'{ "code":-31999,"message":"no\\u00e9","data":{"n":1.0,"e":1e2},"hint":[ true ] }'
    async with between(*CHAINS[chain]()) as ends:
        await initialize(ends)
        back = watch(ends.client)
        id = await ends.client.ask("session/prompt", {"sessionId": "s", "prompt": [{"type": "text", "text": "x"}]})
        asked = await ends.agent.next_call("session/prompt")
        await ends.agent.send(b'{"jsonrpc":"2.0","id":%d,"error":%b}' % (asked["id"], error))
        await ends.client.answer_to(id)

        assert back == [b'{"jsonrpc":"2.0","id":%d,"error":%b}' % (id, error)]


@pytest.mark.req("V1-PROXY-05", "V1-PROXY-07")
@pytest.mark.parametrize("chain", CHAINS)
async def test_absent_params_stay_absent_and_lists_stay_lists(chain: str) -> None:
    async with between(*CHAINS[chain]()) as ends:
        await initialize(ends)
        seen = watch(ends.agent)
        await ends.client.send(b'{"jsonrpc":"2.0","method":"_vendor/none"}')
        await ends.client.send(b'{"jsonrpc":"2.0","method":"_vendor/list","params":[1, 2]}')
        id = await ends.client.ask("_vendor/ask")
        asked = await ends.agent.next_call("_vendor/ask")
        await ends.agent.reply(asked, None)

        assert (await ends.client.answer_to(id))["result"] is None
        assert seen[:2] == [
            b'{"jsonrpc":"2.0","method":"_vendor/none"}',
            b'{"jsonrpc":"2.0","method":"_vendor/list","params":[1, 2]}',
        ]
        assert "params" not in asked


@pytest.mark.parametrize("chain", CHAINS)
async def test_requests_of_the_agent_pass_to_the_client_and_back(chain: str) -> None:
    async with between(*CHAINS[chain]()) as ends:
        await initialize(ends)
        id = await ends.agent.ask("fs/read_text_file", {"sessionId": "s", "path": "/a", "x": 1})
        asked = await ends.client.next_call("fs/read_text_file")
        await ends.client.reply(asked, {"content": "text", "y": 2})

        assert asked["params"] == {"sessionId": "s", "path": "/a", "x": 1}
        assert (await ends.agent.answer_to(id))["result"] == {"content": "text", "y": 2}


async def test_params_that_the_types_reject_pass_without_the_handler() -> None:
    raw = b'{"sessionId":"s","prompt":[{"type":"hologram", "text":"x"}]}'
    async with between(Handled()) as ends:
        await initialize(ends)
        seen = watch(ends.agent)
        await ends.client.send(b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":%b}' % raw)
        asked = await ends.agent.next_call("session/prompt")

        assert seen == [b'{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":%b}' % (asked["id"], raw)]


async def test_ids_belong_to_one_hop() -> None:
    async with between(Proxy(), Proxy()) as ends:
        await initialize(ends)
        first = await ends.client.ask("_a", id="same")
        second = await ends.agent.ask("_b", id="same")
        to_agent, to_client = await ends.agent.next_call("_a"), await ends.client.next_call("_b")
        await ends.agent.reply(to_agent, 1)
        await ends.client.reply(to_client, 2)

        assert (await ends.client.answer_to(first))["result"] == 1
        assert (await ends.agent.answer_to(second))["result"] == 2
