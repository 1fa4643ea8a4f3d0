"""Restoring files to before a turn, and undoing that; changes by others are never overwritten without asking."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from accord.errors import NotFound, RequestFailed
from accord.workspace.changes import Change
from accord.workspace.checkpoints import Checkpoints, Restored
from accord.workspace.files import Files
from accord.workspace.overlay import Overlay
from accord.workspace.roots import Roots


@pytest.fixture
def app(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    return tmp_path / "app"


@pytest.fixture
def overlay() -> Overlay:
    return Overlay()


@pytest.fixture
def files(app: Path, overlay: Overlay) -> Iterator[Files]:
    with Roots(str(app)) as roots:
        yield Files(roots, overlay, sync=False, max_read_bytes=1 << 20)


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def tree(folder: Path) -> dict[str, str | bytes | None]:
    """Everything in a folder: texts, what links say, None for directories."""
    found: dict[str, str | bytes | None] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = os.readlink(path) if path.is_symlink() else None if path.is_dir() else path.read_bytes()
    return found


async def work(files: Files, app: Path) -> None:
    """A turn: changes, makes, moves and deletes."""
    await files.write(str(app / "changed.txt"), "by the agent")
    await files.write(str(app / "changed.txt"), "by the agent, again")
    await files.write(str(app / "new/er/made.txt"), "made")
    await files.write(str(app / "new/er/too.txt"), "made too")
    await files.move(str(app / "moved.bin"), str(app / "new/moved.bin"))
    await files.delete(str(app / "deleted.sh"))
    await files.delete(str(app / "link"))


def fill(app: Path) -> None:
    (app / "changed.txt").write_bytes(b"\xef\xbb\xbfold\r\n")
    (app / "moved.bin").write_bytes(b"\xff\0binary")
    (app / "deleted.sh").write_text("run")
    os.chmod(app / "deleted.sh", 0o755)
    (app / "link").symlink_to("changed.txt")
    (app / "untouched.txt").write_text("as ever")


async def test_a_turn_can_be_undone_and_the_undo_as_well(files: Files, app: Path, store: str) -> None:
    fill(app)
    before = tree(app)
    checkpoints = Checkpoints(files, store)
    start = await checkpoints.begin("turn 1")
    await work(files, app)
    after = tree(app)
    assert after != before

    report = await checkpoints.restore(start)
    assert report.is_complete and str(app / "changed.txt") in report.restored
    assert sorted(report.removed) == [str(app / f"new/{name}") for name in ("er/made.txt", "er/too.txt", "moved.bin")]
    assert tree(app) == before
    assert stat.S_IMODE(os.stat(app / "deleted.sh").st_mode) == 0o755

    report = await checkpoints.undo_restore()
    assert report.is_complete
    assert tree(app) == after
    with pytest.raises(NotFound, match="no restore"):
        await checkpoints.undo_restore()


async def test_everything_survives_the_process(app: Path, store: str) -> None:
    fill(app)
    before = tree(app)
    with Roots(str(app)) as roots:
        first = Files(roots, sync=False)
        await Checkpoints(first, store).begin("turn 1")
        await work(first, app)
    after = tree(app)
    with Roots(str(app)) as roots:
        checkpoints = Checkpoints(Files(roots, sync=False), store)
        assert [each.label for each in checkpoints.all] == ["turn 1"]
        assert (await checkpoints.restore(checkpoints.all[0].id)).is_complete
        assert tree(app) == before
    with Roots(str(app)) as roots:
        assert (await Checkpoints(Files(roots, sync=False), store).undo_restore()).is_complete
        assert tree(app) == after
    with Roots(str(app)) as roots, pytest.raises(NotFound):
        await Checkpoints(Files(roots, sync=False), store).undo_restore()


async def test_restoring_two_turns_back_undoes_both(files: Files, app: Path, store: str) -> None:
    checkpoints = Checkpoints(files, store)
    path = app / "file.txt"
    path.write_text("0")
    marks = []
    for turn in "123":
        marks.append(await checkpoints.begin(turn))
        await files.write(str(path), turn)
        await files.write(str(app / f"only{turn}.txt"), turn)

    await checkpoints.restore(marks[1])
    assert tree(app) == {"file.txt": b"1", "only1.txt": b"1"}
    await checkpoints.restore(marks[0])
    assert tree(app) == {"file.txt": b"0"}
    await checkpoints.restore(marks[2])  # forward, for what is known
    assert tree(app) == {"file.txt": b"2", "only1.txt": b"1", "only2.txt": b"2"}
    await checkpoints.undo_restore()
    assert tree(app) == {"file.txt": b"0"}
    await checkpoints.undo_restore()
    assert tree(app) == {"file.txt": b"1", "only1.txt": b"1"}


async def test_files_changed_by_others_are_reported_and_left_alone(files: Files, app: Path, store: str) -> None:
    checkpoints = Checkpoints(files, store)
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        (app / name).write_text("old")
    start = await checkpoints.begin("turn")
    for name in ("a.txt", "b.txt", "c.txt", "d.txt", "e.txt"):
        await files.write(str(app / name), "by the agent")
    (app / "a.txt").write_text("by a person")
    (app / "b.txt").unlink()
    (app / "c.txt").unlink()
    (app / "c.txt").symlink_to("/etc/passwd")
    (app / "d.txt").write_text("old")
    (app / "e.txt").unlink()
    (app / "e.txt").mkdir()

    report = await checkpoints.restore(start)
    assert report == Restored(same=[str(app / "d.txt")], conflicts=[str(app / f"{name}.txt") for name in "abce"])
    assert not report.is_complete
    changed = tree(app)
    assert (app / "a.txt").read_text() == "by a person"

    report = await checkpoints.restore(start, force=True)
    assert report.conflicts == [str(app / "e.txt")]  # a directory is not removed, even so
    assert tree(app) == {"a.txt": b"old", "b.txt": b"old", "c.txt": b"old", "d.txt": b"old", "e.txt": None}
    assert (await checkpoints.undo_restore()).is_complete
    assert tree(app) == changed


async def test_undoing_a_restore_keeps_later_changes(files: Files, app: Path, store: str) -> None:
    checkpoints = Checkpoints(files, store)
    start = await checkpoints.begin("turn 1")
    await files.write(str(app / "a.txt"), "1")
    await files.write(str(app / "b.txt"), "1")
    await checkpoints.restore(start)
    await checkpoints.begin("turn 2")
    await files.write(str(app / "a.txt"), "2")

    report = await checkpoints.undo_restore()
    assert (report.restored, report.conflicts) == ([str(app / "b.txt")], [str(app / "a.txt")])
    assert (app / "a.txt").read_text() == "2"


async def test_a_path_whose_directory_became_a_link_is_a_conflict(files: Files, app: Path, store: str) -> None:
    checkpoints = Checkpoints(files, store)
    (app / "sub").mkdir()
    (app / "other").mkdir()
    start = await checkpoints.begin("turn")
    await files.write(str(app / "sub/a.txt"), "x")
    os.rename(app / "sub", app / "sub2")
    os.symlink("other", app / "sub")
    report = await checkpoints.restore(start, force=True)
    assert report.conflicts == [str(app / "sub/a.txt")]
    assert os.listdir(app / "other") == []


@pytest.mark.parametrize("obstacle", ["link to outside", "broken link", "loop of links", "file"])
async def test_an_obstacle_in_place_of_a_directory_is_a_conflict_of_its_files_only(
    files: Files, app: Path, store: str, obstacle: str
) -> None:
    checkpoints = Checkpoints(files, store)
    fill(app)
    (app / "sub").mkdir()
    (app / "sub/a.txt").write_text("old")
    start = await checkpoints.begin("turn")
    await files.write(str(app / "sub/a.txt"), "new")
    await work(files, app)
    checkpoints.end()
    os.rename(app / "sub", app / "sub2")
    targets = {"link to outside": str(app.parent), "broken link": "/missing/place", "loop of links": "sub"}
    if obstacle == "file":
        (app / "sub").write_text("the user's")
    else:
        os.symlink(targets[obstacle], app / "sub")
    report = await checkpoints.restore(start)
    assert report.conflicts == [str(app / "sub/a.txt")] and not report.failed
    assert (app / "changed.txt").read_text() != "by the agent, again" and not (app / "new").exists()
    assert (app / "sub2/a.txt").read_text() == "new" and not (app.parent / "a.txt").exists()


async def test_a_file_that_cannot_be_written_does_not_stop_a_restore(
    files: Files, app: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = Checkpoints(files, store)
    start = await checkpoints.begin("turn")
    for name in ("a.txt", "b.txt"):
        await files.write(str(app / name), "new")
    checkpoints.end()
    restore = files.disk.restore

    def fail_once(path: str, *args: Any) -> Any:
        if path.endswith("a.txt"):
            raise RequestFailed("a.txt wasn't changed: no space")
        return restore(path, *args)

    monkeypatch.setattr(files.disk, "restore", fail_once)
    report = await checkpoints.restore(start)
    assert report.failed == {str(app / "a.txt"): "a.txt wasn't changed: no space"}
    assert not report.is_complete and report.removed == [str(app / "b.txt")]


async def test_changes_outside_a_checkpoint_are_not_recorded(files: Files, app: Path, store: str) -> None:
    checkpoints = Checkpoints(files, store)
    await files.write(str(app / "before.txt"), "x")
    start = await checkpoints.begin("turn")
    await files.write(str(app / "during.txt"), "x")
    checkpoints.end()
    await files.write(str(app / "after.txt"), "x")
    checkpoints.close()
    checkpoints.close()
    assert list(start.files) == [str(app / "during.txt")]
    await checkpoints.restore(start)
    assert sorted(os.listdir(app)) == ["after.txt", "before.txt"]


async def test_directories_that_a_turn_made_go_when_they_are_empty(files: Files, app: Path, store: str) -> None:
    checkpoints = Checkpoints(files, store)
    start = await checkpoints.begin("turn")
    await files.write(str(app / "a/b/c.txt"), "x")
    await files.write(str(app / "a/d/e.txt"), "x")
    (app / "a/d/person.txt").write_text("mine")
    await checkpoints.restore(start)
    assert tree(app) == {"a": None, "a/d": None, "a/d/person.txt": b"mine"}


async def test_one_content_is_kept_once(files: Files, app: Path, store: str) -> None:
    checkpoints = Checkpoints(files, store)
    for name in "abc":
        (app / name).write_text("the same")
    await checkpoints.begin("turn")
    for name in "abc":
        await files.write(str(app / name), "new")
    assert sum(len(names) for _, _, names in os.walk(os.path.join(store, "objects"))) == 1


async def test_the_store_is_private_and_leaves_nothing_behind(files: Files, app: Path, store: str) -> None:
    fill(app)
    await Checkpoints(files, store).begin("turn")
    await work(files, app)
    for folder, folders, names in os.walk(store):
        for name in folders:
            assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o700
        for name in names:
            assert not name.endswith(".tmp")
            assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(store).st_mode) == 0o700


async def test_the_number_of_checkpoints_is_limited(files: Files, app: Path, store: str) -> None:
    checkpoints = Checkpoints(files, store, max_checkpoints=3)
    (app / "a.txt").write_text("0")
    for turn in range(1, 7):
        await checkpoints.begin(str(turn))
        await files.write(str(app / "a.txt"), str(turn))
    assert [each.label for each in checkpoints.all] == ["4", "5", "6"]
    assert sum(len(names) for _, _, names in os.walk(store)) == 6
    with pytest.raises(NotFound):
        await checkpoints.restore("00000001")
    await checkpoints.restore(checkpoints.all[0])
    assert (app / "a.txt").read_text() == "3"


async def test_there_are_never_more_bytes_than_allowed(files: Files, app: Path, store: str) -> None:
    checkpoints = Checkpoints(files, store, max_bytes=2500)
    for turn in range(4):
        (app / f"{turn}.txt").write_text(str(turn) * 1000)
        await checkpoints.begin(str(turn))
        await files.write(str(app / f"{turn}.txt"), "new")
    assert [each.label for each in checkpoints.all] == ["2", "3"]
    (app / "big.txt").write_text("x" * 3000)
    last = await checkpoints.begin("big")
    await files.write(str(app / "big.txt"), "new")
    report = await checkpoints.restore(last)
    assert report == Restored(lost=[str(app / "big.txt")])
    assert (app / "big.txt").read_text() == "new"


async def test_a_file_too_large_to_keep_is_reported(files: Files, app: Path, store: str) -> None:
    checkpoints = Checkpoints(files, store)
    (app / "big.txt").write_text("x" * (1 << 20) + "x")
    start = await checkpoints.begin("turn")
    await files.write(str(app / "big.txt"), "new")
    assert (await checkpoints.restore(start)).lost == [str(app / "big.txt")]


async def test_damaged_contents_and_indexes_are_not_used(files: Files, app: Path, store: str) -> None:
    checkpoints = Checkpoints(files, store)
    (app / "a.txt").write_text("old")
    start = await checkpoints.begin("turn")
    await files.write(str(app / "a.txt"), "new")
    (content,) = [os.path.join(folder, name) for folder, _, names in os.walk(store) for name in names if len(name) > 60]
    with open(content, "w") as file:  # noqa: ASYNC230
        file.write("bad")
    assert (await checkpoints.restore(start)).lost == [str(app / "a.txt")]
    Path(store, "00000009.json").write_text("{")  # noqa: ASYNC240
    assert [each.label for each in Checkpoints(files, store).all] == ["turn", "restore of 00000001"]


async def test_two_processes_can_use_one_directory(app: Path, store: str) -> None:
    with Roots(str(app)) as roots:
        one, other = Files(roots, sync=False), Files(roots, sync=False)
        ours, theirs = Checkpoints(one, store), Checkpoints(other, store)
        start = await ours.begin("ours")
        await theirs.begin("theirs")
        await one.write(str(app / "a.txt"), "ours")
        await other.write(str(app / "b.txt"), "theirs")
        assert (await ours.restore(start)).restored == [str(app / "a.txt")]
        assert tree(app) == {"b.txt": b"theirs"}
        assert len(Checkpoints(one, store).all) == 3


async def test_a_change_is_not_made_if_its_checkpoint_cannot_be_saved(
    files: Files, app: Path, store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = Checkpoints(files, store)
    (app / "a.txt").write_text("old")
    await checkpoints.begin("turn")

    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("accord.workspace.checkpoint_store._replace", full)
    with pytest.raises(RequestFailed, match="wasn't changed: no space"):
        await files.write(str(app / "a.txt"), "new")
    assert (app / "a.txt").read_text() == "old"


async def test_what_is_on_screen_goes_back_by_its_owner(files: Files, app: Path, store: str, overlay: Overlay) -> None:
    (app / "a.txt").write_text("on disk")
    taken: list[str] = []
    overlay.show(str(app / "a.txt"), "unsaved", lambda path, text: taken.append(text))
    checkpoints = Checkpoints(files, store)
    start = await checkpoints.begin("turn")
    await files.write(str(app / "a.txt"), "by the agent")
    report = await checkpoints.restore(start)
    assert report.restored == [str(app / "a.txt")]
    assert taken == ["by the agent", "unsaved"]
    await checkpoints.undo_restore()
    assert taken == ["by the agent", "unsaved", "by the agent"]

    overlay.show(str(app / "a.txt"), "typed since", lambda path, text: taken.append(text))
    assert (await checkpoints.restore(start)).conflicts == [str(app / "a.txt")]
    assert (app / "a.txt").read_text() == "on disk"


async def test_a_restore_is_told_to_listeners(files: Files, app: Path, store: str) -> None:
    checkpoints = Checkpoints(files, store)
    (app / "a.txt").write_text("old")
    start = await checkpoints.begin("turn")
    await files.write(str(app / "a.txt"), "new")
    await files.write(str(app / "b.txt"), "new")
    heard: list[Change] = []
    files.on_change(heard.append)
    await checkpoints.restore(start)
    await checkpoints.undo_restore()
    assert [(change.kind, change.before, change.after) for change in heard] == [
        ("changed", "new", "old"),
        ("deleted", "new", None),
        ("changed", "old", "new"),
        ("created", None, "new"),
    ]


KILLED = """
import os, signal, sys
from accord.workspace import atomic_write
from accord.workspace.checkpoints import Checkpoints
from accord.workspace.files import Files
from accord.workspace.checkpoint_store import CheckpointStore
from accord.workspace.roots import Roots
app, store, where = sys.argv[1:]
files = Files(Roots(app), sync=False)
checkpoints = Checkpoints(files, store)
checkpoints._begin("turn", "")
files.disk.write(app + "/a.txt", "first")
def die(*args, **kwargs):
    os.kill(os.getpid(), signal.SIGKILL)
