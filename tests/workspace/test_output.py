"""The kept output of a command: the last part, in whole characters, at constant cost."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.workspace.output import BLOCK_BYTES, OutputBuffer

MIXED = "aé漢🙂"  # one, two, three and four bytes
PIECES = st.one_of(st.text(MIXED + "\n", max_size=12).map(str.encode), st.binary(max_size=12))


def feed(*pieces: bytes, limit: int | None = None, **bounds: int) -> OutputBuffer:
    output = OutputBuffer(limit, **bounds)
    for piece in pieces:
        output.feed(piece)
    return output


def cut(text: str, limit: int) -> str:
    """The rule, written as simply as it can be: characters are left out from the front until the rest fits."""
    sizes = [len(character.encode()) for character in text]
    excess, first = sum(sizes) - limit, 0
    while excess > 0:
        excess -= sizes[first]
        first += 1
    return text[first:]


@pytest.mark.req("V1-TERM-06")
def test_without_a_limit_all_output_is_kept() -> None:
    output = feed(b"one\n", b"two\n")

    assert (output.text(), output.truncated) == ("one\ntwo\n", False)


@pytest.mark.req("V1-TERM-07")
@pytest.mark.parametrize(
    "limit, text, truncated",
    [
        (10, "0123456789", False),
        (9, "123456789", True),
        (1, "9", True),
        (0, "", True),
        (2**64 - 1, "0123456789", False),
    ],
)
def test_over_the_limit_the_beginning_is_left_out(limit: int, text: str, truncated: bool) -> None:
    output = feed(b"01234", b"56789", limit=limit)

    assert (output.text(), output.truncated) == (text, truncated)


@pytest.mark.req("V1-TERM-08")
@pytest.mark.parametrize("limit", range(11))
def test_a_character_is_never_cut(limit: int) -> None:
    output = feed(MIXED.encode(), limit=limit)

    assert len(MIXED.encode()) == 10
    assert output.text() == cut(MIXED, limit)
    assert output.truncated is (limit < 10)


def test_a_character_may_come_byte_by_byte() -> None:
    output = OutputBuffer()
    for byte in MIXED.encode():
        output.feed(bytes([byte]))

    assert output.text() == MIXED


def test_a_character_that_has_only_begun_is_not_shown_yet() -> None:
    output = feed(b"a" + "🙂".encode()[:3])
    assert output.text() == "a"
    output.feed("🙂".encode()[3:])
    assert output.text() == "a🙂"


def test_a_character_that_is_never_finished_becomes_one_replacement() -> None:
    output = feed(b"a" + "🙂".encode()[:3])
    output.finish()
    output.finish()

    assert output.text() == "a\ufffd"
    assert output.since(0) == (b"a\xf0\x9f\x99", 0)


def test_invalid_bytes_count_as_their_replacement() -> None:
    output = feed(b"\xff\xfe\x80", limit=6)

    assert (output.text(), output.truncated) == ("\ufffd\ufffd", True)


@given(st.lists(PIECES, max_size=8), st.integers(0, 60))
def test_however_it_is_split_the_text_is_that_of_the_whole(pieces: list[bytes], limit: int) -> None:
    output = feed(*pieces, limit=limit)
    output.finish()
    text = b"".join(pieces).decode("utf-8", "replace")

    assert output.text() == cut(text, limit)
    assert output.truncated is (len(text.encode()) > limit)
    assert output.kept_text() == text
    assert output.since(0) == (b"".join(pieces), 0)


@given(st.lists(st.one_of(st.text(MIXED, max_size=12).map(str.encode), st.binary(max_size=3)), max_size=30))
def test_the_host_has_its_own_ceiling(pieces: list[bytes]) -> None:
    output = feed(*pieces, limit=10**9, ceiling=16)
    output.finish()
    text = b"".join(pieces).decode("utf-8", "replace")

    assert output.text() == output.kept_text() == cut(text, 16)
    assert output.truncated is output.is_kept_text_truncated is (len(text.encode()) > 16)


@pytest.mark.parametrize("size", [1, 7, 1000, BLOCK_BYTES - 1, BLOCK_BYTES + 1, 5 * BLOCK_BYTES])
def test_kept_output_is_exact_and_bounded_for_any_size_of_writes(size: int) -> None:
    whole = (MIXED * 50_000).encode()[: 3_000 * size]  # may end inside a character
    output = OutputBuffer(100_001, ceiling=200_003, window=150_001)
    for start in range(0, len(whole), size):
        output.feed(whole[start : start + size])
        assert output.size <= 150_001 + 2 * BLOCK_BYTES
    output.finish()

    text = whole.decode("utf-8", "replace")
    assert output.text() == cut(text, 100_001)
    assert output.since(output.start)[0] == whole[output.start :]


@given(st.lists(PIECES, max_size=12), st.data())
def test_output_since_a_position_is_exact(pieces: list[bytes], data: st.DataObject) -> None:
    output = feed(*pieces)
    whole = b"".join(pieces)
    position = data.draw(st.integers(0, len(whole)))

    assert output.end == len(whole)
    assert output.since(position) == (whole[position:], 0)


def test_reading_dropped_output_returns_how_much_is_missing() -> None:
    output = OutputBuffer(0, ceiling=BLOCK_BYTES, window=BLOCK_BYTES)
    for _ in range(5):
        output.feed(b"x" * BLOCK_BYTES)
    data, skipped = output.since(100)

    assert (len(data), skipped) == (BLOCK_BYTES, 4 * BLOCK_BYTES - 100)
    assert 100 + skipped == output.start


def test_a_little_at_a_time_costs_as_much_as_all_at_once() -> None:
    """Each line is read when it arrives, after 4 MiB of earlier output, and no step copies those."""
    lines = [f"{number:06d} {'é' * 40}\n".encode() for number in range(2_000)]
    output = OutputBuffer()
    output.feed(b"x" * 4 * 1024 * 1024)
    position, heard, most = output.end, 0, 0
    tracemalloc.start()
    try:
        for line in lines:
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            output.feed(line)
            data, _ = output.since(position)
            heard += len(data)
            position = output.end
            most = max(most, tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()

    assert most < 1024 * 1024
    assert heard == sum(map(len, lines))


def test_many_tiny_writes_need_no_extra_memory() -> None:
    tracemalloc.start()
    try:
        output = OutputBuffer(0, ceiling=10**6)
        for _ in range(60_000):
            output.feed(b"abc")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert output.size == 180_000
    assert peak < 400_000


def test_positions_only_grow() -> None:
    output = OutputBuffer(10, ceiling=50, window=20)
    starts = []
    for size in (0, 1, 70_000, 3, 0, 65_536):
        output.feed(b"y" * size)
        starts.append(output.start)

    assert all(before <= after for before, after in pairwise(starts))
    assert output.end == sum((0, 1, 70_000, 3, 0, 65_536))
