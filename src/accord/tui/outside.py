"""What the terminal client needs of the rest of the program. The command gives it; tests give something smaller."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from accord.client.offers import AgentOffers
    from accord.client.workspace import Workspace
    from accord.config.settings import Loaded
    from accord.model.requests import AuthMethod, McpServer
    from accord.policy.choices import Ask


class Launch(Protocol):
    """An agent that was found, and can be started."""

    @property
    def name(self) -> str:
        """What the user calls it; the policy knows it by this name."""

    @property
    def target(self) -> Any:
        """What `connect` takes."""

    async def log_in(self, method: AuthMethod) -> bool:
        """Runs the agent's own login on our terminal, which is free for it."""

    def kill(self) -> None:
        """Ends the agent at once."""


class Finding(NamedTuple):
    """One station of a diagnosis."""

    ok: bool
    stage: str
    found: str
    advice: str = ""


class Outside(Protocol):
    """Everything beyond this room."""

    cwd: Path
    versions: frozenset[int]

    def configuration(self) -> Loaded:
        """The settings of the user and the project, read now."""

    def named(self, target: str | None) -> str:
        """The agent by the name, or the command line, that means it; None means the default one."""

    def launch(
        self, target: str | None, on_stderr: Callable[[str], None], progress: Callable[[str, int, int], None]
    ) -> Launch:
        """Finds an agent and begins to start it; None means the default one. May take a while: call it in a thread.

        `progress` is told of an installation: what is done, how much of it, and of how much. What it raises ends it."""

    def workspace(self, launch: Launch, ask: Ask, told: Callable[[Any, Any], None]) -> Workspace | None:
        """The user's files and terminals for an agent, behind the policy; `ask` is whom the policy asks."""

    def content(self, text: str, images: Sequence[Path], offers: AgentOffers) -> list[Any]:
        """A prompt as the agent takes it: files that it names with @ are embedded or linked."""

    def unfound(self, text: str) -> list[str]:
        """What a prompt seems to name with @, and is no file. Reads the disk: call it in a thread."""

    def servers(self, offers: AgentOffers) -> tuple[list[McpServer], list[str]]:
        """The MCP servers for a session, and what is to be said about those that were left out."""

    def diagnose(self, target: str | None) -> AsyncIterator[Finding]:
        """Looks at each station on the way to a session, to say why an agent does not start."""
