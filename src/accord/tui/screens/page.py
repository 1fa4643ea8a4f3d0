"""A web page that the agent asks the user to visit."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from accord.client.form import host_of
from accord.model.requests import Elicitation, Reply
from accord.terminal_text import one_line, sanitize
from accord.tui.screens.modal import Modal
from accord.tui.terminal.viewer import open_address
from accord.tui.text import make_label

BOX = """
{name} {{ align: center middle; }}
{name} > .box {{
    width: 90%; max-width: 90; height: auto; max-height: 90%; border: heavy $warning; padding: 0 1;
    background: $background; border-title-color: $warning;
}}
{name} .message {{ text-style: bold; margin-bottom: 1; }}
"""
"""Style shared by the screens that an agent opens."""


class PageScreen(Modal[Reply]):
    """A page to visit. The user sees the host first; nothing is opened without a key press."""

    DEFAULT_CSS: ClassVar[str] = BOX.format(name="PageScreen") + "PageScreen .warning { color: $warning; }"
    key_hints = (
        "enter done · o open · c copy the URL · n decline · esc dismiss",
        "enter done · o open · c copy · n decline · esc dismiss",
        "enter done · o open · c copy · n decline · esc",
        "enter · o open · c · n · esc",
        "enter · o · c · n · esc",
    )

    def __init__(self, question: Elicitation, agent: str) -> None:
        super().__init__()
        self._question = question
        self._agent = agent

    def compose(self) -> ComposeResult:
        url = self._question.url or ""
        host, warnings = host_of(url)
        with Vertical(classes="box") as box:
            box.border_title = make_label(f"{one_line(self._agent, 40)} asks you to visit a page")
            yield Static(Text(sanitize(self._question.message)), classes="message")
            yield Static(Text(sanitize(url)))
            yield Static(Text(f"on {one_line(host)}"))
            if warnings:
                yield Static(Text(f"Be careful: {one_line('; '.join(warnings))}"), classes="warning")

    def on_key(self, event: events.Key) -> None:
        actions = {"enter": "accept", "n": "decline", "escape": "cancel"}
        url = self._question.url or ""
        if event.key in actions:
            event.stop()
            self.dismiss(Reply(action=actions[event.key]))
        elif event.key == "c":
            event.stop()
            self.app.copy_to_clipboard(url)
            self.app.notify("Copied the URL.")
        elif event.key == "o":
            event.stop()
            problem = open_address(url)
            self.app.notify(
                problem or "Opened in your browser. Press enter when you're done.",
                severity="warning" if problem else "information",
            )
