"""From bytes to whole lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accord.transports.base import Receiver
from accord.transports.framing import HEAD_BYTES, LineFramer, hand_over

PLENTY = 1 << 30


class Story:
    """Records lines."""

    def __init__(self) -> None:
        self.heard: list[bytes | tuple[bytes, int]] = []

    def on_lines(self, block: bytes) -> None:
        assert block, "an empty block is not worth a call"
        self.heard += block.splitlines(keepends=True)

    def on_oversized(self, head: bytes, size: int) -> None:
        self.heard.append((head, size))

    def on_end(self, error: Exception | None) -> None:
        raise AssertionError("a framer ends nothing")


def collect(chunks: list[bytes], max_bytes: int) -> list[bytes | tuple[bytes, int]]:
    framer, story = LineFramer(max_bytes), Story()
    receiver: Receiver = story
    for chunk in chunks:
        hand_over(framer, framer.feed(chunk), receiver)
    hand_over(framer, framer.finish(), receiver)
    return story.heard


def expected(data: bytes, max_bytes: int) -> list[bytes | tuple[bytes, int]]:
    """The same, without any cleverness."""
    lines = data.split(b"\n")
    ends = [b"\n"] * (len(lines) - 1) + [b""]
    return [
        line + end if len(line) <= max_bytes else (line[:HEAD_BYTES], len(line))
        for line, end in zip(lines, ends, strict=True)
        if line or end
    ]


pieces = st.lists(st.one_of(st.binary(max_size=12), st.just(b"\n"), st.just(b"ab\ncd\n")), max_size=20)


@pytest.mark.req("V1-FRAME-02", "V2-FRAME-01")
@given(chunks=pieces, max_bytes=st.integers(1, 20))
def test_however_the_bytes_are_cut_the_lines_are_the_same(chunks: list[bytes], max_bytes: int) -> None:
    data = b"".join(chunks).replace(b"\r", b"").replace(b"\x0b", b"").replace(b"\x0c", b"")
    cut, begin = [], 0
    for chunk in chunks:
        cut.append(data[begin : begin + len(chunk)])
        begin += len(chunk)

    assert collect(cut, max_bytes) == collect([data], max_bytes) == expected(data, max_bytes)


@given(
    lengths=st.lists(st.integers(0, 3 * HEAD_BYTES), max_size=6),
    step=st.integers(1, 2 * HEAD_BYTES),
    max_bytes=st.integers(1, 3 * HEAD_BYTES),
)
def test_the_head_of_a_skipped_line_does_not_depend_on_the_cut(lengths: list[int], step: int, max_bytes: int) -> None:
    data = b"".join(bytes([97 + i]) * length + b"\n" for i, length in enumerate(lengths))
    cut = [data[at : at + step] for at in range(0, len(data), step)]

    assert collect(cut, max_bytes) == expected(data, max_bytes)


def test_a_chunk_of_whole_lines_is_passed_on_as_it_is() -> None:
    chunk = b'{"a":1}\n{"b":2}\n'

    assert LineFramer(PLENTY).feed(chunk) is chunk


def test_an_unfinished_line_is_kept_until_its_newline_comes() -> None:
    framer = LineFramer(PLENTY)

    assert framer.feed(b"one\ntw") == b"one\n"
    assert framer.feed(b"o") == b""
    assert framer.feed(b"\nthree\nfo") == b"two\nthree\n"
    assert framer.finish() == b"fo"
    assert framer.finish() == b""


def test_framing_continues_after_an_oversized_line() -> None:
    framer = LineFramer(10)

    assert framer.feed(b"short\n0123456789a") == b"short\n"
    assert framer.feed(b"bc") == b""
    assert framer.feed(b"def\nnext\n") == b"next\n"
    assert [(line.head, line.size) for line in framer.oversized] == [(b"0123456789abcdef", 16)]


def test_a_line_of_exactly_the_limit_is_no_longer_than_allowed() -> None:
    framer = LineFramer(4)

    assert framer.feed(b"1234\n12345\n1234") == b"1234\n"
    assert framer.feed(b"\n") == b"1234\n"
    assert [line.size for line in framer.oversized] == [5]


def test_skipped_lines_are_reported_in_order() -> None:
    assert collect([b"a\nbbbbbb\nc\ndddddd\n"], 5) == [b"a\n", (b"bbbbbb", 6), b"c\n", (b"dddddd", 6)]


def test_an_endless_line_takes_no_more_memory_than_the_limit_allows() -> None:
    framer = LineFramer(100_000)
    for _ in range(1000):
        assert framer.feed(b"x" * 65536) == b""

    assert sum(map(len, framer._tail)) <= 100_000
    assert framer.finish() == b""
    assert framer.oversized[0].size == 65_536_000


class Counted(bytes):
    """Bytes that count how many of them are searched and copied."""

    searched = 0
    copied = 0

    def rfind(self, *args: object) -> int:
        Counted.searched += len(self)
        return super().rfind(*args)  # type: ignore[arg-type]

    def __getitem__(self, key: object) -> object:
        part = super().__getitem__(key)  # type: ignore[index]
        Counted.copied += len(part) if isinstance(part, bytes) else 0
        return part


def test_a_line_of_100_megabytes_is_searched_once_and_joined_once() -> None:
    chunk = Counted(b"x" * 65536)
    Counted.searched = Counted.copied = 0
    framer = LineFramer(256 << 20)
    for _ in range(1600):
        assert framer.feed(chunk) == b""

    assert all(part is chunk for part in framer._tail), "chunks are kept, not copied"
    line = framer.feed(b"\n")
    assert len(line) == 1600 * 65536 + 1
    assert Counted.searched == 1600 * 65536
    assert Counted.copied == 0


def test_a_line_that_trickles_in_does_not_become_a_list_of_single_bytes() -> None:
    framer = LineFramer(PLENTY)
    for _ in range(200_000):
        framer.feed(b"x")

    assert len(framer._tail) <= 200_000 // 65536 + 1
    assert framer.feed(b"\n") == b"x" * 200_000 + b"\n"
