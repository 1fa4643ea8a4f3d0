"""A page that the agent asks to be visited."""

from __future__ import annotations

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from accord.client.form import host_of
from accord.model.requests import Elicitation, Reply
from accord.tui.harmless import words
from accord.tui.plain import one_line, plain
from accord.tui.screens.above import Above
from accord.tui.viewing import open_address

BOX = """
{name} {{ align: center middle; }}
{name} > .box {{
    width: 90%; max-width: 90; height: auto; max-height: 90%; border: heavy $warning; padding: 0 1;
    background: $background; border-title-color: $warning;
}}
{name} .message {{ text-style: bold; margin-bottom: 1; }}
"""
"""How that looks which an agent asks."""


class PageScreen(Above[Reply]):
    """A page to visit. Nothing is opened unasked: the user sees where the address leads, and goes there or not."""

    DEFAULT_CSS = BOX.format(name="PageScreen") + "PageScreen .doubt { color: $warning; }"
    key_hints = (
        "enter done · o opens it · c copies the address · n no · esc leaves it",
        "enter done · o opens it · c copies it · n no · esc leaves it",
        "enter done · o opens · c copies · n no · esc",
        "enter · o opens it · c · n · esc",
        "enter · o · c · n · esc",
    )

    def __init__(self, question: Elicitation, agent: str) -> None:
        super().__init__()
        self._question = question
        self._agent = agent

    def compose(self) -> ComposeResult:
        url = self._question.url or ""
        host, doubts = host_of(url)
        with Vertical(classes="box") as box:
            box.border_title = words(f"{one_line(self._agent, 40)} asks you to visit a page")
            yield Static(Text(plain(self._question.message)), classes="message")
            yield Static(Text(plain(url)))
            yield Static(Text(f"on {one_line(host)}"))
            if doubts:
                yield Static(Text(f"Be careful: {one_line('; '.join(doubts))}"), classes="doubt")

    def on_key(self, event: events.Key) -> None:
        actions = {"enter": "accept", "n": "decline", "escape": "cancel"}
        url = self._question.url or ""
        if event.key in actions:
            event.stop()
            self.dismiss(Reply(action=actions[event.key]))
        elif event.key == "c":
            event.stop()
            self.app.copy_to_clipboard(url)
            self.app.notify("The address is in the clipboard.")
        elif event.key == "o":
            event.stop()
            trouble = open_address(url)
            self.app.notify(
                trouble or "It is opened; enter when you are done.", severity="warning" if trouble else "information"
            )
