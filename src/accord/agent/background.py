"""Work that goes on outside the turns of a session: version 2 is told of it with every state, version 1 never."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.model.tool import TerminalRef

if TYPE_CHECKING:
    from accord.agent.session import Session

Work = tuple[str, str]
"""What it is (`terminal`, `tool_call`, `subagent`), and its id."""


class Background:
    """What the author lists, and the tool calls that are to outlive their turn."""

    def __init__(self, session: Session) -> None:
        self.listed: list[Work] | None = None
        self.terminals: set[str] = set()
        """The agent's own terminals whose command runs."""
        self._session = session
        self._told: list[Work] | None = None

    def work(self) -> list[Work] | None:
        """All of it. None while none was ever reported."""
        calls = [tool for tool in self._session.open_tools.values() if tool.background]
        if self.listed is None and self._told is None and not calls:
            return None
        found = list(self.listed or ())
        for call in calls:
            # Each piece of work once: a command by its terminal, not by the call that shows it.
            shown = [item.terminal_id for item in call.content if isinstance(item, TerminalRef)]
            running = [("terminal", id) for id in shown if id in self.terminals]
            found += [each for each in running or [("tool_call", call.id)] if each not in found]
        return found

    def telling(self) -> list[Work] | None:
        """All of it, for a statement that is made now."""
        self._told = self.work()
        return self._told

    def changed(self) -> None:
        """Something began, ended or is shown otherwise: says so if the list is another now."""
        if self.work() != self._told:
            self._session._side.dialect.background_changed(self._session)
