"""The editor of prompts: several lines, history, and keys that send or queue.

Enter sends; Ctrl-J or Shift-Enter begin a new line, and so does Enter after a backslash."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual import events
from textual.binding import Binding
from textual.message import Message

from accord.tui.painting import paint_at_once
from accord.tui.prompt.at_once import act_at_once, is_chord
from accord.tui.prompt.killing import EMPTY, Killing
from accord.tui.prompt.mention import without_halves

if TYPE_CHECKING:
    from accord.tui.prompt.history import History

MOST_ROWS = 12
_UNSEEN = frozenset("\u200c\u200d") | {chr(code) for code in range(0xE0020, 0xE0080)}
"""Characters that cannot be seen and are part of words and pictures: joiners, and the tags of flags."""


class Editor(Killing):
    """Where prompts are typed. It knows no session: it says what was typed, and others act."""

    BINDINGS = [
        Binding("ctrl+underscore,ctrl+slash", "undo", "Undo", show=False),
        Binding("ctrl+z", "app.suspend_process", "Suspend", show=False),
        Binding("ctrl+c", "app.interrupt", "Quit", show=False),
    ]
    DEFAULT_CSS = """
    Editor {
        height: auto; max-height: 14; border: round $primary 60%; padding: 0 1; background: $background;
        border-subtitle-color: $foreground 60%;
    }
    Editor:focus { border: round $primary; }
    """

    class Submitted(Message):
        """The user wants this sent; `now` when it should not wait for the running turn."""

        def __init__(self, text: str, *, now: bool = False) -> None:
            super().__init__()
            self.text = text
            self.now = now

    class PictureWanted(Message):
        """The user pastes, and there is no text: a picture may be meant."""

    class Left(Message):
        """A key that is meant for something else: `key` says which."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, past: History) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, tab_behavior="focus", highlight_cursor_line=False)
        self.past = past
        for key in ("f5", "f6", "f7"):  # they have another meaning in this application
            self._bindings.key_to_bindings.pop(key, None)
        self.completing = False
        """Whether a list of completions is open, which then gets some keys."""
        self.on_completion_key: Callable[[str], None] = lambda key: None
        self.is_awaited: Callable[[str], bool] = lambda key: False
        """Whether a key is for a list of completions that is about to be open."""
        self.on_pasted: Callable[[str], str] = lambda text: ""
        """What is to be put in for a text that was pasted; nothing where it is the text itself."""
        self.on_tab: Callable[[], None] | None = None
        """Gives the keys to somebody else at once: those behind it are meant for them."""
        self.last_key = 0.0
        self._recalled: int | None = None
        self._draft = ""

    # -- keys

    async def _on_key(self, event: events.Key) -> None:
        self.last_key = event.time
        self.note_key(event.key)
        if event.key != EMPTY and is_chord(event):
            return
        act = self._meaning(event)
        if act is not None:
            event.stop()
            event.prevent_default()
            act()
            return
        if event.is_printable or event.key in ("backspace", "delete"):
            self._recalled = None
        if not await act_at_once(self, event):
            await super()._on_key(event)
        paint_at_once(self)

    async def _on_paste(self, event: events.Paste) -> None:
        made = self.on_pasted(event.text)
        if not event.text:  # what a terminal pastes of a picture
            self.post_message(self.PictureWanted())
        if made or not event.text:  # anything else is put in by the text area, whose turn comes after this
            event.stop()
            event.prevent_default()
            self.insert(made)

    def action_paste(self) -> None:
        """Ctrl-V is for what terminals cannot paste; they have another key for text."""
        self.post_message(self.PictureWanted())

    def _meaning(self, event: events.Key) -> Any:
        """What a key does here, if it is not for typing."""
        key = event.key
        is_choice = key in ("tab", "enter", "escape")
        if self.completing and (is_choice or key in ("up", "down", "pageup", "pagedown")):
            return lambda: self.on_completion_key(key)
        if is_choice and self.is_awaited(key):
            return lambda: self.on_completion_key(key)
        if event.character is not None and event.character in _UNSEEN:
            return lambda: self.insert(event.character or "")
        if key == "tab" and self.on_tab is not None:
            return self.on_tab
        if key == "enter":
            return self._enter
        if key in ("ctrl+j", "shift+enter"):
            return lambda: self.insert("\n")
        if key == EMPTY:
            return self.empty
        if key == "ctrl+s":
            return lambda: self._send(now=True)
        if (
            key == "up"
            and self.cursor_location[0] == 0
            and self.wrapped_document.location_to_offset((0, 0)).y
            == self.wrapped_document.location_to_offset(self.cursor_location).y
        ):
            return lambda: self._recall(-1)
        if key == "down" and self._recalled is not None and self.cursor_location[0] == self.document.line_count - 1:
            return lambda: self._recall(1)
        if key == "question_mark" and not self.text:
            return lambda: self.post_message(self.Left("help"))
        if key in (
            "escape",
            "pageup",
            "pagedown",
            "shift+up",
            "shift+down",
            "ctrl+home",
            "ctrl+end",
            "tab",
            "shift+tab",
        ):
            return lambda: self.post_message(self.Left(key))
        return None

    def submit(self) -> None:
        """Sends what is there, as if enter had been pressed."""
        self._send()

    def _enter(self) -> None:
        row, column = self.cursor_location
        if column and self.document.get_line(row)[column - 1] == "\\":
            self.replace("\n", (row, column - 1), (row, column))
            return
        self._send()

    def _send(self, *, now: bool = False) -> None:
        text = without_halves(self.text.strip())
        if text:
            self.past.add(text)
            self._recalled = None
            self.clear_text()  # at once: what is typed next belongs to the next prompt
            self.post_message(self.Submitted(text, now=now))
        else:
            self.post_message(self.Left("enter"))

    # -- history

    def _recall(self, by: int) -> None:
        """Shows an earlier prompt; past the newest is what was being typed."""
        if self._recalled is None:
            self.past.look_again()
        count = len(self.past.prompts)
        if self._recalled is None:
            if by > 0 or not count:
                return
            self._draft = self.text
            self._recalled = count
        place = self._recalled + by
        if place < 0:
            return
        self._recalled = place if place < count else None
        self.set_text(self.past.prompts[place] if place < count else self._draft)

    def recall(self, text: str) -> None:
        """Shows an earlier prompt that was searched for. What was being typed is past the newest, as ever."""
        if self._recalled is None:
            self._draft = self.text
        places = [place for place, each in enumerate(self.past.prompts) if each == text]
        self._recalled = places[-1] if places else len(self.past.prompts)
        self.set_text(text)

    def set_text(self, text: str) -> None:
        """Puts a text in, the cursor at its end. It can be undone."""
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def give_back(self, text: str) -> None:
        """Puts back a prompt that could not be sent, before what was typed since."""
        if not text:
            return
        self.set_text("\n\n".join(filter(None, [text, self.text])))

    def clear_text(self) -> None:
        self.set_text("")
