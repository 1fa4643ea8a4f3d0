"""The command palette: all commands of the client, its settings, and the agent's slash commands in one list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.terminal_text import one_line
from accord.tui.commands import COMMANDS, Command
from accord.tui.preferences import CHOICES, SWITCHES

if TYPE_CHECKING:
    from accord.tui.app import AccordApp
    from accord.tui.screens.picker import Row

_SLASH, _SETTING = "/", "setting "
_NOT_LISTED = ("interrupt",)
"""Quitting takes two presses of its key; `/quit` does it at once."""


class Palette:
    """Lets the user search and run a command. Recent choices come first, then the most used commands."""

    def __init__(self, app: AccordApp) -> None:
        self._app = app
        self._recent: list[str] = []
        """Ids of the rows chosen since the start, the latest first."""

    async def choose(self) -> None:
        """Show the palette, and run the user's choice."""
        from accord.tui.screens.picker import Picker

        rows = self._list_rows()
        picked = await self._app.dialogs.show(Picker("Commands", rows))
        if picked is None:
            return
        self._recent = [picked.id, *(id for id in self._recent if id != picked.id)]
        await self._run(picked.id)

    def _list_rows(self) -> list[Row]:
        from accord.tui.screens.picker import Row

        rows = [
            Row(action_of(each), each.title, each.about, key=each.keys.partition(",")[0])
            for each in COMMANDS
            if each.action not in _NOT_LISTED
        ]
        session = self._app.tabs.active.controller.session
        for theirs in session.commands if session is not None else ():
            about = one_line(theirs.description or "", 100)
            rows.append(Row(f"{_SLASH}{theirs.name}", f"/{one_line(theirs.name, 40)}", about))
        bound = {name for each in COMMANDS for name in (each.setting, each.title)}
        labels = {name: entry[:2] for name, entry in (SWITCHES | CHOICES).items() if not bound & {name, entry[0]}}
        rows += [Row(f"{_SETTING}{name}", label, about) for name, (label, about) in labels.items()]
        order = {id: place for place, id in enumerate(self._recent)}
        return sorted(rows, key=lambda row: order.get(row.id, len(order)))

    async def _run(self, id: str) -> None:
        if id.startswith(_SLASH):
            editor = self._app.tabs.active.editor
            editor.set_text(f"{id} {editor.text}".rstrip() + " ")
            editor.focus()
        elif id.startswith(_SETTING):
            await self._app.settings.change(id.removeprefix(_SETTING))
        else:
            await self._app.run_action(id)


def action_of(command: Command) -> str:
    """Return the action that a command runs, with its argument."""
    return f"{command.action}({command.setting!r})" if command.setting else command.action
