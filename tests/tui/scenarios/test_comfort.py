"""Keys, saved settings, colors, wide characters and copying in a real terminal."""

from __future__ import annotations

import base64
import re
import subprocess

import pytest
from support.terminal_scenarios import agent_at, chat, do, say, until_in
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_the_keys_are_shown_and_settings_last(tmux: Tmux) -> None:
    chat(tmux, None)
    tmux.until("● ready")
    tmux.type("?")
    tmux.until("In the prompt")
    tmux.keys("Escape")
    tmux.until_gone("In the prompt")
    dark = _background(tmux)
    tmux.keys("F10")
    tmux.until("Theme: ")
    tmux.keys("Enter")
    tmux.until("accord-light")
    tmux.type("accord-light")
    tmux.until_gone("accord-dark")
    tmux.keys("Enter")
    tmux.until("Theme: accord-light")
    tmux.keys("Escape")
    tmux.until_gone("Theme: ")
    raw = tmux.record()
    tmux.keys("F2")
    until_in(raw, b"The side panel is off")
    assert dark not in tmux.colored
    tmux.close()
    chat(tmux, None)
    tmux.record()
    tmux.keys("F2")
    until_in(raw, b"The side panel is on")
    assert dark not in tmux.colored


def _background(tmux: Tmux) -> str:
    found = re.findall(r"48;2;\d+;\d+;\d+", tmux.colored)
    return max(found, key=found.count)


def test_a_message_is_copied_and_wide_characters_stay_aligned(tmux: Tmux) -> None:
    tmux.start("chat", agent_at("tui_agent.py"))
    raw = tmux.folder / "raw"
    subprocess.run(
        ["tmux", "-L", tmux._name, "pipe-pane", "-t", "t", "-o", f"cat > {raw}"], check=True, capture_output=True
    )
    tmux.until("● ready")
    tmux.type("日本語 🚀 é")
    screen = tmux.until("│ 日本語 🚀 é")
    line = next(each for each in screen.splitlines() if "日本語" in each)
    assert line.rstrip().endswith("│")
    tmux.keys("C-u")
    say(tmux, "shows", "The grass is green")
    tmux.keys("F5")
    until_in(raw, b"Copied 19 characters")
    copied = base64.b64encode(b"The grass is green.")
    until_in(raw, b"\x1b]52;c;" + copied)
    # The terminal says that the user looks elsewhere; the end of the turn then rings.
    tmux.keys("-H", "1b", "5b", "4f")
    tmux.send("several")
    tmux.until("Permission needed")
    tmux.until("number or")
    until_in(raw, b"\x1b]9;")
    until_in(raw, b"permission needed")
    tmux.keys("Escape")
    tmux.until("Cancelled")
    do(tmux, "Side panel")
