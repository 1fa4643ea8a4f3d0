"""Tips for new users above the prompt, until the first prompt is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from accord.transcript.message import Message
from accord.tui.screens.hints import Hints

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript

TIPS = ("/ commands", "@ mention a file", "? shortcuts", "ctrl+p search all commands")


class Tips(Hints):
    """Shown when a notice has replaced the welcome; hidden for good after the first prompt."""

    DEFAULT_CSS: ClassVar[str] = "Tips { padding: 0 2; display: none; }"

    def __init__(self) -> None:
        super().__init__(*TIPS)
        self._is_done = False

    def fit(self, transcript: Transcript | None) -> None:
        """Show or hide the tips, depending on the transcript."""
        if self._is_done or transcript is None:
            return
        timeline = transcript.timeline
        self._is_done = any(isinstance(each, Message) and each.role == "user" for each in timeline)
        wanted = bool(timeline) and not self._is_done
        if self.display != wanted:
            self.display = wanted
