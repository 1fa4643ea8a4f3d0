"""Watchers see every line as it is; nobody pays while nobody watches."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from connection.one_end import BOUND, a_client, an_agent, prompt, until, update

from accord import v1


def split(seen: list[tuple[str, bytes]]) -> list[tuple[str, dict[str, Any]]]:
    return [(direction, json.loads(line)) for direction, lines in seen for line in lines.splitlines()]


async def test_a_watcher_sees_every_line_both_ways_in_order() -> None:
    seen: list[tuple[str, bytes]] = []
    async with a_client(session_update=lambda params: None) as (peer, connection):
        connection.watch(lambda direction, lines: seen.append((direction, lines)))
        turn = asyncio.ensure_future(connection.session_prompt(v1.PromptRequest(session_id="s", prompt=[])))
        request = await peer.next_call("session/prompt")
        await peer.tell("session/update", update("s", "a"))
        await peer.send(b"a stray line")
        await peer.reply(request, {"stopReason": "end_turn"})
        await asyncio.wait_for(turn, BOUND)
        await peer.ask("_unknown")
        await peer.answer_to(0)
        await connection.session_cancel(v1.CancelNotification(session_id="s"))

    lines = [line for _, block in seen for line in block.splitlines()]
    assert [direction for direction, block in seen for _ in block.splitlines()] == [
        "out",
        "in",
        "in",
        "in",
        "in",
        "out",
        "out",
    ]
    assert lines[2] == b"a stray line"
    assert json.loads(lines[5])["error"]["code"] == -32601
    assert json.loads(lines[6])["method"] == "session/cancel"
    assert all(block.endswith(b"\n") for _, block in seen)


async def test_a_watcher_is_called_with_one_line_at_a_time() -> None:
    seen: list[tuple[str, bytes]] = []
    heard: list[Any] = []
    async with a_client(session_update=heard.append) as (peer, connection):
        connection.watch(lambda direction, line: seen.append((direction, line)))
        update_line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": update("s", "a\r")}).encode()
        await peer.send(b"\n".join([update_line, update_line, b"stray\rtext", update_line]))
        await until(lambda: len(heard) == 3)

    assert seen == [("in", line + b"\n") for line in (update_line, update_line, b"stray\rtext", update_line)]


async def test_a_watcher_sees_the_answers_of_handlers_and_what_is_cancelled() -> None:
    seen: list[tuple[str, bytes]] = []

    async def session_prompt(params: Any) -> v1.PromptResponse:
        return v1.PromptResponse(stop_reason="end_turn")

    async with an_agent(session_prompt=session_prompt) as (peer, connection):
        connection.watch(lambda direction, lines: seen.append((direction, lines)))
        await peer.ask("session/prompt", prompt("s"))
        await peer.answer_to(0)
        reading = asyncio.ensure_future(connection.fs_read_text_file(v1.ReadTextFileRequest(session_id="s", path="/a")))
        await peer.next_call("fs/read_text_file")
        reading.cancel()
        await peer.next_call("$/cancel_request")

    assert [message.get("method", "answer") for _, message in split(seen)] == [
        "session/prompt",
        "answer",
        "fs/read_text_file",
        "$/cancel_request",
    ]


async def test_watching_stops_when_asked_and_costs_nothing_before_and_after() -> None:
    seen: list[bytes] = []
    async with a_client() as (peer, connection):
        inner = connection.connection
        assert inner.send == inner.transport.send
        stop = connection.watch(lambda direction, lines: seen.append(lines))
        assert inner.send != inner.transport.send
        await peer.quiet()
        assert len(seen) == 2
        stop()
        stop()
        assert inner.tap.watchers == []
        assert inner.send == inner.transport.send
        await peer.quiet()

    assert len(seen) == 2


async def test_a_watcher_that_fails_is_dismissed_and_harms_nobody() -> None:
    seen: list[bytes] = []

    def fail(direction: str, lines: bytes) -> None:
        raise RuntimeError("no")

    async with a_client() as (peer, connection):
        connection.watch(fail)
        connection.watch(lambda direction, lines: seen.append(lines))
        await peer.quiet()
        await peer.quiet()

    assert len(seen) == 4
    assert len(connection.connection.tap.watchers) == 1


async def test_reports_of_trouble_may_fail_without_harm() -> None:
    def fail(trouble: Any) -> None:
        raise RuntimeError("no")

    def session_update(params: Any) -> None:
        raise RuntimeError("no")

    async with a_client(session_update=session_update) as (peer, connection):
        connection.connection.on_problem = fail
        await peer.send(b"stray")
        await peer.tell("session/update", update("s", ""))
        await peer.quiet()

    assert connection.connection.problems == {"stray": 1, "handler": 1}
