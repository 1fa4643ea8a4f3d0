"""The start page: the agents that are configured, the built-in one, those of the registry, any command line, and what
was talked about lately."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.widgets import Input, OptionList

from accord.config.command import BUILT_IN
from accord.tui.fault import beside
from accord.tui.plain import one_line
from accord.tui.screens.picker import Picked, Picker, Row

if TYPE_CHECKING:
    from accord.config.settings import Settings
    from accord.model.session import SessionInfo

_SESSION = "session "  # no name of an agent has a space in it
_WELCOME = "Welcome to Accord. "
_MOST_SESSIONS = 5


def session_of(id: str) -> str | None:
    """The session that a row stands for; None if it stands for an agent."""
    return id.removeprefix(_SESSION) if id.startswith(_SESSION) else None


class AgentsScreen(Picker):
    """Everything that can be talked to. What is typed and is no row is taken as a command line.

    What its other keys do is done above it: who comes back from there finds it as it was. It is there at once; sessions
    and the registry, which may have to be fetched, come when they are read."""

    def __init__(
        self,
        settings: Settings,
        recent: Callable[[int], Sequence[SessionInfo]] | None = None,
        *,
        is_first: bool = False,
        aside: Callable[[AgentsScreen, Picked], None] | None = None,
    ) -> None:
        """`recent` reads the newest sessions; it is called in a thread. `aside` does what the other keys are for."""
        default = settings.chosen_agent or (BUILT_IN if not settings.agents else None)
        self._aside = aside
        self._settings = settings
        self._recent = recent
        about = "Choose an agent, or type a command line that starts one. ✓ is meant when none is named."
        super().__init__(
            "Talk with",
            _agents(settings),
            about=f"{_WELCOME if is_first else ''}{about}",
            keys={"f3": "doctor", "f5": "keeps a command line under a name", "f6": "makes it the default"},
            typed=lambda text: Row(text, f"Start: {text}", "", "Command line") if " " in text or "/" in text else None,
            chosen=default if default is not None else "",
        )

    def on_mount(self) -> None:
        super().on_mount()
        beside(self, self._read())

    async def _read(self) -> None:
        rows = _agents(self._settings)
        if self._recent is not None:
            rows += [_session(info) for info in await asyncio.to_thread(self._recent, _MOST_SESSIONS)]
            self.set_rows(rows)
        if self._settings.registry is None:
            how = 'registry = "…" in config.toml names one'
            self.set_rows([*rows, Row("", "none is configured", how, "Registry")])
        else:
            waiting = Row("", "the registry is being read …", "", "Registry")
            self.set_rows([*rows, waiting])
            found = await asyncio.to_thread(registry_rows, self._settings.registry)
            self.set_rows([*rows, *(row for row in found if row.id not in self._settings.agents)])

    def _done(self, how: str) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None and at < len(self._shown) and self._id_at(at) == "":
            return  # a row that only says something
        row = self._shown[at] if at is not None and at < len(self._shown) else None
        if how == "enter" or self._aside is None or row is None:
            super()._done(how)
        else:
            self._aside(self, Picked(row.id, how, row.label))

    def default_is(self, name: str) -> None:
        """Another agent is meant now when none is named."""
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
    when = (info.updated_at or "")[:16].replace("T", " ")
    return Row(f"{_SESSION}{info.id}", info.title or "without a title", when, "Go on with, of the built-in agent")


def registry_rows(source: str | None) -> list[Row]:
    """The agents of the registry, if one is configured and can be read. Reads files: call it in a thread."""
    if source is None:
        return []
    from accord.config.install import is_installed
    from accord.config.registry import read_registry
    from accord.errors import AccordError

    try:
        entries = read_registry(source).entries
    except (AccordError, OSError) as error:
        return [Row("", f"the registry cannot be read: {one_line(str(error))}", "", "Registry")]
    rows = []
    for entry in entries.values():
        ready = "" if is_installed(entry) else "(is installed first) "
        rows.append(Row(entry.id, entry.name, f"{entry.version}  {ready}{entry.description}", "Registry"))
    return rows
