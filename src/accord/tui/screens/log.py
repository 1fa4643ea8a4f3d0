"""Live log of an agent: standard error and protocol messages, which can be filtered, opened, copied and saved."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Input

from accord.config.command import is_command_line
from accord.terminal_text import one_line
from accord.tui.agent.log import (
    MARKS,
    MAX_LOG_BYTES,
    SEARCH_BYTES,
    Kind,
    LogFilter,
    LogQuery,
    LogRow,
    as_text,
    clock,
    contents,
    pretty,
    title,
)
from accord.tui.errors import run_in_background
from accord.tui.screens.hints import Hints
from accord.tui.screens.log_message import MessageScreen
from accord.tui.screens.modal import Modal
from accord.tui.terminal.keyboard import Field
from accord.tui.text import make_label

if TYPE_CHECKING:
    from rich.style import Style

    from accord.tui.agent.process import AgentProcess
    from accord.tui.app import AccordApp
    from accord.tui.theme import TextStyles


class LogLines(Widget):
    """Log lines, newest at the bottom, with a cursor. On the last row, the cursor follows new lines."""

    DEFAULT_CSS: ClassVar[str] = "LogLines { height: 1fr; }"
    app: AccordApp

    class Opened(Message):
        """The user clicked on a row."""

        def __init__(self, shown: LogRow) -> None:
            super().__init__()
            self.shown = shown

    def __init__(self, secrets: Iterable[str]) -> None:
        super().__init__()
        self.rows: list[LogRow] = []
        self._bytes = 0
        self._secrets = list(secrets)
        self._at = 0
        self._top = 0
        self._follows = True

    @property
    def chosen(self) -> LogRow | None:
        return self.rows[self._at] if self._at < len(self.rows) else None

    def add(self, rows: list[LogRow], *, replace: bool = False) -> None:
        """Add rows, or replace all of them. The oldest are dropped when they exceed the size of a log."""
        if replace:
            self.rows, self._bytes, self._follows = [], 0, True
        self.rows += rows
        self._bytes += sum(row.entry.weight for row in rows)
        dropped = 0
        while self._bytes > MAX_LOG_BYTES and dropped < len(self.rows) - 1:
            self._bytes -= self.rows[dropped].entry.weight
            dropped += 1
        if dropped:
            del self.rows[:dropped]
            self._at = max(self._at - dropped, 0)
            self._top = max(self._top - dropped, 0)
        if self._follows:
            self._at = max(len(self.rows) - 1, 0)
        self._scroll_to_cursor()

    def move(self, key: str) -> bool:
        """Move the cursor. Return whether the key moves it."""
        page = max(self.size.height - 1, 1)
        by = {
            "up": -1,
            "down": 1,
            "pageup": -page,
            "pagedown": page,
            "ctrl+home": -len(self.rows),
            "ctrl+end": len(self.rows),
        }
        if key not in by:
            return False
        self._at = max(0, min(self._at + by[key], len(self.rows) - 1))
        self._follows = self._at >= len(self.rows) - 1
        self._scroll_to_cursor()
        return True

    def _scroll_to_cursor(self) -> None:
        rows = max(self.size.height, 1)
        self._top = max(min(self._top, self._at, len(self.rows) - rows), self._at - rows + 1, 0)
        self.refresh()

    def on_resize(self) -> None:
        self._scroll_to_cursor()

    def render_line(self, y: int) -> Strip:
        text_styles, width = self.app.text_styles, self.size.width
        place = self._top + y
        if place >= len(self.rows):
            hint = "Nothing here." if not self.rows and y == 0 else ""
            return text_styles.line((hint, text_styles.dim)).adjust_cell_length(width, text_styles.base)
        shown = self.rows[place]
        line = shown.entry
        is_chosen = place == self._at
        parts: list[tuple[str, Style | None]] = [
            ("❯ " if is_chosen else "  ", text_styles.accent),
            (f"{clock(line)} ", text_styles.dim),
            (f"{MARKS[line.kind]} ", _color(text_styles, line.kind)),
        ]
        if shown.method or shown.is_answer:
            parts.append((f"{title(shown)}  ", text_styles.strong))
        parts.append(
            (contents(shown, self._secrets, width * 4).replace("\n", " "), text_styles.dim if shown.method else None)
        )
        return text_styles.line(*parts).adjust_cell_length(width, text_styles.base)

    def on_click(self, event: events.Click) -> None:
        place = self._top + event.y
        if place < len(self.rows):
            self._at = place
            self._follows = False
            self.refresh()
            self.post_message(self.Opened(self.rows[place]))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._scroll(-3)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._scroll(3)

    def _scroll(self, by: int) -> None:
        for _ in range(abs(by)):
            self.move("down" if by > 0 else "up")


def _color(text_styles: TextStyles, kind: Kind) -> Style:
    return {
        "stderr": text_styles.warn,
        "in": text_styles.good,
        "out": text_styles.accent,
        "problem": text_styles.bad,
    }.get(kind, text_styles.warn)


_INTERVAL_SECONDS = 0.2
_KINDS: dict[str, tuple[str, tuple[Kind, ...] | None]] = {
    "f2": ("everything", None),
    "f3": ("output", ("stderr", "problem")),
    "f4": ("the wire", ("in", "out")),
    "f5": ("received from it", ("in",)),
    "f6": ("sent to it", ("out",)),
    "f9": ("unknown updates", ("unknown",)),
}


class LogScreen(Modal[None]):
    """The log of one agent, updated live."""

    DEFAULT_CSS: ClassVar[str] = """
    LogScreen { align: center middle; }
    LogScreen > Vertical { width: 95%; height: 95%; border: round $primary; padding: 0 1; background: $background; }
    LogScreen Input { border: none; height: 1; padding: 0; background: $background; }
    """

    def __init__(self, process: AgentProcess, directory: Path) -> None:
        super().__init__()
        self.process = process
        self._directory = directory
        self._kinds = "f2"
        self._query_text = ""
        self._filtering: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        from accord.config.redaction import secret_values

        self._secrets = secret_values(os.environ)
        with Vertical():
            yield Field(placeholder="filter: words, -word, method:name", compact=True)
            yield LogLines(self._secrets)
            yield Hints(
                "f2 all", "f3 printed", "f4 wire", "f5 received", "f6 sent",
                "↑ ↓ enter open", "f7 copy", "f8 save to a file", "f9 unknown", "esc",
            )  # fmt: skip

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._refilter()

    def on_unmount(self) -> None:
        if self._filtering is not None:
            self._filtering.cancel()

    def on_input_changed(self, message: Input.Changed) -> None:
        if message.value != self._query_text:  # Textual also reports the empty field when it is mounted
            self._query_text = message.value
            self._refilter()

    def _refilter(self) -> None:
        """Filter the whole log again, a slice at a time, and then new lines as they arrive."""
        name, kinds = _KINDS[self._kinds]
        self.query_one(Vertical).border_title = make_label(f"Log of {self._describe_agent()}: {name}")
        if self._filtering is not None:
            self._filtering.cancel()
        self._filtering = asyncio.ensure_future(self._filter(LogQuery.of(self._query_text, kinds)))

    def _describe_agent(self) -> str:
        """Return the agent's name, and its command line if that is how it was started."""
        from accord.config.redaction import redact_text

        target = self.process.target or ""
        return self.process.title + (f" ({one_line(redact_text(target), 60)})" if is_command_line(target) else "")

    async def _filter(self, wanted: LogQuery) -> None:
        log, log_filter, view = self.process.log, LogFilter(wanted), self.query_one(LogLines)
        read, is_new = 0, True
        while True:
            found: list[LogRow] = []
            lines, read, looked_at = log.since(read), log.count, 0
            for line in lines:
                found += log_filter.apply([line])
                looked_at += len(line.line) + SEARCH_BYTES // 1000
                if looked_at > SEARCH_BYTES:
                    view.add(found, replace=is_new)
                    found, is_new, looked_at = [], False, 0
                    await asyncio.sleep(0)
            if found or is_new:
                view.add(found, replace=is_new)
            is_new = False
            await asyncio.sleep(_INTERVAL_SECONDS)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and self.is_mounted and self._key(event.key):
            event.stop()
            event.prevent_default()
            return
        await super().on_event(event)

    def _key(self, key: str) -> bool:
        view = self.query_one(LogLines)
        if key == "escape":
            self.dismiss(None)
        elif key in _KINDS:
            self._kinds = key
            self._refilter()
        elif key == "f7":
            # Owned by the app, so that it completes even if the screen is closed; so is saving.
            run_in_background(self.app, self._copy(view.chosen))
        elif key == "f8":
            run_in_background(self.app, self._save(list(view.rows)))
        else:
            return view.move(key)
        return True

    def on_input_submitted(self) -> None:
        self._open(self.query_one(LogLines).chosen)

    def on_log_lines_opened(self, message: LogLines.Opened) -> None:
        self._open(message.shown)

    def _open(self, shown: LogRow | None) -> None:
        if shown is not None:
            self.app.push_screen(MessageScreen(shown, title(shown), self._secrets))

    async def _copy(self, shown: LogRow | None) -> None:
        if shown is not None:
            self.app.copy_to_clipboard(await asyncio.to_thread(pretty, shown.entry, self._secrets))
            self.app.notify("Copied.")

    async def _save(self, rows: list[LogRow]) -> None:
        path = self._directory / f"accord-log-{time.strftime('%Y%m%d-%H%M%S')}.txt"
        try:
            await asyncio.to_thread(_write, path, rows, self._secrets)
        except OSError as error:
            self.app.notify(f"Couldn't save it: {error}", severity="error")
            return
        self.app.notify(f"Saved to {path}")


def _write(path: Path, rows: list[LogRow], secrets: set[str]) -> None:
    """Write the lines to a file that only its owner can read, because messages are private."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(as_text(rows, secrets))
