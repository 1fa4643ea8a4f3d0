"""The welcome of a tab: shown while its session has no messages, and gone for good once a prompt is sent."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

from accord.terminal_text import one_line
from accord.tui.agent.names import BUILT_IN_NAME
from accord.tui.errors import run_in_background
from accord.tui.tab.panel_slot import PanelSlot

if TYPE_CHECKING:
    from accord.tui.panels.welcome import Welcome
    from accord.tui.tab.tab import Tab


class WelcomeView:
    """Shows and hides the welcome, and puts its suggestions into the prompt."""

    def __init__(self, tab: Tab) -> None:
        self.slot: PanelSlot[Welcome] = PanelSlot(lambda panel: tab.mount(panel, before=0))
        self._tab = tab
        self._branch = ""
        self._is_empty = False

    def load(self) -> None:
        """Read the facts about the directory for the welcome, while the agent starts."""
        run_in_background(self._tab, self._load(), group="welcome", exclusive=True)

    async def _load(self) -> None:
        from accord.workspace.git_head import read_branch

        cwd = self._tab.cwd
        self._branch = await asyncio.to_thread(read_branch, cwd)
        self._is_empty = await asyncio.to_thread(is_empty, str(cwd))
        self.draw()

    @property
    def is_wanted(self) -> bool:
        """Whether the session is open and has no messages."""
        controller = self._tab.controller
        if controller.session is None or controller.state == "gone" or controller.parent is not None:
            return False
        return not (controller.session.transcript.has_messages or controller.queue.unsent)

    def draw(self) -> None:
        """Show the welcome if it is wanted, with the current model."""
        if not self.is_wanted:
            self.slot.hide()
            return
        from accord.tui.panels.welcome import OFFLINE, Facts, Welcome, shorten_home

        controller = self._tab.controller
        option = controller.session.option("model") if controller.session is not None else None
        process = controller.process
        facts = Facts(
            agent=_describe_agent(self._tab),
            directory=shorten_home(self._tab.cwd),
            branch=self._branch,
            model=one_line(option.value_name, 60) if option is not None else "",
            is_demo=process.title == BUILT_IN_NAME and option is not None and option.value == OFFLINE,
            is_empty=self._is_empty,
            has_keys=bool(self._tab.key_line.display),
        )
        self.slot.show(lambda: Welcome(self._tab.text_styles, facts, self._tab.area)).facts = facts

    def make_room(self) -> None:
        """Leave room for the prompt, which has become higher or lower."""
        if self.slot.panel is not None:
            self.slot.panel.make_room()

    def suggest(self, number: int) -> bool:
        """Put a suggestion into the empty prompt. Return whether there is one."""
        text = self.slot.panel.suggestion(number) if self.slot.panel is not None else None
        if text is None or self._tab.editor.text:
            return False
        self.insert(text)
        return True

    def insert(self, text: str) -> None:
        """Put a suggestion into the prompt."""
        self._tab.editor.set_text(text)
        self._tab.editor.focus()


def _describe_agent(tab: Tab) -> str:
    process = tab.controller.process
    info = process.agent.offers.info if process.agent is not None else None
    version = info.version if info is not None and process.title != BUILT_IN_NAME else ""
    return f"{process.title} {one_line(version or '', 20)}".strip()


def is_empty(directory: str) -> bool:
    """Return whether a directory has no files but Git's."""
    try:
        with os.scandir(directory) as entries:
            return all(entry.name == ".git" for entry in entries)
    except OSError:
        return False
