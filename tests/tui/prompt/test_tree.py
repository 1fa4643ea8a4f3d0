"""The project's tree for a lone `@`."""

from __future__ import annotations

import os
from pathlib import Path

from support.tui_driver import Opened

from accord.testing import ScriptedAgent
from accord.tui.prompt import tree
from accord.tui.prompt.completion import tree_for
from accord.tui.prompt.tree import ProjectTree


def paths(project: ProjectTree) -> list[str]:
    return [row.path for row in project.list_rows()]


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


def test_directories_come_first_and_are_read_when_they_are_opened(tmp_path: Path) -> None:
    make(tmp_path, "readme.md", "src/a.py", "src/deep/b.py", "docs/x.md")
    project = ProjectTree(tmp_path)
    assert paths(project) == ["docs/", "src/", "readme.md"]
    project.set_open("src/", True)
    assert paths(project) == ["docs/", "src/", "src/deep/", "src/a.py", "readme.md"]
    project.set_open("src/", False)
    assert paths(project) == ["docs/", "src/", "readme.md"]


def test_ignored_files_and_names_with_control_characters_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "a.log", "src/b.log", "src/b.py", "node_modules/x.js", "evil\x1b[31m.py", "two\nlines")
    (tmp_path / ".gitignore").write_text("*.log\n")
    project = ProjectTree(tmp_path)
    project.set_open("src/", True)
    assert paths(project) == ["src/", "src/b.py", "a.py", ".gitignore"]


def test_a_link_to_a_directory_cannot_be_opened(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    make(outside, "secret")
    (tmp_path / "project").mkdir()
    os.symlink(outside, tmp_path / "project" / "link", target_is_directory=True)
    project = ProjectTree(tmp_path / "project")
    project.set_open("link/", True)
    assert paths(project) == ["link"]


def test_a_huge_directory_is_listed_in_part(tmp_path: Path) -> None:
    make(tmp_path, *(f"many/{number:03}" for number in range(tree.MAX_ENTRIES + 5)))
    project = ProjectTree(tmp_path)
    project.set_open("many/", True)
    rows = project.list_rows()
    assert len(rows) == tree.MAX_ENTRIES + 2
    assert tree_for(rows)[-1].label.strip() == "… 5 more: type to search"
    assert tree_for(rows)[-1].text == "@many/"


async def test_arrows_open_and_close_directories_and_tab_inserts_a_file(opened: Opened, folders: Path) -> None:
    make(folders, "readme.md", "src/deep/b.py", "src/a.py")
    async with opened(ScriptedAgent()) as chat:
        await chat.type("@")
        await chat.until("▸ src/")
        await chat.press("right")
        await chat.until("▾ src/")
        await chat.press("down", "right")
        await chat.until("b.py")
        await chat.press("left")
        await chat.gone("b.py")
        await chat.press("right")
        await chat.until("b.py")
        await chat.press("down", "tab")
        assert chat.tab.editor.text == "@src/deep/b.py "


async def test_typing_after_the_at_sign_searches_all_files(opened: Opened, folders: Path) -> None:
    make(folders, "src/deep/b.py")
    async with opened(ScriptedAgent()) as chat:
        await chat.type("@")
        await chat.until("▸ src/")
        await chat.type("b.p")
        await chat.until("src/deep/b.py")
        await chat.press("tab")
        assert chat.tab.editor.text == "@src/deep/b.py "
