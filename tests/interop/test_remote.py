"""The official SDKs over Streamable HTTP and WebSocket, as clients of our server and as servers of our client.

A whole scenario each: new session, streaming, tool calls, permission, files, terminal, cancelling, loading, two
sessions at once. `CANNOT` lists what an SDK itself can't do."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from agents.interop_agent import InteropAgent
from interop.workspace import RealWorkspace
from peers import commands
from peers.client_run import ClientRun
from support.link import until
from support.prerequisites import require
from transports.http.web_server import run_server

import accord
from accord.client.agent import ConnectedAgent
from accord.client.session import Session
from accord.transcript.message import Message

pytestmark = pytest.mark.peer

PEERS = ["py-v1", "ts-v1", "ts-v2"]
SCHEMES = ["http", "ws"]

CANNOT: dict[tuple[str, str, str], str] = {
    ("server", "py-v1", "http"): "prompt a loaded session: it responds 404, because only `session/new` registers one",
    ("both", "py", "http and ws"): "version 2",
}
"""Operations that an SDK itself doesn't support, by role, name and transport."""

PROMPTS = ["hello big world", "tool", "terminal echo hi there", "read notes.md", "write out.md some text"]
STEPS: dict[str, dict[str, Any]] = {
    "new": {"do": "new"},
    **{text: {"do": "prompt", "text": text} for text in PROMPTS},
    "allow": {"do": "prompt", "text": "permission", "permission": "allow_once"},
    "reject": {"do": "prompt", "text": "permission", "permission": "reject_once"},
    "cancel while asked": {"do": "prompt", "text": "permission", "permission": "cancel"},
    "wait": {"do": "prompt", "text": "wait", "cancel": True},
    "after cancel": {"do": "prompt", "text": "still here"},
    "big": {"do": "prompt", "text": "big 1000000"},
    "fail": {"do": "prompt", "text": "fail"},
    "load": {"do": "load", "session": "stored-1"},
    "after load": {"do": "prompt", "text": "and now"},
    "together": {"do": "together", "texts": ["first session", "second session"]},
}


@pytest.fixture(params=PEERS)
def peer(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    require(commands.missing(name[:2]))  # type: ignore[arg-type]
    return name


@pytest.fixture
def version(peer: str) -> int:
    return int(peer[-1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.md").write_text("one\ntwo\n")
    return tmp_path


# -- their clients with our server


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.req("V1-HTTP-10", "V1-HTTP-11", "V2-HTTP-01")
async def test_their_client_with_our_server(peer: str, version: int, scheme: str, folder: Path) -> None:
    app = accord.asgi(InteropAgent(str(folder), must_log_in=False))
    async with run_server(app, "hypercorn") as server:
        client = commands.client(peer[:2], version)  # type: ignore[arg-type]
        url = f"{scheme}://127.0.0.1:{server.port}/acp"
        lines = await asyncio.to_thread(commands.play, client, [url], *STEPS.values(), cwd=folder)
    seen = ClientRun(STEPS, lines)

    assert seen.one("initialize", "initialize")["result"]["protocolVersion"] == version
    assert (seen.texts("hello big world"), seen.stop("hello big world")) == (["hello ", "big ", "world"], "end_turn")
    assert seen.call("tool")["status"] == "completed"
    assert seen.texts("terminal echo hi there") == ["hi there\n", "exit 0"]
    if version == 1:
        assert seen.texts("read notes.md") == ["one\ntwo\n"]
        assert (seen.texts("write out.md some text"), (folder / "out.md").read_text()) == (["written"], "some text")
    assert (seen.texts("allow"), seen.texts("reject")) == (["allowed"], ["denied"])
    assert seen.stop("cancel while asked") == "cancelled"
    assert (seen.texts("wait"), seen.stop("wait")) == (["waiting"], "cancelled")
    assert (seen.texts("after cancel"), seen.stop("after cancel")) == (["still ", "here"], "end_turn")
    assert seen.texts("big") == ["x" * 1_000_000]
    assert seen.one("fail", "error") if version == 1 else seen.one("fail", "stop")
    # The answer to `load` and the replay are on two streams, between which other clients know no order.
    said = ("user_message", "user_message_chunk", "agent_message", "agent_message_chunk")
    replayed = [*seen.updates("load", *said), *seen.updates("after load", *said)]
    assert [update["sessionUpdate"].split("_")[0] for update in replayed][:2] == ["user", "agent"]
    assert seen.stop("after load") == "end_turn"
    assert [line["reason"] for line in seen.all("together", "stop")] == ["end_turn", "end_turn"]
    assert sorted(seen.texts("together")) == ["first ", "second ", "session", "session"]


# -- our client with their servers


@asynccontextmanager
async def serve_peer(peer: str) -> AsyncIterator[str]:
    """Start their agent as a server, and return its URL without the scheme."""
    argv = commands.agent(peer[:2], int(peer[-1]), "--serve")  # type: ignore[arg-type]
    process = await asyncio.create_subprocess_exec(
        *argv, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        url = (await process.stdout.readline()).decode().strip()
        yield url.partition("://")[2]
    finally:
        process.send_signal(signal.SIGKILL)
        await process.wait()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.req("V1-HTTP-03", "V1-HTTP-08", "V1-HTTP-09", "V1-WS-02", "V2-HTTP-01")
async def test_our_client_with_their_server(peer: str, version: int, scheme: str, folder: Path) -> None:
    decisions = ["yes", "no"]

    async def decide(request: accord.PermissionRequest) -> Any:
        return decisions.pop(0)

    async with serve_peer(peer) as address, RealWorkspace(folder) as workspace:
        target = f"{scheme}://{address}"
        async with accord.connect(
            target, cwd=folder, versions={version}, permissions=decide, workspace=workspace
        ) as agent:
            assert agent.version == version
            await play_scenario(agent, version, folder)
            session = await agent.load_session("stored-1")
            await until(lambda: texts_of(session) == ["an earlier question", "an earlier answer"])
            if ("server", peer, scheme) not in CANNOT:
                assert (await session.prompt("and now")).text == "and now"


def texts_of(session: Session) -> list[str]:
    return [message.text for message in session.transcript.timeline if isinstance(message, Message)]


async def play_scenario(agent: ConnectedAgent, version: int, folder: Path) -> None:
    session = await agent.new_session()
    assert (await session.prompt("hello big world")).text == "hello big world"
    assert (await session.prompt("tool")).text == "edited"
    assert [call.status for call in session.transcript.tool_calls.values()] == ["completed"]
    assert (await session.prompt("terminal echo hi there")).text == "hi there\nexit 0"
    if version == 1:
        assert (await session.prompt("read notes.md")).text == "one\ntwo\n"
        assert (await session.prompt("write out.md some text")).text == "written"
        assert (folder / "out.md").read_text() == "some text"
    assert (await session.prompt("permission")).text == "allowed"
    assert (await session.prompt("permission")).text == "denied"
    turn = session.prompt("wait")
    async for event in turn:
        if isinstance(event, accord.Text):
            await turn.cancel()
    assert turn.stop_reason == "cancelled"
    assert (await session.prompt("still here")).text == "still here"
    assert len((await session.prompt("big 1000000")).text) == 1_000_000
    one, two = await asyncio.gather(agent.new_session(), agent.new_session())
    turns = await asyncio.gather(one.prompt("first session"), two.prompt("second session"))
    assert [turn.text for turn in turns] == ["first session", "second session"]
