"""The prompt area of a tab: the editor, and the completion list above it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from accord.terminal_text import one_line
from accord.tui.errors import run_in_background
from accord.tui.prompt.completion import (
    Completions,
    Suggestion,
    commands_for,
    continues_name,
    files_for,
    partial_file_name,
    tree_for,
)
from accord.tui.prompt.editor import Editor
from accord.tui.prompt.files import Files
from accord.tui.prompt.highlighter import PromptHighlighter
from accord.tui.prompt.missing_files import MissingFilesHint
from accord.tui.prompt.paste import files_in, mentions
from accord.tui.prompt.tree import ProjectTree
from accord.tui.session.mode_kind import kind_of
from accord.tui.slash_commands import list_commands
from accord.tui.text import make_label

if TYPE_CHECKING:
    from accord.client.session import Session
    from accord.model.session import Command
    from accord.tui.prompt.history import History
    from accord.tui.theme import TextStyles

SHELL = "Shell: runs here, not by the agent"
_EMPTY_HEIGHT = 3
"""The lines of an empty prompt with its frame."""
_WORD = re.compile(r"[^\s\"']*")


class PromptArea(Vertical):
    """Holds the editor and completes what is typed into it: slash commands and file mentions."""

    DEFAULT_CSS: ClassVar[str] = "PromptArea { height: auto; max-height: 26; }"

    class Mentioned(Message):
        """Files were dropped or pasted, and are now mentioned in the prompt."""

        def __init__(self, paths: list[Path]) -> None:
            super().__init__()
            self.paths = paths

    def __init__(self, text_styles: TextStyles, past: History, cwd: Path) -> None:
        super().__init__()
        self.text_styles: TextStyles = text_styles
        self.editor: Editor = Editor(past)
        self.editor.highlighter = PromptHighlighter(text_styles)
        self.editor.on_completion_key = self._complete
        self.editor.is_awaited = self._is_awaited
        self.editor.on_pasted = self._replace_paste
        self.editor.on_vim_mode = self._show_title
        self.hint: MissingFilesHint = MissingFilesHint(self.editor)
        self._cwd = cwd
        self._title = ""
        self._commands: Sequence[Command] = ()
        self._own_commands: Sequence[Command] = list_commands(())
        self._files = Files(cwd)
        self._tree = ProjectTree(cwd)
        self._list: Completions | None = None
        self.on_height: Callable[[], None] = lambda: None
        """Called when it needs more or fewer lines."""
        self._known = ""  # text before the cursor when completions were last looked up
        self._pending_keys: list[
            tuple[str, str]
        ] = []  # keys for a list that is not loaded yet, with the text before the cursor
        self._is_catching_up = False
        self._mode: tuple[str, str] = "asks", ""
        """The kind of the agent's mode, and its name if that isn't the usual one."""
        self._dismissed = ""  # text before the cursor when the user dismissed the list

    def compose(self) -> ComposeResult:
        yield self.editor

    @property
    def extra_height(self) -> int:
        """The lines that it takes beyond those of an empty prompt: for a list, and for further lines of text."""
        listed = self._list.height if self._list is not None else 0
        return listed + max(self.editor.outer_size.height - _EMPTY_HEIGHT, 0)

    def on_resize(self) -> None:
        self.on_height()

    def on_text_area_changed(self, message: Editor.Changed) -> None:
        message.stop()
        self._show_title()
        self._look_up()
        self.hint.on_typing(self._text_without_partial_name)

    def on_editor_submitted(self, message: Editor.Submitted) -> None:
        self.hint.on_sent(message.text)

    def on_text_area_selection_changed(self, message: Editor.SelectionChanged) -> None:
        message.stop()
        if self._list is not None:
            self._look_up()

    def set_commands(self, commands: Sequence[Command]) -> None:
        """Set the agent's slash commands. A slash typed before they arrived is completed now."""
        if commands is not self._commands:
            self._commands, self._own_commands = commands, list_commands(commands)
            if self.editor.has_focus and self.editor.text.startswith("/"):
                self._look_up()

    def set_title(self, title: str) -> None:
        """Say what Enter does, if it doesn't simply send."""
        self._title = title
        self._show_title()

    def _show_title(self) -> None:
        title = SHELL if self.editor.is_shell else self._title or self._mode[1]
        if self.editor.vim is not None:
            title = f"{self.editor.vim.label} · {title}" if title else self.editor.vim.label
        if self.editor.border_title != title:
            self.editor.border_title = make_label(title)

    def show_mode(self, session: Session | None) -> None:
        """Mark the prompt if the agent is in a mode that isn't its usual one; most of all if it acts without asking."""
        mode = session.option("mode") if session is not None else None
        kind = kind_of(mode) if mode is not None else "asks"
        name = one_line(mode.value_name, 30) if mode is not None and kind != "asks" else ""
        if (kind, name) != self._mode:
            self._mode = kind, name
            self.editor.set_class(kind == "acts", "-acts")
            self._show_title()

    def _replace_paste(self, text: str) -> str:
        """Return the replacement for pasted text: mentions, if the text consists of file names only."""
        paths = files_in(text, self._cwd)
        made = mentions(paths, self._cwd)
        if made:
            self.post_message(self.Mentioned(paths))
        return made

    def mention(self, path: Path) -> None:
        """Mention a file at the cursor."""
        before = self._before()
        space = " " if before and not before[-1].isspace() else ""
        self.editor.insert(f"{space}{mentions([path], self._cwd)}")
        self.post_message(self.Mentioned([path]))

    def _before(self) -> str:
        """Return the text before the cursor."""
        return self.editor.get_text_range((0, 0), self.editor.cursor_location)

    def _look_up(self) -> None:
        before = self._before()
        if before and before == self._dismissed:
            return
        if self.editor.vim is not None and self.editor.vim.is_normal:
            self._close()
            return
        self._dismissed = ""
        wanted = partial_file_name(before.rpartition("\n")[2])
        if wanted is not None:
            # A function, not a coroutine: a worker replaced before it starts would never await it.
            work: Any = partial(self._look_up_files, wanted)
            run_in_background(self, work, exclusive=True)
        else:
            self._show(self._commands_for(before))

    def _commands_for(self, before: str) -> list[Suggestion]:
        return commands_for(before, self._commands, self._own_commands)

    async def _look_up_files(self, wanted: str) -> None:
        if not wanted:
            await self._show_tree()
            return
        names = await asyncio.to_thread(self._files.matching, wanted)
        if names is not None and partial_file_name(self._before().rpartition("\n")[2]) == wanted:
            self._show(files_for(wanted, names))
            self.hint.on_typing(self._text_without_partial_name)

    async def _show_tree(self, selected: str = "") -> None:
        """Show the project's tree for a lone `@`, with the cursor on a path."""
        rows = await asyncio.to_thread(self._tree.list_rows)
        if partial_file_name(self._before().rpartition("\n")[2]) == "":
            paths = [row.path for row in rows]
            self._show(tree_for(rows), paths.index(selected) if selected in paths else 0)
            self.hint.on_typing(self._text_without_partial_name)

    def _turn(self, key: str) -> None:
        """Open or close the directory at the cursor of the tree; left in an entry goes to its directory."""
        row = self._list.chosen.row if self._list is not None and self._list.chosen is not None else None
        if row is None:
            return
        path = row.path
        if key == "left" and not row.is_open:
            path = path.rstrip("/").rpartition("/")[0] + "/" if "/" in path.rstrip("/") else path
        elif row.is_directory and not row.omitted:
            self._tree.set_open(path, key == "right")
        work: Any = partial(self._show_tree, path)
        run_in_background(self, work, exclusive=True)

    def _text_without_partial_name(self) -> str:
        """Return the text without the file name being typed."""
        text, before = self.editor.text, self._before()
        wanted = partial_file_name(before.rpartition("\n")[2])
        if wanted is None or (self._known == before and self._list is None):
            return text
        return f"{before[: len(before) - len(wanted) - 1]}{_WORD.sub('', text[len(before) :], count=1)}"

    def _show(self, suggestions: list[Suggestion], cursor: int = 0) -> None:
        self._known = self._before()
        if not suggestions:
            self._close()
            return
        if self._list is None:
            self._list = Completions(self.text_styles)
            self.mount(self._list, before=self.editor)
        self._list.show(suggestions, cursor)
        self.on_height()
        self.editor.completing = not self._list.is_hint
        self.editor.completing_tree = self._list.is_tree

    def _close(self) -> None:
        self.editor.completing = False
        if self._list is not None:
            self._list.remove()
            self._list = None
            self.on_height()

    # -- keys

    def _complete(self, key: str) -> None:
        """Handle a key for the completion list. If the list is out of date, the key waits for it."""
        if key == "escape":
            self._pending_keys.clear()
        elif key in ("tab", "enter") and (self._pending_keys or self._known != self._before()):
            self._pending_keys.append((key, self._before()))
            if not self._is_catching_up:
                self._is_catching_up = True
                work: Any = self._catch_up
                run_in_background(self, work, group="keys")
            return
        self._act(key)

    def _act(self, key: str) -> None:
        chosen = self._list.chosen if self._list is not None else None
        if key == "escape":
            self._dismissed = self._before()
            self._close()
        elif key in ("left", "right"):
            self._turn(key)
        elif key == "enter" and (chosen is None or self._before().endswith(chosen.text.rstrip())):
            self._close()  # nothing left to complete: enter sends
            self.editor.submit()
        elif key in ("tab", "enter") and chosen is not None:
            self._take(chosen)
        elif self._list is not None:
            self._list.key(key)

    def _is_awaited(self, key: str) -> bool:
        """Return whether a key is for a list that is about to open: tab in a word that can be completed, and the keys
        that follow."""
        before = self._before()
        if self._pending_keys or key != "tab" or before in (self._known, self._dismissed):
            return bool(self._pending_keys)
        is_command = any(not each.only_hint for each in self._commands_for(before))
        return is_command or partial_file_name(before.rpartition("\n")[2]) is not None

    async def _catch_up(self) -> None:
        """Apply keys that were pressed before the list was up to date, in order."""
        try:
            while self._pending_keys:
                due = key, before = self._pending_keys[0]
                wanted = partial_file_name(before.rpartition("\n")[2])
                if wanted == "":
                    found = tree_for(await asyncio.to_thread(self._tree.list_rows))
                elif wanted is not None:
                    found = files_for(wanted, await asyncio.to_thread(self._files.surely_matching, wanted))
                else:
                    found = self._commands_for(before)
                if self._pending_keys and self._pending_keys[0] is due:  # otherwise the list was dismissed meanwhile
                    del self._pending_keys[0]
                    self._act_at(key, before, found)
        finally:
            self._is_catching_up = False
            self._pending_keys.clear()

    def _act_at(self, key: str, before: str, found: list[Suggestion]) -> None:
        """Apply a key at the place it was pressed. Text typed since then stays after it, except letters that continue
        the name being completed."""
        now = self._before()
        if not now.startswith(before):
            return  # the text was deleted, so the key has no meaning
        rest = now[len(before) :]
        word = _WORD.match(rest)
        if key == "tab" and word is not None and continues_name(found, before, word[0]):
            self._pending_keys.insert(0, (key, before + word[0]))
            return
        row, column = before.count("\n"), len(before.rpartition("\n")[2])
        if rest:
            self.editor.delete((row, column), self.editor.cursor_location)
            self.editor.move_cursor((row, column))
        self._show(found)
        if key == "tab" and not self.editor.completing:
            self._move_focus(at_once=not rest and not self._pending_keys)
        else:
            self._act(key)
        if rest.startswith(" ") and self._before().endswith(" "):
            self.editor.action_delete_left()  # one space after a name is enough
        after = self._before()
        if rest:
            self.editor.insert(rest)
        self._pending_keys = [(each, f"{after}{stood[len(before) :]}") for each, stood in self._pending_keys]

    def _move_focus(self, *, at_once: bool) -> None:
        """Move the focus with tab, as there is nothing to complete; not if more was typed since."""
        if at_once and self.editor.has_focus and self.editor.on_tab is not None:
            self.editor.on_tab()

    def on_completions_chosen(self, message: Completions.Chosen) -> None:
        message.stop()
        self._take(message.suggestion)
        self.editor.focus()

    def _take(self, chosen: Suggestion) -> None:
        row, column = self.editor.cursor_location
        self.editor.replace(chosen.text, (row, max(column - chosen.length, 0)), (row, column))

    def restyle(self, text_styles: TextStyles) -> None:
        self.text_styles = text_styles
        self.editor.highlighter = PromptHighlighter(text_styles)
        self.editor.notify_style_update()  # forgets the lines that are already drawn
        self._close()
