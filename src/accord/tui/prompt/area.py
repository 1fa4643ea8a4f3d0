"""The prompt as a whole: the editor and, above it, what completes it. This is what a tab puts below a conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from accord.tui.fault import beside
from accord.tui.prompt.complete import Completions, Suggestion, commands_for, file_wanted, files_for
from accord.tui.prompt.editor import Editor
from accord.tui.prompt.files import Files
from accord.tui.prompt.pasted import files_in, mentions

if TYPE_CHECKING:
    from accord.model.session import Command
    from accord.tui.look import Look
    from accord.tui.prompt.history import History


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
        self.editor.on_pasted = self._pasted
        self._cwd = cwd
        self._commands: Sequence[Command] = ()
        self._files = Files(cwd)
        self._list: Completions | None = None
        self._listed = ""  # what stood before the cursor when the list was made
        self._dismissed = ""  # what stood before the cursor when the user sent the list away

    def compose(self) -> ComposeResult:
        yield self.editor

    def on_text_area_changed(self, message: Editor.Changed) -> None:
        message.stop()
        self._look_up()

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
        if paths:
            self.post_message(self.Mentioned(paths))
        return mentions(paths, self._cwd)

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

    def _show(self, suggestions: list[Suggestion]) -> None:
        if not suggestions:
            self._close()
            return
        if self._list is None:
            self._list = Completions(self.look)
            self.mount(self._list, before=self.editor)
        self._list.show(suggestions)
        self._listed = self._before()
        self.editor.completing = not self._list.is_hint

    def _close(self) -> None:
        self.editor.completing = False
        if self._list is not None:
            self._list.remove()
            self._list = None

    def _complete(self, key: str) -> None:
        """A key for the list of completions."""
        if self._list is None:
            return
        if key in ("tab", "enter") and self._listed != self._before():
            anew: Any = partial(self._complete_anew, key)
            beside(self, anew, group="keys")
            return
        chosen = self._list.chosen
        if key == "escape":
            self._dismissed = self._before()
            self._close()
        elif key in ("tab", "enter") and chosen is not None:
            if key == "enter" and self._before().endswith(chosen.text.rstrip()):
                self._close()  # it is all there already: then enter means what it always means
                self.editor.submit()
            else:
                self._take(chosen)
        else:
            self._list.key(key)

    async def _complete_anew(self, key: str) -> None:
        """Somebody typed faster than the list follows: the key is about what is there now."""
        before = self._before()
        wanted = file_wanted(before.rpartition("\n")[2])
        if wanted is not None:
            await self._look_up_files(wanted)
        else:
            self._show(commands_for(before, self._commands))
        if self._before() != before:
            return
        if self._list is not None and self.editor.completing:
            self._complete(key)
        elif key == "enter":
            self.editor.submit()

    def on_completions_chosen(self, message: Completions.Chosen) -> None:
        message.stop()
        self._take(message.suggestion)

    def _take(self, chosen: Suggestion) -> None:
        row, column = self.editor.cursor_location
        self.editor.replace(chosen.text, (row, max(column - chosen.length, 0)), (row, column))
        self.editor.focus()

    def restyle(self, look: Look) -> None:
        self.look = look
        self._close()
