"""Pages that agents ask the user to visit: the host is shown, and nothing opens without a key press."""

from __future__ import annotations

import pytest
from support.tui_driver import Chat, Opened

from accord.agent.turn import Turn
from accord.testing import ScriptedAgent
from accord.tui.screens import page


class Browser:
    """Replaces the user's browser."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.visited: list[str] = []
        monkeypatch.setattr(page, "open_address", self.visited.append)


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> Browser:
    return Browser(monkeypatch)


def leading_to(url: str) -> ScriptedAgent:
    async def ask(turn: Turn) -> None:
        reply = await turn.ask("Log in there.", url=url, id="e")
        await turn.say(f"it was {reply.action}")

    return ScriptedAgent([ask])


async def ask_to_visit(chat: Chat) -> None:
    await chat.send("go")
    await chat.until("Log in there.")
    await chat.until("o open")


@pytest.mark.req("V1-ELIC-26", "V1-ELIC-27")
async def test_a_page_shows_its_url_host_and_message_and_opens_only_on_a_key_press(
    opened: Opened, browser: Browser
) -> None:
    url = "https://login.example.com/a/long/way?client=1&state=abc#end"
    async with opened(leading_to(url)) as chat:
        await ask_to_visit(chat)
        assert url in chat.text and "on login.example.com" in chat.text
        assert "Be careful" not in chat.text
        assert browser.visited == []
        await chat.press("o")
        await chat.until(lambda: browser.visited == [url])
        await chat.press("enter")
        await chat.until("it was accept")


@pytest.mark.req("V1-ELIC-26")
async def test_a_declined_page_is_never_opened(opened: Opened, browser: Browser) -> None:
    async with opened(leading_to("https://example.com/")) as chat:
        await ask_to_visit(chat)
        await chat.press("n")
        await chat.until("it was decline")
    assert browser.visited == []


@pytest.mark.req("V1-ELIC-27")
@pytest.mark.parametrize(
    ("url", "host", "warning"),
    [
        ("https://xn--exmple-cua.com/", "on xn--exmple-cua.com", "its letters may imitate those of another"),
        ("https://ex\u0430mple.com/", "on ex\u0430mple.com", "its letters may imitate those of another"),
        ("https://good.example@evil.example/", "on evil.example", "the part before the @ is not the host"),
        ("http://example.com/", "on example.com", "not https but http"),
    ],
)
async def test_a_misleading_url_comes_with_a_warning(
    opened: Opened, browser: Browser, url: str, host: str, warning: str
) -> None:
    async with opened(leading_to(url)) as chat:
        await ask_to_visit(chat)
        assert host in chat.text
        assert f"Be careful: {warning}" in chat.text
