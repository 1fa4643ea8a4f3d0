"""The open tabs, and the bar at the top that lists them.

The bar is shown if there are several tabs. If they don't all fit, it shows those around the active one, and at each end
how many more there are and whether one of them waits for the user."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from accord.terminal_text import one_line
from accord.tui.tab.tab import Tab

if TYPE_CHECKING:
    from rich.style import Style

    from accord.tui.agent.process import AgentProcess
    from accord.tui.app import AccordApp
    from accord.tui.theme import TextStyles

_MARKS = {"running": "◐", "waiting": "?", "gone": "✗", "starting": "◌", "opening": "◌"}
_NEWS = "●"
_BEYOND = 5
"""Columns for the number of tabs beyond an end."""


class Tabs:
    """The open tabs: which one is shown, adding, closing and finding them."""

    def __init__(self, app: AccordApp) -> None:
        self.bar: TabBar = TabBar(app.text_styles)
        self._app = app

    def _list(self) -> list[Tab]:
        found = self._app.screen_stack[0].query(Tab) if self._app.screen_stack else ()
        return [tab for tab in found if not tab.is_closing]

    def __iter__(self) -> Iterator[Tab]:
        return iter(self._list())

    def __len__(self) -> int:
        return len(self._list())

    def __getitem__(self, place: int) -> Tab:
        return self._list()[place]

    @property
    def active(self) -> Tab:
        tabs = self._list()
        return next((tab for tab in tabs if tab.display), tabs[0])

    async def add(self, process: AgentProcess) -> Tab:
        """Add a tab for an agent and show it."""
        tab = Tab(process, self._app.text_styles, self._app.host.cwd)
        await self._app.screen_stack[0].query_one("#tabs").mount(tab)
        self.show(tab)
        return tab

    def show(self, wanted: Tab) -> None:
        for tab in self:
            tab.display = tab is wanted
        wanted.on_shown()
        self.refresh()

    def refresh(self) -> None:
        """Update the bar."""
        self.bar.show(self._list())

    def step(self, by: int) -> None:
        """Show the tab `by` places after the active one."""
        tabs = self._list()
        self.show(tabs[(tabs.index(self.active) + by) % len(tabs)])

    def show_waiting(self) -> bool:
        """Show the next tab in which the user is asked something. Return whether there is one."""
        tabs = self._list()
        at = tabs.index(self.active)
        waiting = [tab for tab in [*tabs[at + 1 :], *tabs[:at]] if tab.controller.state == "waiting"]
        if waiting:
            self.show(waiting[0])
        return bool(waiting)

    def find(self, process: AgentProcess, session_id: str | None) -> Tab | None:
        """Find the tab of a session, or of the session that a subagent works for, or else any tab of the agent."""
        tabs = [tab for tab in self if tab.controller.process is process]
        session = process.agent.sessions.get(session_id or "") if process.agent is not None else None
        while session is not None:
            for tab in tabs:
                if tab.controller.session is session:
                    return tab
            session = session.parent
        return tabs[0] if tabs else None

    def find_session(self, id: str) -> Tab | None:
        """Find the tab that shows a session."""
        return next((each for each in self if each.controller.session and each.controller.session.id == id), None)

    async def start_over(self) -> None:
        """Replace the active tab by one with a new session of its agent, which keeps the old session if it can."""
        old = self.active
        if old.controller.state in ("running", "waiting"):
            self._app.notify("The agent is working: press Esc to stop it first.", severity="warning")
            return
        await self._app.action_new_session()
        if self.active is not old:
            await self.close(old)

    async def close(self, tab: Tab) -> None:
        """Close a tab, after a confirmation if something would be lost. Its agent keeps the session if it can."""
        warnings = []
        if tab.controller.state in ("running", "waiting"):
            warnings.append("The agent is working here and will be stopped.")
        if tab.prompt_input.unsent:
            warnings.append("Unsent text goes to the history: ↑ recalls it.")
        about, no = " ".join(warnings), "No, keep it open"
        if warnings and not await self._app.dialogs.confirm("Close the tab?", "Yes, close it", no=no, about=about):
            return
        for text in tab.prompt_input.unsent:
            self._app.saved.history.add(text)
        if tab not in self._list() or len(self) == 1:
            return
        process = tab.controller.process
        if tab is self.active:
            self.step(-1)
        tab.is_closing = True  # at once, because another tab may be closed while the agent is slow to end
        self.refresh()
        await tab.close()
        await tab.remove()
        self.refresh()
        self._app.agents.release(process)


class TabBar(Widget):
    """The titles of the tabs, and whether something waits there."""

    DEFAULT_CSS: ClassVar[str] = "TabBar { height: 1; background: $background; display: none; }"

    class Chosen(Message):
        """The user chose this tab."""

        def __init__(self, tab: Tab) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, text_styles: TextStyles) -> None:
        super().__init__()
        self.text_styles = text_styles
        self._ends: list[tuple[int, Tab]] = []
        """The last column of each tab."""
        self._first = 0
        self.tabs: list[Tab] = []

    def show(self, tabs: list[Tab]) -> None:
        self.tabs = tabs
        self.display = len(tabs) > 1
        self.refresh()

    def render_line(self, y: int) -> Strip:
        text_styles, width = self.text_styles, self.size.width
        room = max(width // max(len(self.tabs), 1) - 6, 6)
        tabs = [f" {at} {_mark(tab)} {one_line(tab.controller.title, room)} " for at, tab in enumerate(self.tabs, 1)]
        active = next((place for place, tab in enumerate(self.tabs) if tab.display), 0)
        self._first, end = find_visible([cell_len(words) + 1 for words in tabs], active, self._first, width)
        parts: list[tuple[str, Style | None]] = []
        self._ends = []
        if before := self.tabs[: self._first]:
            self._add_beyond(parts, f"‹{len(before)}{_most_urgent(before)}", before[::-1])
        for words, tab in list(zip(tabs, self.tabs, strict=True))[self._first : end]:
            mark = _mark(tab)
            style = (
                text_styles.accent + text_styles.strong
                if tab.display
                else text_styles.warn
                if mark in f"?{_NEWS}"
                else text_styles.dim
            )
            parts += [(words, style), ("│", text_styles.faint)]
            self._ends.append((_length(parts), tab))
        if behind := self.tabs[end:]:
            words = f"{len(behind)}{_most_urgent(behind)}›"
            parts.append((" " * (width - _length(parts) - len(words)), None))
            self._add_beyond(parts, words, behind)
        return text_styles.line(*parts).adjust_cell_length(width, text_styles.base)

    def _add_beyond(self, parts: list[tuple[str, Style | None]], words: str, beyond: list[Tab]) -> None:
        """Add the number of tabs beyond an end. A click goes to one that waits, or else to the nearest."""
        is_urgent = _most_urgent(beyond) != " "
        parts.append((words, self.text_styles.warn if is_urgent else self.text_styles.dim))
        wanted = next((tab for tab in beyond if tab.controller.state == "waiting"), beyond[0])
        if not self._ends:
            parts.append((" " * (_BEYOND - len(words)), None))
        self._ends.append((_length(parts), wanted))

    def on_click(self, event: events.Click) -> None:
        starts = [0, *(end for end, _ in self._ends)]
        for (start, end), (_, tab) in zip(pairwise(starts), self._ends, strict=True):
            if start <= event.x < end:
                self.post_message(self.Chosen(tab))
                return


def find_visible(widths: Sequence[int], active: int, first: int, width: int) -> tuple[int, int]:
    """Return the range of tabs that fit, including the active one. It begins at `first` if possible, so that the bar
    doesn't move when the user goes to a visible tab."""
    if sum(widths) <= width:
        return 0, len(widths)

    def fits(start: int, end: int) -> bool:
        beyond = _BEYOND * ((start > 0) + (end < len(widths)))
        return sum(widths[start:end]) + beyond <= width

    start = min(first, active)
    while start < active and not fits(start, active + 1):
        start += 1
    end = active + 1
    while end < len(widths) and fits(start, end + 1):
        end += 1
    while start > 0 and fits(start - 1, end):
        start -= 1
    return start, end


def _length(parts: list[tuple[str, Style | None]]) -> int:
    return sum(cell_len(words) for words, _ in parts)


def _mark(tab: Tab) -> str:
    return _MARKS.get(tab.controller.state, _NEWS if tab.has_news else " ")


def _most_urgent(tabs: list[Tab]) -> str:
    """Return the mark of a tab that waits, or else of one with news; a space if there is neither."""
    marks = {_mark(tab) for tab in tabs}
    return next((mark for mark in ("?", _NEWS) if mark in marks), " ")
