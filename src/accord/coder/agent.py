"""The coding agent.

    run(Coder(store=SqliteStore()))

Without a key or network access it uses the offline model; with a key, a model of its provider."""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, ClassVar

from msgspec import structs

from accord.agent.agent import Agent, How, command
from accord.agent.client_quirks import drop_repeated, unwrap_prompt
from accord.coder import modes
from accord.coder.shared_resources import SharedResources
from accord.errors import AccordError, AuthRequired, InvalidParams
from accord.model.requests import AuthMethod
from accord.model.session import NO_MODEL as NO_MODEL_MARK
from accord.model.session import Choice, Mode, Option, StopReason
from accord.version import __version__

if TYPE_CHECKING:
    from accord.agent.client import Client
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.coder.session import CoderSession
    from accord.store.base import SessionStore

log: logging.Logger = logging.getLogger("accord.coder")
NO_MODEL = "No language model is configured. Using the offline model"
CONFIGURE_MODEL = "Run accord login to store a key, or set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY."


class Coder(Agent):
    """Reads, searches, edits and runs code in a project, asks before it acts, and saves its sessions.

    Each session's state is a `CoderSession`; shared state is in `SharedResources`."""

    name = "accord"
    title: ClassVar[str | None] = "Accord"
    version: ClassVar[str] = __version__
    unstable = True
    content: ClassVar[Collection[str]] = ("image", "resource")
    mcp: ClassVar[tuple[str, ...]] = ("stdio", "http", "sse", "acp")
    additional_directories = True
    system_prompts: ClassVar[Collection[str]] = ("append", "override")
    modes: Sequence[Mode] = modes.MODES
    legacy_models = True
    watch_seconds: float = 2.0
    """How often to check whether the project's custom commands have changed."""

    def __init__(self, *, store: SessionStore | None = None, shared: SharedResources | None = None) -> None:
        self.store = store
        self.shared: SharedResources = shared if shared is not None else SharedResources()
        """The configuration, keys, models and tools of all sessions."""
        self._states: dict[Session, CoderSession] = {}
        self._notified_client: Client | None = None
        """The client that already got the `NO_MODEL` notice."""

    @property
    def mcp_offered(self) -> tuple[str, ...]:
        """The MCP transports, or nothing if the `mcp` package is missing. Only looks for it, doesn't import it."""
        try:
            is_installed = importlib.util.find_spec("mcp") is not None
        except ImportError:  # raised by some import hooks
            is_installed = False
        return self.mcp if is_installed else ()

    @property
    def auth_methods(self) -> list[AuthMethod]:  # type: ignore[override]
        return self.shared.auth_methods()

    def state(self, session: Session) -> CoderSession:
        """Return the state of an open session."""
        return self._states[session]

    # -- sessions

    async def accept_session(self, session: Session, how: How) -> None:
        for index, root in enumerate(session.roots):
            problem = _directory_problem(root)
            if problem:
                path = "cwd" if index == 0 else f"additionalDirectories[{index - 1}]"
                raise InvalidParams(f"{path}: {root} {problem}; choose an existing directory", data={"path": path})

    async def session_opened(self, session: Session, how: How) -> None:
        state = self._states.get(session)
        if state is not None:
            await state.reopen()
            return
        try:
            await self._open(session, how)
        except BaseException:
            await self._close(session)
            raise

    async def _open(self, session: Session, how: How) -> None:
        # Imported here because `initialize` is answered before any session exists, and an editor waits for that.
        from accord.coder.session import CoderSession

        is_new = how == "new"
        settings = self.shared.settings(session.cwd)
        policy = self.shared.policy(session.roots, settings)
        secrets = self.shared.secrets(settings)
        state = self._states[session] = CoderSession(
            session,
            self.shared,
            policy,
            secrets,
            settings.settings.coder,
            is_new=is_new,
            reserved_commands=self.commands_written,
        )
        if not is_new:
            await state.restore(self.kept)
        await state.open(self.watch_seconds)
        for note in (*settings.notes, *policy.notes):
            await state.notices.show(note, severity="warning")
        state.models.is_fallback = is_new and self.shared.is_fallback(session.cwd)
        if state.models.is_fallback and self._notified_client is not session.client:
            self._notified_client = session.client  # once per client is enough
            await state.notices.show(NO_MODEL, CONFIGURE_MODEL, meta={NO_MODEL_MARK: True})

    async def close_session(self, session: Session) -> None:
        state = await self._close(session)
        if session.closed and state is not None and state.is_unused and session.title is None:
            # The client left without a prompt. Some editors open a session whenever their panel is shown, and each
            # would stay in the list. An archived session can still be opened; its first turn puts it back in the list.
            info = await self.kept.get(session.id)
            if info is not None:
                await self.kept.update(structs.replace(info, archived=True))

    async def _close(self, session: Session) -> CoderSession | None:
        state = self._states.pop(session, None)
        if state is not None:
            await state.close()
        return state

    # -- prompts

    async def accept_prompt(self, turn: Turn) -> None:
        state = self.state(turn.session)
        state.is_unused = False
        sent = turn.content = unwrap_prompt(turn.content)
        if state.last_turn is not None and state.last_turn.cancelled:
            turn.content = drop_repeated(sent, state.last_sent)
        state.last_turn, state.last_sent = turn, sent

    async def prompt(self, turn: Turn) -> StopReason | None:
        return await self.state(turn.session).prompt(turn)

    async def cancel_tool_call(self, session: Session, tool_call_id: str) -> None:
        """Stop a background command."""
        await self.state(session).background.cancel_call(tool_call_id)

    async def cancel_subagent(self, session: Session) -> None:
        for state in self._states.values():
            if state.subagents.cancel(session.id):
                return

    # -- options and login

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        state = self.state(session)
        if option.category == "mode":
            state.planning = False
        if option.id == "model":
            await state.models.select(str(value))

    async def unlisted_choice(self, session: Session, option: Option, value: str) -> Choice | None:
        """Pass unlisted model names to their provider, if it is configured."""
        from accord.coder.models.base import ModelError

        if option.id != "model":
            return None
        try:
            return await self.shared.unlisted_model(session.cwd, value)
        except ModelError as error:
            raise InvalidParams(str(error), data={"path": "value"}) from error

    async def login(self, method_id: str, client: Client) -> None:
        """Look for keys. Succeeds without one too: some clients log in before anything else, and the agent works
        offline. Open sessions get a notice."""
        missing = ""
        try:
            await self.shared.login(method_id)
        except AuthRequired as error:
            missing = error.message
            log.warning("%s", missing)
        for state in [each for each in self._states.values() if each.is_open]:
            with contextlib.suppress(AccordError):  # one session's broken configuration doesn't undo the login
                if missing:
                    await state.notices.show("No key found", missing, severity="warning")
                await state.models.offer_models()

    # -- slash commands

    @command("help", "Show what this agent can do")
    async def help(self, turn: Turn) -> None:
        await self.state(turn.session).commands.help(turn)

    @command("plan", "Make a plan without changing anything", hint="goal")
    async def plan(self, turn: Turn) -> StopReason | None:
        return await self.state(turn.session).commands.plan(turn)

    @command("init", "Write an AGENTS.md for this project")
    async def init(self, turn: Turn) -> StopReason | None:
        return await self.state(turn.session).commands.init(turn)

    @command("review", "Review uncommitted changes", hint="what to look at")
    async def review(self, turn: Turn) -> StopReason | None:
        return await self.state(turn.session).commands.review(turn)

    @command("test", "Run the project's tests", hint="which ones")
    async def test(self, turn: Turn) -> StopReason | None:
        return await self.state(turn.session).commands.test(turn)

    @command("compact", "Summarize the conversation to free context", hint="what to keep")
    async def compact(self, turn: Turn) -> None:
        await self.state(turn.session).commands.compact(turn)

    @command("usage", "Show context usage and cost")
    async def usage(self, turn: Turn) -> None:
        await self.state(turn.session).commands.usage(turn)

    @command("undo", "Undo the file changes of the last turn", hint="back: revert the undo")
    async def undo(self, turn: Turn) -> None:
        await self.state(turn.session).commands.undo(turn)


def _directory_problem(path: str) -> str:
    """Describe why a path can't be a working directory; empty if it can."""
    if os.path.isdir(path):
        return ""
    return "is not a directory" if os.path.exists(path) else "does not exist"
