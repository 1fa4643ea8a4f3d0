"""Prompt history: recall by project, and search."""

from __future__ import annotations

import json
from pathlib import Path

from support.tui_driver import Opened
from textual.widgets import OptionList

from accord.testing import ScriptedAgent
from accord.tui.prompt import history
from accord.tui.prompt.history import History


def test_prompts_of_another_client_are_found_after_a_reload(tmp_path: Path) -> None:
    first, second = (History(tmp_path / "history.jsonl", "/one") for _ in range(2))
    first.add("from the first")
    second.add("from the second")
    assert second.prompts == ["from the first", "from the second"]
    first.add("again the first")
    for each in (first, second):
        each.reload()
        assert each.prompts == ["from the first", "from the second", "again the first"]


def test_prompts_that_could_not_be_saved_survive_a_reload(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("")
    past = History(tmp_path / "folder" / "history.jsonl")
    past.add("only here")
    (tmp_path / "folder").unlink()
    History(tmp_path / "folder" / "history.jsonl").add("elsewhere")
    past.reload()
    assert past.prompts == ["only here"]


def test_prompts_are_recalled_in_their_project(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    History(path, "/one").add("in one")
    History(path, "/two").add("in two")
    assert History(path, "/one").prompts == ["in one"]
    assert [sent.text for sent in History(path, "/one").everything] == ["in one", "in two"]


def test_prompts_of_older_versions_are_recalled_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_text('"old"\n["new", "/one"]\n["half"]\n{"x": 1}\n')
    assert History(path, "/one").prompts == ["old", "new"]
    assert History(path, "/two").prompts == ["old"]


def test_a_long_history_keeps_the_newest_prompts(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    past = History(path, "/one")
    for number in range(history.MAX_PROMPTS + history.MAX_EXTRA + 1):
        past.add(f"number {number}")
    lines = path.read_text().splitlines()
    assert len(lines) == history.MAX_PROMPTS
    assert json.loads(lines[-1]) == ["number 1100", "/one"]


async def test_searching_the_history_puts_a_prompt_into_the_editor(opened: Opened, folders: Path) -> None:
    past = History(project=str(folders))
    for text in ("about apples\nand their trees", "about pears", "about figs"):
        past.add(text)
    History(project="/elsewhere").add("about apples elsewhere")
    async with opened(ScriptedAgent()) as chat:
        await chat.press("alt+h")
        await chat.until("Previous prompts")
        await chat.until("about figs")
        await chat.type("appl")
        await chat.gone("about figs")
        assert "elsewhere" not in chat.text
        await chat.press("f4")
        await chat.until("about apples elsewhere  in elsewhere")
        await chat.press("down", "enter")
        await chat.until(lambda: chat.tab.editor.text == "about apples\nand their trees")
        assert chat.tab.editor.has_focus


async def test_a_long_history_is_rendered_in_part_and_searched_completely(opened: Opened, folders: Path) -> None:
    past = History(project=str(folders))
    for number in range(400):
        past.add(f"prompt {number}" + (" and so on" * 30 + " wombat" if number == 7 else ""))
    async with opened(ScriptedAgent()) as chat:
        await chat.press("alt+h")
        await chat.until("prompt 399")
        assert chat.app.screen.query_one(OptionList).option_count == 151
        await chat.type("wombat")
        await chat.until("prompt 7")
        await chat.gone("prompt 399")
        await chat.press("enter")
        await chat.until(lambda: chat.tab.editor.text.endswith("wombat"))


async def test_browsing_the_history_keeps_the_text_being_typed(opened: Opened, folders: Path) -> None:
    History(project=str(folders)).add("about pears")
    async with opened(ScriptedAgent()) as chat:
        await chat.type("half a")
        await chat.press("alt+h")
        await chat.until("Previous prompts")
        await chat.press("enter")
        await chat.until(lambda: chat.tab.editor.text == "about pears")
        await chat.press("down")
        assert chat.tab.editor.text == "half a"


async def test_a_letter_with_alt_is_not_typed(opened: Opened, folders: Path) -> None:
    from textual import events

    History(project=str(folders)).add("about pears")
    async with opened(ScriptedAgent()) as chat:
        chat.app.post_message(events.Key("alt+h", "h"))  # as terminals send it, with its letter
        await chat.until("Previous prompts")
        chat.app.post_message(events.Key("alt+z", "z"))
        await chat.press("escape")
        await chat.gone("Previous prompts")
        assert chat.tab.editor.text == ""
