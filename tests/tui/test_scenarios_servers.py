"""MCP servers in a real terminal: in the side panel, and on a page of their own."""

from __future__ import annotations

import sys

import pytest
from scenes import chat, do
from tmux import Tmux

pytestmark = pytest.mark.slow


def test_how_a_server_is_doing_is_seen_at_the_side_and_on_a_page(tmux: Tmux) -> None:
    (tmux.folder / "config").mkdir()
    (tmux.folder / "config" / "config.toml").write_text(
        f"[mcp_servers.broken]\ncommand = '{sys.executable}'\nargs = ['-c', 'exit(3)']\n", encoding="utf-8"
    )
    chat(tmux, None)
    tmux.until("✗ mcp broken failed")
    do(tmux, "MCP servers")
    screen = tmux.until("MCP servers of this session(.|\n)*failed because")
    assert "exit(3)" in screen and "stdio" in screen
    tmux.keys("Escape")
    tmux.until_gone("MCP servers of this session")
