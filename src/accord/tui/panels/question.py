"""Base class of panels that ask the user something, and ignore keys until the user can have seen them.

Text typed until then goes to the prompt. If it is more than a premature answer, the prompt gets the focus back."""

from __future__ import annotations

from abc import abstractmethod

from textual import events
from textual.widget import Widget
from textual.widgets import TextArea

from accord.tui.terminal.input_guard import InputDelay, SeenFirst, take_back, typed_by


class AskingPanel(SeenFirst, Widget, can_focus=True):
    """A panel with a question; text typed before the user can have seen it goes to the prompt."""

    def __init__(self, prompt: TextArea) -> None:
        super().__init__()
        self._prompt = prompt
        self._typed = ""
        """Text typed too early, which is now in the prompt."""
        self._moment = InputDelay(self, self._was_seen)

    @property
    @abstractmethod
    def is_asking(self) -> bool:
        """Whether the question is open."""

    @abstractmethod
    def is_answer_key(self, key: str) -> bool:
        """Return whether a letter selects or changes an answer."""

    @abstractmethod
    def say_keys(self, is_mine: bool) -> None:
        """Show the key hints below the question."""

    def on_mount(self) -> None:
        # The key that closed a screen above may still be held down.
        self.app.screen_change_signal.subscribe(self, lambda screen: self.hold_on())

    def on_focus(self) -> None:
        self.say_keys(True)

    def on_blur(self) -> None:
        self.say_keys(False)

    def hold_on(self) -> None:
        """Accept no answer for a moment."""
        self._moment.begin()
        self.say_keys(self.has_focus)

    def _was_seen(self) -> None:
        """Accept keys as answers, unless the user is typing: then the prompt gets the focus back."""
        is_hasty = len(set(self._typed)) == 1 and self.is_answer_key(self._typed[0])
        if self.has_focus and self._typed and not is_hasty:
            self._typed = ""
            self._prompt.focus()
        self.say_keys(self.has_focus)

    def accept_key(self, key: str) -> None:
        """Accept a key as an answer. If only this key was typed before, it was the same answer: remove it."""
        if set(self._typed) == {key}:
            take_back(self._prompt, self._typed)
        self._typed = ""

    # -- text typed too early

    @property
    def below(self) -> TextArea:
        return self._prompt

    def comes_early(self, event: events.Event) -> bool:
        """Return whether input can't be meant for the question. Pasted text never is; keys other than letters are."""
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
