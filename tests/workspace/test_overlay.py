"""Agents read open buffers, and write to them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from accord.errors import NotFound
from accord.workspace.changes import Change
from accord.workspace.files import Files
from accord.workspace.overlay import Overlay
from accord.workspace.roots import OutsideWorkspace, Roots


@pytest.fixture
def app(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    (tmp_path / "app/file.txt").write_text("on disk\n")
    return tmp_path / "app"


@pytest.fixture
def overlay() -> Overlay:
    return Overlay()


@pytest.fixture
def files(app: Path, overlay: Overlay) -> Iterator[Files]:
    with Roots(str(app)) as roots:
        yield Files(roots, overlay, sync=False)


@pytest.mark.req("V1-FS-03")
async def test_unsaved_changes_are_read(files: Files, app: Path, overlay: Overlay) -> None:
    overlay.show(str(app / "file.txt"), "on\nscreen\n")
    assert await files.read(str(app / "file.txt")) == "on\nscreen\n"
    assert await files.read(str(app / "file.txt"), 2, 1) == "screen\n"
    overlay.hide(str(app / "file.txt"))
    overlay.hide(str(app / "file.txt"))
    assert await files.read(str(app / "file.txt")) == "on disk\n"


@pytest.mark.req("V1-FS-03")
async def test_a_file_that_was_never_saved_is_read(files: Files, app: Path, overlay: Overlay) -> None:
    overlay.show(str(app / "new/untitled.txt"), "draft")
    assert await files.read(str(app / "new/untitled.txt")) == "draft"
    assert await files.exists(str(app / "new/untitled.txt"))
    with pytest.raises(NotFound):
        await files.delete(str(app / "new/untitled.txt"))


@pytest.mark.parametrize("opened", ["file.txt", "link.txt", "folder/file.txt"])
@pytest.mark.parametrize("asked", ["file.txt", "link.txt", "folder/file.txt", "folder/../folder/link.txt"])
async def test_a_buffer_is_found_by_every_path_of_its_file(
    files: Files, app: Path, overlay: Overlay, opened: str, asked: str
) -> None:
    (app / "link.txt").symlink_to("file.txt")
    (app / "folder").symlink_to(".")
    overlay.show(str(app / opened), "on screen")
    assert await files.read(str(app) + "/" + asked.replace("/../", "/")) == "on screen"


@pytest.mark.req("V1-SETUP-23")
async def test_open_files_outside_the_workspace_are_not_shown(files: Files, tmp_path: Path, overlay: Overlay) -> None:
    overlay.show(str(tmp_path / "diary.txt"), "secret")
    with pytest.raises(OutsideWorkspace):
        await files.read(str(tmp_path / "diary.txt"))


@pytest.mark.parametrize("is_async", [True, False])
async def test_the_owner_of_a_buffer_writes_it(files: Files, app: Path, overlay: Overlay, is_async: bool) -> None:
    taken: list[tuple[str, str]] = []
    heard: list[Change] = []

    async def take_later(path: str, text: str) -> None:
        taken.append((path, text))

    def take(path: str, text: str) -> None:
        taken.append((path, text))

    overlay.show(str(app / "file.txt"), "on screen", take_later if is_async else take)
    files.on_change(heard.append)
    await files.write(str(app / "file.txt"), "by the agent")

    assert taken == [(str(app / "file.txt"), "by the agent")]
    assert (app / "file.txt").read_text() == "on disk\n"  # saving is the owner's business
    assert await files.read(str(app / "file.txt")) == "by the agent"
    assert [(change.kind, change.before, change.after) for change in heard] == [
        ("changed", "on screen", "by the agent")
    ]


async def test_an_owner_may_make_something_else_of_it(files: Files, app: Path, overlay: Overlay) -> None:
    def take(path: str, text: str) -> None:
        overlay.show(path, text.upper(), take)

    overlay.show(str(app / "file.txt"), "on screen", take)
    await files.write(str(app / "file.txt"), "loud")
    assert await files.read(str(app / "file.txt")) == "LOUD"


async def test_an_owner_that_refuses_keeps_its_buffer(files: Files, app: Path, overlay: Overlay) -> None:
    def refuse(path: str, text: str) -> None:
        raise PermissionError("the document is locked")

    heard: list[Change] = []
    files.on_change(heard.append)
    overlay.show(str(app / "file.txt"), "on screen", refuse)
    with pytest.raises(PermissionError):
        await files.write(str(app / "file.txt"), "by the agent")
    assert await files.read(str(app / "file.txt")) == "on screen"
    assert heard == []


async def test_without_an_owner_it_is_written_to_disk_and_shown(files: Files, app: Path, overlay: Overlay) -> None:
    overlay.show(str(app / "file.txt"), "on screen")
    await files.write(str(app / "file.txt"), "by the agent")
    assert (app / "file.txt").read_text() == "by the agent"
    assert await files.read(str(app / "file.txt")) == "by the agent"


async def test_one_overlay_serves_many_workspaces(app: Path, tmp_path: Path, overlay: Overlay) -> None:
    other = tmp_path / "other"
    other.mkdir()
    os.symlink(app / "file.txt", other / "far.txt")
    overlay.show(str(app / "file.txt"), "on screen")
    with Roots(str(other)) as one, Roots(str(other), [str(app)]) as both:
        assert await Files(both, overlay).read(str(other / "far.txt")) == "on screen"
        with pytest.raises(OutsideWorkspace):
            await Files(one, overlay).read(str(other / "far.txt"))
    assert len(overlay) == 1
