"""The sessions of all agents on this machine, the most urgent first."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from accord.process.thread import run_in_thread
from accord.terminal_text import format_duration
from accord.tui.errors import run_in_background
from accord.tui.screens.picker import Picker, Row

if TYPE_CHECKING:
    from accord.status.attention_list import AttentionList
    from accord.status.entry import SessionStatus

REFRESH_SECONDS = 1.0
GROUPS = {
    "waiting": "Waiting for you",
    "failed": "Failed",
    "finished": "Finished, not yet seen",
    "running": "Running",
    "idle": "Open",
}


class OverviewScreen(Picker):
    """Returns the chosen session. The list follows what the clients publish."""

    def __init__(self, sessions: AttentionList) -> None:
        super().__init__("All sessions", [], keys={"f8": "forget those that ended"})
        self._sessions = sessions
        self._known: dict[str, SessionStatus] = {}
        self._is_loading = True

    def find(self, id: str) -> SessionStatus | None:
        """Return the session of a row."""
        return self._known.get(id)

    def on_mount(self) -> None:
        super().on_mount()
        self._load()
        self.set_interval(REFRESH_SECONDS, self._load)

    def _load(self) -> None:
        run_in_background(self, self._load_rows(), exclusive=True)

    async def _load_rows(self) -> None:
        found = await run_in_thread(self._sessions.read)
        self._is_loading = False
        known = {f"{each.agent}\0{each.id}": each for each in found}
        if known != self._known or not known:
            self._known = known
            now = time.time()
            self.set_rows([_row(id, each, now) for id, each in known.items()])

    def _empty_text(self, wanted: str) -> str:
        return "Loading…" if self._is_loading else super()._empty_text(wanted) or "no sessions"

    def _key(self, key: str) -> bool:
        if key == "f8":
            run_in_background(self, self._forget(), exclusive=True, group="forget")
            return True
        return super()._key(key)

    async def _forget(self) -> None:
        await run_in_thread(self._sessions.mark_seen)
        await self._load_rows()


def _row(id: str, status: SessionStatus, now: float) -> Row:
    age = format_duration(now - status.since) if now - status.since >= 10 else "now"
    home = os.path.expanduser("~")
    where = f"~{status.cwd[len(home) :]}" if status.cwd.startswith(home + os.sep) else status.cwd
    about = [status.why, age, status.agent, where]
    return Row(id, status.title or "Untitled session", " · ".join(filter(None, about)), GROUPS[status.state])
