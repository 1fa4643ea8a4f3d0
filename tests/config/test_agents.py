"""From what a user typed to a command, its environment and its servers; secrets kept out of sight."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accord.config.agents import AgentFile, resolve
from accord.config.environment import environment
from accord.config.mcp_servers import choose, read_servers
from accord.config.registry import read_registry
from accord.config.settings import AgentEntry, ServerEntry, Settings
from accord.errors import ConfigError, LaunchError

SETTINGS = Settings(agents={"scribe": AgentEntry(command="python scribe.py", env={"A": "b"})})


def test_a_configured_name_is_found_with_its_environment() -> None:
    found = resolve("scribe", SETTINGS)
    assert (found.argv, found.env, found.how) == (["python", "scribe.py"], {"A": "b"}, "configured")


def test_anything_with_arguments_is_a_command_line() -> None:
    assert resolve("python 'my agent.py' --x", SETTINGS).argv == ["python", "my agent.py", "--x"]


def test_the_agent_that_comes_with_us_has_a_name_that_no_other_can_take(tmp_path: Path) -> None:
    assert resolve("built-in", SETTINGS).argv[1:] == ["-P", "-m", "accord", "agent"]
    with pytest.raises(ConfigError, match="the built-in agent"):
        AgentFile(tmp_path / "config.toml").put("built-in", AgentEntry(command="x"))


def test_an_unknown_name_is_answered_with_the_nearest_configured_ones() -> None:
    with pytest.raises(LaunchError, match="did you mean scribe") as caught:
        resolve("scrbe", SETTINGS)
    assert caught.value.stage == "resolve"


def test_with_nothing_configured_the_error_says_how_to_add_an_agent() -> None:
    with pytest.raises(LaunchError, match="accord agents add"):
        resolve("nothing-like-this", Settings())


def test_a_minimal_environment_has_the_necessities_and_what_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    found = environment("minimal", {"MINE": "1"})
    assert "SOME_TOKEN" not in found and found["MINE"] == "1" and "PATH" in found


def test_a_login_shell_gives_what_its_profile_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".profile").write_text("echo noise\nexport FROM_PROFILE='a\nb'\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/sh")
    assert environment("login-shell", {})["FROM_PROFILE"] == "a\nb"


@pytest.mark.req("V1-REG-01", "V1-REG-03", "V1-REG-07")
def test_invalid_entries_of_a_registry_are_reported(tmp_path: Path) -> None:
    good = {"id": "a", "name": "A", "version": "1.0.0", "description": "d", "distribution": {"npx": {"package": "a@1"}}}
    path = tmp_path / "registry.json"
    path.write_text(
        json.dumps(
            {
                "version": "1",
                "agents": [
                    good,
                    {**good, "id": "B"},
                    {**good, "id": "c", "version": "one"},
                    {**good, "id": "d", "distribution": {"snap": {}}},
                    {**good, "id": "e", "distribution": {}},
                    7,
                ],
                "extensions": [],
            }
        )
    )
    registry = read_registry(path)
    assert list(registry.entries) == ["a"]
    assert len(registry.problems) == 5
    with pytest.raises(ConfigError, match="cannot be read"):
        read_registry(tmp_path / "none.json")


def test_servers_come_from_the_json_that_many_tools_share(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(
        json.dumps(
            {
                "mcpServers": {
                    "sh": {"command": "sh", "args": ["-c", "true"], "disabled": False},
                    "far": {"type": "streamable-http", "url": "https://example.com/mcp", "headers": {"X": "y"}},
                    "old": {"type": "sse", "url": "https://example.com/sse"},
                }
            }
        )
    )
    chosen = choose(read_servers(path), {"stdio", "http"})
    assert [server.name for server in chosen.servers] == ["sh", "far"]
    assert chosen.servers[0].command.startswith("/")
    assert [notice.title for notice in chosen.notices] == [
        "MCP server 'old' is not passed on: the agent cannot reach servers over sse"
    ]


@pytest.mark.parametrize(
    "entry, why",
    [
        (ServerEntry(command="no-such-program-here"), "there is no program 'no-such-program-here'"),
        (ServerEntry(), "it has neither a command nor a url"),
        (ServerEntry(type="http"), "it has no url"),
    ],
)
def test_a_server_that_cannot_be_is_named_and_not_passed(entry: ServerEntry, why: str) -> None:
    chosen = choose({"x": entry}, {"stdio", "http"})
    titles = [notice.title for notice in chosen.notices]
    assert (chosen.servers, titles) == ([], [f"MCP server 'x' is not passed on: {why}"])


@pytest.mark.parametrize(
    "text, words",
    [
        ("", "invalid JSON"),
        ("[]", "expected a JSON object"),
        ("[" * 100_000, "nested too deeply"),
        ("{}", "expected an mcpServers object"),
        ('{"mcpServers": {"x": 3}}', "mcpServers.x must be an object"),
        ('{"mcpServers": {"x": {"command": 3}}}', "mcpServers.x.command: found an integer; expected a string"),
        ('{"mcpServers": {"x": {"type": "ftp"}}}', "mcpServers.x.type: found 'ftp'; expected stdio, http, sse"),
    ],
)
def test_an_unreadable_file_of_servers_is_reported(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_servers(path)
    assert str(caught.value).startswith(f"{path}: {words}")


@pytest.mark.parametrize(
    "text, words", [("null", "expected a JSON object"), ('{"agents": {}}', "agents must be a list")]
)
def test_an_invalid_registry_is_an_error(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "registry.json"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        read_registry(path)
    assert str(caught.value) == f"{path}: {words}"
