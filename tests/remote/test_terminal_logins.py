"""Terminal logins between an editor and a remote agent."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accord.remote.terminal_logins import TerminalLogins

CHUNK = b'{"jsonrpc":"2.0", "method":"session/update", "params":{"text":"initialize authMethods terminal"}}\n'


def line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


def initialize(**params: Any) -> bytes:
    return line(id=0, method="initialize", params=params)


@pytest.mark.parametrize("capabilities, yes", [("clientCapabilities", True), ("capabilities", {})])
def test_the_agent_gets_all_capabilities_but_terminal_logins(capabilities: str, yes: Any) -> None:
    declared = {"fs": {}, "auth": {"terminal": yes, "x": 1}, "_meta": {"terminal-auth": True, "y": 2}}
    request = initialize(protocolVersion=1, **{capabilities: declared})

    first, second = TerminalLogins().change_outgoing(CHUNK + request).splitlines(keepends=True)

    assert first == CHUNK
    kept = {"fs": {}, "auth": {"x": 1}, "_meta": {"y": 2}}
    assert json.loads(second) == json.loads(initialize(protocolVersion=1, **{capabilities: kept}))


def test_the_editor_gets_all_login_methods_but_terminal_logins() -> None:
    methods = [
        {"id": "a", "name": "A", "type": "terminal", "args": ["--save-token"]},
        {"id": "b", "name": "B", "_meta": {"terminal-auth": {"command": "sh"}}},
        {"id": "c", "name": "C", "_meta": {"x": 1}},
        {"id": "d", "name": "D", "type": "agent"},
    ]
    logins = TerminalLogins()
    logins.change_outgoing(initialize(protocolVersion=1))

    changed = logins.change_incoming(CHUNK + line(id=0, result={"protocolVersion": 1, "authMethods": methods}))

    first, second = changed.splitlines(keepends=True)
    assert first == CHUNK
    assert json.loads(second) == {
        "jsonrpc": "2.0",
        "id": 0,
        "result": {"protocolVersion": 1, "authMethods": methods[2:]},
    }


@pytest.mark.parametrize(
    "response",
    [
        line(id=0, result={"authMethods": [{"id": "a", "name": "A"}, None]}),
        line(id=0, result={"authMethods": "terminal"}),
        line(id=0, result={}),
        line(id=0, error={"code": -32603, "message": "terminal"}),
        line(id=1, result={"authMethods": [{"type": "terminal"}]}),
        line(id=0, method="session/request_permission", params={}),
        b"[\n",
        b"\n",
    ],
)
def test_other_messages_keep_their_bytes(response: bytes) -> None:
    logins = TerminalLogins()
    request = initialize(clientCapabilities={"auth": {}, "_meta": None}, capabilities=1)

    assert logins.change_outgoing(request + CHUNK) == request + CHUNK
    assert logins.change_incoming(response) == response


def test_only_the_response_to_initialize_is_changed() -> None:
    logins = TerminalLogins()
    response = line(id=0, result={"authMethods": [{"type": "terminal"}]})
    logins.change_outgoing(initialize())

    assert logins.change_incoming(response) != response
    assert logins.change_incoming(response) == response
