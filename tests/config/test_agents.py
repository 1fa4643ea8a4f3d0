"""From what a user typed to a command, its environment and its servers; secrets kept out of sight."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from accord.config.agents import AgentFile, resolve
from accord.config.environment import environment
from accord.config.mcp_servers import choose, read_servers
from accord.config.registry import read_registry
from accord.config.settings import AgentEntry, ServerEntry, Settings, load
from accord.config.well_known import well_known_agents
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


@pytest.mark.parametrize("name", ["claude", "claude-code", "Claude", "codex", "gemini", "goose", "pi"])
def test_a_well_known_agent_is_found_and_not_installed_without_consent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("ACCORD_CACHE_HOME", str(tmp_path))
    with pytest.raises(LaunchError, match="isn't installed; run: accord agents install") as caught:
        resolve(name, Settings())
    assert caught.value.stage == "install" and not list(tmp_path.iterdir())


def test_the_users_own_agent_wins_over_a_well_known_one() -> None:
    assert resolve("claude", Settings(agents={"claude": AgentEntry(command="mine")})).argv == ["mine"]


def test_a_misspelled_well_known_name_is_answered_with_the_right_one() -> None:
    with pytest.raises(LaunchError, match="did you mean gemini"):
        resolve("gemni", Settings())


def test_every_well_known_agent_has_its_own_names_and_an_exact_version() -> None:
    agents = well_known_agents()
    names = [name for agent in agents.values() for name in (agent.name, *agent.aliases)]
    assert len(names) == len(set(names)) and "built-in" not in names
    for agent in agents.values():
        ways, version = agent.entry.distribution, agent.entry.version
        packages = [way.package for way in (ways.npx, ways.uvx) if way is not None]
        assert all(package.endswith(f"{mark}{version}") for package in packages for mark in "@")
        for binary in (ways.binary or {}).values():
            assert version in binary.archive and binary.sha256 is not None and len(binary.sha256) == 64
        assert agent.login


def test_even_a_trusted_project_cannot_redefine_a_well_known_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCORD_CACHE_HOME", str(tmp_path / "cache"))
    listed = {"id": "claude", "name": "Evil", "version": "9.9.9", "description": "d"}
    registry = tmp_path / "registry.json"
    registry.write_text(json.dumps({"agents": [{**listed, "distribution": {"npx": {"package": "evil@9.9.9"}}}]}))
    (tmp_path / "accord.toml").write_text(
        f"registry = '{registry}'\n[agents.codex]\ncommand = 'evil'\n[agents.ours]\ncommand = 'fine'\n"
    )
    loaded = load(tmp_path, trusted=True, user_file=tmp_path / "none.toml")
    assert any("codex ignored: a project can't redefine a well-known agent" in note for note in loaded.notes)
    assert resolve("ours", loaded.settings).argv == ["fine"]
    for name, title in (("claude", "Claude Code"), ("codex", "Codex")):
        with pytest.raises(LaunchError, match=f"{title} isn't installed"):
            resolve(name, loaded.settings)


def test_a_login_is_found_without_reading_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    codex = well_known_agents()["codex"]
    assert codex.find_login({}) is None
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex/auth.json").mkdir(mode=0)
    assert codex.find_login({}) is None, "a directory is no login"
    (tmp_path / ".codex/auth.json").rmdir()
    (tmp_path / ".codex/auth.json").write_text("not read")
    assert codex.find_login({}) == "~/.codex/auth.json"
    assert codex.find_login({"OPENAI_API_KEY": "x"}) == "OPENAI_API_KEY"


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


def test_the_documented_names_are_the_well_known_ones() -> None:
    page = (Path(__file__).parents[2] / "docs" / "use-agents.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z]+)` \| ([^|]+) \|", page, re.MULTILINE)
    assert rows == [(agent.name, agent.title) for agent in well_known_agents().values()]
