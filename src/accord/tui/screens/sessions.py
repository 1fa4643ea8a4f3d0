"""The sessions that an agent keeps: a list to search in, and what can be done with each.

The agent that comes with Accord keeps its sessions in a file that can be searched: there, sessions are found by what
was said in them, too."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from textual.widgets import Input

from accord.tui.fault import beside
from accord.tui.plain import one_line
from accord.tui.screens.picker import Picker, Row

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.model.session import SessionInfo
    from accord.store.sqlite import SqliteStore

MOST = 2000
FOUND = 30
"""How many sessions are shown by what was said in them."""
PAUSE = 0.15
"""Seconds without a key before it is looked for."""
OURS = "accord"
"""What the agent calls itself that keeps its sessions where we can search."""
UNTITLED = "without a title"


class SessionsScreen(Picker):
    """Gives the session that was picked and what is wanted with it: `enter` opens it, the keys do what they say."""

    def __init__(self, agent: ConnectedAgent, name: str, cwd: str, current: str | None) -> None:
        """`name` is the agent's, as the user knows it; `current` the session that is open."""
        offers = agent.offers
        keys = {"f4": "other folders"}
        if offers.load and offers.resume:
            keys["f5"] = "resumes without history"
        if offers.fork:
            keys["f6"] = "forks"
        if offers.title:
            keys["f7"] = "renames"
        if offers.delete:
            keys["f8"] = "deletes"
        if offers.load:
            keys["f9"] = "exports"
        super().__init__(f"Sessions of {one_line(name, 40)}", [], keys=keys, chosen=current)
        self._agent = agent
        self._cwd = cwd
        self._everywhere = False
        self._is_looking = True
        self._is_ours = offers.info is not None and offers.info.name == OURS
        self._store: SqliteStore | None = None
        self._found: tuple[str, list[Row]] = "", []
        """What was looked for in what was said, and what was found."""

    def on_mount(self) -> None:
        super().on_mount()
        self._look()

    async def on_unmount(self) -> None:
        if self._store is not None:
            await self._store.close()

    def _nothing(self, wanted: str) -> str:
        is_searching = self._is_ours and len(wanted.strip()) > 1 and self._found[0] != wanted.strip()
        if self._is_looking or is_searching:
            return "looking …"
        there = super()._nothing(wanted) or "there are no sessions yet"
        return there if self._everywhere else f"{there} in this folder: f4 shows those of others"

    def _look(self) -> None:
        self._is_looking = True
        beside(self, self._list(), exclusive=True)

    async def _list(self) -> None:
        from accord.errors import AccordError

        found: list[SessionInfo] = []
        try:
            async for info in self._agent.list_sessions(None if self._everywhere else self._cwd):
                found.append(info)
                if len(found) % 50 == 0:
                    self.set_rows([_row(each, self._cwd) for each in found])
                if len(found) >= MOST:
                    break
        except AccordError as error:
            self.app.notify(str(error), severity="error", markup=False)
        self._is_looking = False
        found.sort(key=lambda each: each.updated_at or "", reverse=True)  # the newest first, however the agent sorts
        self.set_rows([_row(each, self._cwd) for each in found])

    # -- by what was said

    def _fitting(self, wanted: str) -> list[Row]:
        rows = super()._fitting(wanted)
        looked_for, found = self._found
        if looked_for == wanted.strip():
            shown = {row.id for row in rows}
            rows += [row for row in found if row.id not in shown]
        elif self._is_ours and len(wanted.strip()) > 1:
            beside(self, self._search(wanted), exclusive=True, group="search")
        return rows

    async def _search(self, wanted: str) -> None:
        """Looks for words in what was said, once the user has paused."""
        from accord.errors import AccordError

        await asyncio.sleep(PAUSE)
        if self._store is None:
            from accord.store.sqlite import SqliteStore

            self._store = SqliteStore()
        hits = []
        if os.path.exists(self._store.path):  # noqa: ASYNC240  # none is made by looking
            with suppress(AccordError):
                cwd = None if self._everywhere else self._cwd
                hits = list(await self._store.search(wanted, cwd=cwd, limit=FOUND))
        rows = [_row(hit.session, self._cwd, f"{hit.before}{hit.hit}{hit.after}") for hit in hits]
        self._found = wanted.strip(), rows
        if self.query_one(Input).value == wanted:
            self._fill(wanted)

    def _key(self, key: str) -> bool:
        if key == "f4":
            self._everywhere = not self._everywhere
            self._look()
            return True
        return super()._key(key)


def _row(info: SessionInfo, cwd: str, said: str = "") -> Row:
    where = "" if info.cwd == cwd else f"in {info.cwd}"
    about = [f"“{said.strip()}”" if said else "", _when(info), where, info.id]
    return Row(info.id, info.title or UNTITLED, " ".join(filter(None, about)))


def _when(info: SessionInfo) -> str:
    """When it last changed, in the time of this place."""
    from datetime import datetime

    try:
        return datetime.fromisoformat(info.updated_at or "").astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return ""
