"""What the application keeps from one time to the next: settings, prompts that were sent, what was typed and not sent.

A folder that is full or may not be written to is no reason to stop, but the user is told what will be lost, once."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from accord.tui import preferences
from accord.tui.prompt.drafts import Drafts, Left, joined
from accord.tui.prompt.history import History
from accord.tui.surface import Surface

if TYPE_CHECKING:
    from accord.tui.link import Link
    from accord.tui.outside import Outside
    from accord.tui.pane import Pane

SETTINGS = "Settings cannot be kept", "They hold until you leave."
PROMPTS = "Prompts cannot be kept", "What you send is not among the earlier prompts the next time."
DRAFTS = "What you type cannot be kept", "Send it before you leave, or it is lost."


class Keeping(Surface):
    """Keeps things for the next time, and says where it cannot."""

    def __init__(self, outside: Outside) -> None:
        super().__init__()
        self.outside = outside
        self.past = History(project=str(outside.cwd), on_fault=lambda fault: self.unkept(PROMPTS, fault))
        self.drafts = Drafts(on_fault=lambda fault: self.unkept(DRAFTS, fault))
        self._told: set[tuple[str, str]] = set()
        self._names: dict[str | None, str] = {}

    @property
    @abstractmethod
    def panes(self) -> list[Pane]:
        """The tabs."""

    def unkept(self, what: tuple[str, str], fault: OSError) -> None:
        """Tells the user, once for each kind of thing, that it cannot be written."""
        from accord.model.session import Notice

        pane = next((each for each in self.panes if each.display), None)
        if what in self._told or pane is None:
            return
        self._told.add(what)
        title, so = what
        where = f"{fault.filename}: " if fault.filename else ""
        notice = Notice(severity="warning", title=title, description=f"{where}{fault.strerror or fault}. {so}")
        if pane.talk.transcript is not None:
            pane.talk.transcript.add_notice(notice)
        else:
            pane.talk.link.notes.append(notice)
        pane.changed()

    def keep_settings(self) -> None:
        """Writes the settings down."""
        fault = preferences.save(self.preferences)
        if fault is not None:
            self.unkept(SETTINGS, fault)

    # -- what was typed and not sent

    def claim_draft(self, pane: Pane) -> None:
        """Goes on with what was typed for this agent, in this folder, in a client that has ended. What waited there to
        be sent waits here for the user."""
        link = pane.talk.link
        if link.state != "undecided":
            left = self.drafts.claim(str(self.outside.cwd), self._name_of(link))
            pane.editor.give_back(left.text)
            pane.talk.wait_with(left.queue)

    def keep_drafts(self) -> None:
        """Keeps what was typed and not sent, also what waits in queues."""
        drafts: dict[str, list[Left]] = {}
        for pane in self.panes:
            text, queue = pane.editor.text, tuple(each for each in pane.talk.unsent if each.strip())
            left = Left(text if text.strip() else "", queue)
            drafts.setdefault(self._name_of(pane.talk.link), []).append(left)
        self.drafts.keep_all(str(self.outside.cwd), {name: joined(each) for name, each in drafts.items()})

    def keeps_typed(self) -> bool:
        """Keeps what was typed at once; gives whether that can be done, so that nobody is told so in vain."""
        self.keep_drafts()
        return self.drafts.are_kept

    def _name_of(self, link: Link) -> str:
        """By what name the agent is known; nothing as long as none was chosen."""
        if link.state == "undecided":
            return ""
        if link.target not in self._names:
            self._names[link.target] = self.outside.named(link.target)
        return self._names[link.target]
