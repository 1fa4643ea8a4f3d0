"""The sessions of one connection once they are open: found, listed, named, closed, and what a store does for them."""

from __future__ import annotations

import os

from msgspec.structs import replace

from accord.agent.opening import Opening, unknown_session
from accord.agent.session import Session
from accord.connection.dispatch import log
from accord.errors import InvalidParams
from accord.model.session import SessionInfo
from accord.model.statement import InfoIs
from accord.store.base import Page


class Sessions(Opening):
    """The sessions that one client has open."""

    def session(self, id: str) -> Session:
        """An open session; `NotFound` otherwise."""
        self.touched = True
        try:
            return self.sessions[id]
        except KeyError:
            raise unknown_session(id) from None

    async def list_sessions(self, cwd: str | None, cursor: str | None, archived: str = "exclude") -> Page:
        self.touched = True
        if archived not in ("exclude", "include", "only"):
            raise InvalidParams(f"session/list: archived is {archived[:40]!r}; it may be exclude, include or only")
        if cwd is not None and not os.path.isabs(cwd):
            raise InvalidParams("session/list: cwd must be an absolute path")
        if self.agent.offers("list_sessions"):
            page = await self.agent.list_sessions(cwd=cwd, cursor=cursor)
            if archived != "include":
                fitting = [info for info in page.sessions if bool(info.archived) == (archived == "only")]
                page = Page(sessions=fitting, next_cursor=page.next_cursor)
            return page
        return await self.agent.kept.list(cwd=cwd, cursor=cursor, archived=archived)

    async def close_session(self, id: str) -> None:
        """Cancels a session's work and frees it. Closing what is not open succeeds."""
        self.touched = True
        session = self.sessions.get(id)
        if session is None:
            return
        session.turns.cancel()
        await session.turns.settle()
        try:
            await self.agent.close_session(session)
        finally:
            await self.end_tools(session)
            await session.put_away()
            if self.sessions.get(id) is session:
                del self.sessions[id]
            session.end()

    async def end_tools(self, session: Session) -> None:
        """Ends what was to outlive its turn: it does not outlive its session."""
        try:
            await session.end_tools("cancelled", background=True)
        except Exception as error:  # nobody may be left to be told, or nothing to keep it; it ends all the same
            log.debug("the tool calls of %s could not be ended", session.id, exc_info=error)

    async def delete_session(self, id: str) -> None:
        await self.close_session(id)
        if self.agent.offers("delete_session"):
            await self.agent.delete_session(id)
        await self.agent.kept.delete(id)

    async def archive_session(self, id: str, archived: bool) -> None:
        """Puts a session out of the usual list, closing it first, or back into it."""
        name = "archive_session" if archived else "unarchive_session"
        if archived:
            await self.close_session(id)
        if self.agent.offers(name):
            await getattr(self.agent, name)(id)
            return
        await self.agent.kept.update(replace(await self._kept_info(id), archived=archived))

    async def session_status(self, id: str) -> str:
        self.touched = True
        if self.agent.offers("session_status"):
            return await self.agent.session_status(id)
        if id not in self.sessions:
            await self._kept_info(id)
        return "open" if id in self.sessions else "saved"

    async def set_session_title(self, id: str, title: str) -> str:
        """The client names a session, open or not. Gives the name that was kept."""
        self.touched = True
        title = " ".join(title.split())
        if not title:
            raise InvalidParams("session/set_title: the title is empty", data={"path": "title"})
        if self.agent.offers("set_title"):
            return await self.agent.set_title(id, title)
        await self.agent.kept.update(replace(await self._kept_info(id), title=title))
        session = self.sessions.get(id)
        if session is not None:
            session.title = title
            session.keep(InfoIs(title=title, updated_at=self.now()))
        return title

    async def _kept_info(self, id: str) -> SessionInfo:
        info = await self.agent.kept.get(id)
        if info is None:
            raise unknown_session(id)
        return info

    async def turn_ended(self, session: Session) -> None:
        """The store's entry of a session shows when, and under which title, it last did something."""
        if self.keeping and session.id in self.sessions:
            await self.agent.kept.update(self._info(session))
