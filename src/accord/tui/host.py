"""The interface between the terminal client and the rest of the program, which the CLI implements."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from accord.client.local_workspace import LocalWorkspace
    from accord.client.offers import AgentOffers
    from accord.client.workspace import Workspace
    from accord.config.settings import Loaded
    from accord.model.requests import AuthMethod, McpServer
    from accord.model.session import Notice, SessionInfo
    from accord.policy.question import Ask


class Launch(Protocol):
    """An agent that was found and can be started."""

    @property
    def name(self) -> str:
        """The user's name for it, which the policy uses too."""

    @property
    def target(self) -> Any:
        """The argument for `connect`."""

    @property
    def has_program(self) -> bool:
        """Whether the agent's program is on this machine, and so are its logins that need a terminal."""

    async def log_in(self, method: AuthMethod) -> bool:
        """Run the agent's own login on our terminal."""

    def leave(self) -> None:
        """Let the agent exit in the background, even after us."""

    def kill(self) -> None:
        """Kill the agent at once."""


class HostWorkspace(NamedTuple):
    """The workspace for one agent: what is served to it, and the files and terminals behind that."""

    served: Workspace
    local: LocalWorkspace


class Finding(NamedTuple):
    """The result of one diagnostic check."""

    ok: bool
    stage: str
    found: str
    advice: str = ""


class KeyProvider(NamedTuple):
    """A model provider that needs a key."""

    name: str
    title: str
    source: str = ""
    """Where its key was found; empty if there is none."""
    model: str = ""
    """The model to use with a new key; empty if none is known."""


class KeyPlace(NamedTuple):
    """A place to keep a key in."""

    id: str
    label: str
    about: str = ""


class KeyStore(Protocol):
    """The provider keys of an agent, as far as the host manages them."""

    @property
    def method(self) -> str:
        """The agent's login method that reads the saved keys again."""

    async def list_providers(self) -> list[KeyProvider]: ...

    async def check(self, provider: str, key: str) -> str:
        """Check a key with a cheap request. Return why that wasn't possible; raise `AccordError` if it's rejected."""

    def list_models(self, provider: str) -> list[str]:
        """Return the models that the provider listed when it checked a key."""

    async def list_places(self) -> list[KeyPlace]: ...

    async def save(self, provider: str, key: str, place: str) -> str:
        """Keep a key in a place, and return a notice that says where. Raise `AccordError` if that fails."""

    def needs_restart(self, provider: str, place: str) -> bool:
        """Return whether the agent gets the key only when it is started again."""


class Host(Protocol):
    """The program around the terminal client."""

    cwd: Path
    versions: frozenset[int]

    def configuration(self) -> Loaded:
        """Read the settings of the user and the project."""

    def resolve_name(self, target: str | None) -> str:
        """Return the name or command line of an agent; None is the default agent."""

    def launch(
        self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[[str, int, int], None]
    ) -> Launch:
        """Find an agent and begin to start it; None is the default agent. Blocks: call it in a thread.

        `progress` is called during an installation with a description, the amount done and the total. An exception
        that it raises cancels the installation."""

    def describe_install(self, target: str) -> str:
        """Say what has to be installed before a well-known agent starts, and which risks an installation from the
        registry has; empty if there is nothing to confirm. Reads files or the network: call it in a thread."""

    def install(self, target: str, progress: Callable[[str, int, int], None]) -> None:
        """Install an agent with a well-known name. Blocks: call it in a thread. `progress` is that of `launch`."""

    def workspace(self, launch: Launch, ask: Ask, on_decision: Callable[[Any, Any], None]) -> HostWorkspace | None:
        """Return the workspace for an agent, behind the policy. The policy asks the user with `ask`, and reports its
        decisions to `on_decision`."""

    def content(self, text: str, images: Sequence[Path], offers: AgentOffers) -> list[Any]:
        """Turn a prompt into content: files mentioned with @ are embedded or linked."""

    def find_missing(self, text: str) -> list[str]:
        """List the @ mentions in a prompt that look like files and don't exist. Blocks: call it in a thread."""

    def servers(self, offers: AgentOffers) -> tuple[list[McpServer], list[Notice]]:
        """Return the MCP servers for a session, and a notice for each that was skipped."""

    def key_store(self, launch: Launch) -> KeyStore | None:
        """Return the provider keys of an agent; None if the agent manages its logins itself."""

    def recent(self, most: int) -> list[SessionInfo]:
        """List the newest sessions of the built-in agent in this project. Blocks: call it in a thread."""

    async def read_changes(self) -> str:
        """Return the changes since the last commit as a Git patch. Raise `AccordError` outside a repository."""

    def diagnose(self, target: str | None) -> AsyncIterator[Finding]:
        """Check each step on the way to a session, to find out why an agent doesn't start."""
