"""The base class of an agent: one method for each request of a client.

Only `prompt` must be defined. Capabilities follow from the methods that the author defines; there is no second list.
`store` provides what version 2 requires of every agent (list, resume, close), in memory by default."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, Union

from accord.agent.definition import COMMAND, check_class, check_command
from accord.errors import InvalidValue, MethodNotFound, UsageError
from accord.model.requests import AuthMethod
from accord.model.session import Choice, Command, Mode, Option, StopReason

if TYPE_CHECKING:
    from accord.agent.client import Client
    from accord.agent.session import Session
    from accord.agent.turn import Turn
    from accord.model.account import AuthStatus, Provider, ProviderConfig
    from accord.store.base import Page, SessionStore

F = TypeVar("F", bound=Callable[[Any, "Turn"], Awaitable[Union[StopReason, None]]])
CommandHandler = Callable[["Turn"], Awaitable[Union[StopReason, None]]]
How = Literal["new", "load", "resume", "fork"]
"""How a session is opened: new, with its history replayed, without it, or as a fork of another one."""


class Agent:
    """Base class for agents. One object can serve many clients and sessions at once."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_class(cls, Agent)

    name: ClassVar[str] = ""
    """The agent's name on the wire; by default the name of the class."""
    title: ClassVar[str | None] = None
    version: ClassVar[str] = "0"

    versions: ClassVar[Collection[int]] = (1, 2)
    """The supported protocol versions."""
    unstable: ClassVar[bool] = False
    """Whether unstable parts of the protocol are offered too."""

    content: ClassVar[Collection[str]] = ()
    """Supported prompt content besides text and links: "image", "audio", "resource"."""
    mcp: ClassVar[Collection[str]] = ("stdio",)
    """Supported transports of MCP servers: "stdio", "http", "sse", "acp"."""

    @property
    def mcp_offered(self) -> Collection[str]:
        """The transports advertised to clients. Version 1 clients may send "stdio" servers in any case."""
        return self.mcp

    additional_directories: ClassVar[bool] = False
    """Whether a session may have directories besides its working directory."""

    capability_meta: ClassVar[dict[str, Any]] = {}
    """Capabilities beyond the protocol, sent as the `_meta` of the capabilities."""
    info_meta: ClassVar[dict[str, Any]] = {}
    """The `_meta` of the agent's name and version."""
    response_meta: ClassVar[dict[str, Any]] = {}
    """The `_meta` of the response to `initialize`."""
    system_prompts: ClassVar[Collection[str]] = ()
    """Supported modes of client system prompts: "append", "override" (unstable; see `Session.system_prompt`)."""

    auth_methods: Sequence[AuthMethod] = ()
    modes: Sequence[Mode] = ()
    options: Sequence[Option] = ()
    commands: Sequence[Command] = ()
    """More slash commands, which `prompt` handles itself. Those made with `@command` needn't be listed."""
    legacy_models: ClassVar[bool] = False
    """Whether the option of category `model` is also sent as `models`, for older clients of version 1."""
    reject_while_busy: ClassVar[bool] = False
    """Whether to reject a prompt while another one is running (version 1). By default it is queued."""

    store: SessionStore | None = None
    """Where sessions are saved. With a store, listing, loading, resuming and closing work in version 1 too."""

    # -- prompts

    async def prompt(self, turn: Turn) -> StopReason | None:
        """Handle a prompt. Return None for `end_turn`, or any other stop reason."""
        raise NotImplementedError(f"{type(self).__name__} must define prompt()")

    async def accept_prompt(self, turn: Turn) -> None:
        """Called before a prompt becomes part of the conversation. Raise to reject it, for example with
        `AuthRequired`."""

    # -- the connection

    async def on_connect(self, client: Client) -> None:
        """Called when a client has sent `initialize`. Raise to reject it. Store the client if you want to send it
        something later, outside of sessions."""

    async def on_disconnect(self, client: Client) -> None:
        """Called when a client has disconnected."""

    # -- sessions

    async def new_session_id(self) -> str:
        """Return the id of a new session. For agents whose sessions live elsewhere; by default an id is generated."""
        raise NotImplementedError

    async def accept_session(self, session: Session, how: How) -> None:
        """Called before a session is created or reopened, and before any update about it. Raise to reject it."""

    async def session_opened(self, session: Session, how: How) -> None:
        """Called when a session is open, new or not. Set its options and commands here and connect its MCP servers.
        Raise to reject it.

        The response to the client has the options as they are when this returns; updates sent here follow the response.
        Options set here get their previous values if these are still valid (`session.values_before`). If a client
        reopens a session that is already open, this is called again with the same object."""

    async def new_session(self, session: Session) -> None:
        """Called when a session is created, before `session_opened`. Raise to reject it."""

    async def load_session(self, session: Session) -> None:
        """Reopen a stored session: send its whole history again, in order."""
        raise NotImplementedError

    async def resume_session(self, session: Session) -> None:
        """Reopen a stored session without its history: restore its context, and send nothing old."""
        raise NotImplementedError

    async def list_sessions(self, *, cwd: str | None, cursor: str | None) -> Page:
        """Return a page of saved sessions, newest first."""
        raise NotImplementedError

    async def close_session(self, session: Session) -> None:
        """Called when a session was closed or its client disconnected, and its work was cancelled. Release its
        resources."""

    async def delete_session(self, session_id: str) -> None:
        """Delete a stored session. Deleting one that doesn't exist succeeds."""
        raise NotImplementedError

    async def fork_session(self, session: Session, source: str) -> None:
        """Called when a session is created with the history of another one."""
        raise NotImplementedError

    async def set_option(self, session: Session, option: Option, value: str | bool) -> None:
        """Called when the user sets an option (a mode, a model, …). It changes after this returns; raise to reject the
        value."""

    async def unlisted_choice(self, session: Session, option: Option, value: str) -> Choice | None:
        """Called when the user wants a value that the option doesn't list. Return a choice to add and select it.

        Return None or raise to reject it."""
        return None

    async def cancel_tool_call(self, session: Session, tool_call_id: str) -> None:
        """Cancel a tool call that was started with `can_cancel`."""
        raise NotImplementedError

    async def cancel_terminal(self, session: Session, terminal_id: str) -> None:
        """Cancel one of the agent's own terminals that was started with `can_cancel`."""
        raise NotImplementedError

    async def cancel_subagent(self, session: Session) -> None:
        """Cancel a subagent that was reported with `can_cancel` (unstable)."""

    # -- logins

    async def login(self, method_id: str, client: Client) -> None:
        """Log in with one of `auth_methods`. Raise if it fails. `client.ask` asks the user for a code, or opens a
        page."""

    async def logout(self) -> None:
        """Log out."""
        raise NotImplementedError

    # -- extensions of the protocol

    async def extension_request(self, method: str, params: Any) -> Any:
        """Handle a request that the protocol doesn't define. Its name should start with an underscore."""
        raise MethodNotFound(f"Method not found: {method}", data={"method": method})

    async def extension_notification(self, method: str, params: Any) -> None:
        """Handle a notification that the protocol doesn't define. Ignored by default."""

    # -- unstable: by default, the store (if there is one) provides these four

    async def archive_session(self, session_id: str) -> None:
        """Archive a session. It has been closed."""
        raise NotImplementedError

    async def unarchive_session(self, session_id: str) -> None:
        """Unarchive a session."""
        raise NotImplementedError

    async def session_status(self, session_id: str) -> str:
        """Return `open` or `saved`."""
        raise NotImplementedError

    async def set_title(self, session_id: str, title: str) -> str:
        """Set a session's title for the user, whether or not it is open. Return the title that was saved."""
        raise NotImplementedError

    # -- unstable: accounts and providers

    async def auth_status(self) -> AuthStatus:
        """Return the state of the login and the known accounts. Report changes with `client.set_auth_status`."""
        raise NotImplementedError

    async def list_providers(self) -> Sequence[Provider]:
        """Return the model providers that the client can configure."""
        raise NotImplementedError

    async def set_provider(self, provider_id: str, config: ProviderConfig) -> None:
        """Configure a listed provider with an API type that it supports. Replaces its whole configuration."""
        raise NotImplementedError

    async def disable_provider(self, provider_id: str) -> None:
        """Disable a listed provider that isn't required."""
        raise NotImplementedError

    # -- unstable, with the types of the wire

    async def mcp_notification(self, params: Any) -> None:
        """Called when an MCP server of the client sends a notification; `params` is in wire format."""
        raise NotImplementedError

    # -- for the library

    def offers(self, method: str) -> bool:
        """Return whether the author defined this method."""
        return getattr(type(self), method, None) is not getattr(Agent, method, None)

    @property
    def commands_written(self) -> dict[str, tuple[Command, CommandHandler]]:
        """The slash commands made with `@command`, by name."""
        return commands_of(self)

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


