"""What the agent printed on its standard error, and what goes over the wire, live, with a filter."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, RichLog

from accord.tui.plain import plain, size_of
from accord.tui.prompt.at_once import Field
from accord.tui.screens.above import Above

if TYPE_CHECKING:
    from accord.tui.link import Link, Logged

_MARKS = {"stderr": ("!", "yellow"), "in": ("←", "green"), "out": ("→", "blue"), "trouble": ("✗", "red")}
_KINDS = {"f2": None, "f3": ("stderr", "trouble"), "f4": ("in", "out")}


class LogScreen(Above[None]):
    """The log of one agent: the newest lines of both, and what comes."""

    DEFAULT_CSS = """
    LogScreen { align: center middle; }
    LogScreen > Vertical { width: 95%; height: 95%; border: round $primary; padding: 0 1; background: $background; }
    LogScreen Input { border: none; height: 1; padding: 0; background: $background; }
    LogScreen RichLog { height: 1fr; background: $background; }
    """

    def __init__(self, link: Link) -> None:
        super().__init__()
        self.link = link
        self._read = 0
        self._kinds: tuple[str, ...] | None = None
        self._wanted = ""

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = f"Log of {self.link.name}"
            box.border_subtitle = "type to filter · f2 all · f3 stderr · f4 wire · esc"
            yield Field(placeholder="filter", compact=True)
            yield RichLog(max_lines=4000, wrap=False, markup=False, highlight=False)

    def on_mount(self) -> None:
        self.query_one(RichLog).can_focus = False
        self.query_one(Input).focus()
        self._again()
        self.set_interval(0.2, self._more)

    def on_input_changed(self, message: Input.Changed) -> None:
        self._wanted = message.value.lower()
        self._again()

    def _again(self) -> None:
        self.query_one(RichLog).clear()
        self._read = self.link.logged - len(self.link.log)
        if not self.link.log:
            self.query_one(RichLog).write(Text("Nothing yet.", style="dim"))
        self._more()

    def _more(self) -> None:
        new = self.link.logged - self._read
        self._read = self.link.logged
        if new <= 0:
            return
        log = self.query_one(RichLog)
        for line in list(self.link.log)[-new:]:
            if (self._kinds is None or line.kind in self._kinds) and self._wanted in line.text.lower():
                log.write(_row(line))

    def on_key(self, event: events.Key) -> None:
        log = self.query_one(RichLog)
        if event.key == "escape":
            event.stop()
            self.dismiss(None)
        elif event.key in _KINDS:
            event.stop()
            self._kinds = _KINDS[event.key]
            self._again()
        elif event.key in ("pageup", "pagedown"):
            event.stop()
            (log.scroll_page_up if event.key == "pageup" else log.scroll_page_down)()


def _row(line: Logged) -> Text:
    mark, colour = _MARKS[line.kind]
    text = Text(time.strftime("%H:%M:%S ", time.localtime(line.at)), style="dim", no_wrap=True)
    text.append(f"{mark} ", style=colour)
    text.append(plain(line.text), style="default")
    if line.size > len(line.text) + 100:
        text.append(f" … {size_of(line.size)} in all", style="dim")
    return text
