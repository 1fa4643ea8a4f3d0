"""`accord showcase` as a program: clients on the official SDKs talk to it, and nothing but the protocol is printed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from peers import commands
from support.prerequisites import require

SHOWCASE = [sys.executable, "-m", "accord", "showcase", "--pace", "0"]
PROMPTS = [
    "/plan", "/thoughts", "/tools 3", "/diff", "/image", "/resource", "/terminal own", "/terminal", "/permission",
    "/elicit", "/options", "/usage", "/unicode", "/big 512", "/refusal", "/error", "/unknown", "/title New", "/files",
]  # fmt: skip


def make_request(method: str, id: int, params: dict[str, Any]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n"


def test_only_the_protocol_is_printed_and_the_program_ends_with_its_input(tmp_path: Path) -> None:
    hello = {"protocolVersion": 1, "clientCapabilities": {}}
    script = make_request("initialize", 0, hello) + make_request(
        "session/new", 1, {"cwd": str(tmp_path), "mcpServers": []}
    )
    done = subprocess.run(SHOWCASE, input=script, capture_output=True, text=True, timeout=300)

    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and done.stderr == ""
    assert lines[0]["result"]["agentInfo"]["name"] == "accord-showcase"
    assert lines[1]["result"]["modes"]["currentModeId"] == "ask"
    assert all(line["jsonrpc"] == "2.0" for line in lines)


def test_its_help_says_what_it_is() -> None:
    done = subprocess.run([*SHOWCASE, "--help"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "/help" in done.stdout and "--pace" in done.stdout


@pytest.fixture(scope="module", params=["py-client-v1", "ts-client-v1", "ts-client-v2"])
def seen(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Everything that a client on an official SDK received, by prompt, and its version."""
    language, version = request.param[:2], int(request.param[-1])
    require(commands.missing(language))
    steps: list[dict[str, Any]] = [{"do": "new"}]
    steps += [{"do": "prompt", "text": text, "permission": "allow_once"} for text in PROMPTS]
    steps += [{"do": "prompt", "text": "/slow 3600", "cancel": True}, {"do": "list"}, {"do": "close"}]
    folder = tmp_path_factory.mktemp("project")
    lines = commands.play(commands.client(language, version), SHOWCASE, *steps, cwd=folder, within=300)
    names = ["initialize", "new", *PROMPTS, "/slow", "list", "close", "exit"]
    return {"version": version, "folder": folder, **dict(zip(names, lines, strict=True))}


def updates(seen: dict[str, Any], prompt: str) -> list[dict[str, Any]]:
    return [line["update"] for line in seen[prompt] if line["saw"] == "update"]


def join_text(seen: dict[str, Any], prompt: str) -> str:
    chunks = [each for each in updates(seen, prompt) if each["sessionUpdate"] == "agent_message_chunk"]
    return "".join(each["content"].get("text", "") for each in chunks)


def stops(seen: dict[str, Any], prompt: str) -> list[str]:
    return [line["reason"] for line in seen[prompt] if line["saw"] == "stop"]


@pytest.mark.peer
def test_every_turn_ends_as_it_should(seen: dict[str, Any]) -> None:
    others = {"/refusal": ["refusal"], "/error": [] if seen["version"] == 1 else ["error"], "/slow": ["cancelled"]}
    if seen["version"] == 2:
        others["/unknown"] = ["_accord.showcase/curtain"]
    ends = {prompt: stops(seen, prompt) for prompt in [*PROMPTS, "/slow"]}
    assert ends == {prompt: others.get(prompt, ["end_turn"]) for prompt in ends}


@pytest.mark.peer
def test_official_clients_see_what_is_shown(seen: dict[str, Any]) -> None:
    assert {"plan", "plan_update"} & {update["sessionUpdate"] for update in updates(seen, "/plan")}
    assert "agent_thought_chunk" in [update["sessionUpdate"] for update in updates(seen, "/thoughts")]
    assert "漢字" in join_text(seen, "/unicode") and len(join_text(seen, "/big 512")) == 512 * 1024
    chunks = [each for each in updates(seen, "/image") if each["sessionUpdate"] == "agent_message_chunk"]
    assert "image" in [each["content"]["type"] for each in chunks]
    assert join_text(seen, "/permission").count("“Allow” was chosen") == 3
    assert "stopped" in join_text(seen, "/slow")


@pytest.mark.peer
def test_official_clients_of_version_1_lend_their_terminals_and_files(seen: dict[str, Any]) -> None:
    if seen["version"] == 2:
        assert join_text(seen, "/files").startswith("This client doesn't offer files")
        return
    assert "A failing command: exit code 3." in join_text(seen, "/terminal")
    assert (seen["folder"] / "accord-showcase.txt").read_text() == "one\ntwo\nthree\n"
