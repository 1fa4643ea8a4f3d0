"""Clients on the official SDKs before Accord's agent: what they expect of an agent on an SDK, they get from ours.

The tests are those that hold the peers against each other; only what an agent may well do otherwise is said anew."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from peers import commands
from peers import test_peers as between_peers
from peers.test_peers import STEPS, Seen

pytestmark = pytest.mark.peer

AGENT = [sys.executable, str(Path(__file__).resolve().parents[1] / "agents" / "scenarios.py")]
CLIENTS = ["py-client-v1", "ts-client-v1", "ts-client-v2"]
ELSEWHERE = {
    "test_without_a_login_no_session_opens_when_it_is_asked_for",
    "test_the_unstable_entry_of_the_typescript_sdk_serves_as_well",
    "test_a_tool_call_goes_from_pending_to_completed_with_a_diff",
    "test_a_changed_mode_is_reported",
}
globals().update(
    {name: test for name, test in vars(between_peers).items() if name.startswith("test_") and name not in ELSEWHERE}
)


@pytest.fixture(scope="module", params=CLIENTS)
def client(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if reason := commands.missing(name[:2]):  # type: ignore[arg-type]
        pytest.skip(reason)
    return name


@pytest.fixture(scope="module")
def version(client: str) -> int:
    return int(client[-1])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("interop")
    (folder / "notes.md").write_text("one\ntwo\n")
    return folder


@pytest.fixture(scope="module")
def seen(client: str, version: int, folder: Path) -> Seen:
    started = commands.client(client[:2], version)  # type: ignore[arg-type]
    return Seen(commands.play(started, AGENT, *STEPS.values(), cwd=folder))


def test_a_tool_call_is_announced_runs_and_is_completed_with_a_diff(seen: Seen, version: int, folder: Path) -> None:
    updates = seen.updates("tool", "tool_call", "tool_call_update", "tool_call_content_chunk")
    path = str(folder / "notes.txt")
    assert [call["status"] for call in updates if "status" in call] == ["pending", "in_progress", "completed"]
    assert updates[0]["locations"] == [{"path": path, "line": 1}]
    assert (updates[0]["rawInput"], updates[-1]["rawOutput"]) == ({"path": path}, {"written": 4})
    shown: list[Any] = [call["content"] for call in updates if call.get("content")]
    diff = shown[-1][0] if version == 1 else shown[-1]
    assert diff["type"] == "diff"
    if version == 1:
        assert (diff["path"], diff["oldText"], diff["newText"]) == (path, "old\n", "new\n")
    else:
        assert diff["changes"] == [{"operation": "modify", "path": path, "fileType": "text"}]
        assert diff["patch"]["text"].endswith("@@ -1 +1 @@\n-old\n+new\n")


def test_a_mode_that_the_agent_changes_is_told(seen: Seen, version: int) -> None:
    *_, options = seen.updates("mode", "config_option_update")
    assert [option["currentValue"] for option in options["configOptions"]] == ["careful", "deep"]
    if version == 1:
        assert seen.updates("mode", "current_mode_update")[0]["currentModeId"] == "careful"


def test_without_a_login_no_session_opens(client: str, version: int, tmp_path: Path) -> None:
    started = commands.client(client[:2], version)  # type: ignore[arg-type]
    steps = {"do": "new"}, {"do": "authenticate"}, {"do": "new"}
    refused, _, opened = commands.play(started, [*AGENT, "--auth"], *steps, cwd=tmp_path)[1:4]
    assert refused[0]["code"] == -32000
    assert opened[0]["id"] == "session-1"
