"""Images and files that are pasted, dropped or mentioned."""

from __future__ import annotations

import os
import stat
import sys
import threading
import time
from pathlib import Path

import pytest
from support.tui_driver import TIMEOUT_SECONDS, Opened
from textual import events

from accord.cli.support.attachments import find_mentions
from accord.testing import ScriptedAgent
from accord.tui.prompt import clipboard, files
from accord.tui.prompt.clipboard import TooLarge, save_image
from accord.tui.prompt.files import Files
from accord.tui.prompt.paste import files_in, mentions, warn_about_images

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


class Seeing(ScriptedAgent):
    """Accepts images, and records them."""

    content = ("image",)


def clip(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Install a fake clipboard program."""
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
    """An image in the clipboard."""
    path = tmp_path / "clipped.png"
    path.write_bytes(PICTURE)
    told = f'case "$*" in *TARGETS*) echo TARGETS; echo image/png;; *image/png*) cat {path};; *) exit 1;; esac'
    clip(tmp_path, monkeypatch, told)
    return path


def test_a_clipboard_image_is_saved_readable_by_its_owner_only(tmp_path: Path, picture: Path) -> None:
    first, second = save_image(tmp_path / "kept"), save_image(tmp_path / "kept")
    assert first is not None
    assert second is not None
    assert first != second
    assert first.read_bytes() == second.read_bytes() == PICTURE
    assert first.suffix == ".png"
    assert stat.S_IMODE(first.stat().st_mode) == 0o600


def test_old_images_are_deleted(tmp_path: Path, picture: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clipboard, "MAX_KEPT", 2)
    for _ in range(4):
        newest = save_image(tmp_path / "kept")
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
def test_a_clipboard_without_an_image_returns_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    clip(tmp_path, monkeypatch, script)
    assert save_image(tmp_path / "kept") is None


def test_reading_stops_at_an_image_that_is_too_large(
    tmp_path: Path, picture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clipboard, "MAX_BYTES", 20)
    with pytest.raises(TooLarge):
        save_image(tmp_path / "kept")


def test_a_clipboard_program_that_hangs_times_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clip(tmp_path, monkeypatch, "exec sleep 3600")  # far longer than this test may take
    monkeypatch.setattr(clipboard, "TIMEOUT_SECONDS", 0.05)
    assert save_image(tmp_path / "kept") is None


@pytest.mark.parametrize(
    "written, printed",
    [("base64", b"iVBORw0KGgo=\r\n"), ("apple", "«data PNGf89504E470D0A1A0A»\n".encode()), ("bytes", PICTURE[:8])],
)
def test_each_system_s_image_encoding_is_decoded(written: str, printed: bytes) -> None:
    assert clipboard._decode(printed, written) == PICTURE[:8]
    assert clipboard._decode(b"\xff", "apple") is None


async def test_ctrl_v_sends_the_clipboard_image_to_the_agent(opened: Opened, picture: Path) -> None:
    agent = Seeing()
    async with opened(agent) as chat:
        await chat.type("look:")
        await chat.press("ctrl+v")
        await chat.until(lambda: "@" in chat.tab.editor.text)
        assert chat.tab.editor.text.startswith("look: @")
        assert chat.tab.editor.text.endswith(".png ")
        await chat.press("enter")
        await chat.until("You said: look:")
        assert chat.tab.controller.transcript is not None
        kinds = [type(piece).__name__ for piece in chat.tab.controller.transcript.timeline[0].content]  # type: ignore[union-attr]
        assert kinds == ["TextContent", "Image"]


async def test_an_empty_paste_attaches_the_image_and_warns_if_the_agent_accepts_none(
    opened: Opened, picture: Path
) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.tab.editor.post_message(events.Paste(""))
        await chat.until(lambda: chat.is_notified("This agent doesn't accept images"))
        assert ".png" in chat.tab.editor.text


async def test_ctrl_v_without_an_image_pastes_text_copied_in_accord(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip(tmp_path, monkeypatch, "exit 1")
    async with opened(ScriptedAgent()) as chat:
        await chat.press("ctrl+v")
        await chat.until(lambda: chat.is_notified("There is no image in the clipboard"))
        chat.app.copy_to_clipboard("copied here")
        await chat.press("ctrl+v")
        await chat.until(lambda: chat.tab.editor.text == "copied here")


# -- files


def test_dropped_directories_are_mentioned_with_a_slash(tmp_path: Path) -> None:
    (tmp_path / "my docs").mkdir()
    assert mentions(files_in(f"'{tmp_path}/my docs'", tmp_path), tmp_path) == '@"my docs/" '
    assert files_in("/", tmp_path) == []


def test_files_outside_the_project_are_mentioned_relative_to_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    inside, host = tmp_path / "home" / "a.md", tmp_path / "b.md"
    for path in (inside, host):
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    project = tmp_path / "home" / "project"
    project.mkdir()
    given = mentions(files_in(f"{inside} {host}", project), project)
    assert given == f"@~/a.md @{host} "
    assert list(dict.fromkeys(each.path for each in find_mentions(given, project))) == [inside, host]


def test_an_image_the_agent_will_not_see_causes_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.png").write_bytes(PICTURE)
    (tmp_path / "a.md").write_text("")
    assert warn_about_images([tmp_path / "a.md"], accepts_images=False) == ""
    assert warn_about_images([tmp_path / "a.png"], accepts_images=True) == ""
    assert "doesn't accept images" in warn_about_images([tmp_path / "a.png"], accepts_images=False)
    monkeypatch.setattr("accord.tui.prompt.paste.MAX_SHOWN", 10)
    assert "gets a link" in warn_about_images([tmp_path / "a.png"], accepts_images=True)


async def test_quick_typing_searches_files_only_once(
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
        assert chat.tab.editor.text == "see @package_7/module_1987.py "
    assert walks == [1]


def test_gitignore_rules_of_parent_directories_apply(tmp_path: Path) -> None:
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


def test_a_newer_lookup_supersedes_older_ones(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("")
    names = Files(tmp_path)
    assert names.matching("a") == ["a.md"]
    with names._matching:
        given: list[object] = []
        asked = [threading.Thread(target=lambda: given.append(names.matching("a"))) for _ in range(3)]
        for each in asked:
            before, end = names._newest, time.monotonic() + TIMEOUT_SECONDS
            each.start()
            while names._newest is before:
                assert time.monotonic() < end, "it has not asked"
                time.sleep(0.001)
    for each in asked:
        each.join(TIMEOUT_SECONDS)
    assert [each for each in given if each is not None] == [["a.md"]]


def test_an_old_file_list_is_renewed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("")
    names = Files(tmp_path)
    assert names.matching("") == ["a.md"]
    (tmp_path / "b.md").write_text("")
    assert names.matching("") == ["a.md"]
    monkeypatch.setattr(files, "FRESH_SECONDS", 0.0)
    assert names.matching("") == ["a.md", "b.md"]
