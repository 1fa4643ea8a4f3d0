"""A return value of an author's method that the protocol can't express is an error that names the method."""

from __future__ import annotations

from typing import Any

import pytest
from support.wire_agent import Played
from support.wire_client import hello, new_session

from accord import Agent, Workspace
from accord.client.workspace import TerminalCommand
from accord.testing import wire_agent, wire_client

RETURNED: dict[str, tuple[str, Any, dict[str, Any], str]] = {
    "title": ("set_title", None, {"sessionId": "s", "title": "T"}, "session/set_title"),
    "status": ("session_status", "zzz", {"sessionId": "s"}, "session/status"),
    "login": ("auth_status", {"state": 5}, {}, "auth/status"),
    "no login": ("auth_status", None, {}, "auth/status"),
    "providers": ("list_providers", None, {}, "providers/list"),
    "no providers": ("list_providers", {"providers": 5}, {}, "providers/list"),
}


@pytest.mark.parametrize(("name", "value", "params", "method"), RETURNED.values(), ids=RETURNED.keys())
async def test_a_result_that_is_not_legal_is_refused_and_named(
    version: int, name: str, value: Any, params: dict[str, Any], method: str
) -> None:
    async def return_value(self: Any, *given: Any) -> Any:
        return value

    base: dict[str, Any] = {"unstable": True, "prompt": return_value, name: return_value}
    kind: type[Agent] = type("Odd", (Agent,), base)
    async with wire_client(kind()) as peer:
        await hello(peer, version)
        await new_session(peer)
        answer = await peer.call(method, params)

    assert answer["error"]["code"] == -32603
    assert "the return value of" in answer["error"]["message"]


class Odd(Workspace):
    async def read(self, session_id: str, path: str, line: int | None, limit: int | None) -> Any:
        return None

    async def create_terminal(self, session_id: str, command: TerminalCommand) -> Any:
        return "t" if command.command == "good" else 7

    async def terminal_output(self, session_id: str, terminal_id: str) -> Any:
        return "text"

    async def wait_for_exit(self, session_id: str, terminal_id: str) -> Any:
        return 0

    async def kill_terminal(self, session_id: str, terminal_id: str) -> None: ...

    async def release_terminal(self, session_id: str, terminal_id: str) -> None: ...


async def test_what_a_workspace_returns_is_checked() -> None:
    async with wire_agent(1, workspace=Odd()) as (peer, client):
        await Played(peer, client, 1).begin()
        terminal = {"sessionId": "s", "terminalId": "t"}
        await peer.call("terminal/create", {"sessionId": "s", "command": "good"})
        answers = [
            await peer.call("fs/read_text_file", {"sessionId": "s", "path": "/a"}),
            await peer.call("terminal/create", {"sessionId": "s", "command": "bad"}),
            await peer.call("terminal/output", terminal),
            await peer.call("terminal/wait_for_exit", terminal),
        ]

    assert [answer["error"]["message"].partition("InvalidValue: ")[2] for answer in answers] == [
        "Workspace.read returned None; it must return str",
        "Workspace.create_terminal returned 7; it must return str",
        "Workspace.terminal_output returned 'text'; it must return TerminalState",
        "Workspace.wait_for_exit returned 0; it must return ExitStatus",
    ]
