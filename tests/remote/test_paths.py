"""Paths of one machine in messages become those of another, and nothing else changes."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from accord.errors import ConfigError
from accord.remote.paths import Mapping, PathMap, parse_mapping

PATHS = PathMap([Mapping("/home/me/app", "/srv/app"), Mapping("/home/me", "/root")])
WINDOWS = PathMap([Mapping("C:\\Users\\me\\app", "/srv/app")])


def line(**fields: Any) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **fields}) + b"\n"


def map_incoming(paths: PathMap = PATHS, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(paths.map_incoming(line(**fields)))
    return found


def map_outgoing(paths: PathMap = PATHS, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(paths.map_outgoing(line(**fields)))
    return found


@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume", "session/list", "session/fork"])
def test_directories_of_a_session_are_mapped_for_the_agent(method: str) -> None:
    params = {"cwd": "/home/me/app/x", "additionalDirectories": ["/home/me/lib", "/opt"], "mcpServers": []}
    assert map_outgoing(id=1, method=method, params=params)["params"] == {
        "cwd": "/srv/app/x",
        "additionalDirectories": ["/root/lib", "/opt"],
        "mcpServers": [],
    }


def test_resources_in_a_prompt_are_mapped_for_the_agent() -> None:
    prompt = [
        {"type": "text", "text": "see /home/me/app/a.py"},
        {"type": "resource_link", "name": "a", "uri": "file:///home/me/app/a%20b.py#L3"},
        {"type": "resource", "resource": {"uri": "file:///home/me/app/c.py", "text": "/home/me/app"}},
        {"type": "resource_link", "name": "web", "uri": "https://example.org/home/me/app"},
    ]
    assert map_outgoing(id=1, method="session/prompt", params={"sessionId": "s", "prompt": prompt})["params"][
        "prompt"
    ] == [
        {"type": "text", "text": "see /home/me/app/a.py"},
        {"type": "resource_link", "name": "a", "uri": "file:///srv/app/a%20b.py#L3"},
        {"type": "resource", "resource": {"uri": "file:///srv/app/c.py", "text": "/home/me/app"}},
        {"type": "resource_link", "name": "web", "uri": "https://example.org/home/me/app"},
    ]


def update(**fields: Any) -> dict[str, Any]:
    message = map_incoming(method="session/update", params={"sessionId": "s", "update": fields})
    found: dict[str, Any] = message["params"]["update"]
    return found


def test_locations_and_diffs_of_version_1_are_mapped_for_the_editor() -> None:
    found = update(
        sessionUpdate="tool_call",
        toolCallId="t",
        title="Edit /srv/app/a.py",
        locations=[{"path": "/srv/app/a.py", "line": 3}],
        content=[{"type": "diff", "path": "/srv/app/a.py", "oldText": "/srv/app", "newText": "x"}],
        rawInput={"path": "/srv/app/a.py"},
        _meta={"path": "/srv/app/a.py"},
    )
    assert found["locations"] == [{"path": "/home/me/app/a.py", "line": 3}]
    assert found["content"] == [{"type": "diff", "path": "/home/me/app/a.py", "oldText": "/srv/app", "newText": "x"}]
    assert found["title"] == "Edit /srv/app/a.py"
    assert found["rawInput"] == found["_meta"] == {"path": "/srv/app/a.py"}


def test_diffs_of_version_2_are_mapped_with_the_names_in_their_patch() -> None:
    patch = (
        "diff --git /srv/app/a.py /srv/app/b.py\nrename from /srv/app/a.py\nrename to /srv/app/b.py\n"
        "--- /srv/app/a.py\n+++ /srv/app/b.py\n@@ -1,2 +1,2 @@\n /srv/app\n--- /srv/app/a.py\n+++ /srv/app/b.py\n"
        "diff --git /srv/application /srv/app\n"
    )
    found = update(
        sessionUpdate="tool_call_update",
        toolCallId="t",
        content=[
            {
                "type": "diff",
                "changes": [{"operation": "move", "oldPath": "/srv/app/a.py", "path": "/srv/app/b.py"}],
                "patch": {"format": "git_patch", "text": patch},
            }
        ],
    )
    (diff,) = found["content"]
    assert diff["changes"] == [{"operation": "move", "oldPath": "/home/me/app/a.py", "path": "/home/me/app/b.py"}]
    assert diff["patch"]["text"] == (
        "diff --git /home/me/app/a.py /home/me/app/b.py\nrename from /home/me/app/a.py\nrename to /home/me/app/b.py\n"
        "--- /home/me/app/a.py\n+++ /home/me/app/b.py\n"
        "@@ -1,2 +1,2 @@\n /srv/app\n--- /srv/app/a.py\n+++ /srv/app/b.py\n"
        "diff --git /srv/application /home/me/app\n"
    )


def test_file_and_terminal_requests_are_mapped_for_the_editor() -> None:
    read = map_incoming(id=1, method="fs/read_text_file", params={"sessionId": "s", "path": "/srv/app/a.py"})
    assert read["params"]["path"] == "/home/me/app/a.py"
    params = {"sessionId": "s", "command": "/srv/app/run.sh", "args": ["/srv/app/x", "-v"], "cwd": "/srv/app"}
    create = map_incoming(id=2, method="terminal/create", params=params)
    assert create["params"] == {
        "sessionId": "s",
        "command": "/home/me/app/run.sh",
        "args": ["/home/me/app/x", "-v"],
        "cwd": "/home/me/app",
    }


def test_responses_are_mapped_too() -> None:
    result = {"sessions": [{"sessionId": "s", "cwd": "/srv/app", "additionalDirectories": ["/root/lib"]}]}
    (found,) = map_incoming(id=1, result=result)["result"]["sessions"]
    assert (found["cwd"], found["additionalDirectories"]) == ("/home/me/app", ["/home/me/lib"])


def test_a_directory_with_a_longer_name_is_another_one() -> None:
    message = line(id=1, method="session/new", params={"cwd": "/home/me/apple"})
    assert map_outgoing(id=1, method="session/new", params={"cwd": "/home/me/apple"})["params"]["cwd"] == "/root/apple"
    assert PathMap([Mapping("/home/me/app", "/srv/app")]).map_outgoing(message) == message


def test_lines_without_a_mapped_path_are_the_same_bytes() -> None:
    block = line(method="session/update", params={"sessionId": "s", "update": {"text": "hello"}}) * 2
    assert PATHS.map_incoming(block) is block


def test_other_fields_keep_their_bytes() -> None:
    message = b'{"jsonrpc":"2.0","id":1.0,"method":"_x","params":{"cwd":"/home/me","n":1.50,"new":{"a":[1e3]}}}\n'
    assert PATHS.map_outgoing(message) == message.replace(b"/home/me", b"/root")


def test_lines_that_are_not_messages_are_passed_on() -> None:
    assert PATHS.map_incoming(b"hello /srv/app\n[1]\n") == b"hello /srv/app\n[1]\n"


def test_windows_paths_become_paths_of_the_server_and_back() -> None:
    cwd = map_outgoing(WINDOWS, id=1, method="session/new", params={"cwd": "c:\\users\\Me\\App\\src\\x"})["params"][
        "cwd"
    ]
    assert cwd == "/srv/app/src/x"
    link = map_outgoing(WINDOWS, id=1, method="_x", params={"uri": "file:///C:/Users/me/app/a.py"})
    assert link["params"]["uri"] == "file:///srv/app/a.py"
    back = map_incoming(WINDOWS, id=1, method="fs/read_text_file", params={"path": "/srv/app/src/x"})["params"]["path"]
    assert back == "C:\\Users\\me\\app\\src\\x"


def test_escaped_slashes_are_understood() -> None:
    message = b'{"jsonrpc":"2.0","id":1,"method":"session\\/new","params":{"cwd":"\\/home\\/me\\/app"}}\n'
    assert msgspec.json.decode(PATHS.map_outgoing(message))["params"]["cwd"] == "/srv/app"


@pytest.mark.parametrize("text", ["/a", "a=/b", "/a=b", "=", "/a="])
def test_a_mapping_needs_two_absolute_paths(text: str) -> None:
    with pytest.raises(ConfigError, match="expected LOCAL=REMOTE"):
        parse_mapping(text)


def test_a_mapping_may_end_with_slashes() -> None:
    assert parse_mapping("/a/=/b/") == Mapping("/a", "/b")
    assert parse_mapping("/=/b") == Mapping("/", "/b")
