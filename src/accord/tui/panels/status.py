"""Status line: the agent, its state, context usage, and the keys that matter now."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.cells import cell_len
from textual.strip import Strip
from textual.widget import Widget

from accord.terminal_text import format_duration, one_line
from accord.tui.panels import meter
from accord.tui.session.mode_kind import kind_of

if TYPE_CHECKING:
    from rich.style import Style

    from accord.tui.app import AccordApp
    from accord.tui.session.controller import SessionController
    from accord.tui.theme import TextStyles

NARROW = 100
"""Columns below which there is no side panel with the details."""
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Part(NamedTuple):
    """A part of the line. If there isn't room for all, those with the highest rank are dropped first; rank 0 stays."""

    rank: int
    text: str
    style: Style | None
    is_right: bool = False


class State(NamedTuple):
    """The state of the agent as text, and the keys that matter because of it."""

    text: str
    style: Style
    hint: str


class StatusLine(Widget):
    """The status line of a tab."""

    app: AccordApp
    DEFAULT_CSS: ClassVar[str] = "StatusLine { height: 1; padding: 0 1; background: $background; }"

    def __init__(self, text_styles: TextStyles, controller: SessionController) -> None:
        super().__init__()
        self.text_styles = text_styles
        self.controller = controller
        self.is_following: Callable[[], bool] = lambda: True
        """Returns whether the end of the transcript is in view."""
        self.has_key_line: Callable[[], bool] = lambda: False
        """Returns whether a line below this one shows the keys."""
        self.has_meter: Callable[[], bool] = lambda: False
        """Returns whether the side panel shows the context and the cost."""

    def render_line(self, y: int) -> Strip:
        text_styles, width = self.text_styles, self.size.width
        parts = drop_to_fit([*self._state(), *self._agent(), *self._news(), *self._usage()], width)
        left = [(each.text, each.style) for each in parts if not each.is_right]
        right = [(each.text, each.style) for each in parts if each.is_right]
        space = max(width - sum(cell_len(each.text) for each in parts), 0)
        return text_styles.line(*left, (" " * space, None), *right).adjust_cell_length(width, text_styles.base)

    def describe_state(self) -> State:
        """Say what the agent does, and which keys matter because of it."""
        text_styles, controller, process = self.text_styles, self.controller, self.controller.process
        words = {
            "starting": ("◌ starting", text_styles.dim),
            "opening": ("◌ opening session", text_styles.dim),
            "running": (f"{self._spin()}working {self._elapsed()}", text_styles.accent),
            "waiting": ("? waiting for you", text_styles.warn),
            "idle": ("● ready", text_styles.good),
            "gone": ("✗ not running", text_styles.bad),
        }[controller.state]
        stops = "esc stop" if not self._is_read() else "esc twice to stop"
        hint = {"running": stops, "gone": "ctrl+r restart"}.get(controller.state, "")
        if process.state == "undecided":
            words, hint = ("◌ no agent yet", text_styles.dim), "ctrl+n choose one"
        elif process.is_stopping:
            words = ("◌ stopping", text_styles.warn)
        elif process.progress:
            mark = self._spin() or "◌ "
            words, hint = (f"{mark}{process.progress}", text_styles.accent), "esc stop"
        elif controller.is_disconnected and controller.state != "gone":
            words = ("◌ Connection lost. Reconnecting…", text_styles.warn)
        elif controller.is_slow:
            words, hint = (f"{words[0]}{self._format_wait()}", text_styles.warn), "esc cancel · ctrl+l output"
        elif controller.turns.is_cancelling:
            words = (f"{self._spin()}stopping {self._elapsed()}", text_styles.warn)
            hint = "not stopping: f12 kills the agent" if controller.turns.is_stuck else ""
        if controller.state == "gone" and process.is_open:  # the agent runs, but there is no session
            words = ("✗ no session", text_styles.bad)
            hint = f"ctrl+r new session{' · ctrl+o session list' if process.can_list_sessions else ''}"
        return State(*words, hint)

    def _state(self) -> list[Part]:
        text_styles, state = self.text_styles, self.describe_state()
        parts = [Part(0, state.text, state.style)]
        if not self.has_key_line():
            hint = f"{state.hint} · " if state.hint else ""
            parts += [Part(1, hint, text_styles.dim, True)] if hint else []
            parts.append(Part(3, "? keys", text_styles.dim, True))
        return parts

    def _news(self) -> list[Part]:
        """Return the parts that are shown only at times. They follow the permanent ones."""
        text_styles, controller, parts = self.text_styles, self.controller, list[Part]()
        if waiting := self._waiting_tabs():
            parts.append(Part(0, waiting, text_styles.warn))
        if not self.is_following():
            parts.append(Part(2, "  ↓ more below (ctrl+end)", text_styles.accent))
        if controller.queue.waiting:
            parts.append(Part(2, f"  {len(controller.queue.waiting)} queued", text_styles.accent))
        if going := controller.activity.count:
            parts.append(Part(2, f"  {going} in background (alt+a)", text_styles.accent))
        if controller.unknown_updates and self.app.size.width < NARROW:
            updates = "1 update" if controller.unknown_updates == 1 else f"{controller.unknown_updates} updates"
            parts.append(Part(9, f"  {updates} not supported", text_styles.dim))
        return parts

    def _waiting_tabs(self) -> str:
        """Return the other tabs waiting for the user, and the key to get there."""
        tabs = enumerate(self.app.tabs, 1)
        numbers = [
            str(number)
            for number, tab in tabs
            if tab.controller is not self.controller and tab.controller.state == "waiting"
        ]
        if not numbers:
            return ""
        which = f"tab {numbers[0]} waits" if len(numbers) == 1 else f"tabs {', '.join(numbers[:3])} wait"
        return f"  ? {which} (alt+t)"

    def _agent(self) -> list[Part]:
        text_styles, controller = self.text_styles, self.controller
        if controller.process.state == "undecided":
            return []
        session, has_headline = controller.session, self.app.headline.display
        parts = [] if has_headline else [Part(6, f"  {one_line(controller.process.title, 30)}", text_styles.dim)]
        if (mode := session.option("mode") if session is not None else None) is not None:
            style = {"acts": text_styles.warn, "other": text_styles.accent}.get(kind_of(mode), text_styles.dim)
            name = one_line(mode.value_name, 24)
            parts += [Part(5, "  " if has_headline else " · ", text_styles.dim), Part(5, name, style)]
        if not has_headline and (model := session.option("model") if session is not None else None) is not None:
            parts.append(Part(7, f" · {one_line(model.value_name, 24)}", text_styles.dim))
        return parts

    def _usage(self) -> list[Part]:
        text_styles, controller = self.text_styles, self.controller
        usage = controller.session.transcript.usage if controller.session is not None else None
        if usage is None or self.has_meter():
            return []
        share, words = meter.share_of(usage), meter.format_tokens(usage)
        if share is not None:
            style = text_styles.bad if share > 0.9 else text_styles.warn if share > 0.7 else text_styles.dim
            parts = [Part(4, f"  {meter.format_percent(share)} of context", style, True)]
        else:
            parts = [Part(4, f"  {words}", text_styles.dim, True)] if words else []
        if spent := meter.format_cost(usage.cost, 10):
            parts.append(Part(8, f"  {spent}", text_styles.dim, True))
        return parts

    def _is_read(self) -> bool:
        """Return whether the transcript has the focus: esc returns to the prompt first."""
        from accord.tui.transcript.view import TranscriptView

        return isinstance(self.app.focused, TranscriptView)

    def _spin(self) -> str:
        if self.app.is_calm:
            return ""
        return f"{SPINNER[int(time.monotonic() * 8) % len(SPINNER)]} "

    def _format_wait(self) -> str:
        return ", slow" if self.app.is_calm else f" {format_duration(self.controller.seconds_waited)}"

    def _elapsed(self) -> str:
        if self.app.is_calm or not self.controller.turns.turn_began:
            return ""
        began = self.controller.turns.turn_began
        return format_duration(max(time.monotonic() - began - self.controller.timing.waited_since(began), 0))


def drop_to_fit(parts: list[Part], width: int) -> list[Part]:
    """Return the parts that fit, in order."""
    while sum(cell_len(each.text) for each in parts) + 1 > width:
        last = max(parts, key=lambda each: each.rank)
        if last.rank == 0:
            break
        parts = [each for each in parts if each is not last]
    return parts