def commands_of(owner: object) -> dict[str, tuple[Command, CommandHandler]]:
    """Collect the methods of an object that are slash commands, by the name of the command; those of base classes
    come first."""
    found: dict[str, tuple[Command, CommandHandler]] = {}
    for cls in reversed(type(owner).__mro__):
        for name, value in vars(cls).items():
            described = getattr(value, COMMAND, None)
            if described is not None:
                found[described.name] = (described, getattr(owner, name))
    return found


def command(name: str, description: str = "", *, hint: str | None = None) -> Callable[[F], F]:
    """Turn a method of an agent into a slash command. It is called with the turn; `turn.argument` has the text after
    the name."""
    if callable(name):
        raise UsageError("@command needs a name and a description: @accord.command('test', 'Run the tests')")
    if name.startswith("/") or not name or any(letter.isspace() for letter in name):
        wanted = "-".join(name.strip("/").split()) or "test"
        raise InvalidValue(f"name is {name!r}; write it without slash and spaces: {wanted!r}", argument="name")
    if not description:
        raise InvalidValue(
            f"/{name} has no description; clients show it in their list of commands", argument="description"
        )

    def mark(method: F) -> F:
        check_command(f"the handler of /{name}", method)
        setattr(method, COMMAND, Command(name=name, description=description, hint=hint))
        return method

    return mark
