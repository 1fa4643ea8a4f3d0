"""Listeners get every change, in order, with the text before and after."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from accord.errors import RequestFailed
from accord.workspace.changes import Change, State
from accord.workspace.files import Files
from accord.workspace.roots import Roots


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Files]:
    with Roots(str(tmp_path)) as roots:
        yield Files(roots, sync=False, max_read_bytes=1000)


async def test_every_kind_of_change_is_reported(files: Files, tmp_path: Path) -> None:
    heard: list[Change] = []
    threads: set[int] = set()
    files.on_change(heard.append)
    files.on_change(lambda change: threads.add(threading.get_ident()))
    a, b = str(tmp_path / "a.txt"), str(tmp_path / "b.txt")

    await files.write(a, "one")
    assert len(heard) == 1  # before the writer continues
    await files.write(a, "two")
    await files.move(a, b)
    await files.delete(b)

    assert heard == [
        Change(path=a, kind="created", before=None, after="one"),
        Change(path=a, kind="changed", before="one", after="two"),
        Change(path=b, kind="moved", before="two", after="two", source=a),
        Change(path=b, kind="deleted", before="two", after=None),
    ]
    assert threads == {threading.get_ident()}


async def test_a_change_is_reported_with_the_resolved_path(files: Files, tmp_path: Path) -> None:
    heard: list[Change] = []
    files.on_change(heard.append)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    await files.write(str(tmp_path / "link/../link/a.txt"), "x")
    assert [change.path for change in heard] == [str(tmp_path / "real/a.txt")]


@pytest.mark.parametrize("content", [b"\xff\xfe binary", b"x" * 1001])
async def test_binary_or_large_content_is_not_reported(files: Files, tmp_path: Path, content: bytes) -> None:
    heard: list[Change] = []
    files.on_change(heard.append)
    (tmp_path / "a.txt").write_bytes(content)
    await files.write(str(tmp_path / "a.txt"), "text")
    assert heard == [Change(path=str(tmp_path / "a.txt"), kind="changed", before=None, after="text")]


async def test_a_failed_change_is_not_reported(files: Files, tmp_path: Path) -> None:
    heard: list[Change] = []
    files.on_change(heard.append)
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "nope.txt"):
        with pytest.raises(RequestFailed):
            await files.delete(str(path))
    assert heard == []


async def test_removed_listeners_are_not_called(files: Files, tmp_path: Path) -> None:
    heard: list[Change] = []
    stop = files.on_change(heard.append)
    stop()
    await files.write(str(tmp_path / "a.txt"), "x")
    assert heard == []


async def test_an_exception_in_a_listener_is_logged(
    files: Files, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    heard: list[Change] = []

    def fail(change: Change) -> None:
        raise ValueError("out of order")

    files.on_change(fail)
    files.on_change(heard.append)
    with caplog.at_level(logging.ERROR):
        await files.write(str(tmp_path / "a.txt"), "x")
    assert len(heard) == 1 and "a listener raised" in caplog.text


async def test_changes_are_reported_in_order(files: Files, tmp_path: Path) -> None:
    heard: list[Change] = []
    files.on_change(heard.append)
    path = str(tmp_path / "a.txt")
    await asyncio.gather(*(files.write(path, str(number)) for number in range(30)))
    texts = [change.after for change in heard]
    assert [change.before for change in heard] == [None, *texts[:-1]]
    assert (tmp_path / "a.txt").read_text() == texts[-1]


async def test_a_guard_hears_before_and_may_refuse(files: Files, tmp_path: Path) -> None:
    seen: list[tuple[str, bytes | None, bytes | None]] = []

    def guard(path: str, before: State, after: State, made: tuple[str, ...]) -> None:
        assert not (tmp_path / "new").exists()
        seen.append((path, before.data, after.data))
        assert made == (str(tmp_path / "new"), str(tmp_path / "new/er"))
        raise RequestFailed("not today")

    stop = files.before_change(guard)
    path = str(tmp_path / "new/er/a.txt")
    with pytest.raises(RequestFailed, match="not today"):
        await files.write(path, "x")
    assert seen == [(path, None, b"x")]
    assert os.listdir(tmp_path) == []
    stop()
    await files.write(path, "x")
