"""Prompts that begin with `!`: shell commands of the user, and their output for the agent.

`!command` runs a command. `!!command` also puts its output into the prompt, folded, once it has ended; `!!` alone does
that with the output of the last command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.errors import AccordError
from accord.tui.errors import run_in_background

if TYPE_CHECKING:
    from accord.tui.session.shell import Finished
    from accord.tui.tab.tab import Tab


class ShellInput:
    """Runs what the user typed after `!`, for one tab."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab

    def enter(self, text: str) -> None:
        """Run a command, or give the output of the last one."""
        is_given = text.startswith("!!")
        line = text[2 if is_given else 1 :].strip()
        last = self._tab.controller.shell.last
        if line:
            self._tab.transcript_view.to_end()
            run_in_background(self._tab, self._run(line, is_given=is_given), group="shell")
        elif is_given and last is not None:
            self._give(last)
        else:
            missing = "No command has ended yet." if is_given else "Type a command after !"
            self._tab.app.notify(missing, severity="warning")

    async def _run(self, line: str, *, is_given: bool) -> None:
        tab = self._tab
        try:
            finished = await tab.controller.shell.run(line)
        except AccordError as error:
            tab.app.notify(str(error), severity="error")
            return
        if is_given:
            self._give(finished)

    def _give(self, finished: Finished) -> None:
        """Put an output into the prompt, where the user sees it before it is sent."""
        self._tab.editor.insert_folded(finished.describe(), f"output of {finished.line}")
