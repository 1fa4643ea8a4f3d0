"""The prompt as a whole: the editor and, above it, what completes it. This is what a tab puts below a conversation."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from accord.tui.fault import beside
from accord.tui.prompt.complete import Completions, Suggestion, commands_for, file_wanted, files_for, go_on
from accord.tui.prompt.editor import Editor
from accord.tui.prompt.files import Files
from accord.tui.prompt.pasted import files_in, mentions
from accord.tui.prompt.unfound import UnfoundHint

if TYPE_CHECKING:
    from accord.model.session import Command
    from accord.tui.look import Look
    from accord.tui.prompt.history import History

_WORD = re.compile(r"[^\s\"']*")


class PromptArea(Vertical):
    """Holds the editor. It is told the agent's slash commands whenever they change."""

    DEFAULT_CSS = "PromptArea { height: auto; max-height: 26; }"

    class Mentioned(Message):
        """Files were dropped or pasted, and are mentioned in the prompt now."""

        def __init__(self, paths: list[Path]) -> None:
            super().__init__()
            self.paths = paths

    def __init__(self, look: Look, past: History, cwd: Path) -> None:
        super().__init__()
        self.look = look
        self.editor = Editor(past)
        self.editor.on_completion_key = self._complete
        self.editor.is_awaited = self._is_awaited
        self.editor.on_pasted = self._pasted
        self.hint = UnfoundHint(self.editor)
        self._cwd = cwd
        self._commands: Sequence[Command] = ()
        self._files = Files(cwd)
        self._list: Completions | None = None
        self._known = ""  # what stood before the cursor when it was last known what completes it
        self._due: list[tuple[str, str]] = []  # keys for a list that is not there yet, and what stood before the cursor
        self._is_catching_up = False
        self._dismissed = ""  # what stood before the cursor when the user sent the list away

    def compose(self) -> ComposeResult:
        yield self.editor

    def on_text_area_changed(self, message: Editor.Changed) -> None:
        message.stop()
        self._look_up()
        self.hint.typed(self._finished)

    def on_editor_submitted(self, message: Editor.Submitted) -> None:
        self.hint.sent(message.text)

    def on_text_area_selection_changed(self, message: Editor.SelectionChanged) -> None:
        message.stop()
        if self._list is not None:
            self._look_up()

    def commands_are(self, commands: Sequence[Command]) -> None:
        """The agent's slash commands are now these. A slash that was typed before they came is completed now."""
        if commands is not self._commands:
            self._commands = commands
            if self.editor.has_focus and self.editor.text.startswith("/"):
                self._look_up()

    def _pasted(self, text: str) -> str:
        """What is put in for a text that was pasted: mentions of the files that it names, if it names nothing else."""
        paths = files_in(text, self._cwd)
        made = mentions(paths, self._cwd)
        if made:
            self.post_message(self.Mentioned(paths))
        return made

    def mention(self, path: Path) -> None:
        """Mentions a file where the cursor is."""
        before = self._before()
        space = " " if before and not before[-1].isspace() else ""
        self.editor.insert(f"{space}{mentions([path], self._cwd)}")
        self.post_message(self.Mentioned([path]))

    def _before(self) -> str:
        """The text before the cursor."""
        return self.editor.get_text_range((0, 0), self.editor.cursor_location)

    def _look_up(self) -> None:
        before = self._before()
        if before and before == self._dismissed:
            return
        self._dismissed = ""
        wanted = file_wanted(before.rpartition("\n")[2])
        if wanted is not None:
            # No coroutine yet: the next letter may come before it is begun, and then nobody would await it.
            work: Any = partial(self._look_up_files, wanted)
            beside(self, work, exclusive=True)
        else:
            self._show(commands_for(before, self._commands))

    async def _look_up_files(self, wanted: str) -> None:
        names = await asyncio.to_thread(self._files.matching, wanted)
        if names is not None and file_wanted(self._before().rpartition("\n")[2]) == wanted:
            self._show(files_for(wanted, names))
            self.hint.typed(self._finished)

    def _finished(self) -> str:
        """The text without the name that is being typed, as long as it may become one."""
        text, before = self.editor.text, self._before()
        wanted = file_wanted(before.rpartition("\n")[2])
        if wanted is None or (self._known == before and self._list is None):
            return text
        return f"{before[: len(before) - len(wanted) - 1]}{_WORD.sub('', text[len(before) :], count=1)}"

    def _show(self, suggestions: list[Suggestion]) -> None:
        self._known = self._before()
        if not suggestions:
            self._close()
            return
        if self._list is None:
            self._list = Completions(self.look)
            self.mount(self._list, before=self.editor)
        self._list.show(suggestions)
        self.editor.completing = not self._list.is_hint

    def _close(self) -> None:
        self.editor.completing = False
        if self._list is not None:
            self._list.remove()
            self._list = None

    # -- keys

    def _complete(self, key: str) -> None:
        """A key for the list of completions. Where the list is not about what is there now, the key waits for it."""
        if key == "escape":
            self._due.clear()
        elif key in ("tab", "enter") and (self._due or self._known != self._before()):
            self._due.append((key, self._before()))
            if not self._is_catching_up:
                self._is_catching_up = True
                work: Any = self._catch_up
                beside(self, work, group="keys")
            return
        self._act(key)

    def _act(self, key: str) -> None:
        chosen = self._list.chosen if self._list is not None else None
        if key == "escape":
            self._dismissed = self._before()
            self._close()
        elif key == "enter" and (chosen is None or self._before().endswith(chosen.text.rstrip())):
            self._close()  # it is all there already: then enter means what it always means
            self.editor.submit()
        elif key in ("tab", "enter") and chosen is not None:
            self._take(chosen)
        elif self._list is not None:
            self._list.key(key)

    def _is_awaited(self, key: str) -> bool:
        """Whether a key is for a list that is about to be there: tab in a word that can be completed, and what is
        pressed behind it."""
        before = self._before()
        if self._due or key != "tab" or before in (self._known, self._dismissed):
            return bool(self._due)
        is_command = any(not each.only_hint for each in commands_for(before, self._commands))
        return is_command or file_wanted(before.rpartition("\n")[2]) is not None

    async def _catch_up(self) -> None:
        """Does what keys mean that were pressed faster than the list follows, one after the other."""
        try:
            while self._due:
                due = key, before = self._due[0]
                wanted = file_wanted(before.rpartition("\n")[2])
                if wanted is not None:
                    found = files_for(wanted, await asyncio.to_thread(self._files.surely_matching, wanted))
                else:
                    found = commands_for(before, self._commands)
                if self._due and self._due[0] is due:  # else it was sent away meanwhile
                    del self._due[0]
                    self._act_there(key, before, found)
        finally:
            self._is_catching_up = False
            self._due.clear()

    def _act_there(self, key: str, before: str, found: list[Suggestion]) -> None:
        """Does what a key means where it was pressed. What was typed since then stays behind it; but letters that go on
        with a name are part of what is to be completed."""
        now = self._before()
        if not now.startswith(before):
            return  # it was taken back, and so was the key
        rest = now[len(before) :]
        word = _WORD.match(rest)
        if key == "tab" and word is not None and go_on(found, before, word[0]):
            self._due.insert(0, (key, before + word[0]))
            return
        row, column = before.count("\n"), len(before.rpartition("\n")[2])
        if rest:
            self.editor.delete((row, column), self.editor.cursor_location)
            self.editor.move_cursor((row, column))
        self._show(found)
        if key == "tab" and not self.editor.completing:
            self._leave(at_once=not rest and not self._due)
        else:
            self._act(key)
        if rest.startswith(" ") and self._before().endswith(" "):
            self.editor.action_delete_left()  # of the space behind a name one is enough
        after = self._before()
        if rest:
            self.editor.insert(rest)
        self._due = [(each, f"{after}{stood[len(before) :]}") for each, stood in self._due]

    def _leave(self, *, at_once: bool) -> None:
        """There was nothing to complete: then tab goes elsewhere, unless more was typed here since."""
        if at_once and self.editor.has_focus and self.editor.on_tab is not None:
            self.editor.on_tab()

    def on_completions_chosen(self, message: Completions.Chosen) -> None:
        message.stop()
        self._take(message.suggestion)
        self.editor.focus()

    def _take(self, chosen: Suggestion) -> None:
        row, column = self.editor.cursor_location
        self.editor.replace(chosen.text, (row, max(column - chosen.length, 0)), (row, column))

    def restyle(self, look: Look) -> None:
        self.look = look
        self._close()
