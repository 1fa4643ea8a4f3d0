"""The terminal client never runs a program of the project, even if a directory on the PATH is relative."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from accord.tui.prompt.clipboard import read_image
from accord.tui.terminal.viewer import viewer
from accord.tui.transcript.images.support import detect_support

PNG = "\\211PNG\\r\\n\\032\\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with its own versions of the programs that the client runs; it is the working directory."""
    for name in ("tmux", "wl-paste", "xclip", "xdg-open"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n: > ran\nprintf 'xterm-kitty|RGB|1\\n{PNG}'\n")
        program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".:")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    return tmp_path


@pytest.mark.parametrize(
    "use",
    [
        lambda: detect_support("auto", "truecolor", {"TMUX": "/tmp/tmux,1,0"}).kind == "graphics",
        read_image,
        viewer,
    ],
    ids=["images in tmux", "clipboard", "viewer"],
)
@pytest.mark.skipif("sys.platform in ('darwin', 'win32')")
def test_a_program_of_the_project_is_not_run(project: Path, use: Callable[[], object]) -> None:
    assert not use()
    assert not (project / "ran").exists()
