"""Text of a tab that has no messages yet: its agent is starting, slow, or can't be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.tui import greeting

if TYPE_CHECKING:
    from accord.tui.tab.tab import Tab


class EmptyText:
    """Writes the text that the transcript view shows while it is empty."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab

    def show_start(self) -> None:
        """Say that the agent is being started or installed."""
        self._tab.transcript_view.empty_text = greeting.describe_start(self._tab.controller.process, self._tab.cwd)

    def show_slow_start(self) -> None:
        """Say what the user can do about a slow start."""
        controller = self._tab.controller
        if controller.process.progress or controller.process.is_stopping:
            return
        seconds = 0 if self._tab.app.is_calm else int(controller.seconds_waited)
        is_opening = controller.state == "opening"
        self._write(greeting.describe_slow_start(controller.process, self._tab.cwd, is_opening, seconds))
        self._tab.transcript_view.refresh()

    def clear(self) -> None:
        """Remove the text, because the session is open and the welcome is shown."""
        self._tab.transcript_view.empty_text = []

    def show_failure(self) -> None:
        """Say why there is no session, if the reason is known."""
        process = self._tab.controller.process
        failure = self._tab.controller.failure or process.failure
        if failure:
            if process.is_open:
                lines = greeting.describe_missing_session(process, failure)
            else:
                lines = greeting.describe_error(process, failure, has_keys=bool(self._tab.key_line.display))
            self._write([*lines, *greeting.pending_notes(process)])
        self._tab.transcript_view.refresh()

    def _write(self, lines: list[str]) -> None:
        view = self._tab.transcript_view
        view.empty_text = greeting.wrap_lines(lines, view.size.width - 4)
