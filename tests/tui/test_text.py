"""Truncated text is marked as such, and keeps its important part."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.cells import cell_len
from support.tui_driver import Opened

from accord.agent.agent import Agent
from accord.agent.turn import Turn
from accord.model.requests import PermissionOption
from accord.testing import ScriptedAgent
from accord.tui.text import truncate, truncate_path


def test_text_that_fits_is_unchanged_and_other_text_ends_in_an_ellipsis() -> None:
    assert truncate("short", 5) == "short"
    assert truncate("too long", 5) == "too…"
    assert truncate("漢字漢字", 5) == "漢字…"
    assert [truncate("long", cells) for cells in (0, 1, 2)] == ["", "…", "l…"]


@pytest.mark.parametrize("path", ["src/accord/tui/prompt/complete.py", "漢字/漢字/漢字.py", "all_one_name.txt", "a/b/"])
def test_a_truncated_path_fits(path: str) -> None:
    for cells in range(1, 40):
        cut = truncate_path(path, cells)
        assert cell_len(cut) <= cells
        assert (cut == path) == (cell_len(path) <= cells)
        assert "…" in cut or cut == path


def test_a_path_is_truncated_before_its_file_name() -> None:
    assert truncate_path("src/accord/tui/prompt/complete.py", 24) == "src/accord/…/complete.py"
    assert truncate_path("src/accord/tui/prompt/", 14) == "src/a…/prompt/"


async def test_completions_show_the_name_of_a_deeply_nested_file(opened: Opened, folders: Path) -> None:
    deep = folders / "/".join(f"folder{number}" for number in range(12))
    deep.mkdir(parents=True)
    (deep / "needle.txt").write_text("")
    async with opened(ScriptedAgent(), size=(60, 24)) as chat:
        await chat.type("@needle")
        await chat.until("…/needle.txt")


async def test_an_answer_that_is_too_long_for_its_line_ends_in_an_ellipsis(opened: Opened) -> None:
    class LineInputScreen(Agent):
        async def prompt(self, turn: Turn) -> None:
            name = f"Allow it {'and everything like it ' * 10}"
            options = [
                PermissionOption(id="short", name="Allow this", kind="allow_once"),
                PermissionOption(id="long", name=name, kind="allow_always"),
            ]
            await turn.permit("Do it", options=options)

    async with opened(LineInputScreen(), size=(60, 24)) as chat:
        await chat.send("go")
        await chat.until("2. Allow it")
        (line,) = [line for line in chat.lines if "2. Allow it" in line]
        assert "… (" in line
