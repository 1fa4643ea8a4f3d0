"""The coding agent: one class, everything it does behind it in this room.

    run(Coder(store=SqliteStore()))

With no key and no network it works on the offline model; with a key, on any provider's."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
from typing import TYPE_CHECKING, Any

from msgspec import structs

from accord.agent.agent import Agent, How
from accord.coder import modes
from accord.coder.commands import Commands
from accord.coder.equipment import Equipment
from accord.coder.settings import Settings
from accord.errors import AccordError, InvalidParams, RequestFailed
from accord.model.content import Content, TextContent
from accord.model.requests import AuthMethod
from accord.model.session import Command, StopReason
from accord.version import __version__

if TYPE_CHECKING:
    from accord.agent.offers import ClientOffers
    from accord.agent.session import Session
    from accord.agent.turn import Prompt, Turn
    from accord.coder.desk import Desk
    from accord.store.base import SessionStore

NO_MODEL = "No language model is configured: sessions work on the offline model"
HOW_TO_HAVE_ONE = "accord agent login stores a key; or set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY."
NOTHING_SAID = "There was nothing in that prompt. Say what should be done, or `/help`."
_SLASH = re.compile(r"\s*/(\S+)\s*(.*)", re.DOTALL)


class Coder(Settings, Commands, Agent):
    """Reads, searches, edits and runs things in a project, asks before it acts, and remembers its sessions."""

    name = "accord"
    title = "Accord"
    version = __version__
    unstable = True
    content = ("image", "resource")
    mcp = ("stdio", "http", "sse")
    additional_directories = True
    system_prompts = ("append", "override")
    modes = modes.MODES
    legacy_models = True
    look_every = 2.0
    """How often the project's own commands are looked at, in seconds."""

    def __init__(self, *, store: SessionStore | None = None, equipment: Equipment | None = None) -> None:
        self.store = store
        self.equipment = equipment if equipment is not None else Equipment()
        """What all sessions share: the configuration, the keys, the models."""
        self.open_sessions: set[Session] = set()
        self._knows_no_model: ClientOffers | None = None

    @property
    def auth_methods(self) -> list[AuthMethod]:  # type: ignore[override]
        return self.equipment.auth_methods()

    # -- sessions

    async def accept_session(self, session: Session, how: How) -> None:
        for index, root in enumerate(session.roots):
            fault = _no_directory(root)
            if fault:
                path = "cwd" if index == 0 else f"additionalDirectories[{index - 1}]"
                raise InvalidParams(f"{path}: {root} {fault}; name a directory that is there", data={"path": path})

    async def session_opened(self, session: Session, how: How) -> None:
        old: Desk | None = session.data.get("desk")
        if old is not None:
            await self._open_again(session, old)
            return
        try:
            await self._open(session, how)
        except BaseException:
            await self._put_away(session)
            raise

    async def _open(self, session: Session, how: How) -> None:
        from accord.coder.desk import Desk

        settings = self.equipment.settings(session.cwd)
        desk = session.data["desk"] = Desk(session, self.equipment.policy(session.roots, settings))
        desk.allow_private = self.equipment.allows_private
        session.data["unused"] = how == "new"
        if how != "new":
            await desk.restore(self.kept)
        await self.equipment.read_keys(session.cwd)
        session.set_options(self.options_of(session))
        self.open_sessions.add(session)
        session.data["watch"] = asyncio.get_running_loop().create_task(self._watch(desk))
        session.data["warm"] = asyncio.get_running_loop().create_task(self.warm(session))
        self._start_servers(desk)
        await self._read_recipes(desk)
        for note in (*settings.notes, *desk.policy.notes):
            await desk.tell_user(note, severity="warning")
        session.data["makeshift"] = how == "new" and self.equipment.is_makeshift(session.cwd)
        if session.data["makeshift"] and self._knows_no_model is not session.client:
            self._knows_no_model = session.client  # who has read it once knows it in every session
            await desk.tell_user(NO_MODEL, HOW_TO_HAVE_ONE)

    async def _open_again(self, session: Session, desk: Desk) -> None:
        """A client opens what is open: the work goes on with all that it knows, from where it is wanted now."""
        if desk.place != session.roots:
            if session.turns.working is not None:
                raise RequestFailed("this session is working; it can move to other directories when its turn has ended")
            settings = self.equipment.settings(session.cwd)
            policy = self.equipment.policy(session.roots, settings)
            await session.put_away()  # its commands and files were those of the old place
            desk.move(policy)
            await self._read_recipes(desk)
        if desk.servers_named != session.mcp_servers:
            servers, desk.servers = desk.servers, None
            if servers is not None:
                await servers.close()
            self._start_servers(desk)
        session.set_options(self.options_of(session))
        self._tell_commands(desk)

    def _start_servers(self, desk: Desk) -> None:
        desk.servers_named = desk.session.mcp_servers
        if desk.session.mcp_servers:
            from accord.coder.mcp.servers import Servers

            desk.servers = Servers(desk.session)
            desk.servers.changed = lambda: self._tell_commands(desk)
            desk.servers.start()

    async def accept_prompt(self, turn: Turn) -> None:
        turn.session.data["unused"] = False

    async def close_session(self, session: Session) -> None:
        await self._put_away(session)
        if session.closed and session.data.get("unused") and session.title is None:
            # The client left without a word. Every look into an editor would leave an empty session in the list; it can
            # be opened all the same, and is back in the list with its first turn.
            info = await self.kept.get(session.id)
            if info is not None:
                await self.kept.update(structs.replace(info, archived=True))

    async def _put_away(self, session: Session) -> None:
        self.open_sessions.discard(session)
        for name in ("watch", "warm"):
            task: asyncio.Task[None] | None = session.data.pop(name, None)
            if task is not None:
                task.cancel()
        desk: Desk | None = session.data.pop("desk", None)
        if desk is not None:
            await desk.close()

    # -- the project's own commands

    async def _watch(self, desk: Desk) -> None:
        """Looks after the project's commands for as long as the session is open."""
        from accord.coder.recipes import trace

        seen = trace(desk.session.cwd)
        while True:
            await asyncio.sleep(self.look_every)
            now = trace(desk.session.cwd)
            if now != seen:
                with contextlib.suppress(AccordError):  # nobody can be told now: next time
                    await self._read_recipes(desk)
                    seen = now

    async def _read_recipes(self, desk: Desk) -> None:
        from accord.coder import recipes

        found = await recipes.read(desk, set(self.commands_written))
        if found != desk.recipes:
            desk.recipes = found
            self._tell_commands(desk)

    def _tell_commands(self, desk: Desk) -> None:
        more: list[Command] = [recipe.command for recipe in desk.recipes.values()]
        if desk.servers is not None:
            more += desk.servers.commands()
        if not desk.session.closed:
            desk.session.set_commands(more)

    # -- the work

    def desk(self, session: Session) -> Desk:
        """What a session has on its desk."""
        desk: Desk = session.data["desk"]
        return desk

    async def prompt(self, turn: Turn) -> StopReason | None:
        content = await self._meant(turn, turn)
        if content == []:  # a command that cannot be had: said already
            return None
        return await self.work(turn, content)

    async def _meant(self, turn: Turn, prompt: Prompt) -> list[Content] | None:
        """What a command of the project's, or of a server's, stands for: nothing, if it cannot be had, which is said.

        None when the prompt is meant as it is."""
        from accord.coder.tools.base import ToolFault

        try:
            return await self._filled(self.desk(turn.session), prompt.content)
        except ToolFault as fault:  # a server's prompt that lacks an argument, or a server that does not answer
            await turn.say(str(fault))
            return []

    async def _filled(self, desk: Desk, content: list[Content]) -> list[Content] | None:
        for piece in content:
            named = _SLASH.match(piece.text) if isinstance(piece, TextContent) else None
            if named is None:
                continue
            rest = [other for other in content if other is not piece]
            if named[1] in desk.recipes:
                return [TextContent(desk.recipes[named[1]].filled(named[2])), *rest]
            if desk.servers is not None and named[1].startswith("mcp:"):
                await desk.servers.ready()
                if named[1] in {command.name for command in desk.servers.commands()}:
                    return [*await desk.servers.prompt_messages(named[1], named[2]), *rest]
        return None

    async def work(self, turn: Turn, content: list[Content] | None = None) -> StopReason | None:
        """Lets the model work on a prompt, or on `content` in its place."""
        from accord.coder.history import known
        from accord.coder.instructions import instructions
        from accord.coder.loop import Loop

        session = turn.session
        desk = self.desk(session)
        await desk.tell_news()
        if not known(content or turn.content):
            await turn.say(NOTHING_SAID)
            return None
        if session.title is None and turn.text.strip():
            await session.set_title(_title(turn.text))
        model = await self.model(session)
        if desk.servers is not None:
            await desk.servers.ready()
        effort = session.option("effort")
        loop = Loop(
            turn,
            desk,
            model,
            lambda: self.tools(desk),
            lambda: instructions(desk),
            effort=str(effort.value) if effort is not None else None,
            meaning=lambda prompt: self._meant(turn, prompt),
            **self.equipment.limits,
        )
        try:
            return await loop.run(content)
        finally:
            await desk.turn_over()

    def tools(self, desk: Desk) -> dict[str, Any]:
        """Everything the model can use in a session."""
        return {**self.equipment.tools(), **(desk.servers.tools() if desk.servers is not None else {})}


def _title(text: str) -> str:
    """What a session is called after its first prompt."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "New session")
    return line if len(line) <= 60 else line[:57].rsplit(" ", 1)[0] + " …"


def _no_directory(path: str) -> str:
    """Why a path is no place to work in; nothing when it is one."""
    if os.path.isdir(path):
        return ""
    return "is no directory" if os.path.exists(path) else "does not exist"
