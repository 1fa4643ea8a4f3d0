"""Pictures and files in a real terminal: pasted, dropped, named by their lines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from scenes import SHOWCASE, chat, do
from tmux import Tmux

pytestmark = pytest.mark.slow

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def clipboard(folder: Path) -> dict[str, str]:
    """A system with a picture in its clipboard, told by a program: its environment."""
    (folder / "clip.png").write_bytes(PICTURE)
    programs = folder / "programs"
    programs.mkdir()
    told = f'case "$*" in *TARGETS*) echo image/png;; *image/png*) cat {folder}/clip.png;; esac'
    (programs / "xclip").write_text(f"#!/bin/sh\n{told}\n")
    (programs / "xclip").chmod(0o755)
    return {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "DISPLAY": ":99", "WAYLAND_DISPLAY": ""}


def test_a_picture_in_the_clipboard_is_mentioned_and_sent(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, **clipboard(tmux.folder))
    tmux.type("what is this ")
    tmux.keys("C-v")
    tmux.until(r"what is this @\S+/chat/pictures/\S+\.png")
    tmux.keys("Enter")
    tmux.until(r"▌ what is this @~/data/chat/pictures/\S+\.png")
    tmux.until("● ready")
    kept = list((tmux.folder / "data" / "chat" / "pictures").iterdir())
    assert [each.read_bytes() for each in kept] == [PICTURE]


def test_a_file_that_is_dropped_is_mentioned_and_lines_of_it_can_be_named(tmux: Tmux) -> None:
    notes = tmux.project / "my notes.md"
    notes.write_text("first line\nsecond line\nthird line\n")
    chat(tmux, SHOWCASE)
    tmux.paste(f"'{notes}'")
    tmux.until('@"my notes.md"')
    tmux.keys("BSpace")
    tmux.send(":2-3")
    tmux.until("▌ @")
    tmux.until("● ready")
    do(tmux, "Logs")
    tmux.until("session/prompt")
    tmux.type("#L2-L3")
    tmux.until_gone("session/new")
    tmux.until("→ session/prompt")
