"""What a newcomer needs to know, above the prompt, until something was said in the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.transcript.message import Message
from accord.tui.screens.hints import Hints

if TYPE_CHECKING:
    from accord.transcript.transcript import Transcript

TIPS = ("/ lists the agent's commands", "@ names a file", "? shows the keys", "ctrl+p finds everything else")


class Tips(Hints):
    """There when a notice takes the place of the welcome; gone for good with the first prompt."""

    DEFAULT_CSS = "Tips { padding: 0 2; display: none; }"

    def __init__(self) -> None:
        super().__init__(*TIPS)
        self._is_done = False

    def fit(self, transcript: Transcript | None) -> None:
        """Comes or goes, by what was said."""
        if self._is_done or transcript is None:
            return
        timeline = transcript.timeline
        self._is_done = any(isinstance(each, Message) and each.role == "user" for each in timeline)
        wanted = bool(timeline) and not self._is_done
        if self.display != wanted:
            self.display = wanted
