"""One session in the attention list."""

from __future__ import annotations

import shlex
from typing import Literal

import msgspec

State = Literal["waiting", "failed", "finished", "running", "idle"]
ORDER: dict[State, int] = {"waiting": 0, "failed": 1, "finished": 2, "running": 3, "idle": 4}
"""The states by urgency."""
MAX_TITLE = 80


class SessionStatus(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a session in its client. Texts are sanitized, and secrets are redacted."""

    id: str
    agent: str
    """The name or command line by which the user starts the agent."""
    cwd: str
    state: State
    title: str = ""
    why: str = ""
    """The question if it waits, or the error if it failed."""
    client: str = "chat"
    """The command that runs it: chat, run or serve."""
    process_id: int = 0
    """The process to end to stop it, while it runs in the background."""
    since: float = 0.0
    """When it entered this state, in seconds since the epoch."""

    @property
    def open_command(self) -> str:
        """The command that opens it in the terminal client."""
        arguments = [shlex.quote(each) for each in (self.cwd, self.agent, self.id)]
        return "cd {} && accord chat {} --session {}".format(*arguments)

    @property
    def key(self) -> tuple[str, str, State]:
        """The same for a session as long as it stays in a state."""
        return self.id, self.agent, self.state


def describe(text: str, limit: int = MAX_TITLE) -> str:
    """Prepare a text for the list: one line, sanitized, with secrets redacted."""
    from accord.config.redaction import redact_text
    from accord.terminal_text import one_line

    return one_line(redact_text(text[: 10 * limit]), limit)
