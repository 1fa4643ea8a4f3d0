"""The line at the bottom: the few keys that matter now."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from accord.tui.panels.status import Part, StatusLine, drop_to_fit
from accord.tui.screens.hints import BETWEEN, HasFocusKeys

if TYPE_CHECKING:
    from accord.tui.app import AccordApp
    from accord.tui.theme import TextStyles

_IDLE = (
    "/ commands",
    "@ files",
    "! shell",
    "shift+tab mode",
    "ctrl+o sessions",
    "ctrl+p everything",
    "tab transcript",
    "ctrl+j new line",
    "ctrl+t new session",
    "↑ earlier prompts",
    "ctrl+c twice to quit",
)
"""Keys of an idle agent, the most important first; those that don't fit are left out."""
_RUNNING = ("enter queue", "ctrl+s send now", "tab transcript")
_WAITING = ("tab answer",)
_GONE = ("alt+d diagnose", "ctrl+l log", "ctrl+n choose another agent")
HELP = "? keys"


class KeyLine(Widget):
    """Shows the keys that fit, depending on what has the focus and what the agent is doing."""

    app: AccordApp
    DEFAULT_CSS: ClassVar[str] = "KeyLine { height: 1; padding: 0 1; background: $background; display: none; }"

    def __init__(self, text_styles: TextStyles, status: StatusLine) -> None:
        super().__init__()
        self.text_styles = text_styles
        self._status = status
        self._shown: list[str] = []

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self.update, init=False)

    def update(self) -> None:
        """Draw again if the keys changed."""
        if self.display and self.list_keys() != self._shown:
            self.refresh()

    def list_keys(self) -> list[str]:
        """Return the keys and what they do, the most important first."""
        controller, focused = self._status.controller, self.app.focused
        urgent = list(filter(None, self._status.describe_state().hint.split(BETWEEN)))
        state = controller.state
        keys: tuple[str, ...]
        if isinstance(focused, HasFocusKeys):
            keys = focused.focus_keys
        elif state == "waiting":
            keys = (*_WAITING, HELP)
        elif state in ("running", "starting", "opening"):
            keys = (*_RUNNING, HELP)
        else:
            keys = (*(self._list_failed() if state == "gone" else _IDLE), HELP)
        have = {each.partition(" ")[0] for each in urgent}
        return [*urgent, *(each for each in keys if each.partition(" ")[0] not in have)]

    def _list_failed(self) -> tuple[str, ...]:
        return _GONE[:-1] if self._status.controller.process.is_misconfigured else _GONE

    def render_line(self, y: int) -> Strip:
        text_styles, width = self.text_styles, self.size.width
        self._shown = keys = self.list_keys()
        last = len(keys) - 1
        parts = [Part(0 if at == last else at + 1, each, None) for at, each in enumerate(keys)]
        texts = [((place and BETWEEN) or "", each) for place, each in enumerate(keys)]
        parts = [Part(part.rank, f"{gap}{text}", None) for part, (gap, text) in zip(parts, texts, strict=True)]
        styled: list[tuple[str, Style | None]] = []
        for part in drop_to_fit(parts, width):
            gap, text = (BETWEEN, part.text[len(BETWEEN) :]) if part.text.startswith(BETWEEN) else ("", part.text)
            key, space, action = text.partition(" ")
            styled += [(gap, text_styles.faint), (key, None), (space + action, text_styles.dim)]
        return text_styles.line(*styled).adjust_cell_length(width, text_styles.base)
