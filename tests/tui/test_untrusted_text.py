"""Agent text can't control the terminal or act as markup, with and without the final filter."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.segment import Segment
from rich.style import Style
from support.tui_driver import Chat, Launched, Memory
from textual.color import Color

from accord.tui.terminal.filters import SanitizingFilter
from accord.tui.text import make_label
from accord.tui.transcript.ansi import printed_lines

HOSTILE = Path(__file__).parents[1] / "agents" / "hostile_agent.py"
STEERS = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e]")
Hostile = Callable[..., AbstractAsyncContextManager[Chat]]


class Evil(Memory):
    """A host with the hostile agent."""

    def launch(self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[..., None]) -> Any:
        on_stderr("x\x1b]2;y\x07[/x]")
        return Launched("evil", [sys.executable, str(HOSTILE)])  # type: ignore[arg-type]


@pytest.fixture(params=["with the net", "without it"])
def hostile(request: pytest.FixtureRequest, folders: Path) -> Hostile:
    @asynccontextmanager
    async def open_chat() -> AsyncIterator[Chat]:
        from accord.tui.app import AccordApp

        app = AccordApp(Evil(folders, lambda: None, frozenset({1})))  # type: ignore[arg-type, return-value]
        if request.param == "without it":
            app._filters[:] = [each for each in app._filters if not isinstance(each, SanitizingFilter)]
        async with app.run_test(size=(150, 45)) as pilot:
            chat = Chat(app, pilot)
            await chat.ready()
            yield chat

    return open_chat


def check(chat: Chat, seen: str) -> None:
    """Check that the screen has only printable characters, and that links contain only a URL."""
    for strip in chat.app.screen._compositor.render_strips():
        for text, style, _ in strip:
            assert STEERS.search(text) is None, f"{seen}: {text!r}"
            assert style is None or style.link is None or STEERS.search(style.link) is None, f"{seen}: {style.link!r}"


async def wait_until_settled(chat: Chat) -> None:
    """Wait until the screen doesn't change for a few frames."""
    same, before = 0, ""
    for _ in range(200):
        await asyncio.sleep(0.02)
        await chat.pilot.pause()
        same, before = (same + 1, before) if chat.text == before else (0, chat.text)
        if same == 5:
            return
    raise AssertionError("the screen does not come to rest")


async def test_a_hostile_agent_s_turn_is_sanitized(hostile: Hostile) -> None:
    async with hostile() as chat:
        await chat.send("go")
        await chat.until("Permission needed")
        check(chat, "the question")
        chat.tab.controller.permissions[0].answer.set_result(None)
        await chat.until(lambda: chat.tab.controller.state == "idle")
        chat.app.action_open_all()
        for _ in range(6):  # from the end to the beginning
            await wait_until_settled(chat)
            check(chat, "the conversation")
            chat.tab.transcript_view.scroll_pages(-1)
        chat.tab.editor.set_text("/evil ")
        await wait_until_settled(chat)
        check(chat, "a command's hint")


async def test_a_hostile_agent_s_form_is_sanitized(hostile: Hostile) -> None:
    async with hostile() as chat:
        await chat.send("form")
        await chat.until("asks")
        check(chat, "the form")
        await chat.until("ctrl+s send")  # it takes no keys in its first moment
        await chat.press("escape")
        await chat.until(lambda: chat.tab.controller.state == "idle")
        assert chat.app.is_running


ACTS = [
    ("sessions", ()),
    ("sessions", ("f7",)),
    ("sessions", ("f8",)),
    ("options", ()),
    ("options", ("enter",)),
    ("log_in", ()),
    ("logs", ("enter",)),
    ("rename", ()),
    ("new_tab", ()),
    ("keys", ()),
    ("next_mode", ()),
    ("doctor", ()),
]


@pytest.mark.parametrize("act, keys", ACTS)
async def test_every_list_and_screen_is_sanitized(hostile: Hostile, act: str, keys: tuple[str, ...]) -> None:
    async with hostile() as chat:
        await chat.until(lambda: bool(chat.tab.controller.session and chat.tab.controller.session.title))
        begun = getattr(chat.app, f"action_{act}")()
        if asyncio.iscoroutine(begun):
            await begun
        await wait_until_settled(chat)
        check(chat, act)
        for key in keys:
            await chat.press(key)
            await wait_until_settled(chat)
            check(chat, f"{act} {key}")
        assert chat.app.is_running


def test_only_safe_links_in_command_output_are_kept() -> None:
    good, bad = "https://example.org/a", "http://x/\x1b]52;c;cHduZWQ="
    for address, kept in ((good, good), (bad, None), (f"http://x/{'y' * 9_000}", None)):
        (line,), _ = printed_lines(f"see \x1b]8;;{address}\x1b\\here\x1b]8;;\x1b\\ now")
        links = {span.style.link for span in line.spans if isinstance(span.style, Style)} - {None}
        assert links == ({kept} if kept else set())
        assert "here" in line.plain


def test_the_sanitizing_filter_removes_only_control_sequences() -> None:
    net, ground = SanitizingFilter(), Color.parse("black")
    link = Style(bold=True, link="http://x/\x1b]2;y")
    made = net.apply([Segment("a\x1b]52;c\x07b"), Segment("c", link), Segment("d", Style(link="http://x/"))], ground)
    assert [each.text for each in made] == ["a]52;cb", "c", "d"]
    assert made[1].style is not None and made[1].style.bold and made[1].style.link is None
    assert made[2].style is not None and made[2].style.link == "http://x/"


def test_brackets_in_a_title_are_literal() -> None:
    assert make_label("[/x] and [bold]").plain == "[/x] and [bold]"
