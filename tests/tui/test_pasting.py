"""The terminal client: pictures and files that are pasted, dropped or mentioned."""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
from pathlib import Path

import pytest
from chatting import PATIENCE, Chat, Opened
from textual import events

from accord.cli.attach import named_files
from accord.testing import ScriptedAgent
from accord.tui.prompt import clipboard, files
from accord.tui.prompt.clipboard import TooLarge, save_picture
from accord.tui.prompt.files import Files
from accord.tui.prompt.pasted import doubts, files_in, mentions

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


class Seeing(ScriptedAgent):
    """Takes pictures, and notes what it was shown."""

    content = ("image",)


def told(chat: Chat) -> str:
    """What the user was told in passing."""
    return "\n".join(each.message for each in chat.app._notifications)


def clip(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A system whose clipboard is told by a program."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "xclip").write_text(f"#!/bin/sh\n{script}\n")
    (programs / "xclip").chmod(0o755)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)


@pytest.fixture
def picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A picture in the clipboard."""
    path = tmp_path / "clipped.png"
    path.write_bytes(PICTURE)
    told = f'case "$*" in *TARGETS*) echo TARGETS; echo image/png;; *image/png*) cat {path};; *) exit 1;; esac'
    clip(tmp_path, monkeypatch, told)
    return path


def test_the_picture_in_the_clipboard_is_saved_for_its_owner_alone(tmp_path: Path, picture: Path) -> None:
    first, second = save_picture(tmp_path / "kept"), save_picture(tmp_path / "kept")
    assert first is not None
    assert second is not None
    assert first != second
    assert first.read_bytes() == second.read_bytes() == PICTURE
    assert first.suffix == ".png"
    assert stat.S_IMODE(first.stat().st_mode) == 0o600


def test_old_pictures_go(tmp_path: Path, picture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "MOST_KEPT", 2)
    for _ in range(4):
        newest = save_picture(tmp_path / "kept")
    assert len(list((tmp_path / "kept").iterdir())) == 2
    assert newest is not None


@pytest.mark.parametrize(
    "script",
    [
        "echo UTF8_STRING",
        'case "$*" in *TARGETS*) echo image/png;; *) echo "this is no picture";; esac',
        "exit 1",
    ],
)
def test_a_clipboard_without_a_picture_gives_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    clip(tmp_path, monkeypatch, script)
    assert save_picture(tmp_path / "kept") is None


def test_a_picture_that_is_too_large_is_not_read_to_its_end(
    tmp_path: Path, picture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clipboard, "MOST_BYTES", 20)
    with pytest.raises(TooLarge):
        save_picture(tmp_path / "kept")


def test_a_program_that_hangs_is_waited_for_only_so_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clip(tmp_path, monkeypatch, "exec sleep 60")
    monkeypatch.setattr(clipboard, "PATIENCE", 0.05)
    began = time.monotonic()
    assert save_picture(tmp_path / "kept") is None
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    "written, printed",
    [("base64", b"iVBORw0KGgo=\r\n"), ("apple", "«data PNGf89504E470D0A1A0A»\n".encode()), ("bytes", PICTURE[:8])],
)
def test_each_system_writes_a_picture_its_own_way(written: str, printed: bytes) -> None:
    assert clipboard._decoded(printed, written) == PICTURE[:8]
    assert clipboard._decoded(b"\xff", "apple") is None


async def test_ctrl_v_shows_the_picture_in_the_clipboard_to_the_agent(opened: Opened, picture: Path) -> None:
    agent = Seeing()
    async with opened(agent) as chat:
        await chat.type("look:")
        await chat.press("ctrl+v")
        await chat.until(lambda: "@" in chat.pane.editor.text)
        assert chat.pane.editor.text.startswith("look: @")
        assert chat.pane.editor.text.endswith(".png ")
        await chat.press("enter")
        await chat.until("You said: look:")
        assert chat.pane.talk.transcript is not None
        kinds = [type(piece).__name__ for piece in chat.pane.talk.transcript.timeline[0].content]  # type: ignore[union-attr]
        assert kinds == ["TextContent", "Image"]


async def test_an_empty_paste_means_a_picture_and_an_agent_without_eyes_is_told_of(
    opened: Opened, picture: Path
) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.pane.editor.post_message(events.Paste(""))
        await chat.until(lambda: "This agent takes no pictures" in told(chat))
        assert ".png" in chat.pane.editor.text


async def test_ctrl_v_without_a_picture_says_so_and_puts_in_what_was_copied_here(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip(tmp_path, monkeypatch, "exit 1")
    async with opened(ScriptedAgent()) as chat:
        await chat.press("ctrl+v")
        await chat.until(lambda: "There is no picture in the clipboard" in told(chat))
        chat.app.copy_to_clipboard("copied here")
        await chat.press("ctrl+v")
        await chat.until(lambda: chat.pane.editor.text == "copied here")


# -- files


def test_folders_that_are_dropped_are_mentioned_as_folders(tmp_path: Path) -> None:
    (tmp_path / "my docs").mkdir()
    assert mentions(files_in(f"'{tmp_path}/my docs'", tmp_path), tmp_path) == '@"my docs/" '
    assert files_in("/", tmp_path) == []


def test_files_outside_the_project_are_named_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    inside, outside = tmp_path / "home" / "a.md", tmp_path / "b.md"
    for path in (inside, outside):
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    project = tmp_path / "home" / "project"
    project.mkdir()
    given = mentions(files_in(f"{inside} {outside}", project), project)
    assert given == f"@~/a.md @{outside} "
    assert list(named_files(given, project)) == [inside, outside]


def test_a_picture_that_will_not_be_seen_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(PICTURE)
    (tmp_path / "a.md").write_text("")
    assert doubts([tmp_path / "a.md"], takes_pictures=False) == ""
    assert doubts([tmp_path / "a.png"], takes_pictures=True) == ""
    assert "takes no pictures" in doubts([tmp_path / "a.png"], takes_pictures=False)
    monkeypatch.setattr("accord.tui.prompt.pasted.MOST_SHOWN", 10)
    assert "gets a link" in doubts([tmp_path / "a.png"], takes_pictures=True)


async def test_files_are_completed_while_somebody_types_quickly_and_looked_for_once(
    opened: Opened, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2000):
        folder = folders / f"package_{number % 20}"
        folder.mkdir(exist_ok=True)
        (folder / f"module_{number}.py").write_text("")
    walks: list[int] = []
    walk = Files._walk
    monkeypatch.setattr(Files, "_walk", lambda self: walks.append(1) or walk(self))  # type: ignore[func-returns-value]
    async with opened(ScriptedAgent()) as chat:
        await chat.type("see @pack7mod1987")
        await chat.until("package_7/module_1987.py")
        await chat.press("tab")
        assert chat.pane.editor.text == "see @package_7/module_1987.py "
    assert walks == [1]


def test_what_the_folders_around_the_project_leave_out_is_left_out(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_text("outside.*\n")
    repository = tmp_path / "repository"
    project = repository / "packages" / "one"
    project.mkdir(parents=True)
    (repository / ".git").mkdir()
    (repository / ".gitignore").write_text("*.log\n/packages/one/made\n")
    (repository / "packages" / ".gitignore").write_text("!kept.log\n/two\n")
    for name in ("a.py", "a.log", "kept.log", "made", "two", "outside.md"):
        (project / name).write_text("")
    assert Files(project).matching("") == ["a.py", "kept.log", "outside.md", "two"]


def test_who_asked_earlier_gives_way(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("")
    names = Files(tmp_path)
    assert names.matching("a") == ["a.md"]
    with names._matching:
        given: list[object] = []
        asked = [threading.Thread(target=lambda: given.append(names.matching("a"))) for _ in range(3)]
        for each in asked:
            before, end = names._newest, time.monotonic() + PATIENCE
            each.start()
            while names._newest is before:
                assert time.monotonic() < end, "it has not asked"
                time.sleep(0.001)
    for each in asked:
        each.join(PATIENCE)
    assert [each for each in given if each is not None] == [["a.md"]]


def test_a_list_that_is_no_longer_fresh_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("")
    names = Files(tmp_path)
    assert names.matching("") == ["a.md"]
    (tmp_path / "b.md").write_text("")
    assert names.matching("") == ["a.md"]
    monkeypatch.setattr(files, "FRESH", 0.0)
    assert names.matching("") == ["a.md", "b.md"]
