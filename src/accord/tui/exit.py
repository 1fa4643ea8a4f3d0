"""Leaving the client: the warning before it, and an exit that saves drafts and restores the terminal."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.tui.app import AccordApp

QUIT_AGAIN_SECONDS = 2.0
"""A second Ctrl-C within this time quits."""


class Exit:
    """Ends the application, once."""

    def __init__(self, app: AccordApp) -> None:
        self.has_begun: bool = False
        self._app = app
        self._interrupted_at = 0.0

    def interrupt(self) -> None:
        """Copy the selected text, or warn; a second Ctrl-C quits."""
        app = self._app
        selected = app.screen.get_selected_text()
        if selected:
            app.copy_to_clipboard(selected)
            app.notify(f"Copied {len(selected)} characters.")
            app.screen.clear_selection()
            return
        now = time.monotonic()
        if now - self._interrupted_at < QUIT_AGAIN_SECONDS:
            self.begin(0)
            return
        self._interrupted_at = now
        outcome = "is saved" if app.saved.try_save_drafts() else "can't be saved and will be lost"
        app.notify(f"Press ctrl+c again to quit; unsent text {outcome}.", timeout=QUIT_AGAIN_SECONDS)

    def begin(self, status: int) -> None:
        """Save drafts and exit. Unmounting the application then closes agents and restores the terminal."""
        app = self._app
        for tab in app.tabs:
            tab.transcript_view.images.close()  # while the terminal is still ours
        if self.has_begun:
            return
        app.saved.save_drafts(is_final=True)
        app.continuation = describe_continuation(app)
        self.has_begun = True
        if not app.is_headless:
            app.restorer.force_exit_later(status)
        app.exit(status, return_code=status)


def describe_continuation(app: AccordApp) -> str:
    """Return the command that continues the session of the active tab; empty if it has no messages, if its agent can't
    open earlier sessions, or if it isn't printable."""
    tab = app.tabs.active
    controller, process = tab.controller, tab.controller.process
    session = controller.session
    offers = process.agent.offers if process.agent is not None else None
    if session is None or offers is None or not (offers.load or offers.resume) or controller.parent is not None:
        return ""
    if not session.transcript.has_messages:
        return ""
    words = ["accord"] if process.target is None else ["accord", "chat", process.target]
    if app.host.cwd != Path.cwd():
        words = ["accord", "chat", *words[2:], "--cwd", str(app.host.cwd)]
    # Another tab may have been used later, and only this one's id is sure to be the user's.
    is_newest = len(app.tabs) == 1 and offers.list
    command = shlex.join([*words, "-c"] if is_newest else [*words, "--session", session.id])
    # It is printed on the terminal, and the agent chooses the id.
    return command if command.isprintable() else ""
