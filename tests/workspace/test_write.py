"""Writing: the result is the new file or the old one, with all attributes preserved."""

from __future__ import annotations

import asyncio
import codecs
import errno
import os
import resource
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accord.errors import InvalidParams, NotFound, RequestFailed
from accord.workspace import atomic_write
from accord.workspace.directory import Directory
from accord.workspace.files import Files
from accord.workspace.roots import Roots


@pytest.fixture
def files(tmp_path: Path) -> Iterator[Files]:
    (tmp_path / "app").mkdir()
    with Roots(str(tmp_path / "app")) as roots:
        yield Files(roots)


@pytest.fixture
def app(tmp_path: Path) -> Path:
    return tmp_path / "app"


@pytest.mark.req("V1-FS-06", "V1-FS-10")
async def test_a_file_is_made_with_the_directories_it_needs(files: Files, app: Path) -> None:
    await files.write(str(app / "a/b/new.txt"), "text")
    assert (app / "a/b/new.txt").read_text() == "text"
    await files.write(str(app / "a/b/new.txt"), "more")
    assert (app / "a/b/new.txt").read_text() == "more"
    assert os.listdir(app / "a/b") == ["new.txt"]


@pytest.mark.req("V1-FS-11")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(text=st.text(max_size=200))
def test_any_text_is_read_as_it_was_written(files: Files, app: Path, text: str) -> None:
    files.disk.sync = False
    files.disk.write(str(app / "file.txt"), text)
    assert (app / "file.txt").read_bytes() == text.encode()
    assert files.disk.read(str(app / "file.txt")) == text.removeprefix("\ufeff")
    os.unlink(app / "file.txt")


@pytest.mark.req("V1-FS-11")
async def test_a_byte_order_mark_is_kept_but_never_added(files: Files, app: Path) -> None:
    (app / "marked.txt").write_bytes(codecs.BOM_UTF8 + b"old\r\n")
    text = await files.read(str(app / "marked.txt"))
    await files.write(str(app / "marked.txt"), text.replace("old", "new"))
    assert (app / "marked.txt").read_bytes() == codecs.BOM_UTF8 + b"new\r\n"
    await files.write(str(app / "marked.txt"), "\ufeffown mark")
    assert (app / "marked.txt").read_bytes() == codecs.BOM_UTF8 + b"own mark"

    await files.write(str(app / "plain.txt"), "x\r\n")
    assert (app / "plain.txt").read_bytes() == b"x\r\n"


async def test_half_a_character_is_refused_before_anything_happens(files: Files, app: Path) -> None:
    with pytest.raises(InvalidParams, match="lone surrogate at 2"):
        await files.write(str(app / "new/file.txt"), "ab\ud800")
    assert os.listdir(app) == []


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o664, 0o444 | 0o200])
async def test_permissions_are_kept(files: Files, app: Path, mode: int) -> None:
    (app / "run.sh").write_text("old")
    os.chmod(app / "run.sh", mode)
    await files.write(str(app / "run.sh"), "new")
    assert stat.S_IMODE(os.stat(app / "run.sh").st_mode) == mode


async def test_the_right_to_run_as_its_owner_is_not_kept(files: Files, app: Path) -> None:
    (app / "run.sh").write_text("old")
    os.chmod(app / "run.sh", 0o4755)
    await files.write(str(app / "run.sh"), "new")
    assert stat.S_IMODE(os.stat(app / "run.sh").st_mode) == 0o755


async def test_a_new_file_has_the_permissions_of_any_new_file(files: Files, app: Path) -> None:
    await files.write(str(app / "new.txt"), "")
    (app / "other.txt").touch()
    assert os.stat(app / "new.txt").st_mode == os.stat(app / "other.txt").st_mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
async def test_the_owner_is_kept(files: Files, app: Path) -> None:
    (app / "theirs.txt").write_text("old")
    os.chown(app / "theirs.txt", 12345, 54321)
    os.chmod(app / "theirs.txt", 0o640)
    await files.write(str(app / "theirs.txt"), "new")
    status = os.stat(app / "theirs.txt")
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (12345, 54321, 0o640)


async def test_attributes_are_kept(files: Files, app: Path) -> None:
    (app / "file.txt").write_text("old")
    os.setxattr(app / "file.txt", "user.origin", b"somewhere")
    await files.write(str(app / "file.txt"), "new")
    assert os.getxattr(app / "file.txt", "user.origin") == b"somewhere"


async def test_a_file_with_another_name_elsewhere_is_replaced_not_written_through(
    files: Files, app: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("theirs")
    os.link(outside, app / "twin.txt")
    await files.write(str(app / "twin.txt"), "ours")
    assert (outside.read_text(), (app / "twin.txt").read_text()) == ("theirs", "ours")
    assert os.stat(outside).st_nlink == 1


async def test_a_link_stays_and_what_it_points_to_is_replaced(files: Files, app: Path) -> None:
    (app / "sub").mkdir()
    (app / "sub/real.txt").write_text("old")
    (app / "link.txt").symlink_to("sub/real.txt")
    await files.write(str(app / "link.txt"), "new")
    assert os.readlink(app / "link.txt") == "sub/real.txt"
    assert (app / "sub/real.txt").read_text() == "new"
    assert sorted(os.listdir(app)) == ["link.txt", "sub"]


def test_a_file_that_may_not_be_written_is_left_alone() -> None:
    # As a user who is not root, since root may write everything.
    code = """if True:
        import os, sys
        from accord.workspace.files import Files
        from accord.workspace.roots import Roots
        if os.geteuid() == 0:
            os.setgroups([]); os.setgid(65534); os.setuid(65534)
        folder = sys.argv[1]
        try:
            Files(Roots(folder)).disk.write(folder + "/kept.txt", "new")
        except Exception as error:
            print(error)
        print(open(folder + "/kept.txt").read())
    """
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kept.txt").write_text("old")
        os.chmod(Path(folder, "kept.txt"), 0o444)
        os.chmod(folder, 0o777)
        done = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True, check=True)
    assert "is read-only" in done.stdout and done.stdout.endswith("old\n")


