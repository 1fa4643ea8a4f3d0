"""Work that continues outside the turns of a session. Version 2 reports it with every state; version 1 can't."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from accord.model.tool import TerminalRef

if TYPE_CHECKING:
    from accord.agent.session import Session

BackgroundWork = tuple[str, str]
"""The kind of work (`terminal`, `tool_call`, `subagent`) and its id."""


class Background:
    """The work that the author lists, and the tool calls that outlive their turn."""

    def __init__(self, session: Session) -> None:
        self.listed: list[BackgroundWork] | None = None
        self._session = session
        self._reported: list[BackgroundWork] | None = None

    @cached_property
    def terminals(self) -> set[str]:
        """The agent's own terminals whose command is running."""
        return set()

    def report(self) -> list[BackgroundWork] | None:
        """List all background work, for a state that is about to be sent. None if none was ever reported."""
        self._reported = self._list()
        return self._reported

    def update(self) -> None:
        """Report a new state if the list has changed since the last one."""
        if self._list() != self._reported:
            self._session.dialect.background_changed(self._session)

    def _list(self) -> list[BackgroundWork] | None:
        calls = [tool for tool in self._session.open_tools.values() if tool.background]
        if self.listed is None and self._reported is None and not calls:
            return None
        found = list(self.listed or ())
        for call in calls:
            # List each piece of work once: a command by its terminal, not by the call that shows it.
            shown = [item.terminal_id for item in call.content if isinstance(item, TerminalRef)]
            running = [("terminal", id) for id in shown if id in self.terminals]
            found += [each for each in running or [("tool_call", call.id)] if each not in found]
        return found
