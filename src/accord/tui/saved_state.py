"""State saved between runs: settings, sent prompts, and unsent text.

A directory that is full or read-only doesn't stop the client; one warning names the data that will be lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.tui import preferences
from accord.tui.prompt.drafts import Drafts, Unsent, join_drafts
from accord.tui.prompt.history import History

if TYPE_CHECKING:
    from accord.tui.agent.process import AgentProcess
    from accord.tui.host import Host
    from accord.tui.tab.tab import Tab
    from accord.tui.tabs import Tabs

SETTINGS = "Settings can't be saved", "They last until you quit."
PROMPTS = "Prompts can't be saved", "Prompts you send won't be in the history next time."
DRAFTS = "Drafts can't be saved", "Send what you typed before you quit, or it will be lost."
MAX_LATE_CLAIMS = 10
"""How often a client that has just started looks again for the draft of one that is still exiting."""


class SavedState:
    """Saves preferences, prompt history and drafts, and warns the user if that fails."""

    def __init__(self, host: Host, tabs: Tabs, settings: preferences.Preferences) -> None:
        self.history: History = History(project=str(host.cwd), on_error=lambda error: self.report(PROMPTS, error))
        self.drafts: Drafts = Drafts(on_error=lambda error: self.report(DRAFTS, error))
        self._host = host
        self._tabs = tabs
        self._preferences = settings
        self._reported: set[tuple[str, str]] = set()
        self._names: dict[str | None, str] = {}
        self._late_claims = 0
        self._is_final = False

    def report(self, what: tuple[str, str], error: OSError) -> None:
        """Warn the user, once per kind of data, that it can't be saved."""
        from accord.model.session import Notice

        tab = next((each for each in self._tabs if each.display), None)
        if what in self._reported or tab is None:
            return
        self._reported.add(what)
        title, consequence = what
        where = f"{error.filename}: " if error.filename else ""
        description = f"{where}{error.strerror or error}. {consequence}"
        notice = Notice(severity="warning", title=title, description=description)
        if tab.controller.transcript is not None:
            tab.controller.transcript.add_notice(notice)
        else:
            tab.controller.process.notes.append(notice)
        tab.schedule_draw()

    def save_preferences(self) -> None:
        error = preferences.save(self._preferences)
        if error is not None:
            self.report(SETTINGS, error)

    # -- drafts

    def claim_draft(self, tab: Tab) -> None:
        """Restore the draft and the queued prompts of a client that has ended, for the same agent and directory. The
        prompts stay on hold."""
        process = tab.controller.process
        if process.state != "undecided":
            left = self.drafts.claim(str(self._host.cwd), self._name_of(process))
            tab.editor.give_back(left.text)
            tab.controller.queue.restore(left.queue)

    def update_drafts(self) -> None:
        """Save the drafts. Soon after the start, also claim one that another client has just released."""
        self._late_claims += 1
        if self.drafts.is_one_held and self._late_claims <= MAX_LATE_CLAIMS and len(self._tabs) == 1:
            tab = self._tabs.active
            if not tab.editor.text and not tab.controller.queue.unsent:
                self.claim_draft(tab)
        self.save_drafts()

    def save_drafts(self, *, is_final: bool = False) -> None:
        """Save unsent text and queued prompts. Nothing is saved after the final call, when tabs are torn down."""
        if self._is_final or not len(self._tabs):
            return
        self._is_final = is_final
        drafts: dict[str, list[Unsent]] = {}
        for tab in self._tabs:
            text, queue = tab.editor.full_text, tuple(each for each in tab.controller.queue.unsent if each.strip())
            left = Unsent(text if text.strip() else "", queue)
            drafts.setdefault(self._name_of(tab.controller.process), []).append(left)
        self.drafts.save_all(str(self._host.cwd), {name: join_drafts(each) for name, each in drafts.items()})

    def try_save_drafts(self) -> bool:
        """Save the drafts now, and return whether that worked."""
        self.save_drafts()
        return self.drafts.are_saved

    def _name_of(self, process: AgentProcess) -> str:
        """Return the name under which drafts for an agent are saved; empty while none is chosen."""
        if process.state == "undecided":
            return ""
        if process.target not in self._names:
            self._names[process.target] = self._host.resolve_name(process.target)
        return self._names[process.target]