match where:
    case "before it is noted": CheckpointStore.save = die
    case "before it is written": atomic_write.replace.__globals__["_create_temporary"] = die
    case "after it is written": files.disk.overlay.find = lambda path, n=[]: n.append(1) or None
if where == "after it is written":
    files.disk.write(app + "/a.txt", "second")
    die()
files.disk.write(app + "/a.txt", "second")
"""


@pytest.mark.parametrize("where", ["before it is noted", "before it is written", "after it is written"])
async def test_a_kill_at_any_moment_leaves_a_history_that_is_true(app: Path, store: str, where: str) -> None:
    (app / "a.txt").write_text("old")
    command = [sys.executable, "-c", KILLED, str(app), store, where]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL  # noqa: ASYNC221
    assert (app / "a.txt").read_text() == ("second" if where == "after it is written" else "first")
    with Roots(str(app)) as roots:
        checkpoints = Checkpoints(Files(roots, sync=False), store)
        assert (await checkpoints.restore(checkpoints.all[0])).restored == [str(app / "a.txt")]
    assert (app / "a.txt").read_text() == "old"


def test_checkpoints_are_kept_in_the_users_data_by_project_and_session(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ACCORD_DATA_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(sys, "platform", "linux")
    for session in ("one", "../../two", "one"):
        Checkpoints(files, session=session)
    (project,) = (tmp_path / "data/accord/checkpoints").iterdir()
    assert len(list(project.iterdir())) == 2
    monkeypatch.setenv("ACCORD_DATA_HOME", str(tmp_path / "chosen"))
    Checkpoints(files)
    assert len(list((tmp_path / "chosen/checkpoints").iterdir())) == 1


def test_checkpoints_are_not_saved_in_the_project_by_default(
    files: Files, app: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ACCORD_DATA_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(app / "data"))
    monkeypatch.setattr(sys, "platform", "linux")
    with pytest.raises(ValueError, match="inside the workspace"):
        Checkpoints(files)
    assert os.listdir(app) == []
    Checkpoints(files, str(app / "told"))
