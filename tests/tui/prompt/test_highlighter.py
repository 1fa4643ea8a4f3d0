"""Highlighting of the prompt: Markdown, @files and the /command."""

from __future__ import annotations

import pytest
from rich.text import Text
from support.theme import COLORS
from support.tui_driver import Chat, Opened

from accord.testing import ScriptedAgent
from accord.tui.prompt import highlighter
from accord.tui.prompt.highlighter import PromptHighlighter
from accord.tui.theme import TextStyles

STYLES = TextStyles(COLORS, dark=True)


def find_styled(prompt: str, row: int = 0) -> list[str]:
    """Return the parts of a line that have a style, apart from each other."""
    lines = prompt.split("\n")
    line = Text(lines[row])
    PromptHighlighter(STYLES).highlight(line, row, lines)
    return [line.plain[each.start : each.end] for each in line.spans]


def is_bold(chat: Chat) -> bool:
    """Return whether **x** in the second line is drawn bold."""
    return any(
        each.style is not None and each.style.bold for each in chat.tab.editor.render_line(1) if "x" in each.text
    )


@pytest.mark.parametrize(
    ("line", "styled"),
    [
        ("/review it", ["/review"]),
        ("/etc/hosts is a file", []),
        ("see /review", []),
        ("run `a * b * c` now", ["`a * b * c`"]),
        ("a **strong** word, __too__", ["**strong**", "__too__"]),
        ("an *emphasized* word, _too_", ["*emphasized*", "_too_"]),
        ("snake_case_name, 2 * 3 * 4, __init__.py", []),
        ("# Heading", ["# Heading", "#"]),
        ("#hashtag", []),
        ("- item", ["-"]),
        ("  12. item", ["  12."]),
        ("-1 is negative", []),
        ("> quoted", [">"]),
        ("[text](url) and https://example.com", ["[text](url)", "https://example.com"]),
        ('@src/a.py:3 and @"my notes.md"', ["@src/a.py:3", '@"my notes.md"']),
        ("me@example.com", []),
        ("`unclosed and *unclosed", []),
    ],
)
def test_each_kind_of_markup_is_found_by_its_own_rules(line: str, styled: list[str]) -> None:
    assert find_styled(line) == styled


def test_a_command_is_only_at_the_start_of_the_prompt() -> None:
    assert find_styled("hello\n/review it", row=1) == []


@pytest.mark.parametrize("fence", ["```", "~~~", "````"])
def test_code_between_fences_is_not_markdown(fence: str) -> None:
    prompt = f"{fence}python\n**x** = 1\n{fence}\n**after**"
    assert [find_styled(prompt, row) for row in range(4)] == [
        [f"{fence}python"],
        ["**x** = 1"],
        [fence],
        ["**after**"],
    ]


def test_a_shorter_fence_does_not_close_a_longer_one() -> None:
    assert find_styled("````\n```\ncode\n````", row=2) == ["code"]


def test_long_lines_and_long_prompts_stay_plain() -> None:
    assert find_styled("**x** " * highlighter.MAX_CHARACTERS) == []
    assert find_styled("**x**" + "\n" * highlighter.MAX_LINES) == []


async def test_a_fence_typed_above_changes_the_lines_below_it(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.tab.editor.set_text("\n**x**")
        await chat.until("**x**")
        assert is_bold(chat)
        chat.tab.editor.replace("```", (0, 0), (0, 0))
        await chat.until("```")
        assert not is_bold(chat)


async def test_shell_commands_and_screen_readers_get_plain_text(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.tab.editor.set_text("!echo **x**")
        assert chat.tab.editor.get_line(0).spans == []
    monkeypatch.setenv("ACCORD_SCREEN_READER", "1")
    async with opened(ScriptedAgent()) as chat:
        chat.tab.editor.set_text("**x**")
        assert chat.tab.editor.get_line(0).spans == []


async def test_the_prompt_follows_the_theme(opened: Opened) -> None:
    async with opened(ScriptedAgent()) as chat:
        chat.tab.editor.set_text("see @a.py")
        await chat.until("see @a.py")
        dark = chat.tab.editor.get_line(0).spans
        chat.app.theme = "accord-light"
        await chat.until(lambda: chat.tab.editor.get_line(0).spans != dark)
