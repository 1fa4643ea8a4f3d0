"""The start page: configured agents, the built-in one, well-known ones, those of a registry, command lines, and recent
sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING

from textual.widgets import Input, OptionList

from accord.config.command import BUILT_IN
from accord.terminal_text import one_line
from accord.tui.errors import run_in_background
from accord.tui.screens.picker import Picked, Picker, Row

if TYPE_CHECKING:
    from accord.config.settings import Settings
    from accord.model.session import SessionInfo

_SESSION = "session "  # agent names can't contain spaces
_WELCOME = "Welcome to Accord. "
_MAX_SESSIONS = 5
UPDATE = "f7"
"""The key that downloads the versions of the well-known agents."""


def session_of(id: str) -> str | None:
    """Return the session id of a row; None for an agent's row."""
    return id.removeprefix(_SESSION) if id.startswith(_SESSION) else None


class AgentsScreen(Picker):
    """Lists every agent that can be started. Text that matches no row can be a command line.

    The page opens at once; sessions and the registry, which may have to be fetched, are added when loaded. Its other
    keys open screens above it, so that the user returns to an unchanged page."""

    def __init__(
        self,
        settings: Settings,
        recent: Callable[[int], Sequence[SessionInfo]] | None = None,
        *,
        is_first: bool = False,
        handle_key: Callable[[AgentsScreen, Picked], None] | None = None,
    ) -> None:
        """`recent` reads the newest sessions; called in a thread. `handle_key` handles keys other than enter."""
        default = settings.chosen_agent or (BUILT_IN if not settings.agents else None)
        self._handle_key = handle_key
        self._settings = settings
        self._recent = recent
        super().__init__(
            "Start an agent",
            _agents(settings),
            about=f"{_WELCOME if is_first else ''}✓ marks the default agent.",
            placeholder="type to search, or a command line that starts an agent",
            keys={"f3": "doctor", "f5": "name a command line", "f6": "make default", UPDATE: "check for updates"},
            typed=lambda text: [Row(text, f"Start: {text}", "", "Command line")] if " " in text or "/" in text else [],
            chosen=default if default is not None else "",
        )

    def on_mount(self) -> None:
        super().on_mount()
        run_in_background(self, self.read())

    async def read(self) -> None:
        """List everything, the slowest source last."""
        rows = _agents(self._settings)
        if self._recent is not None:
            rows += [_session(info) for info in await asyncio.to_thread(self._recent, _MAX_SESSIONS)]
            self.set_rows(rows)
        known = await asyncio.to_thread(known_rows, frozenset(self._settings.agents))
        self.set_rows([*rows, *known])
        if self._settings.registry is not None:
            self.set_rows([*rows, Row("", "Reading the registry…", "", "Registry"), *known])
            found = await asyncio.to_thread(registry_rows, self._settings.registry)
            listed = [row for row in found if row.id not in self._settings.agents]
            self.set_rows([*rows, *listed, *known])

    def _choose(self, how: str) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None and at < len(self._shown) and self._id_at(at) == "":
            return  # a note, not an agent
        row = self._shown[at] if at is not None and at < len(self._shown) else None
        if how == "enter" or self._handle_key is None or row is None:
            super()._choose(how)
        else:
            self._handle_key(self, Picked(row.id, how, row.label))

    def set_default(self, name: str) -> None:
        """Mark another agent as the default."""
        self._chosen = name
        self._fill(self.query_one(Input).value)


def _agents(settings: Settings) -> list[Row]:
    rows = []
    for name, entry in settings.agents.items():
        command = entry.command if isinstance(entry.command, str) else " ".join(entry.command)
        rows.append(Row(name, name, entry.description or one_line(command, 120), "Configured"))
    rows.append(Row(BUILT_IN, "built-in agent", "comes with Accord", "Built in"))
    return rows


def _session(info: SessionInfo) -> Row:
    from accord.tui.screens.sessions import format_age

    when = format_age(info.updated_at)
    return Row(f"{_SESSION}{info.id}", info.title or "untitled", when, "Continue a session of the built-in agent")


def known_rows(configured: Collection[str]) -> list[Row]:
    """Return the well-known agents, except those whose names the user has configured otherwise. Reads files: call it
    in a thread."""
    from accord.config.well_known import well_known_agents

    rows = []
    for name, agent in well_known_agents().items():
        if name in configured:
            continue
        installed, current = agent.installed, agent.current
        if installed is None:
            state = "not installed"
        else:
            news = f", {current.version} available" if installed.version != current.version else ""
            state = f"{installed.version} installed{news}"
        rows.append(Row(name, agent.title, f"{state} · {agent.entry.description.rstrip('.')}", "Well-known agents"))
    return rows


def registry_rows(source: str | None) -> list[Row]:
    """Return the agents of the registry. Reads files or the network: call it in a thread."""
    if source is None:
        return []
    from accord.config.install import is_installed
    from accord.config.registry import read_registry
    from accord.errors import AccordError

    try:
        entries = read_registry(source).entries
    except (AccordError, OSError) as error:
        return [Row("", f"couldn't read the registry: {one_line(str(error))}", "", "Registry")]
    rows = []
    for entry in entries.values():
        ready = "" if is_installed(entry) else "(will be installed) "
        rows.append(Row(entry.id, entry.name, f"{entry.version}  {ready}{entry.description}", "Registry"))
    return rows
