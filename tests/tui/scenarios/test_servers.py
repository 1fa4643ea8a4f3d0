"""MCP servers in a real terminal: in the side panel and on their screen."""

from __future__ import annotations

import sys

import pytest
from support.terminal_scenarios import chat, do
from support.tmux import Tmux

pytestmark = pytest.mark.slow


def test_mcp_server_status_is_in_the_side_panel_and_on_a_screen(tmux: Tmux) -> None:
    (tmux.folder / "config").mkdir()
    (tmux.folder / "config" / "config.toml").write_text(
        f"[mcp_servers.broken]\ncommand = '{sys.executable}'\nargs = ['-c', 'exit(3)']\n", encoding="utf-8"
    )
    chat(tmux, None)
    tmux.until("✗ broken  failed")
    do(tmux, "MCP servers")
    tmux.until("MCP servers of this session(.|\n)*failed:")
    tmux.until_all("exit(3)", "stdio")
    tmux.keys("Escape")
    tmux.until_gone("MCP servers of this session")
