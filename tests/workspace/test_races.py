"""A call stays inside the workspace, even if paths are swapped while it runs.

The swap is made at every step of a call in turn, so that no interleaving is left to chance, and then by a thread in a
loop."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from workspace.hostile_workspace import LOOT, SECRET, Planted

from accord.errors import RequestFailed
from accord.workspace.directory import Directory

STEPS = [
    "status_of",
    "link",
    "child",
    "read",
    "create",
    "make_directory",
    "rename",
    "add_name",
    "remove",
    "copy",
    "may_write",
]


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Planted]:
    planted = Planted(tmp_path)
    yield planted
    planted.close()


class Flip:
    """Two things that take turns under one name; the first is there to begin with."""

    def __init__(self, path: Path, other: Path) -> None:
        self.path, self.other = path, other
        self.spare = path.with_name("." + path.name + "-spare")
        self.count = 0

    def __call__(self) -> None:
        if os.path.lexists(self.path):
            os.rename(self.path, self.spare)
        while True:
            try:
                os.rename(self.other, self.path)
                break
            except OSError:  # a call made a directory in the gap
                shutil.rmtree(self.path, ignore_errors=True)
        if os.path.lexists(self.spare):
            os.rename(self.spare, self.other)
        self.count += 1


def folder_and_link(planted: Planted) -> Flip:
    """A directory of the workspace, and a link to one outside."""
    (planted.app / "flip").mkdir()
    (planted.app / "flip/secret.txt").write_text("inside")
    (planted.app / "other").symlink_to(planted.outside)
    return Flip(planted.app / "flip", planted.app / "other")


def file_and_link(planted: Planted) -> Flip:
    (planted.app / "flip").mkdir()
    (planted.app / "flip/secret.txt").write_text("inside")
    (planted.app / "other").symlink_to(planted.outside / "secret.txt")
    return Flip(planted.app / "flip/secret.txt", planted.app / "other")


def link_and_link(planted: Planted) -> Flip:
    """A link that points inside, and one that points outside."""
    (planted.app / "real").mkdir()
    (planted.app / "real/secret.txt").write_text("inside")
    (planted.app / "flip").symlink_to("real")
    (planted.app / "other").symlink_to("../outside")
    return Flip(planted.app / "flip", planted.app / "other")


def file_and_fifo(planted: Planted) -> Flip:
    (planted.app / "flip").mkdir()
    (planted.app / "flip/secret.txt").write_text("inside")
    os.mkfifo(planted.app / "other")
    return Flip(planted.app / "flip/secret.txt", planted.app / "other")


def file_and_folder(planted: Planted) -> Flip:
    (planted.app / "flip").mkdir()
    (planted.app / "flip/secret.txt").write_text("inside")
    (planted.app / "other").mkdir()
    return Flip(planted.app / "flip/secret.txt", planted.app / "other")


def link_and_folder(planted: Planted) -> Flip:
    """The bait is outside at first, the directory comes later."""
    flip = folder_and_link(planted)
    flip()
    return flip


def nothing_and_link(planted: Planted) -> Flip:
    """A link appears where a directory was to be made."""
    (planted.app / "flip").mkdir()
    (planted.app / "flip/secret.txt").write_text("inside")
    (planted.app / "other").symlink_to(planted.outside)
    return Flip(planted.app / "flip/new", planted.app / "other")


FLIPS = [
    nothing_and_link,
    folder_and_link,
    file_and_link,
    link_and_link,
    file_and_fifo,
    file_and_folder,
    link_and_folder,
]


class Moved:
    """A directory on the way is moved next to the secret, so that its parent is another one."""

    def __init__(self, planted: Planted) -> None:
        self.here, self.there = planted.app / "sub/deep", planted.base / "outside/deep"

    def __call__(self) -> None:
        os.rename(self.here, self.there)
        os.rename(self.there, self.here)

    def away(self) -> None:
        os.rename(self.here, self.there)


@contextmanager
def at_step(number: int, happens: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Has something happen just before the nth thing that is done to the file system."""
    steps = [0]

    def wrap(name: str) -> None:
        plain = getattr(Directory, name)

        def step(self: Directory, *args: object) -> object:
            if steps[0] == number:
                happens()
            steps[0] += 1
            return plain(self, *args)

        patch.setattr(Directory, name, step)

    with monkeypatch.context() as patch:
        for name in STEPS:
            wrap(name)
        yield steps


