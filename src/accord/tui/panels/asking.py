"""A panel that asks something below the conversation, and takes no keys before it has been seen for a moment.

What is typed until then goes to the prompt. Who typed more there than a hasty answer goes on with that: the prompt gets
the keys back."""

from __future__ import annotations

from abc import abstractmethod

from textual import events
from textual.widget import Widget
from textual.widgets import TextArea

from accord.tui.early import SeenFirst, take_back, typed_by
from accord.tui.moment import Moment


class AskingPanel(SeenFirst, Widget, can_focus=True):
    """Knows since when the question is there, and what was typed too early for it."""

    def __init__(self, prompt: TextArea) -> None:
        super().__init__()
        self._prompt = prompt
        self._typed = ""
        """What was typed too early, and stands in the prompt now."""
        self._moment = Moment(self, self._was_seen)

    @property
    @abstractmethod
    def is_asking(self) -> bool:
        """Whether the question has not been answered yet."""

    @abstractmethod
    def means_something(self, key: str) -> bool:
        """Whether a letter is an answer, or about one."""

    @abstractmethod
    def say_keys(self, is_mine: bool) -> None:
        """Says below the question which keys there are, and whether they count."""

    def on_mount(self) -> None:
        # A key that made a screen above go away is held down, perhaps.
        self.app.screen_change_signal.subscribe(self, lambda screen: self.hold_on())

    def on_focus(self) -> None:
        self.say_keys(True)

    def on_blur(self) -> None:
        self.say_keys(False)

    def hold_on(self) -> None:
        """Takes no answer until it has been seen for a moment."""
        self._moment.begin()
        self.say_keys(self.has_focus)

    def _was_seen(self) -> None:
        """From now on keys are answers; unless somebody is typing, who goes on with that."""
        is_hasty = len(set(self._typed)) == 1 and self.means_something(self._typed[0])
        if self.has_focus and self._typed and not is_hasty:
            self._typed = ""
            self._prompt.focus()
        self.say_keys(self.has_focus)

    def counts(self, key: str) -> None:
        """A key is taken for an answer. If it is all that was typed before, that was the same, in a hurry."""
        if set(self._typed) == {key}:
            take_back(self._prompt, self._typed)
        self._typed = ""

    # -- what is typed too early

    @property
    def below(self) -> TextArea:
        return self._prompt

    def comes_early(self, event: events.Event) -> bool:
        """Whether what is typed cannot be meant for the question. What is pasted never is; a key that is no letter has
        its meaning at any time."""
        if isinstance(event, events.Paste):
            self._moment.begin()
            return True
        is_typing = isinstance(event, events.Key) and (typed_by(event) or event.key in ("enter", "backspace"))
        return bool(is_typing) and (not self.is_asking or self._moment.comes_early())

    def type_below(self, event: events.Event) -> None:
        super().type_below(event)
        is_back = isinstance(event, events.Key) and event.key == "backspace"
        self._typed = self._typed[:-1] if is_back else self._typed + typed_by(event)
        self.say_keys(self.has_focus)
