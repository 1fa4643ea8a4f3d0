"""Configuration files: what is read, what is refused and with which words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from accord.client.agent import DEADLINES
from accord.config.agents import AgentFile, argv
from accord.config.settings import WAITS, AgentEntry, SandboxEntry, load, read
from accord.errors import ConfigError


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x =\n", "line 1, column 4: invalid value; expected TOML"),
        ("[agents.a]\ncomand = 'x'\n", "line 2: agents.a.comand: unknown setting; expected command, env"),
        ("[agents.a]\ncommand = 5\n", "line 2: agents.a.command: found an integer; expected a string or a list"),
        ("[agents.a]\ncommand = ['x', 5]\n", "line 2: agents.a.command.1: found an integer; expected a string"),
        ("[agents.a]\ncommand = 'a'\n[agents.b]\ncommand = 5\n", "line 4: agents.b.command: found an integer"),
        ("[agents]\na = {command = 5}\n", "line 2: agents.a.command: found an integer"),
        ("[agents.'b b']\n\ncommand = 5\n", "line 3: agents.b b.command"),
        ("[agents.a]\ncommand = 'a'\n\n[agents.b]\nenv = {}\n", "line 4: agents.b: command is missing"),
        (
            "[agents.a]\ncommand = 'x'\nenvironment = 'mine'\n",
            "line 3: agents.a.environment: found 'mine'; expected inherit, minimal, login-shell",
        ),
        ("[mcp_servers.x]\ntype = 'ftp'\n", "line 2: mcp_servers.x.type: found 'ftp'; expected stdio, http, sse"),
        ("agents = 5\n", "line 1: agents: found an integer; expected a table"),
        ("[agents.a]\ncommand = []\n", "line 2: agents.a.command: empty; expected a command"),
        ("[agents.a]\ncommand = ' '\n", "line 2: agents.a.command: empty; expected a command"),
        ("[agents.a]\ncommand = 'x \"y'\n", "line 2: agents.a.command: found 'x \"y'; expected a command line (no"),
        ("[deadlines]\nfirst = 5\n", "line 2: deadlines.first: unknown wait; expected first byte, initial"),
        ("[deadlines]\nsession = nan\n", "line 2: deadlines.session: found nan; expected seconds"),
        ("[deadlines]\ncall = 1\nsession = '5'\n", "line 3: deadlines.session: found a string; expected a number"),
        ("[deadlines]\nsession = -5\n", "line 2: deadlines.session: found -5; expected seconds"),
        (
            "[coder]\neffort = 'huge'\n",
            "line 2: coder.effort: found 'huge'; expected minimal, low, medium, high, xhigh, max",
        ),
        ("[coder]\nmodel = 1\n", "line 2: coder.model: found an integer; expected a string"),
        (
            "[coder.providers.a]\nbase_url = 'x'\n[coder.providers.b]\nkey = 'x'\n",
            "line 4: coder.providers.b.key: unknown setting; expected base_url, api, api_key_env",
        ),
        (
            "[coder.providers.a]\napi = 'soap'\n",
            "line 2: coder.providers.a.api: found 'soap'; expected chat, responses, anthropic, google",
        ),
        ("[coder.providers.'a:b']\n", "line 1: coder.providers.a:b: a provider's name has letters, digits"),
        ("[coder.providers.offline]\n", "line 1: coder.providers.offline: a provider's name"),
        ("[coder.providers.a]\nmodels = ['x', 1]\n", "line 2: coder.providers.a.models.1: found an integer"),
        ("\n\nfoo = 1\n", "line 3: foo: unknown setting; expected default_agent, registry, agents"),
    ],
)
def test_a_broken_file_is_refused_with_its_name_the_line_and_what_was_expected(
    tmp_path: Path, text: str, words: str
) -> None:
    path = write(tmp_path / "config.toml", text)
    with pytest.raises(ConfigError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert words in str(caught.value)


def test_a_file_that_isnt_text_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"# caf\xc3\xa9\r\n# caf\xe9\n")
    with pytest.raises(ConfigError, match="line 2: the file is not UTF-8"):
        read(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [("\na" + ".a" * 200_000 + " = 1", "line 2: more than 500 dots"), ("#" * 600_000, "larger than")],
)
def test_a_hostile_file_is_rejected_without_parsing_it(tmp_path: Path, text: str, problem: str) -> None:
    """The parser would take minutes for this key, and a project's file is read before the project is trusted."""
    (tmp_path / "accord.toml").write_text(text)
    with pytest.raises(ConfigError, match=problem):
        load(tmp_path, user_file=tmp_path / "none.toml")


