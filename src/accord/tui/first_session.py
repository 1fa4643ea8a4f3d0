"""The first session of the client, as the command line wants it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from accord.tui.session.opener import OpenMode, SetUp
    from accord.tui.tab.tab import Tab


class FirstSession:
    """Opens the session of the first tab, sets it up and sends its prompt."""

    def __init__(self) -> None:
        self.id: str | None = None
        self.how: OpenMode = "new"
        self.prompt: str = ""
        """The prompt to send when the session is open."""
        self.set_up: SetUp | None = None
        """Sets options of the session before its first prompt."""

    def begin(self, tab: Tab) -> None:
        """Open the session. Its prompt waits until that is done."""
        tab.controller.opener.set_up = self.set_up
        prompt, self.prompt = self.prompt, ""
        if tab.controller.queue.is_on_hold:  # sending it would also send what an earlier client left behind
            tab.editor.insert(prompt)
        elif prompt:
            tab.prompt_input.submit(prompt, is_urgent=False)
        tab.begin(self.id, self.how)
