"""The line at the bottom: who the agent is, what it does, how full its context is, and the keys that matter now."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual.strip import Strip
from textual.widget import Widget

from accord.tui.plain import one_line, seconds_of

if TYPE_CHECKING:
    from rich.style import Style

    from accord.tui.look import Look
    from accord.tui.talk import Talk

Parts = list[tuple[str, "Style | None"]]
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class StatusLine(Widget):
    """One line about a talk."""

    DEFAULT_CSS = "StatusLine { height: 1; padding: 0 1; background: $background; }"

    def __init__(self, look: Look, talk: Talk) -> None:
        super().__init__()
        self.look = look
        self.talk = talk

    def render_line(self, y: int) -> Strip:
        look, width = self.look, self.size.width
        left = self._left()
        right = self._right()
        room = width - sum(len(text) for text, _ in left)
        while right and sum(len(text) for text, _ in right) + 1 > room:
            right.pop(0)
        space = max(room - sum(len(text) for text, _ in right), 0)
        return look.line(*left, (" " * space, None), *right).adjust_cell_length(width, look.base)

    def _left(self) -> Parts:
        look, talk = self.look, self.talk
        state = talk.state
        words = {
            "starting": ("◌ starting", look.dim),
            "opening": ("◌ opening a session", look.dim),
            "running": (f"{self._spin()} working {self._elapsed()}", look.accent),
            "waiting": ("? waiting for you", look.warn),
            "idle": ("● ready", look.good),
            "gone": ("✗ gone", look.bad),
        }[state]
        if talk.is_cancelling:
            words = (f"{self._spin()} stopping {self._elapsed()}", look.warn)
        parts: Parts = [words]
        if talk.queue:
            parts.append((f"  {len(talk.queue)} queued", look.primary))
        if going := len(talk.work.background):
            parts.append((f"  {going} in background", look.accent))
        parts.append((f"  {one_line(talk.link.title, 30)}", look.dim))
        session = talk.session
        if session is not None:
            for name in ("mode", "model"):
                option = session.option(name)
                if option is not None:
                    chosen = next((each.name for each in option.choices if each.value == option.value), option.value)
                    parts.append((f" · {one_line(str(chosen), 24)}", look.dim))
        return parts

    def _right(self) -> Parts:
        look, talk = self.look, self.talk
        usage = talk.session.transcript.usage if talk.session is not None else None
        parts: Parts = []
        hint = {"running": "esc stops · ", "gone": "ctrl+r starts it again · "}.get(talk.state, "")
        if talk.is_cancelling:
            hint = "it does not stop: f12 ends the agent · " if talk.is_stuck else ""
        parts.append((f"{hint}? keys", look.dim))
        if usage is not None and usage.size:
            share = usage.used / usage.size
            style = look.bad if share > 0.9 else look.warn if share > 0.7 else look.dim
            parts.append((f"  {share:.0%} of context", style))
            if usage.cost is not None:
                parts.append((f"  {usage.cost.amount:.2f} {one_line(usage.cost.currency, 10)}", look.dim))
        return parts

    def _spin(self) -> str:
        return SPINNER[int(time.monotonic() * 8) % len(SPINNER)]

    def _elapsed(self) -> str:
        return seconds_of(time.monotonic() - self.talk.turn_began) if self.talk.turn_began else ""