def test_a_project_may_not_add_agents_until_it_is_trusted(tmp_path: Path) -> None:
    user = write(tmp_path / "config.toml", "default_agent = 'mine'\n[agents.mine]\ncommand = 'mine'\n")
    project = tmp_path / "project"
    project.mkdir()
    write(project / "accord.toml", "default_agent = 'evil'\n[agents.evil]\ncommand = 'rm'\n")

    before = load(project, user_file=user)
    assert list(before.settings.agents) == ["mine"]
    assert before.settings.default_agent == "mine"
    assert "ignored until you trust this directory" in before.notes[0]

    after = load(project, trusted=True, user_file=user)
    assert sorted(after.settings.agents) == ["evil", "mine"]
    assert after.notes == []


def test_an_agent_is_added_replaced_and_removed_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    path = write(tmp_path / "config.toml", "# mine\ndefault_agent = 'b'\n\n[agents.b]\ncommand = 'b'  # why\n")
    file = AgentFile(path)
    file.put("a", AgentEntry(command=["python", "x y.py"], env={"K": 'v"q'}))
    file.put("a", AgentEntry(command="new", environment="minimal"))
    assert "# mine" in path.read_text() and "# why" in path.read_text()
    assert file.settings().agents["a"] == AgentEntry(command="new", environment="minimal")
    file.remove("a")
    assert list(file.settings().agents) == ["b"]


def test_a_replaced_agent_stays_in_its_place_and_the_comments_of_others_with_them(tmp_path: Path) -> None:
    text = "# all\n[agents.a]\ncommand = 'a'\n[agents.a.env]\nK = 'v'\n\n# about b\n[agents.b]\ncommand = 'b'\n"
    path = write(tmp_path / "config.toml", text)
    AgentFile(path).put("a", AgentEntry(command="new"))
    expected = "# all\n[agents.a]\ncommand = \"new\"\n\n# about b\n[agents.b]\ncommand = 'b'\n"
    assert path.read_text() == expected
    AgentFile(path).remove("a")
    assert path.read_text() == "# all\n# about b\n[agents.b]\ncommand = 'b'\n"


def test_the_default_agent_is_set_and_goes_with_its_agent(tmp_path: Path) -> None:
    path = write(tmp_path / "config.toml", "[agents.a]\ncommand = 'a'\n[agents.b]\ncommand = 'b'\n")
    file = AgentFile(path)
    file.set_default("a")
    assert path.read_text().startswith('default_agent = "a"\n\n[agents.a]')
    file.set_default("b")
    assert file.settings().chosen_agent == "b"
    file.remove("b")
    assert file.settings().default_agent is None
    assert file.settings().chosen_agent == "a", "the only one is meant when none is named"


def test_a_file_written_in_another_way_is_left_to_its_author(tmp_path: Path) -> None:
    text = "agents = {a = {command = 'a'}}\n"
    path = write(tmp_path / "config.toml", text)
    with pytest.raises(ConfigError, match="edit it yourself"):
        AgentFile(path).put("a", AgentEntry(command="b"))
    with pytest.raises(ConfigError, match="edit it yourself"):
        AgentFile(path).remove("a")
    assert path.read_text() == text
    assert os.listdir(tmp_path) == ["config.toml"]


def test_a_new_file_is_for_its_owner_alone_and_a_link_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "config" / "config.toml"
    AgentFile(path).put("a", AgentEntry(command="a", env={"API_KEY": "x"}))
    assert path.stat().st_mode & 0o777 == 0o600
    link = tmp_path / "link.toml"
    link.symlink_to(path)
    AgentFile(link).put("b", AgentEntry(command="b"))
    assert link.is_symlink() and sorted(AgentFile(path).settings().agents) == ["a", "b"]


