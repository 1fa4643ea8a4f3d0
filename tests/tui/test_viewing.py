"""Pictures outside the terminal: written to files, and shown where somebody can see them."""

from __future__ import annotations

import base64
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from chatting import Opened

from accord.agent.turn import Turn
from accord.model.content import Image
from accord.showcase.specimens import drawing, picture
from accord.testing import ScriptedAgent
from accord.tui import viewing


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[list[str]]:
    """What would have been started, on a screen."""
    commands: list[list[str]] = []
    monkeypatch.setattr(viewing, "_start", commands.append)
    monkeypatch.setattr(viewing, "viewer", lambda: ["see"])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return commands


def test_a_picture_is_written_and_shown(started: list[list[str]]) -> None:
    told = viewing.show([picture()])
    [[program, path]] = started
    assert program == "see" and told == f"Written to {path} until Accord ends"
    assert Path(path).suffix == ".png" and Path(path).read_bytes() == base64.b64decode(picture().data)
    assert Path(path).parent.stat().st_mode & 0o077 == 0, "nobody else reads it"


def test_what_may_be_more_than_a_picture_is_only_written(started: list[list[str]]) -> None:
    told = viewing.show([drawing(), picture(), Image(base64.b64encode(b"x").decode(), "image/../../sh")])
    assert told.startswith("3 pictures written to ")
    assert [Path(words[1]).name for words in started] == ["picture-2.png"]
    assert sorted(path.name for path in Path(told.split()[4]).iterdir()) == [
        "picture-1.svg",
        "picture-2.png",
        "picture-3.sh",
    ]


def test_what_was_written_is_gone_when_we_are(tmp_path: Path) -> None:
    shows = (
        "import sys, tempfile\n"
        "from pathlib import Path\n"
        "from accord.showcase.specimens import picture\n"
        "from accord.tui import viewing\n"
        "viewing.viewer = lambda: None\n"
        "tempfile.tempdir = sys.argv[1]\n"
        "viewing.show([picture()])\n"
        "viewing.show([picture(), picture()])\n"
        "print(len(list(Path(sys.argv[1]).glob('*/*.png'))))\n"
    )
    run = subprocess.run([sys.executable, "-c", shows, str(tmp_path)], capture_output=True, text=True)
    assert (run.stdout, run.stderr) == ("3\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_picture_that_is_none_is_told_of(started: list[list[str]]) -> None:
    assert viewing.show([Image("AAA", "image/png")]).startswith("The picture cannot be written: ")
    assert started == []


@pytest.mark.skipif(sys.platform != "linux", reason="there is always a screen on other systems")
def test_where_there_is_no_screen_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert viewing.viewer() is None


async def test_v_and_e_show_the_pictures_of_what_is_selected(opened: Opened, started: list[list[str]]) -> None:
    async def show(turn: Turn) -> None:
        await turn.say("words alone", message_id="1")
        await turn.say(picture(), message_id="2")

    async with opened(ScriptedAgent([show])) as chat:
        await chat.send("go")
        await chat.until("▣ image")
        await chat.press("tab", "e")
        await chat.until(lambda: len(started) == 1)
        await chat.press("v")
        await chat.until(lambda: len(started) == 2)
        await chat.press("up", "v")
        await chat.until(lambda: any("no picture" in each.message for each in chat.app._notifications))
        assert len(started) == 2
