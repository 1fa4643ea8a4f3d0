"""The end of a connection: every open request fails with the reason."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest
from connection.one_end import BOUND, Serves, a_client, an_agent, prompt, until, update

from accord import v1
from accord.errors import ConnectionClosed, PeerDied
from accord.testing import WirePeer
from accord.transports.memory import MemoryTransport, pair


@pytest.fixture(autouse=True)
async def nothing_is_forgotten() -> AsyncIterator[None]:
    yield
    gc.collect()  # a coroutine that was never awaited, or an error that was never retrieved, is reported now


class Told(MemoryTransport):
    """A memory transport whose end a test controls, like that of a process."""

    words = ""

    def end(self, error: Exception | None) -> None:
        receiver, self._receiver = self._receiver, None
        self._closed_reason = "gone"
        assert receiver is not None
        receiver.on_end(error)

    def stderr_tail(self) -> str:
        return self.words


def told_pair() -> tuple[MemoryTransport, Told]:
    ours, theirs = pair()
    told = Told(theirs.max_message_bytes, 1024 * 1024)
    told.other, ours.other = ours, told
    return ours, told


async def test_a_peer_that_goes_fails_every_open_call_and_names_method_and_id() -> None:
    async with a_client() as (peer, connection):
        listing = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        await peer.next_call("session/prompt")
        await peer.transport.close()
        await asyncio.wait({listing, turn}, timeout=BOUND)

    assert str(listing.exception()) == "the connection to the agent ended during session/list"
    assert str(turn.exception()) == "the connection to the agent ended during session/prompt"
    assert isinstance(turn.exception(), ConnectionClosed)


async def test_the_peers_last_output_is_in_the_error() -> None:
    ours, told = told_pair()
    peer = WirePeer(ours)
    told.words = "No API key"
    async with v1.connect(told, Serves()) as connection:
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        await peer.next_call("session/prompt")
        told.end(None)
        await asyncio.wait({turn}, timeout=BOUND)

    assert str(turn.exception()).endswith('during session/prompt; last output on stderr: "No API key"')


async def test_a_process_that_dies_gives_command_status_stderr_and_stage() -> None:
    ours, told = told_pair()
    peer = WirePeer(ours)
    async with v1.connect(told, Serves()) as connection:
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        await peer.next_call("session/prompt")
        told.end(PeerDied("`agent` was killed", command="agent", status=-9, stderr="out of memory"))
        await asyncio.wait({turn}, timeout=BOUND)

    error = turn.exception()
    assert isinstance(error, PeerDied)
    assert (error.command, error.status, error.stderr, error.stage) == ("agent", -9, "out of memory", "session")
    assert str(error) == "the agent exited during session/prompt: `agent` was killed"


@pytest.mark.parametrize("before", [b"", b'{"jsonrpc":"2.0","method":"_example.org/last"}\n'])
@pytest.mark.parametrize("unread", [b'ult":{"stopReason":"end_turn"}}', b'{"stopReason":"end_turn"}}', b"}"])
async def test_a_process_that_dies_within_a_response_is_reported_as_dead(unread: bytes, before: bytes) -> None:
    ours, told = told_pair()
    peer = WirePeer(ours)
    async with v1.connect(told, Serves()) as connection:
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        call = await peer.next_call("session/prompt")
        response = b'{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}' % call["id"]
        connection.connection.on_lines(before + response.removesuffix(unread))
        told.end(PeerDied("`agent` was killed", command="agent", status=-9))
        await asyncio.wait({turn}, timeout=BOUND)
        assert connection.connection.problems["dropped"] >= 1

    assert isinstance(turn.exception(), PeerDied)


async def test_the_last_response_of_a_process_may_lack_its_newline() -> None:
    ours, told = told_pair()
    peer = WirePeer(ours)
    async with v1.connect(told, Serves()) as connection:
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        call = await peer.next_call("session/prompt")
        response = b'{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"_\\ud800"}}' % call["id"]
        connection.connection.on_lines(response)
        told.end(PeerDied("`agent` exited with status 0", command="agent", status=0))
        await asyncio.wait({turn}, timeout=BOUND)

    assert turn.result().stop_reason == "_\ufffd"


async def test_an_agent_that_exits_before_it_has_introduced_itself_exited_during_startup() -> None:
    ours, told = told_pair()
    peer = WirePeer(ours)
    async with v1.connect(told, Serves()) as connection:
        starting = asyncio.ensure_future(connection.initialize(v1.InitializeRequest(protocol_version=1)))
        await peer.next_call("initialize")
        told.end(PeerDied("`agent` exited with status 2", command="agent", status=2))
        await asyncio.wait({starting}, timeout=BOUND)

    assert str(starting.exception()) == "the agent exited during startup: `agent` exited with status 2"


async def test_a_wire_that_breaks_says_why() -> None:
    ours, told = told_pair()
    peer = WirePeer(ours)
    async with v1.connect(told, Serves()) as connection:
        asking = asyncio.ensure_future(connection.session_list(v1.ListSessionsRequest()))
        await peer.next_call("session/list")
        told.end(ConnectionClosed("the cable was cut"))
        await asyncio.wait({asking}, timeout=BOUND)
        assert isinstance(await connection.wait_ended(), ConnectionClosed)

    assert str(asking.exception()).endswith("broke during session/list: the cable was cut")


async def test_sending_after_the_end_raises() -> None:
    async with a_client() as (peer, connection):
        await peer.transport.close()
        assert await connection.wait_ended() is None

        with pytest.raises(ConnectionClosed, match="the connection to the agent ended before session/list"):
            await connection.session_list(v1.ListSessionsRequest())
        with pytest.raises(ConnectionClosed, match="ended"):
            await connection.session_cancel(v1.CancelNotification(session_id="s"))
        with pytest.raises(ConnectionClosed):
            await connection.request("_x/y")
        with pytest.raises(ConnectionClosed):
            await connection.notify("_x/y")


async def test_a_call_that_cannot_be_sent_leaves_nothing_behind() -> None:
    ours, told = told_pair()
    WirePeer(ours)
    async with v1.connect(told, Serves()) as connection:
        told._closed_reason = "it takes nothing any more"
        with pytest.raises(ConnectionClosed, match="it takes nothing any more"):
            await connection.session_list(v1.ListSessionsRequest())

        assert connection.connection._conversation.waiters == []
        assert connection.connection.backlog.calls == 0


async def test_updates_before_the_end_are_delivered_before_it_is_reported() -> None:
    story: list[str] = []

    async def session_update(params: Any) -> None:
        await asyncio.sleep(0.001)
        story.append(params.update.content.text)

    async with a_client(session_update=session_update) as (peer, connection):
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        turn.add_done_callback(lambda _: story.append("ended"))
        await peer.next_call("session/prompt")
        for number in range(3):
            await peer.tell("session/update", update("s", str(number)))
        await peer.transport.close()
        await asyncio.wait({turn}, timeout=BOUND)

    assert story == ["0", "1", "2", "ended"]
    assert isinstance(turn.exception(), ConnectionClosed)


@pytest.mark.parametrize("answered", [False, True])
async def test_closing_fails_requests_that_wait_behind_a_stuck_handler(answered: bool) -> None:
    stuck = asyncio.Event()

    async def session_update(params: Any) -> None:
        await stuck.wait()

    async with a_client(session_update=session_update) as (peer, connection):
        asking = asyncio.ensure_future(connection.session_close(v1.CloseSessionRequest(session_id="s")))
        request = await peer.next_call("session/close")
        await peer.tell("session/update", update("s", ""))
        await peer.tell("session/update", update("s", "never handled"))
        if answered:
            await peer.reply(request, {})
        await peer.quiet()
        await connection.close()
        await asyncio.wait({asking}, timeout=BOUND)

    if answered:
        assert asking.result() == v1.CloseSessionResponse()
    else:
        assert isinstance(asking.exception(), ConnectionClosed)


async def test_closing_cancels_running_handlers_and_waits_for_them() -> None:
    story: list[str] = []
    began = asyncio.Event()

    async def session_prompt(params: Any) -> Any:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            story.append("tidied up")

    async with an_agent(session_prompt=session_prompt) as (peer, connection):
        await peer.ask("session/prompt", prompt("s"))
        await asyncio.wait_for(began.wait(), BOUND)
        await connection.close()
        story.append("closed")

    assert story == ["tidied up", "closed"]


async def test_a_peer_that_goes_cancels_running_handlers() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def session_prompt(params: Any) -> Any:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async with an_agent(session_prompt=session_prompt) as (peer, _):
        await peer.ask("session/prompt", prompt("s"))
        await asyncio.wait_for(began.wait(), BOUND)
        await peer.transport.close()
        await asyncio.wait_for(ended.wait(), BOUND)


async def test_a_request_and_the_end_in_one_breath_leave_no_coroutine_behind() -> None:
    async def session_prompt(params: Any) -> Any:
        await asyncio.Event().wait()

    async with an_agent(session_prompt=session_prompt) as (peer, _):
        await peer.ask("session/prompt", prompt("s"))
        await peer.transport.close()


async def test_a_request_handler_may_close_its_own_connection() -> None:
    story: list[str] = []

    async def session_prompt(params: Any) -> Any:
        await connection.close()
        story.append("still running")

    async with an_agent(session_prompt=session_prompt) as (peer, connection):
        await peer.ask("session/prompt", prompt("s"))
        await asyncio.wait_for(peer.ended.wait(), BOUND)
        await until(lambda: story)


async def test_a_notification_handler_may_close_its_own_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accord.connection.connection._LAST_HANDLERS_SECONDS", 2 * BOUND)  # it isn't waited for
    story: list[str] = []

    async def session_update(params: Any) -> Any:
        await connection.close()
        story.append("still running")

    async with a_client(session_update=session_update) as (peer, connection):
        await peer.tell("session/update", update("s", ""))
        await asyncio.wait_for(peer.ended.wait(), BOUND)
        await until(lambda: story)


async def test_closing_again_or_at_the_same_time_does_no_harm() -> None:
    async with a_client() as (peer, connection):
        await asyncio.gather(connection.close(), connection.close())
        await connection.close()
        await asyncio.wait_for(peer.ended.wait(), BOUND)
        assert await connection.wait_ended() is None


async def test_a_cancelled_close_continues() -> None:
    async with a_client() as (peer, connection):
        closing = asyncio.ensure_future(connection.close())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.wait_for(peer.ended.wait(), BOUND)


async def test_what_is_sent_before_closing_arrives() -> None:
    async with a_client() as (peer, connection):
        for number in range(100):
            await connection.session_cancel(v1.CancelNotification(session_id=str(number)))
        await connection.close()
        await asyncio.wait_for(peer.ended.wait(), BOUND)

    assert [message["params"]["sessionId"] for message in peer.received] == [str(number) for number in range(100)]


async def test_workers_that_had_much_to_do_are_gone_after_the_end() -> None:
    go_on = asyncio.Event()
    inside = 0

    async def session_update(params: Any) -> None:
        nonlocal inside
        inside += 1
        await go_on.wait()

    async with a_client(session_update=session_update) as (peer, _):
        for number in range(50):
            await peer.tell("session/update", update(f"s{number}", ""))
        await until(lambda: inside == 50)
        go_on.set()


async def test_a_handler_that_will_not_end_does_not_keep_the_connection_open() -> None:
    release = asyncio.Event()

    async def session_update(params: Any) -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async with a_client(session_update=session_update) as (peer, connection):
        await peer.tell("session/update", update("s", ""))
        await peer.quiet()
        closing = asyncio.ensure_future(connection.close())
        await asyncio.wait_for(peer.ended.wait(), BOUND)
        release.set()
        await asyncio.wait_for(closing, BOUND)
