"""The line at the bottom: who the agent is, what it does, how full its context is, and the keys that matter now."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.panels import meter
from accord.tui.plain import one_line, seconds_of

if TYPE_CHECKING:
    from rich.style import Style

    from accord.tui.app import AccordApp
    from accord.tui.look import Look
    from accord.tui.talk import Talk

NARROW = 100
"""Columns below which there is no side panel, which tells more."""
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Part(NamedTuple):
    """Some words of the line. Where there is no room for all, the last in rank go first; rank 0 stays."""

    rank: int
    text: str
    style: Style | None
    is_right: bool = False


class StatusLine(Widget):
    """One line about a talk."""

    app: AccordApp
    DEFAULT_CSS = "StatusLine { height: 1; padding: 0 1; background: $background; }"

    def __init__(self, look: Look, talk: Talk) -> None:
        super().__init__()
        self.look = look
        self.talk = talk
        self.is_following: Callable[[], bool] = lambda: True
        """Whether the end of the conversation is looked at."""

    def render_line(self, y: int) -> Strip:
        look, width = self.look, self.size.width
        parts = fitting([*self._state(), *self._who(), *self._spent()], width)
        left = [(each.text, each.style) for each in parts if not each.is_right]
        right = [(each.text, each.style) for each in parts if each.is_right]
        space = max(width - sum(cell_len(each.text) for each in parts), 0)
        return look.line(*left, (" " * space, None), *right).adjust_cell_length(width, look.base)

    def _state(self) -> list[Part]:
        look, talk, link = self.look, self.talk, self.talk.link
        words = {
            "starting": ("◌ starting", look.dim),
            "opening": ("◌ opening a session", look.dim),
            "running": (f"{self._spin()}working {self._elapsed()}", look.accent),
            "waiting": ("? waiting for you", look.warn),
            "idle": ("● ready", look.good),
            "gone": ("✗ gone", look.bad),
        }[talk.state]
        stops = "esc stops" if not self._is_read() else "esc twice stops"
        hint = {"running": stops, "gone": "ctrl+r starts it again"}.get(talk.state, "")
        if link.state == "undecided":
            words, hint = ("◌ no agent yet", look.dim), "ctrl+n chooses one"
        elif link.is_stopping:
            words = ("◌ stopping", look.warn)
        elif link.progress:
            words, hint = (f"◌ {link.progress}", look.accent), "esc stops it"
        elif talk.is_slow:
            words, hint = (f"{words[0]}{self._waited()}", look.warn), "esc ends it · ctrl+l what it printed"
        elif talk.is_cancelling:
            words = (f"{self._spin()}stopping {self._elapsed()}", look.warn)
            hint = "it does not stop: f12 ends the agent" if talk.is_stuck else ""
        if talk.state == "gone" and link.is_open:  # the agent is there, and only the session is not
            words = ("✗ no session", look.bad)
            hint = f"ctrl+r begins one{' · ctrl+o lists those there are' if link.lists else ''}"
        parts = [Part(0, words[0], words[1])]
        if waiting := self._waiting():
            parts.append(Part(0, waiting, look.warn))
        if not self.is_following():
            parts.append(Part(2, "  ↓ more below (ctrl+end)", look.primary))
        if talk.queue:
            parts.append(Part(2, f"  {len(talk.queue)} queued", look.primary))
        if going := talk.work.count:
            parts.append(Part(2, f"  {going} in background (alt+a)", look.accent))
        if talk.unknown and self.app.size.width < NARROW:
            updates = "1 update" if talk.unknown == 1 else f"{talk.unknown} updates"
            parts.append(Part(9, f"  {updates} not known", look.dim))
        if hint:
            parts.append(Part(1, hint, look.dim, True))
        parts.append(Part(3, f"{' · ' if hint else ''}? keys", look.dim, True))
        return parts

    def _waiting(self) -> str:
        """Which other tabs wait for the user, and how to get there."""
        panes = enumerate(self.app.panes, 1)
        numbers = [str(number) for number, pane in panes if pane.talk is not self.talk and pane.talk.state == "waiting"]
        if not numbers:
            return ""
        which = f"tab {numbers[0]} waits" if len(numbers) == 1 else f"tabs {', '.join(numbers[:3])} wait"
        return f"  ? {which} (alt+t)"

    def _who(self) -> list[Part]:
        look, talk = self.look, self.talk
        if talk.link.state == "undecided":
            return []
        parts = [Part(6, f"  {one_line(talk.link.title, 30)}", look.dim)]
        for rank, name in ((5, "mode"), (7, "model")):
            option = talk.session.option(name) if talk.session is not None else None
            if option is not None:
                chosen = next((each.name for each in option.choices if each.value == option.value), option.value)
                parts.append(Part(rank, f" · {one_line(str(chosen), 24)}", look.dim))
        return parts

    def _spent(self) -> list[Part]:
        look, talk = self.look, self.talk
        usage = talk.session.transcript.usage if talk.session is not None else None
        if usage is None:
            return []
        share, words = meter.share_of(usage), meter.tokens(usage)
        if share is not None:
            style = look.bad if share > 0.9 else look.warn if share > 0.7 else look.dim
            parts = [Part(4, f"  {meter.percent(share)} of context", style, True)]
        else:
            parts = [Part(4, f"  {words}", look.dim, True)] if words else []
        if spent := meter.spent(usage.cost, 10):
            parts.append(Part(8, f"  {spent}", look.dim, True))
        return parts

    def _is_read(self) -> bool:
        """Whether the conversation has the keys: esc goes back to the prompt first."""
        from accord.tui.conversation.view import Conversation

        return isinstance(self.app.focused, Conversation)

    def _spin(self) -> str:
        if self.app.is_calm:
            return ""
        return f"{SPINNER[int(time.monotonic() * 8) % len(SPINNER)]} "

    def _waited(self) -> str:
        return ", which takes long" if self.app.is_calm else f" {seconds_of(self.talk.waited)}"

    def _elapsed(self) -> str:
        if self.app.is_calm or not self.talk.turn_began:
            return ""
        began = self.talk.turn_began
        return seconds_of(max(time.monotonic() - began - self.talk.clocks.thought_since(began), 0))


def fitting(parts: list[Part], width: int) -> list[Part]:
    """The parts that there is room for, in their order."""
    while sum(cell_len(each.text) for each in parts) + 1 > width:
        last = max(parts, key=lambda each: each.rank)
        if last.rank == 0:
            break
        parts = [each for each in parts if each is not last]
    return parts
