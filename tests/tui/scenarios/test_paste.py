"""Images and files in a real terminal: pasted, dropped, mentioned with line numbers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.terminal_scenarios import SHOWCASE, chat, do
from support.tmux import Tmux

pytestmark = pytest.mark.slow

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
    "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def clipboard(folder: Path) -> dict[str, str]:
    """Install a fake clipboard program. Return its environment."""
    (folder / "clip.png").write_bytes(PICTURE)
    programs = folder / "programs"
    programs.mkdir()
    told = f'case "$*" in *TARGETS*) echo image/png;; *image/png*) cat {folder}/clip.png;; esac'
    (programs / "xclip").write_text(f"#!/bin/sh\n{told}\n")
    (programs / "xclip").chmod(0o755)
    return {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "DISPLAY": ":99", "WAYLAND_DISPLAY": ""}


def test_a_clipboard_image_is_mentioned_and_sent(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, **clipboard(tmux.folder))
    tmux.type("what is this ")
    tmux.keys("C-v")
    tmux.until(r"what is this @\S+/chat/images/\S+\.png")
    tmux.keys("Enter")
    tmux.until("Endings")  # near the end of the answer, which scrolls the prompt away
    tmux.until("● ready")
    tmux.keys("C-Home")
    tmux.until(r"▌ what is this @~/data/chat/images/\S+\.png")
    kept = list((tmux.folder / "data" / "chat" / "images").iterdir())
    assert [each.read_bytes() for each in kept] == [PICTURE]


def test_a_dropped_file_is_mentioned_and_can_have_line_numbers(tmux: Tmux) -> None:
    notes = tmux.project / "my notes.md"
    notes.write_text("first line\nsecond line\nthird line\n")
    chat(tmux, SHOWCASE)
    tmux.paste(f"'{notes}'")
    tmux.until('@"my notes.md"')
    tmux.keys("BSpace")
    tmux.send(":2-3")
    tmux.until("Endings")  # near the end of the answer, which scrolls the prompt away
    tmux.until("● ready")
    do(tmux, "Logs")
    tmux.until("session/prompt")
    tmux.type("#L2-L3")
    tmux.until_gone("session/new")
    tmux.until("→ session/prompt")
