"""What the agent printed on its standard error, and what goes over the wire, live: filtered, opened, copied, saved."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from accord.config.command import is_command_line
from accord.tui.fault import beside
from accord.tui.harmless import words
from accord.tui.plain import one_line
from accord.tui.prompt.at_once import Field
from accord.tui.screens.above import Above
from accord.tui.screens.hints import Hints
from accord.tui.screens.lines import Lines, MessageScreen
from accord.tui.wire import SLICE, Kind, Shown, Sieve, Wanted, as_text, pretty, title

if TYPE_CHECKING:
    from accord.tui.link import Link

_EVERY = 0.2
_KINDS: dict[str, tuple[str, tuple[Kind, ...] | None]] = {
    "f2": ("everything", None),
    "f3": ("what it printed", ("stderr", "trouble")),
    "f4": ("the wire", ("in", "out")),
    "f5": ("what it sent", ("in",)),
    "f6": ("what it was sent", ("out",)),
    "f9": ("updates that are not known here", ("unknown",)),
}


class LogScreen(Above[None]):
    """The log of one agent: the newest lines of both, and what comes."""

    DEFAULT_CSS = """
    LogScreen { align: center middle; }
    LogScreen > Vertical { width: 95%; height: 95%; border: round $primary; padding: 0 1; background: $background; }
    LogScreen Input { border: none; height: 1; padding: 0; background: $background; }
    """

    def __init__(self, link: Link, folder: Path) -> None:
        super().__init__()
        self.link = link
        self._folder = folder
        self._kinds = "f2"
        self._words = ""
        self._sifting: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        from accord.config.mask import secret_values

        self._secrets = secret_values(os.environ)
        with Vertical():
            yield Field(placeholder="filter: words, -word, method:name", compact=True)
            yield Lines(self._secrets)
            yield Hints(
                "f2 all", "f3 printed", "f4 wire", "f5 received", "f6 sent",
                "↑ ↓ enter opens", "f7 copies", "f8 saves to a file", "f9 not known here", "esc",
            )  # fmt: skip

    def on_mount(self) -> None:
        self.query_one(Input).focus()
        self._again()

    def on_unmount(self) -> None:
        if self._sifting is not None:
            self._sifting.cancel()

    def on_input_changed(self, message: Input.Changed) -> None:
        if message.value != self._words:  # an empty field says so when it appears
            self._words = message.value
            self._again()

    def _again(self) -> None:
        """Looks through everything anew, a slice at a time, and goes on with what comes."""
        name, kinds = _KINDS[self._kinds]
        self.query_one(Vertical).border_title = words(f"Log of {self._whose()}: {name}")
        if self._sifting is not None:
            self._sifting.cancel()
        self._sifting = asyncio.ensure_future(self._sift(Wanted.of(self._words, kinds)))

    def _whose(self) -> str:
        """The agent, and the command that started it where that is how it was named."""
        from accord.config.mask import masked

        target = self.link.target or ""
        return self.link.title + (f" ({one_line(masked(target), 60)})" if is_command_line(target) else "")

    async def _sift(self, wanted: Wanted) -> None:
        log, sieve, view = self.link.log, Sieve(wanted), self.query_one(Lines)
        read, anew = 0, True
        while True:
            found: list[Shown] = []
            lines, read, looked_at = log.since(read), log.count, 0
            for line in lines:
                found += sieve.sifted([line])
                looked_at += len(line.line) + SLICE // 1000
                if looked_at > SLICE:
                    view.add(found, anew=anew)
                    found, anew, looked_at = [], False, 0
                    await asyncio.sleep(0)
            if found or anew:
                view.add(found, anew=anew)
            anew = False
            await asyncio.sleep(_EVERY)

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and self.is_mounted and self._key(event.key):
            event.stop()
            event.prevent_default()
            return
        await super().on_event(event)

    def _key(self, key: str) -> bool:
        view = self.query_one(Lines)
        if key == "escape":
            self.dismiss(None)
        elif key in _KINDS:
            self._kinds = key
            self._again()
        elif key == "f7":
            beside(self.app, self._copy(view.chosen))  # it is done also when the user goes on at once
        elif key == "f8":
            beside(self.app, self._save(list(view.rows)))
        else:
            return view.move(key)
        return True

    def on_input_submitted(self) -> None:
        self._open(self.query_one(Lines).chosen)

    def on_lines_opened(self, message: Lines.Opened) -> None:
        self._open(message.shown)

    def _open(self, shown: Shown | None) -> None:
        if shown is not None:
            self.app.push_screen(MessageScreen(shown, title(shown), self._secrets))

    async def _copy(self, shown: Shown | None) -> None:
        if shown is not None:
            self.app.copy_to_clipboard(await asyncio.to_thread(pretty, shown.logged, self._secrets))
            self.app.notify("Copied.")

    async def _save(self, rows: list[Shown]) -> None:
        path = self._folder / f"accord-log-{time.strftime('%Y%m%d-%H%M%S')}.txt"
        try:
            await asyncio.to_thread(_write, path, rows, self._secrets)
        except OSError as error:
            self.app.notify(f"It cannot be written: {error}", severity="error")
            return
        self.app.notify(f"Written to {path}")


def _write(path: Path, rows: list[Shown], secrets: set[str]) -> None:
    """Writes the lines to a file that nobody else can read: what was said in a conversation is private."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(as_text(rows, secrets))
