"""The MCP servers of a session: how each is reached, and its status as reported by the agent."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from accord.terminal_text import one_line, sanitize
from accord.transcript.mcp_status import McpServerView
from accord.tui.panels.side import MCP_MARKS
from accord.tui.screens.modal import Modal

_NOT_REPORTED = "passed to the agent, which reported nothing about it"


class ServersScreen(Modal[None]):
    """Shows the status at the time it is opened."""

    key_hints = ("configured in config.toml under mcp_servers · esc back", "esc back")

    DEFAULT_CSS: ClassVar[str] = """
    ServersScreen { align: center middle; }
    ServersScreen > VerticalScroll {
        width: 90%; max-width: 110; height: auto; max-height: 90%; border: round $primary; padding: 0 1;
        background: $background;
    }
    """

    def __init__(self, servers: Sequence[McpServerView]) -> None:
        super().__init__()
        self._servers = servers

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = "MCP servers of this session"
            variables = self.app.theme_variables
            yield Static(format_servers(self._servers, variables["success"], variables["error"]))

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "enter"):
            event.stop()
            self.dismiss(None)


def format_servers(servers: Sequence[McpServerView], good: str = "", bad: str = "") -> Text:
    """Format the servers, how each is reached, and its status. Secrets are redacted."""
    from accord.config.redaction import redact_text

    text, colors = Text(), {"connected": good, "failed": bad}
    for view in servers:
        text.append(f"{MCP_MARKS[view.state]} ", style=colors.get(view.state, ""))
        text.append(one_line(view.name, 60), style="bold")
        if (server := view.server) is not None:
            how = shlex.join([server.command, *server.args]) if server.command else server.url
            text.append(f"  {server.transport}\n    {sanitize(redact_text(how, server.env))}", style="dim")
        detail = _NOT_REPORTED if view.state == "given" else redact_text(view.detail)
        text.append(f"\n    {sanitize(detail)}\n\n")
    return text if servers else Text("This session has no MCP servers.\n")
