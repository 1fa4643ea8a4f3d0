"""Images outside the terminal: written to files, and opened in a viewer if there is a display."""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.tui_driver import Opened

from accord.agent.turn import Turn
from accord.model.content import Image
from accord.showcase.media import draw_svg, image
from accord.testing import ScriptedAgent
from accord.tui.terminal import viewer


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """The commands that would have been started."""
    commands: list[list[str]] = []
    monkeypatch.setattr(viewer, "_start", commands.append)
    monkeypatch.setattr(viewer, "viewer", lambda: ["see"])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return commands


def test_an_image_is_saved_and_opened(started: list[list[str]]) -> None:
    told = viewer.show([image()])
    [[program, path]] = started
    assert program == "see" and told == f"Saved to {path} until Accord ends"
    assert Path(path).suffix == ".png" and Path(path).read_bytes() == base64.b64decode(image().data)
    assert Path(path).parent.stat().st_mode & 0o077 == 0, "nobody else reads it"


def test_formats_that_may_run_code_are_saved_but_not_opened(started: list[list[str]]) -> None:
    told = viewer.show([draw_svg(), image(), Image(base64.b64encode(b"x").decode(), "image/../../sh")])
    assert told.startswith("3 images saved to ")
    assert [Path(words[1]).name for words in started] == ["image-2.png"]
    assert sorted(path.name for path in Path(told.split()[4]).iterdir()) == [
        "image-1.svg",
        "image-2.png",
        "image-3.sh",
    ]


def test_saved_images_are_deleted_on_exit(tmp_path: Path) -> None:
    shows = (
        "import sys, tempfile\n"
        "from pathlib import Path\n"
        "from accord.showcase.media import image\n"
        "from accord.tui.terminal import viewer\n"
        "viewer.viewer = lambda: None\n"
        "tempfile.tempdir = sys.argv[1]\n"
        "viewer.show([image()])\n"
        "viewer.show([image(), image()])\n"
        "print(len(list(Path(sys.argv[1]).glob('*/*.png'))))\n"
    )
    run = subprocess.run([sys.executable, "-c", shows, str(tmp_path)], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("3\n", "")
    assert list(tmp_path.iterdir()) == []


def test_an_invalid_image_is_reported(started: list[list[str]]) -> None:
    assert viewer.show([Image("AAA", "image/png")]).startswith("Couldn't save the image: ")
    assert started == []


@pytest.mark.skipif(sys.platform != "linux", reason="there is always a screen on other systems")
def test_no_viewer_is_started_without_a_display(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert viewer.viewer() is None


async def test_v_and_e_open_the_images_of_the_selected_item(opened: Opened, started: list[list[str]]) -> None:
    async def show(turn: Turn) -> None:
        await turn.say("words alone", message_id="1")
        await turn.say(image(), message_id="2")

    async with opened(ScriptedAgent([show])) as chat:
        await chat.send("go")
        await chat.until("▣ image")
        await chat.press("tab", "e")
        await chat.until(lambda: len(started) == 1)
        await chat.press("v")
        await chat.until(lambda: len(started) == 2)
        await chat.press("up", "v")
        await chat.until(lambda: chat.is_notified("No image here"))
        assert len(started) == 2
