"""The saved sessions of an agent: a searchable list with keys to resume, fork, rename, delete or export them.

The built-in agent saves its sessions in a database that we can search, so its sessions are also found by their text."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.widgets import Input

from accord.terminal_text import one_line
from accord.tui.errors import run_in_background
from accord.tui.screens.picker import Picker, Row

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.model.session import SessionInfo
    from accord.store.sqlite import SqliteStore

MAX_SESSIONS = 2000
MAX_HITS = 30
"""Maximum number of sessions found by their text."""
PAUSE_SECONDS = 0.15
"""Pause in typing before the search starts."""
BUILT_IN_NAME = "accord"
"""Name that the built-in agent reports."""
UNTITLED = "untitled"


class SessionsScreen(Picker):
    """Returns the chosen session and the key: `enter` opens it, the other keys are in the hints."""

    def __init__(self, agent: ConnectedAgent, name: str, cwd: str, current: str | None) -> None:
        """`name` is the agent's name for the user; `current` is the open session."""
        offers = agent.offers
        keys = {"f4": "other directories"}
        if offers.load and offers.resume:
            keys["f5"] = "resume without history"
        if offers.fork:
            keys["f6"] = "fork"
        if offers.title:
            keys["f7"] = "rename"
        if offers.delete:
            keys["f8"] = "delete"
        if offers.load:
            keys["f9"] = "export"
        super().__init__(f"Sessions of {one_line(name, 40)}", [], keys=keys, chosen=current)
        self._agent = agent
        self._cwd = cwd
        self._everywhere = False
        self._is_loading = True
        self._is_built_in = offers.info is not None and offers.info.name == BUILT_IN_NAME
        self._store: SqliteStore | None = None
        self._found: tuple[str, list[Row]] = "", []
        """The last search text, and the sessions whose text matches it."""

    def on_mount(self) -> None:
        super().on_mount()
        self._load()

    async def on_unmount(self) -> None:
        if self._store is not None:
            await self._store.close()

    def _empty_text(self, wanted: str) -> str:
        is_searching = self._is_built_in and len(wanted.strip()) > 1 and self._found[0] != wanted.strip()
        if self._is_loading or is_searching:
            return "Searching…"
        there = super()._empty_text(wanted) or "no sessions yet"
        return there if self._everywhere else f"{there} in this directory: f4 shows others"

    def _load(self) -> None:
        self._is_loading = True
        run_in_background(self, self._load_rows(), exclusive=True)

    async def _load_rows(self) -> None:
        from accord.config.redaction import redact_text
        from accord.errors import AccordError

        found: list[SessionInfo] = []
        try:
            async for info in self._agent.list_sessions(None if self._everywhere else self._cwd):
                found.append(info)
                if len(found) % 50 == 0:
                    self.set_rows([_row(each, self._cwd) for each in found])
                if len(found) >= MAX_SESSIONS:
                    break
        except AccordError as error:
            self.app.notify(redact_text(str(error)), severity="error", markup=False)
        self._is_loading = False
        found.sort(key=lambda each: each.updated_at or "", reverse=True)  # newest first, whatever order the agent uses
        self.set_rows([_row(each, self._cwd) for each in found])

    # -- search in the text of sessions

    def _match(self, wanted: str) -> list[Row]:
        rows = super()._match(wanted)
        looked_for, found = self._found
        if looked_for == wanted.strip():
            shown = {row.id for row in rows}
            rows += [row for row in found if row.id not in shown]
        elif self._is_built_in and len(wanted.strip()) > 1:
            run_in_background(self, self._search(wanted), exclusive=True, group="search")
        return rows

    async def _search(self, wanted: str) -> None:
        """Search the text of sessions once the user pauses."""
        from accord.errors import AccordError

        await asyncio.sleep(PAUSE_SECONDS)
        if self._store is None:
            from accord.store.sqlite import SqliteStore

            self._store = SqliteStore()
        hits = []
        if os.path.exists(self._store.path):  # noqa: ASYNC240  # searching must not create one
            with suppress(AccordError):
                cwd = None if self._everywhere else self._cwd
                hits = list(await self._store.search(wanted, cwd=cwd, limit=MAX_HITS))
        rows = [_row(hit.session, self._cwd, f"{hit.before}{hit.hit}{hit.after}") for hit in hits]
        self._found = wanted.strip(), rows
        if self.query_one(Input).value == wanted:
            self._fill(wanted)

    def _key(self, key: str) -> bool:
        if key == "f4":
            self._everywhere = not self._everywhere
            self._load()
            return True
        return super()._key(key)


def _row(info: SessionInfo, cwd: str, said: str = "") -> Row:
    where = "" if info.cwd == cwd else f"in {info.cwd}"
    about = [f"“{said.strip()}”" if said else "", _format_time(info), where, info.id]
    return Row(info.id, info.title or UNTITLED, " ".join(filter(None, about)))


def _format_time(info: SessionInfo) -> str:
    """Return when it last changed, in local time."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(info.updated_at or "").astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return ""
