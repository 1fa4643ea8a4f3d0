"""The sessions that an agent keeps: a list to search in, and what can be done with each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from accord.tui.plain import one_line
from accord.tui.screens.picker import Picker, Row

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.model.session import SessionInfo

MOST = 2000
UNTITLED = "without a title"


class SessionsScreen(Picker):
    """Gives the session that was picked and what is wanted with it: `enter` opens it, the keys do what they say."""

    def __init__(self, agent: ConnectedAgent, cwd: str, current: str | None) -> None:
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
        super().__init__(f"Sessions of {one_line(agent.name, 40)}", [], keys=keys, chosen=current)
        self._agent = agent
        self._cwd = cwd
        self._everywhere = False

    def on_mount(self) -> None:
        super().on_mount()
        self._look()

    def _look(self) -> None:
        self.run_worker(self._list(), exclusive=True, exit_on_error=False)

    async def _list(self) -> None:
        from accord.errors import AccordError

        rows: list[Row] = []
        try:
            async for info in self._agent.list_sessions(None if self._everywhere else self._cwd):
                rows.append(_row(info, self._cwd))
                if len(rows) % 50 == 0:
                    self.set_rows(rows)
                if len(rows) >= MOST:
                    break
        except AccordError as error:
            self.app.notify(str(error), severity="error")
        rows.sort(key=lambda row: row.group, reverse=True)
        self.set_rows(rows)

    def _key(self, key: str) -> bool:
        if key == "f4":
            self._everywhere = not self._everywhere
            self._look()
            return True
        return super()._key(key)


def _row(info: SessionInfo, cwd: str) -> Row:
    when = (info.updated_at or "")[:16].replace("T", " ")
    where = "" if info.cwd == cwd else f" in {info.cwd}"
    return Row(info.id, info.title or UNTITLED, " ".join(filter(None, [when, where, info.id])))
