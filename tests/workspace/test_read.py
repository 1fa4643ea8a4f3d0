"""Reading: line numbers start at 1, text is exact, and memory is bounded."""

from __future__ import annotations

import codecs
import os
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accord.errors import InvalidParams, NotFound, RequestFailed
from accord.workspace.disk import Entry
from accord.workspace.files import Files
from accord.workspace.place import Call
from accord.workspace.roots import Roots


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Files]:
    with Roots(str(tmp_path)) as roots:
        yield Files(roots, sync=False, max_read_bytes=4 << 20)


def put(tmp_path: Path, content: bytes | str, name: str = "file.txt") -> str:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


@pytest.mark.req("V1-FS-04", "V1-FS-05")
@pytest.mark.parametrize(
    "line, limit, text",
    [
        (None, None, "one\ntwo\nthree\n"),
        (1, None, "one\ntwo\nthree\n"),
        (0, None, "one\ntwo\nthree\n"),
        (0, 1, "one\n"),
        (2, 1, "two\n"),
        (2, None, "two\nthree\n"),
        (None, 2, "one\ntwo\n"),
        (3, 9, "three\n"),
        (4, None, ""),
        (4, 1, ""),
        (5, 1, ""),
        (2**32 - 1, 2**32 - 1, ""),
        (1, 0, ""),
        (2, 0, ""),
        (None, 0, ""),
    ],
)
async def test_lines_are_counted_from_one(
    files: Files, tmp_path: Path, line: int | None, limit: int | None, text: str
) -> None:
    assert await files.read(put(tmp_path, "one\ntwo\nthree\n"), line, limit) == text


@pytest.mark.parametrize(
    "line, limit, text", [(3, None, "three"), (3, 1, "three"), (4, None, ""), (2, 2, "two\nthree")]
)
async def test_the_last_line_needs_no_end(
    files: Files, tmp_path: Path, line: int, limit: int | None, text: str
) -> None:
    assert await files.read(put(tmp_path, "one\ntwo\nthree"), line, limit) == text


