"""The line at the top: agent, model, directory and branch of the active tab."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from rich.cells import cell_len
from textual.strip import Strip
from textual.widget import Widget

from accord.terminal_text import one_line
from accord.tui.errors import run_in_background
from accord.tui.panels.status import Part, drop_to_fit
from accord.tui.text import shorten_home, truncate_path

if TYPE_CHECKING:
    from accord.tui.app import AccordApp
    from accord.tui.tab.tab import Tab
    from accord.tui.theme import TextStyles

_MAX_NAME = 30
_MIN_PATH = 12


class Headline(Widget):
    """Names the agent and the project of the active tab. Parts that don't fit are dropped, the directory last."""

    app: AccordApp
    DEFAULT_CSS: ClassVar[str] = "Headline { height: 1; padding: 0 1; background: $tint; display: none; }"

    def __init__(self, text_styles: TextStyles) -> None:
        super().__init__()
        self.text_styles = text_styles
        self._facts: tuple[str, ...] = ()
        self._branches: dict[Path, str] = {}

    def update(self, tab: Tab) -> None:
        """Draw again if something changed."""
        facts = self._list_facts(tab)
        if facts != self._facts:
            self._facts = facts
            self.refresh()

    def read_branch(self, cwd: Path) -> None:
        """Look up which branch is checked out; the agent or another program may have changed it."""
        # A function, not a coroutine: a worker replaced before it starts would never await it.
        work: Any = partial(self._read_branch, cwd)
        run_in_background(self, work, group="branch", exclusive=True)

    async def _read_branch(self, cwd: Path) -> None:
        from accord.workspace.git_head import read_branch

        self._branches[cwd] = await asyncio.to_thread(read_branch, cwd)
        self.update(self.app.tabs.active)

    def _list_facts(self, tab: Tab) -> tuple[str, ...]:
        controller = tab.controller
        agent = "" if controller.process.state == "undecided" else one_line(controller.process.title, _MAX_NAME)
        model = controller.session.option("model") if controller.session is not None else None
        name = one_line(model.value_name, _MAX_NAME) if model is not None else ""
        return agent, name, shorten_home(tab.cwd), self._branches.get(tab.cwd, "")

    def render_line(self, y: int) -> Strip:
        text_styles, width = self.text_styles, self.size.width
        agent, model, path, branch = self._facts or ("", "", "", "")
        between = " · "
        parts = [Part(0, "◆", text_styles.accent + text_styles.strong), Part(5, " Accord", text_styles.strong)]
        parts += [Part(2, f"{between}{agent}", None)] if agent else []
        parts += [Part(3, f"{between}{model}", text_styles.dim)] if model else []
        fixed = sum(cell_len(each.text) for each in parts) + len(between)
        end = f" ({branch})" if branch else ""
        room = max(width - fixed - len(end) - 1, _MIN_PATH)
        parts += [Part(1, f"{between}{truncate_path(path, room)}", text_styles.dim)]
        parts += [Part(4, end, text_styles.dim)] if end else []
        ground = text_styles.said
        shown = drop_to_fit(parts, width)
        if shown[1:] and shown[1].text.startswith(between):  # without the name, the mark is followed by the agent
            shown[1] = shown[1]._replace(text=f" {shown[1].text.removeprefix(between)}")
        styled = ((each.text, ground if each.style is None else each.style + ground) for each in shown)
        return text_styles.line(*styled).extend_cell_length(width, text_styles.base + ground).crop(0, width)
