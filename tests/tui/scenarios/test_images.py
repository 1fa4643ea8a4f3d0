"""Images in a real terminal: as blocks, as terminal graphics, and off."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.outer_terminal import looking_at
from support.terminal_scenarios import SHOWCASE, chat, say, until_in
from support.tmux import TIMEOUT_SECONDS, Tmux

pytestmark = pytest.mark.slow
BLOCKS = "▀" * 40
ALONE = {"TMUX": "", "TERM_PROGRAM": ""}


def until(wanted: Callable[[], object]) -> None:
    end = time.monotonic() + TIMEOUT_SECONDS
    while not wanted():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.03)


def test_an_image_is_rendered_as_blocks_and_scrolls_with_the_text(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    say(tmux, "/image", "Red grows")
    rows = "16 rows: one image in the message and one below the tool call, as far as there is room"
    tmux.until_true(lambda screen: sum(BLOCKS in line for line in screen.splitlines()) >= 16, rows)
    assert re.search(r"\x1b\[38;2;\d+;\d+;\d+m\x1b\[48;2;\d+;\d+;\d+m▀", tmux.colored)
    tmux.keys("PPage")
    tmux.until_all("An image:", "▣ image  image/png", BLOCKS)


def test_blocks_use_256_colors_in_a_terminal_without_true_color(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, COLORTERM="", TERM="xterm-256color")
    say(tmux, "/image", "Red grows")
    tmux.until(BLOCKS)
    assert re.search(r"\x1b\[38;5;\d+m\x1b\[48;5;\d+m▀", tmux.colored)
    assert "38;2;" not in tmux.colored


def test_without_colors_only_the_name_of_an_image_is_shown(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE, NO_COLOR="1")
    screen = say(tmux, "/image", "Red grows")
    assert "▣ image  image/png" in screen and "▀▀" not in screen


def test_a_graphics_terminal_gets_the_image_once_and_it_is_deleted_on_exit(tmux: Tmux) -> None:
    tmux.start("chat", SHOWCASE, size=(120, 40), env={**ALONE, "TERM": "xterm-kitty"})
    raw = tmux.record()
    tmux.until("● ready")
    say(tmux, "/image", "Red grows")
    until(lambda: "\U0010eeee".encode() in raw.read_bytes())
    sent = re.findall(rb"\x1b_Ga=T,U=1,f=100,t=d,i=(\d+),c=(\d+),r=(\d+),q=2,m=0;([^\x1b]*)\x1b\\", raw.read_bytes())
    assert len({number for number, *_ in sent}) == 1, "the same picture twice is sent once"
    assert base64.b64decode(sent[0][3]).startswith(b"\x89PNG")
    tmux.keys("C-c", "C-c")
    said = until_in(raw, b"it ended with 0")
    gone = b"\x1b_Ga=d,d=I,i=" + sent[0][0] + b",q=2;\x1b\\"
    assert 0 < said.index(gone) < said.rindex(b"\x1b[?1049l"), "while the terminal is still ours"


def test_the_image_setting_is_saved(tmux: Tmux) -> None:
    chat(tmux, SHOWCASE)
    tmux.keys("F10")
    tmux.until("Images: auto")
    tmux.type("Images")
    tmux.until_gone("Theme: ")
    tmux.keys("Enter")
    tmux.until("colored blocks")  # the choices; their heading is on the previous page, too
    tmux.type("off")
    tmux.until_gone("colored blocks")
    tmux.keys("Enter")
    tmux.until("Images: off")
    tmux.keys("Escape")
    tmux.until_gone("Images: off")
    assert '"images": "off"' in (tmux.folder / "data" / "chat" / "settings.json").read_text()
    assert "▀▀" not in say(tmux, "/image", "Red grows")


def test_an_image_opens_in_a_viewer(tmux: Tmux) -> None:
    viewer = tmux.folder / "bin" / "xdg-open"
    viewer.parent.mkdir()
    viewer.write_text(
        f'#!/bin/sh\necho "$1" > {tmux.folder}/viewed.part && mv {tmux.folder}/viewed.part {tmux.folder}/viewed\n'
    )
    viewer.chmod(0o755)
    chat(tmux, SHOWCASE, PATH=f"{viewer.parent}:/usr/bin:/bin", DISPLAY=":7", TMPDIR=str(tmux.folder))
    say(tmux, "/image", "Red grows")
    tmux.keys("Tab")
    tmux.until("▐")
    tmux.keys("Up")
    raw = tmux.record()
    tmux.keys("v")
    until_in(raw, b"Saved to")
    viewed = tmux.folder / "viewed"
    until(viewed.exists)
    assert Path(viewed.read_text().strip()).read_bytes().startswith(b"\x89PNG")


def test_inside_tmux_the_outer_terminal_gets_the_image(tmux: Tmux) -> None:
    if shutil.which("tic") is None:
        pytest.skip("tic is not installed, which makes the description of a terminal")
    tmux.start("chat", SHOWCASE, size=(120, 40))
    tmux._tmux("set-option", "-g", "allow-passthrough", "on")
    tmux._tmux("set-option", "-s", "terminal-features", "xterm-kitty:RGB")
    with looking_at(tmux, named_kitty(tmux.folder)) as outer:
        tmux.until("● ready")
        say(tmux, "/image", "Red grows")
        outer.until("\U0010eeee".encode())
        sent = re.search(rb"\x1b_Ga=T,U=1,f=100,t=d,i=(\d+),c=(\d+),r=(\d+),q=2,m=0;([^\x1b]*)\x1b\\", outer.seen)
        assert sent is not None and base64.b64decode(sent[4]).startswith(b"\x89PNG")
        number = int(sent[1])
        color = f"38;2;{number >> 16 & 255};{number >> 8 & 255};{number & 255}m"
        outer.until(color.encode())
        assert "Gi=" not in tmux.screen and "tmux;" not in tmux.screen


def named_kitty(folder: Path) -> dict[str, str]:
    """Make a terminfo entry for xterm-kitty."""
    known = subprocess.run(["infocmp", "xterm-256color"], capture_output=True, text=True, check=True).stdout
    described = known.replace("xterm-256color", "xterm-kitty")
    subprocess.run(["tic", "-x", "-o", str(folder / "terminfo"), "-"], input=described, text=True, check=True)
    return {"TERM": "xterm-kitty", "TERMINFO": str(folder / "terminfo")}