@pytest.mark.parametrize("line, limit", [(-1, None), (None, -1)])
async def test_there_are_no_lines_before_the_first(
    files: Files, tmp_path: Path, line: int | None, limit: int | None
) -> None:
    with pytest.raises(InvalidParams, match="start at 1"):
        await files.read(put(tmp_path, "one\n"), line, limit)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    text=st.text(alphabet="ab\n\r\té€\U0001f600\0", max_size=60),
    line=st.integers(0, 12) | st.none(),
    limit=st.integers(0, 12) | st.none(),
    chunk=st.integers(1, 9),
)
def test_any_part_of_any_text_is_the_lines_that_were_asked_for(
    text: str, line: int | None, limit: int | None, chunk: int
) -> None:
    from accord.workspace import text as reading

    class Trickle:
        """Gives a few bytes at a time, so that every boundary falls everywhere."""

        def __init__(self) -> None:
            self.left = text.encode()

        def read(self, size: int) -> bytes:
            # The first chunk is long enough to see a byte order mark.
            now, self.left = self.left[: chunk + 3], self.left[chunk + 3 :]
            return now

    lines = [each + "\n" for each in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    start = max((line or 1) - 1, 0)
    end = None if limit is None else start + limit
    assert reading.read_text(Trickle(), "/x", line=line, limit=limit, ceiling=1000) == "".join(lines[start:end])


@pytest.mark.req("V1-FS-11")
@pytest.mark.parametrize("text", ["a\r\nb\r\n", "a\rb", "a\n\n\n", "", "\n", "no end", "ä€😀\u2028x\x0c", "zero\0byte"])
async def test_text_is_given_exactly(files: Files, tmp_path: Path, text: str) -> None:
    assert await files.read(put(tmp_path, text)) == text


async def test_parts_read_one_after_the_other_make_the_whole(files: Files, tmp_path: Path) -> None:
    text = "a\r\nb\n\r\nlast"
    path = put(tmp_path, text)
    assert "".join([await files.read(path, line, 1) for line in range(1, 6)]) == text


async def test_a_byte_order_mark_is_not_shown(files: Files, tmp_path: Path) -> None:
    path = put(tmp_path, codecs.BOM_UTF8 + b"one\ntwo\n")
    assert await files.read(path) == "one\ntwo\n"
    assert await files.read(path, 1, 1) == "one\n"
    assert await files.read(path, 2, 1) == "two\n"


@pytest.mark.parametrize(
    "content, words",
    [
        (codecs.BOM_UTF16_LE + "hé".encode("utf-16-le"), r"UTF-16 \(little-endian\)"),
        (codecs.BOM_UTF16_BE + "hé".encode("utf-16-be"), r"UTF-16 \(big-endian\)"),
        (codecs.BOM_UTF32_LE + "hé".encode("utf-32-le"), r"UTF-32 \(little-endian\)"),
        (codecs.BOM_UTF32_BE + "hé".encode("utf-32-be"), r"UTF-32 \(big-endian\)"),
        ("abc\ncafé".encode("latin-1"), r"byte 0xe9 at offset 7.*Latin-1"),
        (b"\x7fELF\x02\x01\0\0\xff\xfe", "byte 0xff at offset 8.*binary"),
        (b"cut \xe2\x82", "byte 0xe2 at offset 4"),
    ],
)
async def test_another_encoding_is_named(files: Files, tmp_path: Path, content: bytes, words: str) -> None:
    with pytest.raises(InvalidParams, match=words):
        await files.read(put(tmp_path, content))


async def test_the_place_of_a_bad_byte_is_counted_from_the_start_of_the_file(files: Files, tmp_path: Path) -> None:
    path = put(tmp_path, b"one\ntwo\nthr\xffe\nfour\n")
    with pytest.raises(InvalidParams, match="offset 11"):
        await files.read(path, 2)
    assert await files.read(path, 4) == "four\n"


async def test_a_file_that_is_too_large_is_read_in_parts(files: Files, tmp_path: Path) -> None:
    path = put(tmp_path, b"line\n" * (1 << 20))
    with pytest.raises(InvalidParams, match=r"is 5\.0 MiB; the limit for a whole file is 4\.0 MiB: .*line and limit"):
        await files.read(path)
    with pytest.raises(InvalidParams, match="read fewer lines"):
        await files.read(path, 2)
    with pytest.raises(InvalidParams, match="this part of"):
        await files.read(path, 2, 1 << 20)
    assert await files.read(path, 1 << 20, 5) == "line\n"


@pytest.mark.req("V1-FS-04")
def test_a_huge_file_costs_what_is_asked_of_it(files: Files, tmp_path: Path) -> None:
    def holes(name: str, size: int) -> str:
        path = tmp_path / name
        with open(path, "wb") as file:
            file.write(b"first\nsecond\n")
            file.truncate(size)
            file.seek(0, os.SEEK_END)
            file.write(b"\nlast\n")
        return str(path)

    huge, large = holes("huge", 2 << 30), holes("large", 64 << 20)
    tracemalloc.start()
    try:
        assert files.disk.read(huge, 2, 1) == "second\n"
        with pytest.raises(InvalidParams):
            files.disk.read(huge)
        with pytest.raises(InvalidParams):
            files.disk.read(huge, 3, 1)  # two gigabytes in one line
        assert files.disk.read(large, 4, 1) == "last\n"
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20


async def test_a_long_read_that_is_cancelled_stops(files: Files, tmp_path: Path) -> None:
    path = put(tmp_path, b"")
    os.truncate(path, 1 << 40)  # would take minutes
    call = Call()
    stopped: list[RequestFailed] = []

    def read() -> None:
        try:
            files.disk.read(path, 2, 1, call)
        except RequestFailed as error:
            stopped.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    call.is_wanted = False
    thread.join(20)
    assert len(stopped) == 1


@pytest.mark.req("V1-FS-08")
@pytest.mark.parametrize("name", ["nope.txt", "nope/nope.txt", "file.txt/x"])
async def test_a_missing_file_is_not_found(files: Files, tmp_path: Path, name: str) -> None:
    put(tmp_path, "x")
    with pytest.raises(NotFound):
        await files.read(str(tmp_path / name))
    assert await files.exists(str(tmp_path / name)) is False


async def test_a_directory_is_listed_by_name(files: Files, tmp_path: Path) -> None:
    put(tmp_path, "12345", "b.txt")
    (tmp_path / "a").mkdir()
    (tmp_path / "c").symlink_to("/etc")
    os.mkfifo(tmp_path / "d")
    put(tmp_path, "", ".accord-0123456789abcdef.tmp")
    os.mkdir(os.fsencode(tmp_path) + b"/\xff")

    assert await files.list(str(tmp_path)) == [
        Entry(name="\\xff", kind="other", has_escapes=True),
        Entry(name="a", kind="directory"),
        Entry(name="b.txt", kind="file", size=5),
        Entry(name="c", kind="link"),
        Entry(name="d", kind="other"),
    ]
    assert await files.list(str(tmp_path / "a")) == await files.list(str(tmp_path / "a/")) == []
    assert await files.exists(str(tmp_path / "a")) and await files.exists(str(tmp_path / "b.txt"))
    with pytest.raises(InvalidParams, match="not a directory"):
        await files.list(str(tmp_path / "b.txt"))
    with pytest.raises(NotFound):
        await files.list(str(tmp_path / "nope"))