def test_the_waits_that_can_be_set_are_those_that_a_connection_has() -> None:
    assert set(WAITS) == set(DEADLINES)


def test_removing_an_agent_that_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    file = AgentFile(write(tmp_path / "config.toml", "[agents.scribe]\ncommand = 'x'\n"))
    with pytest.raises(ConfigError, match="did you mean scribe"):
        file.remove("scrbe")


def test_a_broken_file_is_not_rewritten(tmp_path: Path) -> None:
    path = write(tmp_path / "config.toml", "[agents.a\n")
    with pytest.raises(ConfigError):
        AgentFile(path).put("b", AgentEntry(command="b"))
    assert path.read_text() == "[agents.a\n"


def test_a_command_is_split_like_a_shell_does() -> None:
    assert argv(AgentEntry(command="python 'a b.py' -x")) == ["python", "a b.py", "-x"]


def test_a_project_may_not_say_where_models_are_until_it_is_trusted(tmp_path: Path) -> None:
    user = write(tmp_path / "config.toml", "[coder]\nmodel = 'anthropic:claude-opus-5-5'\n")
    project = tmp_path / "project"
    project.mkdir()
    write(project / "accord.toml", "[coder.providers.anthropic]\nbase_url = 'https://elsewhere.example'\n")
    distrusted = load(project, user_file=user)
    assert distrusted.settings.coder.providers == {}
    assert any("coder ignored until you trust this directory" in note for note in distrusted.notes)
    trusted = load(project, trusted=True, user_file=user).settings.coder
    assert trusted.providers["anthropic"].base_url == "https://elsewhere.example"
    assert trusted.model == "anthropic:claude-opus-5-5"


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("", SandboxEntry()),
        ("[coder]\nsandbox = 'off'\n", SandboxEntry(mode="off")),
        ("[coder.sandbox]\nnetwork = true\n", SandboxEntry(network=True)),
        ("[coder.sandbox]\nmode = 'on'\nwritable = ['~/x']\n", SandboxEntry(mode="on", writable=["~/x"])),
    ],
)
def test_the_sandbox_is_set_by_a_word_or_a_table(tmp_path: Path, text: str, entry: SandboxEntry) -> None:
    assert read(write(tmp_path / "config.toml", text)).coder.sandbox_entry == entry


@pytest.mark.parametrize("text", ["sandbox = 'yes'", "sandbox = 1", "sandbox = {mode = 'yes'}", "sandbox = {net = 1}"])
def test_a_mistake_about_the_sandbox_is_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"line 2: coder\.sandbox"):
        read(write(tmp_path / "config.toml", f"[coder]\n{text}\n"))


def test_the_environment_names_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = write(tmp_path / "config.toml", "[coder]\nmodel = 'openai:gpt-5'\n")
    monkeypatch.setenv("ACCORD_MODEL", "offline")
    assert load(user_file=user).settings.coder.model == "offline"


def test_a_missing_file_in_the_environment_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.toml"
    monkeypatch.setenv("ACCORD_CONFIG", str(path))
    assert load().notes == [f"ACCORD_CONFIG names {path}, which doesn't exist"]
    path.write_text("default_agent = 'a'\n")
    assert load().notes == [] and load().settings.default_agent == "a"


@pytest.mark.parametrize("swallows", [False, True], ids=["exists raises", "exists swallows errors, as from 3.14 on"])
def test_a_configuration_that_cannot_be_reached_is_an_error(monkeypatch: pytest.MonkeyPatch, swallows: bool) -> None:
    if swallows:
        monkeypatch.setattr(Path, "exists", lambda path: os.path.exists(path))
    with pytest.raises(ConfigError, match="cannot be read: File name too long"):
        load(user_file=Path("/" + "x" * 5000) / "config.toml")


def test_a_missing_configuration_is_not_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for missing in (tmp_path / "config.toml", tmp_path / "file" / "config.toml"):
        assert load(user_file=missing).files == []
