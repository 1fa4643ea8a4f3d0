"""The saved sessions of an agent: a searchable list with keys to resume, fork, rename, delete or export them.

The built-in agent saves its sessions in a database that we can read. So its sessions are also found by their text, and
the list shows how many messages they have and the latest prompt."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from textual.widgets import Input

from accord.model.session import ONE_OFF
from accord.terminal_text import one_line
from accord.tui.errors import explain, run_in_background
from accord.tui.screens.picker import Picker, Row
from accord.tui.text import truncate

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.model.session import SessionInfo
    from accord.store.sqlite import SqliteStore
    from accord.store.summary import Summary

MAX_SESSIONS = 2000
MAX_HITS = 30
"""Maximum number of sessions found by their text."""
PAUSE_SECONDS = 0.15
"""Pause in typing before the search starts."""
BUILT_IN_NAME = "accord"
"""Name that the built-in agent reports."""
UNTITLED = "untitled"
_PREVIEW = 70
"""Characters of the latest prompt."""
_BEFORE_HIT = 24
"""Characters before the text that was found."""
ONE_OFF_GROUP = "One-off runs"
"""The heading of sessions that served a single `accord run`. They are listed last."""


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
        self._listed: list[SessionInfo] = []
        self._summaries: dict[str, Summary] = {}

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
        from accord.errors import AccordError

        found = self._listed = []
        try:
            async for info in self._agent.list_sessions(None if self._everywhere else self._cwd):
                found.append(info)
                if len(found) % 50 == 0:
                    self._show(found)
                if len(found) >= MAX_SESSIONS:
                    break
        except AccordError as error:
            self.app.notify(explain(error), severity="error", markup=False)
        self._is_loading = False
        self._show(found)
        store = self._open_store() if self._is_built_in and found else None
        if store is not None:
            with suppress(AccordError):
                self._summaries = await store.summarize([each.id for each in found])
                self._show(found)

    def _show(self, found: Sequence[SessionInfo]) -> None:
        """List sessions, the newest first, whatever order the agent uses. One-off runs come last."""
        newest = sorted(found, key=lambda each: each.updated_at or "", reverse=True)
        newest.sort(key=self._is_one_off)
        self.set_rows([self._row(each) for each in newest])

    def _is_one_off(self, info: SessionInfo) -> bool:
        """Return whether a session served a single run, and wasn't continued since."""
        summary = self._summaries.get(info.id)
        return (info.meta or {}).get(ONE_OFF) is True and (summary is None or summary.prompts <= 1)

    def _row(self, info: SessionInfo, said: str = "") -> Row:
        """Return the row of a session. `said` is the text that was found in it."""
        title, summary = info.title or UNTITLED, self._summaries.get(info.id)
        count = preview = ""
        if summary is not None:
            count = "1 message" if summary.messages == 1 else f"{summary.messages} messages"
            latest = one_line(summary.preview.strip(), 1000)
            is_title = latest.startswith(title.rstrip("… "))  # the title is the first prompt, and there was no other
            preview = "" if is_title else truncate(latest, _PREVIEW)
        preview = said.strip() or preview
        where = "" if info.cwd == self._cwd else f"in {info.cwd}"
        quote = f"“{preview}”" if preview else ""
        # What was found comes first, as narrow lists don't show the end.
        about = [quote, format_age(info.updated_at), count] if said else [format_age(info.updated_at), count, quote]
        parts = [*about, where, info.id]
        return Row(info.id, title, " · ".join(filter(None, parts)), ONE_OFF_GROUP if self._is_one_off(info) else "")

    def _open_store(self) -> SqliteStore | None:
        """Return the sessions of the built-in agent, if it has saved any: looking for them must not create a file."""
        if self._store is None:
            from accord.store.sqlite import SqliteStore

            self._store = SqliteStore()
        return self._store if os.path.exists(self._store.path) else None

    # -- search in the text of sessions

    def _match(self, wanted: str) -> list[Row]:
        """Return the rows that contain all words in the title, the directory or the id."""
        words = wanted.lower().split()
        texts = {each.id: f"{each.title or UNTITLED} {each.cwd} {each.id}".lower() for each in self._listed}
        rows = [row for row in self._rows if all(word in texts.get(row.id, "") for word in words)]
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
        hits = []
        store = self._open_store()
        if store is not None:
            with suppress(AccordError):
                cwd = None if self._everywhere else self._cwd
                hits = list(await store.search(wanted, cwd=cwd, limit=MAX_HITS))
        rows = [self._row(hit.session, f"{_shorten(hit.before)}{hit.hit}{hit.after}") for hit in hits]
        self._found = wanted.strip(), rows
        if self.query_one(Input).value == wanted:
            self._fill(wanted)

    def _key(self, key: str) -> bool:
        if key == "f4":
            self._everywhere = not self._everywhere
            self._load()
            return True
        return super()._key(key)


def _shorten(before: str) -> str:
    """Shorten the text before a hit, from the start."""
    if len(before) <= _BEFORE_HIT:
        return before
    return f"…{before[-_BEFORE_HIT:].partition(' ')[2] or before[-_BEFORE_HIT:]}"


def format_age(moment: str | None, now: datetime | None = None) -> str:
    """Describe how long ago a moment was: `5 min ago`, `3 h ago`, `yesterday`, `4 days ago`; older ones are dates."""
    try:
        then = datetime.fromisoformat((moment or "").replace("Z", "+00:00")).astimezone()
    except (ValueError, OverflowError):
        return ""
    here = (now or datetime.now(UTC)).astimezone()
    age = here - then
    if age < timedelta(minutes=-5):  # another machine's clock
        return then.strftime("%Y-%m-%d %H:%M")
    if age < timedelta(minutes=1):
        return "just now"
    if age < timedelta(hours=1):
        return f"{age // timedelta(minutes=1)} min ago"
    days = (here.date() - then.date()).days
    if age < timedelta(hours=24) and (not days or age < timedelta(hours=6)):
        return f"{age // timedelta(hours=1)} h ago"
    if days == 1:
        return "yesterday"
    return f"{days} days ago" if days < 7 else then.strftime("%Y-%m-%d")
