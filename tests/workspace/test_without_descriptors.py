"""Systems without directory descriptors (Windows): a best effort by paths, as far as it can be tested here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.windows import refuse_like_windows
from workspace.hostile_workspace import LOOT, Planted

from accord.errors import InvalidParams, NotFound, RequestFailed
from accord.workspace.changes import Change
from accord.workspace.directory import Directory
from accord.workspace.files import Files
from accord.workspace.paths import PathParts, split_windows_names
from accord.workspace.place import Call
from accord.workspace.roots import OutsideWorkspace, Roots


@pytest.mark.parametrize(
    "path, names, is_directory",
    [
        ("C:\\srv\\app\\a.txt", ("C:", "srv", "app", "a.txt"), False),
        ("c:/srv/app/", ("C:", "srv", "app"), True),
        ("C:\\srv\\..\\app\\.", ("C:", "srv", "..", "app"), True),
        ("\\\\?\\C:\\srv\\a.txt", ("C:", "srv", "a.txt"), False),
        ("\\\\server\\share\\a.txt", ("\\\\SERVER\\SHARE", "a.txt"), False),
        ("\\\\?\\UNC\\server\\share\\a.txt", ("\\\\SERVER\\SHARE", "a.txt"), False),
        ("sub\\a.txt", ("sub", "a.txt"), False),
    ],
)
def test_a_windows_path_is_read_in_pieces(path: str, names: tuple[str, ...], is_directory: bool) -> None:
    assert split_windows_names(path) == PathParts(names, is_directory)


@pytest.mark.parametrize(
    "name", ["NUL", "con.txt", "a.txt:stream", "LPT1", "dots.", "space ", "com¹.log", "sub\\aux\\x"]
)
def test_names_of_devices_and_streams_are_refused(name: str) -> None:
    with pytest.raises(InvalidParams):
        split_windows_names(f"C:\\srv\\{name}")


@pytest.fixture
def planted(tmp_path: Path) -> Iterator[Planted]:
    planted = Planted(tmp_path)
    with Roots(str(planted.app), [str(planted.lib)], by_descriptor=False) as roots:
        planted.files = Files(roots, sync=False)
        yield planted
    planted.close()


def test_everything_works_by_paths(planted: Planted) -> None:
    disk, app = planted.files.disk, planted.app
    assert disk.read(str(app / "sub/../notes.txt")) == "notes\n"
    disk.write(str(app / "new/er/a.txt"), "a")
    disk.move(str(app / "new/er/a.txt"), str(app / "b.txt"))
    assert [entry.name for entry in disk.list(str(app))] == ["b.txt", "new", "notes.txt", "sub"]
    disk.delete(str(app / "b.txt"))
    with pytest.raises(NotFound):
        disk.read(str(app / "b.txt"))


def test_a_file_is_replaced_only_when_it_is_not_open_here(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    changes: list[Change] = []
    disk, notes = planted.files.disk, planted.app / "notes.txt"
    done = refuse_like_windows(monkeypatch)

    disk.write(str(notes), "other\n", Call(tell=changes.append))  # there is a listener, so the old text is read as well

    assert notes.read_text() == "other\n"
    assert [(change.before, change.after) for change in changes] == [("notes\n", "other\n")]
    assert str(notes) in done


def test_leftovers_of_a_killed_writer_are_removed_without_opening_them(
    planted: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = planted.app / ".accord-0123456789abcdef.tmp"
    left.write_text("half")
    refuse_like_windows(monkeypatch)

    planted.files.disk.write(str(planted.app / "notes.txt"), "other\n")

    assert not left.exists()


@pytest.mark.parametrize(
    "path, link",
    [
        ("{app}/../outside/secret.txt", None),
        ("{app}2/secret.txt", None),
        ("{app}/a/secret.txt", "{outside}"),
        ("{app}/a/secret.txt", "../outside"),
        ("{app}/a", "{outside}/secret.txt"),
        ("{app}/a", "{outside}/new.txt"),
    ],
)
def test_what_stands_still_does_not_get_out_by_paths_either(planted: Planted, path: str, link: str | None) -> None:
    places = {"app": planted.app, "outside": planted.outside}
    if link is not None:
        os.symlink(link.format(**places), planted.app / "a")
    for call in (planted.files.disk.read, lambda path: planted.files.disk.write(path, LOOT)):
        with pytest.raises(OutsideWorkspace):
            call(path.format(**places))
        planted.check_outside()


def test_a_mount_point_that_cannot_be_checked_is_not_entered(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    class Junction:
        st_file_attributes = 0x410
        st_mode = 0o040755

    plain = os.stat

    def stat(path: str, **options: object) -> object:
        return Junction() if str(path).endswith("deep") else plain(path, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("accord.workspace.directory.os.stat", stat)
    with pytest.raises(RequestFailed):
        planted.files.disk.read(str(planted.app / "sub/deep/file.txt"))


def test_only_a_directory_can_be_opened_as_one(planted: Planted) -> None:
    with pytest.raises(NotADirectoryError):
        Directory.open(str(planted.app / "notes.txt"), by_descriptor=False)
