"""The prompt editor: multi-line, with history, kill and yank, and keys that send or queue.

Enter sends; Ctrl-J or Shift-Enter start a new line, as does Enter after a backslash."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from rich.text import Text
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.widgets import TextArea

from accord.tui.prompt.folds import FoldAt, Folds, is_long
from accord.tui.prompt.paste import replace_surrogates
from accord.tui.terminal.keyboard import act_at_once, is_chord
from accord.tui.terminal.painter import paint_at_once
from accord.tui.terminal.textual_internals import EditResult, Location, get_key_bindings

if TYPE_CHECKING:
    from accord.tui.prompt.highlighter import PromptHighlighter
    from accord.tui.prompt.history import History
    from accord.tui.prompt.vim_keys import VimKeys

EMPTY = "alt+k"
"""The key that clears the prompt."""
UNFOLD = "alt+e"
"""The key that shows folded text in full."""
_FORWARD = ("ctrl+k", "alt+delete", "ctrl+shift+k")
_BACKWARD = ("ctrl+u", "ctrl+w", "ctrl+backspace", "alt+backspace", "super+backspace")
_UNDO = ("ctrl+underscore", "ctrl+slash", "super+z")
_YANK = ("ctrl+y", "super+y")


class KillBufferTextArea(TextArea):
    """A text area with a kill buffer, as in shells: consecutive kills are joined. Call `note_key` before each key."""

    killed: str = ""
    """The text killed last."""
    _key = ""
    _undoes = False
    _goes_on = False

    def note_key(self, key: str) -> None:
        """Note the key about to be handled."""
        before, self._key = self._key, key
        self._goes_on = key in (*_FORWARD, *_BACKWARD) and before in (*_FORWARD, *_BACKWARD)
        self._undoes = key in _UNDO or (key in _YANK and self._undoes)

    def _delete_via_keyboard(self, start: Location, end: Location) -> EditResult | None:
        result = super()._delete_via_keyboard(start, end)
        text = result.replaced_text if result is not None else ""
        if text and self._key in (*_FORWARD, *_BACKWARD):
            kept = self.killed if self._goes_on else ""
            self.killed = f"{text}{kept}" if self._key in _BACKWARD else f"{kept}{text}"
        return result

    def action_redo(self) -> None:
        """Yank the killed text at the cursor; directly after an undo, redo instead."""
        if self._undoes or not self.killed:
            super().action_redo()
        else:
            self.insert(self.killed)

    def empty(self) -> None:
        """Kill the whole text."""
        if self.text:
            self.killed = self.text
            self.replace("", (0, 0), self.document.end)


_UNSEEN = frozenset("\u200c\u200d") | {chr(code) for code in range(0xE0020, 0xE0080)}
"""Invisible characters that are part of words and emoji: joiners, and the tags of flags."""


class Editor(KillBufferTextArea):
    """The editor for prompts. It knows nothing about sessions: it posts messages, and the tab acts on them."""

    BINDINGS = [
        Binding("ctrl+underscore,ctrl+slash", "undo", "Undo", show=False),
        Binding("ctrl+z", "app.suspend_process", "Suspend", show=False),
        Binding("ctrl+c", "app.interrupt", "Quit", show=False),
    ]
    DEFAULT_CSS: ClassVar[str] = """
    Editor {
        height: auto; max-height: 14; border: round $primary 60%; padding: 0 1; background: $background;
        border-subtitle-color: $muted;
    }
    Editor:focus { border: round $primary; }
    Editor.-acts { border: round $warning 60%; border-title-color: $warning; }
    Editor.-acts:focus { border: round $warning; }
    """

    class Submitted(Message):
        """The user wants to send this; `now` means without waiting for the running turn."""

        def __init__(self, text: str, *, now: bool = False, is_shell: bool = False) -> None:
            super().__init__()
            self.text = text
            self.now = now
            self.is_shell = is_shell
            """Whether it is a command for the user's shell."""

    class PictureWanted(Message):
        """The user pasted, but there is no text: it may be an image."""

    class UnhandledKey(Message):
        """A key that isn't for the editor."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, past: History) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, tab_behavior="focus", highlight_cursor_line=False)
        self.past = past
        self.folds: Folds = Folds()
        self.highlighter: PromptHighlighter | None = None
        for key in ("f5", "f6", "f7"):  # they have another meaning in this application
            get_key_bindings(self).pop(key, None)
        self.completing = False
        """Whether the completion list is open, which then gets some keys."""
        self.completing_tree = False
        """Whether the list is a tree, which also gets the left and right arrow keys."""
        self.on_completion_key: Callable[[str], None] = lambda key: None
        self.is_awaited: Callable[[str], bool] = lambda key: False
        """Whether a key is for a completion list that is about to open."""
        self.on_digit: Callable[[int], bool] = lambda number: False
        """Handles a digit in the empty prompt; returns whether it did."""
        self.on_pasted: Callable[[str], str] = lambda text: ""
        """The replacement for pasted text; empty to insert the text itself."""
        self.on_tab: Callable[[], None] | None = None
        """Moves the focus at once: the keys that follow are meant for the other widget."""
        self.on_vim_mode: Callable[[], None] = lambda: None
        """Called when the Vim mode, or what was typed of a command, may have changed."""
        self.vim: VimKeys | None = None
        """The Vim keys, if the user turned them on."""
        self.last_key: float = 0.0
        self._recalled: int | None = None
        self._draft = ""

    @property
    def full_text(self) -> str:
        """The text to send, with folded texts in full."""
        return self.folds.expand(self.text)

    @property
    def is_shell(self) -> bool:
        """Whether the text is a command for the user's shell. Pasted text that is folded never is."""
        return self.text.lstrip().startswith("!")

    def insert_folded(self, text: str, about: str) -> None:
        """Insert a text at the cursor, folded, on a separate line."""
        line = self.document.get_line(self.cursor_location[0])[: self.cursor_location[1]]
        self.insert("".join(("\n" if line.strip() else "", self.folds.add(text, about), "\n")))

    def unfold(self) -> None:
        """Show the folded text at the cursor in full, or the first one."""
        row = self.cursor_location[0]
        rows = [row, *range(self.document.line_count)]
        at_cursor = self._fold_at_cursor()
        found = [(row, at_cursor)] if at_cursor is not None else []
        found += [(row, each) for row in rows for each in self.folds.list(self.document.get_line(row))]
        for row, fold in found[:1]:
            self.replace(fold.text, (row, fold.start), (row, fold.end))

    def _fold_at_cursor(self) -> FoldAt | None:
        row, column = self.cursor_location
        return self.folds.find(self.document.get_line(row), column)

    def get_line(self, line_index: int) -> Text:
        line = super().get_line(line_index)
        # A screen reader may announce every change of style.
        if self.highlighter is not None and not self.is_shell and not self.app.has_class("-calm"):
            self.highlighter.highlight(line, line_index, self.document.lines)
        for fold in self.folds.list(line.plain):
            line.stylize("reverse", fold.start, fold.end)
        return line

    # -- keys

    def use_vim(self, is_on: bool) -> None:
        """Turn the Vim keys on or off."""
        if is_on == (self.vim is not None):
            return
        from accord.tui.prompt.vim_keys import VimKeys

        self.vim = VimKeys(self) if is_on else None
        self.on_vim_mode()

    def _act_as_vim(self, act: Callable[[], Any]) -> None:
        self._recalled = None
        self.history.checkpoint()
        act()
        self.history.checkpoint()
        self.on_vim_mode()

    async def _on_key(self, event: events.Key) -> None:
        self.last_key = event.time
        self.note_key(event.key)
        if event.key not in (EMPTY, UNFOLD) and is_chord(event):
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
        if not event.text:  # a terminal pastes an image as empty text
            self.post_message(self.PictureWanted())
        # Terminals send line breaks as if Enter was pressed.
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        if not made and is_long(text):
            made = self._fold(text)
        if made or not event.text:  # the text area handles the event next, and inserts anything else
            event.stop()
            event.prevent_default()
            self.insert(made)

    def _fold(self, text: str) -> str:
        """Return the token for long pasted text. Pasted a second time directly after it, the text is shown in full."""
        row, column = self.cursor_location
        before = self.folds.find(self.document.get_line(row), column)
        if before is None or before.end != column or before.text != text:
            return self.folds.add(text)
        self.delete((row, before.start), (row, before.end))
        return text

    def action_paste(self) -> None:
        """Paste an image, which terminals can't; they have another key for text."""
        self.post_message(self.PictureWanted())

    def _meaning(self, event: events.Key) -> Any:
        """Return the action of a key that doesn't insert text."""
        key = event.key
        is_choice = key in ("tab", "enter", "escape")
        if self.completing and (is_choice or key in ("up", "down", "pageup", "pagedown")):
            return lambda: self.on_completion_key(key)
        if self.completing and self.completing_tree and key in ("left", "right"):
            return lambda: self.on_completion_key(key)
        if is_choice and self.is_awaited(key):
            return lambda: self.on_completion_key(key)
        if self.vim is not None and (act := self.vim.meaning(event)) is not None:
            return lambda: self._act_as_vim(act)
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
        if key == UNFOLD:
            return self.unfold
        if key == "backspace" and self.selection.is_empty and (fold := self._fold_at_cursor()) is not None:
            row = self.cursor_location[0]
            return lambda: self.delete((row, fold.start), (row, fold.end))
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
        if not self.text and key.isdecimal() and self.on_digit(int(key)):
            return _nothing
        if key == "question_mark" and not self.text:
            return lambda: self.post_message(self.UnhandledKey("help"))
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
            return lambda: self.post_message(self.UnhandledKey(key))
        return None

    def submit(self, *, now: bool = False) -> None:
        """Send the text, as if enter or, with `now`, ctrl+s had been pressed."""
        self._send(now=now)

    def _enter(self) -> None:
        row, column = self.cursor_location
        if column and self.document.get_line(row)[column - 1] == "\\":
            self.replace("\n", (row, column - 1), (row, column))
            return
        self._send()

    def _send(self, *, now: bool = False) -> None:
        is_shell = self.is_shell
        text = replace_surrogates(self.full_text.strip())
        if text:
            self.past.add(text)
            self._recalled = None
            self.clear_text()  # at once: the next keys belong to the next prompt
            if self.vim is not None:
                self.vim.begin()
                self.on_vim_mode()
            self.post_message(self.Submitted(text, now=now, is_shell=is_shell))
        else:
            self.post_message(self.UnhandledKey("enter"))

    # -- history

    def _recall(self, by: int) -> None:
        """Show a previous prompt; after the newest comes the unsent text."""
        if self._recalled is None:
            self.past.reload()
        count = len(self.past.prompts)
        if self._recalled is None:
            if by > 0 or not count:
                return
            self._draft = self.full_text
            self._recalled = count
        place = self._recalled + by
        if place < 0:
            return
        self._recalled = place if place < count else None
        self.set_text(self.past.prompts[place] if place < count else self._draft)

    def recall(self, text: str) -> None:
        """Show a previous prompt found by searching; the unsent text still comes after the newest."""
        if self._recalled is None:
            self._draft = self.full_text
        places = [place for place, each in enumerate(self.past.prompts) if each == text]
        self._recalled = places[-1] if places else len(self.past.prompts)
        self.set_text(text)

    def set_text(self, text: str) -> None:
        """Replace the text and move the cursor to its end. Can be undone."""
        text = self.folds.fold_known(text)
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    def give_back(self, text: str) -> None:
        """Put a prompt that couldn't be sent back, before the text typed since."""
        if not text:
            return
        self.set_text("\n\n".join(filter(None, [text, self.full_text])))

    def clear_text(self) -> None:
        self.set_text("")


def _nothing() -> None:
    """Do nothing, because the key has been handled."""