@pytest.mark.req("V1-FS-10")
@pytest.mark.parametrize("name", ["old.txt", "deep/er/new.txt"])
def test_a_full_disk_leaves_everything_as_it_was(
    files: Files, app: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (app / "old.txt").write_text("old")

    def full(fd: int, data: bytes) -> int:
        if len(data) > 1000:
            return write(fd, bytes(data)[:1000])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write = os.write
    monkeypatch.setattr(atomic_write.os, "write", full)
    with pytest.raises(RequestFailed, match="wasn't changed: no space"):
        files.disk.write(str(app / name), "x" * 2500)
    monkeypatch.undo()
    assert (app / "old.txt").read_text() == "old"
    assert os.listdir(app) == ["old.txt"]


@pytest.mark.req("V1-FS-10")
def test_a_limit_of_the_system_leaves_everything_as_it_was(files: Files, app: Path) -> None:
    (app / "old.txt").write_text("old")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    try:
        with pytest.raises(RequestFailed, match="no space"):
            files.disk.write(str(app / "old.txt"), "x" * (3 << 20))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (app / "old.txt").read_text() == "old"
    assert os.listdir(app) == ["old.txt"]


async def test_a_cancelled_write_changes_nothing_and_is_settled(
    files: Files, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (app / "old.txt").write_text("old")
    reached, go_on = threading.Event(), threading.Event()

    def slow(fd: int) -> None:
        reached.set()
        assert go_on.wait(20)

    monkeypatch.setattr(atomic_write.os, "fsync", slow)
    writing = asyncio.ensure_future(files.write(str(app / "old.txt"), "new"))
    await asyncio.to_thread(reached.wait, 20)
    writing.cancel()
    await asyncio.sleep(0)
    assert not writing.done()  # the thread still has the file open
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert (app / "old.txt").read_text() == "old"
    assert os.listdir(app) == ["old.txt"]


async def test_the_event_loop_runs_while_a_write_waits_for_the_disk(
    files: Files, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(atomic_write.os, "fsync", lambda fd: go_on.wait(20))
    writing = asyncio.ensure_future(files.write(str(app / "new.txt"), "new"))
    await asyncio.sleep(0)
    assert not writing.done()
    go_on.set()
    await writing
    assert (app / "new.txt").read_text() == "new"


async def test_many_writers_of_one_file_leave_one_of_their_texts(files: Files, app: Path) -> None:
    texts = [str(number) * 5000 for number in range(10)]
    await asyncio.gather(*(files.write(str(app / "a/b/file.txt"), text) for text in texts))
    assert (app / "a/b/file.txt").read_text() in texts
    assert os.listdir(app / "a/b") == ["file.txt"]


async def test_a_file_is_deleted_and_a_link_without_what_it_points_to(files: Files, app: Path) -> None:
    (app / "file.txt").write_text("x")
    (app / "link").symlink_to("file.txt")
    await files.delete(str(app / "link"))
    assert os.listdir(app) == ["file.txt"]
    await files.delete(str(app / "file.txt"))
    assert os.listdir(app) == []
    with pytest.raises(NotFound):
        await files.delete(str(app / "file.txt"))
    with pytest.raises(InvalidParams, match="is a directory"):
        await files.delete(str(app))


async def test_a_file_is_moved_and_nothing_is_lost_by_it(files: Files, app: Path) -> None:
    (app / "a.txt").write_text("a")
    (app / "b.txt").write_text("b")
    with pytest.raises(InvalidParams, match="already exists"):
        await files.move(str(app / "a.txt"), str(app / "b.txt"))
    with pytest.raises(InvalidParams, match="the same path"):
        await files.move(str(app / "a.txt"), str(app / "./a.txt"), overwrite=True)
    await files.move(str(app / "a.txt"), str(app / "new/c.txt"))
    assert (app / "new/c.txt").read_text() == "a" and not (app / "a.txt").exists()
    await files.move(str(app / "new/c.txt"), str(app / "b.txt"), overwrite=True)
    assert (app / "b.txt").read_text() == "a" and os.listdir(app / "new") == []
    with pytest.raises(NotFound):
        await files.move(str(app / "a.txt"), str(app / "d.txt"))


async def test_a_move_between_two_names_of_one_file_leaves_one(files: Files, app: Path) -> None:
    (app / "a.txt").write_text("a")
    os.link(app / "a.txt", app / "b.txt")
    await files.move(str(app / "a.txt"), str(app / "b.txt"), overwrite=True)
    assert os.listdir(app) == ["b.txt"]


@pytest.mark.parametrize("overwrite", [False, True])
async def test_a_move_to_another_file_system_is_a_copy(
    files: Files, app: Path, overwrite: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    (app / "run.sh").write_bytes(b"\xff binary")
    os.chmod(app / "run.sh", 0o750)
    rename = Directory.rename

    def apart(self: Directory, name: str, to: Directory, new_name: str) -> None:
        if not atomic_write.TEMPORARY.fullmatch(name):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        rename(self, name, to, new_name)

    monkeypatch.setattr(Directory, "rename", apart)
    monkeypatch.setattr(Directory, "add_name", apart)
    await files.move(str(app / "run.sh"), str(app / "there/run.sh"), overwrite=overwrite)
    assert (app / "there/run.sh").read_bytes() == b"\xff binary"
    assert stat.S_IMODE(os.stat(app / "there/run.sh").st_mode) == 0o750
    assert os.listdir(app) == ["there"]
