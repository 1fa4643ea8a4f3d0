"""The base class of an agent: one method for each thing a client may ask.

Only `prompt` must be written. What else is written is what is offered: capabilities follow from the methods, not from a
second list. What version 2 demands of every agent (list, resume, close) comes from `store`, in memory unless another is
given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, Union

from accord.errors import MethodNotFound
from accord.model.requests import AuthMethod
from accord.model.session import Command, Mode, Option, StopReason

if TYPE_CHECKING:
    from accord.agent.offers import ClientOffers
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.store.base import Page, SessionStore

F = TypeVar("F", bound=Callable[..., Any])
CommandHandler = Callable[["Turn"], Awaitable[Union[StopReason, None]]]
How = Literal["new", "load", "resume", "fork"]
"""How a session comes to be open: from nothing, with its history told again, without that, or from another's."""


class Agent:
    """What an author subclasses. One object may serve many clients and sessions at once."""

    name: ClassVar[str] = ""
    """What the agent is called on the wire; the class's name unless set."""
    title: ClassVar[str | None] = None
    version: ClassVar[str] = "0"

    versions: ClassVar[Collection[int]] = (1, 2)
    """The protocol versions to speak."""
    unstable: ClassVar[bool] = False
    """Whether the protocol's unstable parts are offered too."""

    content: ClassVar[Collection[str]] = ()
    """What a prompt may hold besides text and links: "image", "audio", "resource"."""
    mcp: ClassVar[Collection[str]] = ("stdio",)
    """How MCP servers may be reached: "stdio", "http", "sse", "acp"."""
    additional_directories: ClassVar[bool] = False
    """Whether a session may have more roots than its working directory."""

    capability_meta: ClassVar[dict[str, Any]] = {}
    """Capabilities beyond the protocol, told as the `_meta` of what is offered; keys are their owner's."""
    system_prompts: ClassVar[Collection[str]] = ()
    """How a client may speak to the model itself: "append", "override" (unstable; see `Session.system_prompt`)."""

    auth_methods: Sequence[AuthMethod] = ()
    modes: Sequence[Mode] = ()
    options: Sequence[Option] = ()
    commands: Sequence[Command] = ()
    """Further slash commands that `prompt` handles itself; those made with `@command` need not be listed."""
    legacy_models: ClassVar[bool] = False
    """Whether the option of category `model` is told as `models` too, which older clients of version 1 read."""
    reject_while_busy: ClassVar[bool] = False
    """Version 1 says nothing of a prompt that comes while another runs: it waits its turn, or is refused."""

    store: SessionStore | None = None
    """Where sessions are kept. With one, listing, loading, resuming and closing are offered in version 1 too."""

    # -- the work

    async def prompt(self, turn: Turn) -> StopReason | None:
        """Handles what the user said. None means `end_turn`; any other stop reason may be returned."""
        raise NotImplementedError(f"{type(self).__name__} must define prompt()")

    async def accept_prompt(self, turn: Turn) -> None:
        """Called before a prompt becomes part of the conversation. Raising refuses it: `AuthRequired`, for one."""

    # -- the connection

    async def connected(self, client: ClientOffers) -> None:
        """A client said hello. Raising refuses it."""

    async def disconnected(self) -> None:
        """A client is gone."""

    # -- sessions

    async def new_session_id(self) -> str:
        """The id of a session that is about to begin, for agents whose sessions live elsewhere; else one is made up."""
        raise NotImplementedError

    async def accept_session(self, session: Session, how: How) -> None:
        """Called before a session begins or is opened again, and before anything is told of it. Raising refuses it."""

    async def session_opened(self, session: Session, how: How) -> None:
        """A session is open now, new or not: set its options and commands, connect its MCP servers. Raising refuses it.

        The answer to the client tells the options as they are when this returns; what is said here follows the answer.
        Options that are set here have the values they had before, where they may still take them; those values are in
        `session.values_before`. A client may open again what is open already: then this is called once more, with the
        same session object."""

    async def new_session(self, session: Session) -> None:
        """A session begins, before `session_opened`. Raising refuses it."""

    async def load_session(self, session: Session) -> None:
        """A stored session is opened again: say everything that was said, in order."""
        raise NotImplementedError

    async def resume_session(self, session: Session) -> None:
        """A stored session is opened again without being told: restore its context, say nothing old."""
        raise NotImplementedError

    async def list_sessions(self, *, cwd: str | None, cursor: str | None) -> Page:
        """Known sessions, newest first, a page at a time."""
        raise NotImplementedError

    async def close_session(self, session: Session) -> None:
        """A session was closed, or its client is gone, and its work has been cancelled: free what it holds."""

    async def delete_session(self, session_id: str) -> None:
        """Forget a stored session. Deleting what is not there succeeds."""
        raise NotImplementedError

    async def fork_session(self, session: Session, source: str) -> None:
        """A new session begins with the history of another."""
        raise NotImplementedError

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        """The user set an option (a mode, a model, …). It has the new value when this returns; raising refuses it."""

    async def cancel_tool_call(self, session: Session, tool_call_id: str) -> None:
        """The user stops one tool call that was started with `can_cancel`."""
        raise NotImplementedError

    async def cancel_terminal(self, session: Session, terminal_id: str) -> None:
        """The user stops one of the agent's own terminals that was started with `can_cancel`."""
        raise NotImplementedError

    async def cancel_subagent(self, session: Session) -> None:
        """The user stops a child session that was told of with `can_cancel` (unstable)."""

    # -- logging in

    async def login(self, method_id: str) -> None:
        """Log in by one of `auth_methods`. Raising says that it failed."""

    async def logout(self) -> None:
        """Forget who is logged in."""
        raise NotImplementedError

    # -- beyond the protocol

    async def extension_request(self, method: str, params: Any) -> Any:
        """A request that the protocol does not know. Its name should begin with an underscore."""
        raise MethodNotFound(f"Method not found: {method}", data={"method": method})

    async def extension_notification(self, method: str, params: Any) -> None:
        """A notification that the protocol does not know; ignored unless written."""

    # -- unstable parts. Where sessions are kept, the store does these four unless they are written

    async def archive_session(self, session_id: str) -> None:
        """Put a session out of the usual list. It has been closed."""
        raise NotImplementedError

    async def unarchive_session(self, session_id: str) -> None:
        """Put it back."""
        raise NotImplementedError

    async def session_status(self, session_id: str) -> str:
        """Whether a session is `open` or `saved`."""
        raise NotImplementedError

    async def set_title(self, session_id: str, title: str) -> str:
        """The user names a session, open or not. Gives the name that was kept."""
        raise NotImplementedError

    # -- and these in the words of the wire: params in, result out

    async def auth_status(self, params: Any) -> Any:
        raise NotImplementedError

    async def list_providers(self, params: Any) -> Any:
        raise NotImplementedError

    async def set_provider(self, params: Any) -> Any:
        raise NotImplementedError

    async def disable_provider(self, params: Any) -> Any:
        raise NotImplementedError

    async def mcp_notification(self, params: Any) -> None:
        raise NotImplementedError

    # -- what the library asks of the class

    def offers(self, method: str) -> bool:
        """Whether the author wrote this method."""
        return getattr(type(self), method, None) is not getattr(Agent, method, None)

    @property
    def commands_written(self) -> dict[str, tuple[Command, CommandHandler]]:
        """The slash commands made with `@command`, by name."""
        found: dict[str, tuple[Command, CommandHandler]] = {}
        for cls in reversed(type(self).__mro__):
            for name, value in vars(cls).items():
                described = getattr(value, "_accord_command", None)
                if described is not None:
                    found[described.name] = (described, getattr(self, name))
        return found

    @property
    def kept(self) -> SessionStore:
        """The store in use: the author's, or one in memory."""
        if self.store is None:
            from accord.store.memory import MemoryStore

            kept: SessionStore | None = self.__dict__.get("_memory")
            if kept is None:
                kept = self.__dict__["_memory"] = MemoryStore()
            return kept
        return self.store


def command(name: str, description: str, *, hint: str | None = None) -> Callable[[F], F]:
    """Makes a method of an agent a slash command: it is called with the turn, `turn.argument` holding what follows."""

    def mark(method: F) -> F:
        method._accord_command = Command(name=name, description=description, hint=hint)  # type: ignore[attr-defined]
        return method

    return mark
