"""Optional Vim keys for the prompt: passes keys of the editor to `Vim`, which edits the editor's text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from accord.tui.prompt.vim import REDO, Vim

if TYPE_CHECKING:
    from textual import events

    from accord.tui.prompt.editor import Editor
    from accord.tui.terminal.textual_internals import Location

_STARTS = (":", "/", "!", "@")
"""Typed into an empty prompt in normal mode, these begin a command for the client, so they are text."""
_CHARACTERS = {"backspace": "h", "delete": "x", "ctrl+r": REDO}


class VimKeys:
    """The Vim keys of one editor, in insert mode at first and after each prompt."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor
        self._vim = Vim(_EditorText(editor))

    @property
    def is_normal(self) -> bool:
        return self._vim.is_normal

    @property
    def label(self) -> str:
        """The mode and the unfinished command."""
        return f"Normal {self._vim.pending}".rstrip() if self._vim.is_normal else "Insert"

    def begin(self) -> None:
        """Start the next prompt in insert mode."""
        self._vim.insert()

    def meaning(self, event: events.Key) -> Callable[[], Any] | None:
        """Return what a key does, or None if it does the same as without Vim keys."""
        vim, editor, key = self._vim, self._editor, event.key
        if not vim.is_normal:
            return vim.leave_insert if key == "escape" else None
        if key == "escape":
            return vim.forget if vim.pending else None
        if key == "enter":
            return editor.submit
        character = event.character if event.is_printable else None
        if not editor.text and key == "question_mark":
            return None
        if not editor.text and character in _STARTS:
            return lambda: self._start(character or "")
        command = _CHARACTERS.get(key, character)
        return None if not command else lambda: vim.press(command)

    def _start(self, character: str) -> None:
        self._vim.insert()
        self._editor.insert(character)


class _EditorText:
    """The text of an editor, for `Vim`."""

    def __init__(self, editor: Editor) -> None:
        self._editor = editor

    @property
    def text(self) -> str:
        return "\n".join(self._editor.document.lines)

    @property
    def position(self) -> int:
        row, column = self._editor.cursor_location
        return sum(len(line) + 1 for line in self._editor.document.lines[:row]) + column

    @position.setter
    def position(self, position: int) -> None:
        self._editor.move_cursor(self._locate(position))

    def _locate(self, position: int) -> Location:
        before = self.text[:position]
        return before.count("\n"), len(before.rpartition("\n")[2])

    def replace(self, start: int, end: int, text: str) -> None:
        self._editor.replace(text, self._locate(start), self._locate(end))

    def widen(self, start: int, end: int) -> tuple[int, int]:
        """Tokens of folded text are deleted as a whole: a part of one stands for nothing."""
        offset = 0
        for line in self._editor.document.lines:
            for fold in self._editor.folds.list(line):
                first, last = offset + fold.start, offset + fold.end
                if first < end and start < last and start < end:
                    start, end = min(start, first), max(end, last)
            offset += len(line) + 1
        return start, end

    def undo(self) -> None:
        self._editor.undo()

    def redo(self) -> None:
        self._editor.redo()
