"""The tail of a child's standard error."""

from __future__ import annotations

from accord.process.stderr import MAX_LINE_CHARACTERS, Tail


def test_only_the_last_part_is_kept_from_the_beginning_of_a_line() -> None:
    tail = Tail(kept_bytes=100)
    for number in range(1000):
        tail.feed(b"line %d\n" % number)

    lines = tail.text().splitlines()
    assert lines[-1] == "line 999"
    assert len(tail.text()) <= 100
    assert lines == [f"line {number}" for number in range(1000 - len(lines), 1000)], "no half lines"


def test_a_line_whose_beginning_is_gone_is_not_shown() -> None:
    tail = Tail(kept_bytes=12)
    for part in (b"aaaa\nb", b"bbb\ncc", b"cc\nddd"):
        tail.feed(part)

    assert tail.text() == "cccc\nddd"


def test_short_text_is_not_truncated() -> None:
    tail = Tail()
    tail.feed(b"one\ntw")
    tail.feed(b"o\n\n")

    assert tail.text() == "one\ntwo"


def test_one_endless_line_is_cut_and_not_lost() -> None:
    tail = Tail(kept_bytes=50)
    tail.feed(b"x" * 1000)

    assert tail.text() == "x" * 50


def test_invalid_bytes_are_replaced() -> None:
    tail = Tail()
    tail.feed(b"caf\xff\n")

    assert tail.text() == "caf�"


def test_many_small_writes_do_not_become_many_objects() -> None:
    tail = Tail()
    for _ in range(50_000):
        tail.feed(b"x")

    assert len(tail._parts) <= 1025
    assert tail.text() == "x" * 50_000


def test_a_listener_hears_whole_lines_though_characters_are_cut() -> None:
    heard: list[str] = []
    tail = Tail(heard.append)
    for byte in "grün\r\nblau\nrot".encode():
        tail.feed(bytes([byte]))
    assert heard == ["grün", "blau"]
    tail.finish()
    assert heard == ["grün", "blau", "rot"]


def test_a_listener_need_not_wait_for_the_end_of_an_endless_line() -> None:
    heard: list[str] = []
    tail = Tail(heard.append)
    for _ in range(100):
        tail.feed(b"x" * 10_000)

    assert len("".join(heard)) > 900_000


def test_an_overlong_line_is_split_between_words_so_that_a_key_can_be_redacted() -> None:
    heard: list[str] = []
    tail = Tail(heard.append)
    start = "x" * MAX_LINE_CHARACTERS
    tail.feed(f"{start} key-abcdef".encode())
    tail.feed(b"ghijkl rest\n")

    assert heard == [f"{start} ", "key-abcdefghijkl rest"]


def test_an_overlong_line_without_spaces_is_still_split() -> None:
    heard: list[str] = []
    Tail(heard.append).feed(b"x" * (MAX_LINE_CHARACTERS + 1))

    assert heard == ["x" * (MAX_LINE_CHARACTERS + 1)]
