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

    def workspace(self, launch: Launch, ask: Ask, on_decision: Callable[[Any, Any], None]) -> HostWorkspace | None:
        """Return the workspace for an agent, behind the policy. The policy asks the user with `ask`, and reports its
        decisions to `on_decision`."""

    def content(self, text: str, images: Sequence[Path], offers: AgentOffers) -> list[Any]:
        """Turn a prompt into content: files mentioned with @ are embedded or linked."""

    def find_missing(self, text: str) -> list[str]:
        """List the @ mentions in a prompt that look like files and don't exist. Blocks: call it in a thread."""

    def servers(self, offers: AgentOffers) -> tuple[list[McpServer], list[Notice]]:
        """Return the MCP servers for a session, and a notice for each that was skipped."""

    def recent(self, most: int) -> list[SessionInfo]:
        """List the newest sessions of the built-in agent in this project. Blocks: call it in a thread."""

    def diagnose(self, target: str | None) -> AsyncIterator[Finding]:
        """Check each step on the way to a session, to find out why an agent doesn't start."""