CALLS: dict[str, Callable[[Planted], object]] = {
    "read": lambda planted: planted.files.disk.read(str(planted.app / "flip/secret.txt")),
    "read by dots": lambda planted: planted.files.disk.read(str(planted.app / "flip/../flip/secret.txt")),
    "write": lambda planted: planted.files.disk.write(str(planted.app / "flip/secret.txt"), LOOT),
    "write new": lambda planted: planted.files.disk.write(str(planted.app / "flip/new/new.txt"), LOOT),
    "delete": lambda planted: planted.files.disk.delete(str(planted.app / "flip/secret.txt")),
    "move from": lambda planted: planted.files.disk.move(str(planted.app / "flip/secret.txt"), str(planted.app / "x")),
    "move to": lambda planted: planted.files.disk.move(
        str(planted.app / "notes.txt"), str(planted.app / "flip/secret.txt"), True
    ),
    "list": lambda planted: planted.files.disk.list(str(planted.app / "flip")),
}


@pytest.mark.req("V1-SETUP-22")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("flips", FLIPS, ids=lambda flips: flips.__name__)
def test_a_swap_at_any_step_never_escapes(
    call: str, flips: Callable[[Planted], Flip], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = 0
    planted: Planted | None = None
    while True:
        if planted is None:
            base = tmp_path / str(step)
            base.mkdir()
            planted = Planted(base, with_twins=False)
            flip = flips(planted)
        flipped = flip.count
        result: object = None
        with at_step(step, flip, monkeypatch) as steps, suppress(RequestFailed):
            result = CALLS[call](planted)
        planted.check_outside()
        assert SECRET not in str(result)
        if call.startswith("read"):
            assert result in ("inside", None)  # and not the nothing that a FIFO gives
        if call == "list" and isinstance(result, list):
            assert "dir" not in [entry.name for entry in result]  # that one is outside
        if steps[0] <= step:
            break
        assert flip.count == flipped + 1
        if call in ("read", "read by dots", "list") and flips is not nothing_and_link:
            flip()  # back, and nothing else has changed
        else:
            planted.close()
            planted = None
        step += 1
    planted.close()
    assert step >= 3


def test_a_parent_that_is_moved_out_is_not_climbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for step in range(20):
        base = tmp_path / str(step)
        base.mkdir()
        planted = Planted(base, with_twins=False)
        # Were the kernel asked for `..` after the move, this would be the secret.
        path = str(planted.app / "sub/deep/../secret.txt")
        with at_step(step, Moved(planted).away, monkeypatch), pytest.raises(RequestFailed):
            planted.files.disk.read(path)
        with at_step(step, Moved(planted), monkeypatch), suppress(RequestFailed):
            planted.files.disk.write(path, LOOT)
        with suppress(FileNotFoundError):
            os.rename(base / "outside/deep", planted.app / "sub/deep")
        planted.check_outside()
        planted.close()


@contextmanager
def restless(flip: Flip) -> Iterator[None]:
    """Flips without end, in a thread beside."""
    over = threading.Event()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            while not over.is_set():
                flip()
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert not failed


@pytest.mark.req("V1-SETUP-22")
@pytest.mark.parametrize("flips", [folder_and_link, file_and_link, link_and_link, file_and_fifo])
def test_a_thread_that_swaps_all_the_time_gets_nothing(flips: Callable[[Planted], Flip], planted: Planted) -> None:
    flip = flips(planted)
    path = str(planted.app / "flip/secret.txt")
    read: list[str] = []
    with restless(flip):
        rounds = 0
        while rounds < 4000 and (rounds < 150 or not read or flip.count < 150):
            rounds += 1
            with suppress(RequestFailed):
                read.append(planted.files.disk.read(path))
            with suppress(RequestFailed):
                assert "dir" not in [entry.name for entry in planted.files.disk.list(str(planted.app / "flip"))]

    assert set(read) == {"inside"}
    planted.check_outside()


@pytest.mark.parametrize("flips", [folder_and_link, link_and_link])
def test_writes_under_constant_swapping_stay_inside(flips: Callable[[Planted], Flip], planted: Planted) -> None:
    flip = flips(planted)
    written = 0
    with restless(flip):
        rounds = 0
        while rounds < 4000 and (rounds < 100 or not written or flip.count < 100):
            rounds += 1
            with suppress(RequestFailed):
                planted.files.disk.write(str(planted.app / f"flip/new{rounds % 3}/new.txt"), LOOT)
                written += 1
            with suppress(RequestFailed):
                planted.files.disk.delete(str(planted.app / f"flip/new{rounds % 3}/new.txt"))

    assert written
    planted.check_outside()
