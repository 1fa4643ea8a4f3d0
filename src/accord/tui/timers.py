"""Timers of the client: drafts, window title and published sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.tui.app import AccordApp

DRAFT_SECONDS = 1.0
"""How often drafts are saved."""
STATUS_SECONDS = 0.5
"""How often the state of the sessions is published, if it has changed."""
TITLE_SECONDS = 0.5
"""How often the window title is updated."""


def start_timers(app: AccordApp) -> None:
    """Start all timers. They end with the client."""
    app.set_interval(DRAFT_SECONDS, app.saved.update_drafts)
    app.set_interval(TITLE_SECONDS, app.update_title)
    app.set_interval(STATUS_SECONDS, app.overview.publish)
