"""The status of MCP servers, from the metadata of notices."""

from __future__ import annotations

from typing import Any

import pytest

from accord.model.mcp_status import MCP_STATUS, McpServerStatus, McpState
from accord.model.requests import McpServer
from accord.model.session import Notice
from accord.transcript.mcp_status import McpServers
from accord.transcript.transcript import Transcript

ALPHA = McpServer(name="Alpha One", command="/bin/alpha")


def report(transcript: Transcript, name: str, state: McpState, detail: str = "") -> None:
    status = McpServerStatus(name=name, state=state, detail=detail)
    transcript.add_notice(Notice(severity="info", title="anything", meta=status.to_meta()))


def test_the_last_status_of_a_server_counts() -> None:
    transcript, servers = Transcript("s"), McpServers()

    def list_servers() -> list[tuple[str, str, str]]:
        return [(each.name, each.state, each.detail) for each in servers.list(transcript, [ALPHA])]

    assert list_servers() == [("Alpha One", "given", "")]
    report(transcript, "Alpha One", "connected", "connected, 3 tools")
    assert list_servers() == [("Alpha One", "connected", "connected, 3 tools")]
    report(transcript, "Alpha One", "lost", "exited")
    assert list_servers() == [("Alpha One", "failed", "exited")]


@pytest.mark.parametrize(
    ("reported", "state"),
    [("skipped", "failed"), ("failed", "failed"), ("closed", "failed"), ("starting", "starting")],
)
def test_servers_that_were_not_passed_to_the_agent_are_known_from_notices(reported: McpState, state: str) -> None:
    transcript = Transcript()
    report(transcript, "beta", reported)
    (found,) = McpServers().list(transcript, [])
    assert (found.name, found.state, found.server) == ("beta", state, None)


@pytest.mark.parametrize("meta", [None, {}, {MCP_STATUS: "up"}, {MCP_STATUS: {"name": "x", "state": "new in 2030"}}])
def test_other_notices_are_about_no_server(meta: dict[str, Any] | None) -> None:
    transcript = Transcript()
    transcript.add_notice(Notice(severity="info", title="MCP server beta: connected", meta=meta))
    assert McpServers().list(transcript, []) == []


def test_a_transcript_that_was_cleared_is_read_from_its_start() -> None:
    transcript, servers = Transcript(), McpServers()
    report(transcript, "beta", "failed")
    assert servers.list(transcript, [])
    transcript.clear()
    assert servers.list(transcript, []) == []
