"""The MCP servers of a session, on a page: how each is reached, and what the agent told of it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from accord.tui.plain import one_line, plain
from accord.tui.screens.above import Above
from accord.tui.screens.hints import Hints
from accord.tui.servers import Told

_STATES = {
    "connected": "",
    "failed": "",
    "given": "was given to the agent, which told nothing of it",
    "told": "",
}


class ServersScreen(Above[None]):
    """Shows what is known when it is opened."""

    DEFAULT_CSS = """
    ServersScreen { align: center middle; }
    ServersScreen > VerticalScroll {
        width: 90%; max-width: 110; height: auto; max-height: 90%; border: round $primary; padding: 0 1;
        background: $background;
    }
    """

    def __init__(self, servers: Sequence[Told]) -> None:
        super().__init__()
        self._servers = servers

    def compose(self) -> ComposeResult:
        with VerticalScroll() as box:
            box.border_title = "MCP servers of this session"
            yield Static(page(self._servers))
            yield Hints("they are configured in config.toml, under mcp_servers", "esc")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    def on_key(self, event: events.Key) -> None:
        if event.key in ("escape", "q", "enter"):
            event.stop()
            self.dismiss(None)


def page(servers: Sequence[Told]) -> Text:
    """Each server, how it is reached, and how it is doing. Secrets are not shown."""
    from accord.config.mask import masked

    text = Text()
    for told in servers:
        colour = {"connected": "green", "failed": "red"}.get(told.state, "")
        text.append(f"{told.mark} ", style=colour)
        text.append(one_line(told.name, 60), style="bold")
        if (server := told.server) is not None:
            how = shlex.join([server.command, *server.args]) if server.command else server.url
            text.append(f"  {server.transport}\n    {plain(masked(how, server.env))}", style="dim")
        text.append(f"\n    {plain(masked(told.words or _STATES[told.state]))}\n\n")
    return text if servers else Text("This session was given none.\n")
