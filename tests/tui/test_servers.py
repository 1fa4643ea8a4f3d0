"""The MCP servers of a session, and what the agent told of them."""

from __future__ import annotations

from typing import Any

import pytest
from chatting import Chat, Memory

from accord.model.requests import McpServer
from accord.model.session import Notice
from accord.testing import ScriptedAgent
from accord.transcript.transcript import Transcript
from accord.tui.app import AccordApp
from accord.tui.servers import Servers, Told

ALPHA = McpServer(name="Alpha One", command="/bin/alpha", args=["--token", "sk-abcdefghijklmnopq"])


class Talk:
    """As much of a talk as is needed here."""

    def __init__(self, *servers: McpServer) -> None:
        self.servers = list(servers)
        self.transcript = Transcript("s")

    def told(self, title: str) -> None:
        self.transcript.add_notice(Notice(severity="info", title=title))


def states(servers: Servers, talk: Any) -> list[tuple[str, str, str]]:
    return [(each.name, each.state, each.words) for each in servers.of(talk)]


def test_the_last_that_was_told_of_a_server_counts() -> None:
    talk, servers = Talk(ALPHA), Servers()
    assert states(servers, talk) == [("Alpha One", "given", "")]
    talk.told("MCP server alpha_one: connected, 3 tools")
    assert states(servers, talk) == [("Alpha One", "connected", "connected, 3 tools")]
    talk.told("MCP server alpha_one: it ended with status 3; it is started again when it is next used")
    assert states(servers, talk)[0][1] == "failed"


@pytest.mark.parametrize(
    ("words", "state"),
    [
        ("MCP server 'beta' is not passed on: it has no url", "failed"),
        ("MCP server beta: failed because it ended", "failed"),
        ("MCP server beta: still starting after 5 s", "told"),
    ],
)
def test_servers_are_known_by_what_is_told_of_them_alone(words: str, state: str) -> None:
    talk = Talk()
    talk.told(words)
    (told,) = Servers().of(talk)  # type: ignore[arg-type]
    assert (told.name, told.state) == ("beta", state)


def test_other_notices_are_about_no_server() -> None:
    talk = Talk()
    talk.told("No language model")
    assert Servers().of(talk) == []  # type: ignore[arg-type]


def test_a_mark_says_how_a_server_is_doing() -> None:
    assert [Told("x", state).mark for state in ("connected", "failed", "given")] == ["✓", "✗", "·"]


class Served(Memory):
    def servers(self, offers: Any) -> tuple[list[Any], list[str]]:
        return [ALPHA], ["MCP server 'beta' is not passed on: there is no program 'beta'"]


async def test_servers_are_in_the_side_panel_and_on_a_page(folders: Any) -> None:
    app = AccordApp(Served(folders, ScriptedAgent(), frozenset({1})))
    async with app.run_test(size=(120, 36)) as pilot:
        chat = Chat(app, pilot)
        await chat.ready()
        await chat.until("· mcp Alpha One given")
        await chat.until("✗ mcp beta")
        app.action_servers()
        await chat.until("MCP servers of this session")
        await chat.until("/bin/alpha --token ••••")
        assert "told nothing of it" in chat.text and "there is no program 'beta'" in chat.text
        await chat.press("escape")
        await chat.gone("MCP servers of this session")
