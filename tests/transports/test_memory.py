"""The in-memory transport."""

from __future__ import annotations

import asyncio

import pytest
from support.receiver import Listener

from accord.errors import ConnectionClosed
from accord.transports.memory import pair


async def test_what_one_end_sends_the_other_hears_in_order() -> None:
    left, right = pair()
    a, b = Listener(), Listener()
    left.start(a)
    right.start(b)
    for number in range(100):
        await left.send(b"%d\n" % number)
        await right.send(b"-%d\n" % number)

    assert await b.until_heard(100) == [b"%d" % number for number in range(100)]
    assert await a.until_heard(100) == [b"-%d" % number for number in range(100)]


async def test_nothing_is_delivered_inside_send() -> None:
    left, right = pair()
    heard = Listener()
    left.start(Listener())
    right.start(heard)
    left.send(b"one\n")
    left.send(b"two\n")

    assert heard.blocks == []
    await asyncio.sleep(0)
    assert heard.blocks == [b"one\ntwo\n"], "delivered together, in the next pass"


async def test_what_was_sent_before_the_other_end_started_is_kept() -> None:
    left, right = pair()
    left.start(Listener())
    left.send(b"early\n")
    heard = Listener()
    right.start(heard)

    assert await heard.until_heard(1) == [b"early"]


async def test_sending_waits_while_the_other_end_is_paused() -> None:
    left, right = pair(high_water=1000)
    heard = Listener()
    left.start(Listener())
    right.start(heard)
    right.pause()

    async def send_all() -> None:
        for number in range(1000):
            await left.send(b"%07d\n" % number)

    sending = asyncio.ensure_future(send_all())
    await asyncio.sleep(0)
    assert not sending.done()
    assert right._inbox_bytes <= 1008, "the buffer is bounded"
    right.resume()
    await sending
    assert await heard.until_heard(1000) == [b"%07d" % number for number in range(1000)]


async def test_cancelling_one_waiting_sender_leaves_the_others() -> None:
    left, right = pair(high_water=10)
    left.start(Listener())
    right.start(Listener())
    right.pause()

    async def send() -> None:
        await left.send(b"0123456789\n")

    first, second = asyncio.ensure_future(send()), asyncio.ensure_future(send())
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    assert first.cancelled() and not second.done()
    right.resume()
    await second


async def test_closing_delivers_what_was_sent_and_ends_both() -> None:
    left, right = pair()
    a, b = Listener(), Listener()
    left.start(a)
    right.start(b)
    left.send(b"last words\n")
    await left.close()
    await left.close()

    assert await b.until_ended() is None
    assert b.heard == b"last words\n"
    assert a.endings == b.endings == [None]
    for end in (left, right):
        with pytest.raises(ConnectionClosed):
            end.send(b"too late\n")


async def test_closing_releases_senders_that_wait_for_the_closed_end() -> None:
    left, right = pair(high_water=10)
    left.start(Listener())
    right.start(Listener())
    right.pause()
    waiting = left.send(b"0123456789\n")
    task = asyncio.ensure_future(_await(waiting))
    await asyncio.sleep(0)
    await right.close()

    with pytest.raises(ConnectionClosed):
        await task


async def test_a_line_past_the_limit_is_skipped() -> None:
    left, right = pair(max_message_bytes=8)
    heard = Listener()
    left.start(Listener())
    right.start(heard)
    left.send(b"before\n")
    left.send(b"far too long\n")
    left.send(b"after\n")
    await heard.until_heard(2)

    assert heard.story == [b"before", 12, b"after"]


async def test_the_limit_may_be_set_until_the_start() -> None:
    left, right = pair()
    right.max_message_bytes = 8
    heard = Listener()
    left.start(Listener())
    right.start(heard)
    left.send(b"far too long\nafter\n")
    await heard.until_heard(1)

    assert heard.story == [12, b"after"]


async def test_a_busy_sender_lets_others_run() -> None:
    left, right = pair()
    heard = Listener()
    left.start(Listener())
    right.start(heard)
    for _ in range(100):
        await left.send(b"x" * 9999 + b"\n")

    assert heard.size > 500_000, "heard while it was being sent"


async def _await(awaitable: object) -> None:
    await awaitable  # type: ignore[misc]
