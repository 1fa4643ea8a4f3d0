"""The events of one stream: order, ids, replay and limits."""

from __future__ import annotations

import dataclasses

import pytest

from accord.transports.http.limits import HttpLimits
from accord.transports.http.stream_buffer import EventId, StreamBuffer, read_event_id, write_event_id


def fill(count: int, **limits: int) -> StreamBuffer:
    buffer = StreamBuffer(dataclasses.replace(HttpLimits(), **limits))
    for number in range(1, count + 1):
        buffer.add(b'{"n":%d}' % number)
    return buffer


@pytest.mark.req("V1-HTTP-18")
def test_an_event_is_one_message_in_one_data_line() -> None:
    assert fill(2).take() == b'id: 1\ndata: {"n":1}\n\nid: 2\ndata: {"n":2}\n\n'


@pytest.mark.req("V1-HTTP-19")
def test_a_burst_waits_for_its_receiver_in_order() -> None:
    buffer = fill(5000)
    seen = b""
    while chunk := buffer.take():
        seen += chunk
    assert seen.count(b"data: ") == 5000
    assert seen.index(b"id: 4999\n") < seen.index(b"id: 5000\n")
    assert buffer.unsent_bytes == 0


@pytest.mark.parametrize("received", range(6))
def test_a_client_continues_after_any_event_it_received(received: int) -> None:
    buffer = fill(3)
    buffer.take()
    buffer.add(b'{"n":4}')
    buffer.add(b'{"n":5}')
    if received < 4:
        assert buffer.rewind(str(received))
        expected = b"".join(b'id: %d\ndata: {"n":%d}\n\n' % (n, n) for n in range(received + 1, 6))
        assert buffer.take() == expected
    else:
        assert not buffer.rewind(str(received)), "it can't have received what was not sent"


def test_what_is_kept_for_replay_is_limited() -> None:
    buffer = fill(10, replay_messages=3)
    buffer.take()
    assert not buffer.rewind("6")
    assert buffer.rewind("7")
    assert buffer.take().count(b"data: ") == 3


@pytest.mark.parametrize("id", ["", "x", "-1", "1.5", "٣", "9" * 30])
def test_an_id_that_is_not_ours_cannot_be_continued(id: str) -> None:
    assert not fill(1).rewind(id)


def test_an_id_may_name_what_comes_before_it() -> None:
    id = EventId(7, 3, "a session; with=signs")
    assert read_event_id(write_event_id(id)) == id
    buffer = fill(0)
    buffer.add(b"{}", EventId(3, session="s"))
    assert buffer.take() == b"id: 1;after=3;session=s\ndata: {}\n\n"
    assert buffer.rewind("1;after=3;session=s")


def test_a_stream_is_full_past_its_limits() -> None:
    assert not fill(3, stream_messages=3).is_full
    assert fill(4, stream_messages=3).is_full
    assert fill(4, stream_bytes=50).is_full
