"""Configuration files: what is read, what is refused and with which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from accord.config.agents import AgentFile, argv
from accord.config.settings import AgentEntry, ConfigError, load, read


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x =\n", "line 1, column 4"),
        ("[agents.a]\ncomand = 'x'\n", "line 2: agents.comand: there is no setting 'comand' here"),
        ("[agents.a]\ncommand = 5\n", "line 2: agents.command: Expected str | array, got int"),
        ("[agents.a]\ncommand = 'x'\nenvironment = 'mine'\n", "line 3: agents.environment: Invalid enum value 'mine'"),
        ("\n\nfoo = 1\n", "line 3: foo: there is no setting 'foo' here"),
    ],
)
def test_a_broken_file_is_refused_with_its_name_the_line_and_what_was_expected(
    tmp_path: Path, text: str, words: str
) -> None:
    path = written(tmp_path / "config.toml", text)
    with pytest.raises(ConfigError) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert words in str(caught.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        read(path)


def test_a_project_may_not_add_agents_until_it_is_trusted(tmp_path: Path) -> None:
    user = written(tmp_path / "config.toml", "default_agent = 'mine'\n[agents.mine]\ncommand = 'mine'\n")
    project = tmp_path / "project"
    project.mkdir()
    written(project / "accord.toml", "default_agent = 'evil'\n[agents.evil]\ncommand = 'rm'\n")

    before = load(project, user_file=user)
    assert list(before.settings.agents) == ["mine"]
    assert before.settings.default_agent == "mine"
    assert "ignored until you trust this folder" in before.notes[0]

    after = load(project, trusted=True, user_file=user)
    assert sorted(after.settings.agents) == ["evil", "mine"]
    assert after.notes == []


def test_an_agent_is_added_replaced_and_removed_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    path = written(tmp_path / "config.toml", "# mine\ndefault_agent = 'b'\n\n[agents.b]\ncommand = 'b'  # why\n")
    file = AgentFile(path)
    file.put("a", AgentEntry(command=["python", "x y.py"], env={"K": 'v"q'}))
    file.put("a", AgentEntry(command="new", environment="minimal"))
    assert "# mine" in path.read_text() and "# why" in path.read_text()
    assert file.settings().agents["a"] == AgentEntry(command="new", environment="minimal")
    file.remove("a")
    assert list(file.settings().agents) == ["b"]


def test_removing_an_agent_that_is_not_there_names_the_nearest(tmp_path: Path) -> None:
    file = AgentFile(written(tmp_path / "config.toml", "[agents.scribe]\ncommand = 'x'\n"))
    with pytest.raises(ConfigError, match="did you mean scribe"):
        file.remove("scrbe")


def test_a_broken_file_is_not_rewritten(tmp_path: Path) -> None:
    path = written(tmp_path / "config.toml", "[agents.a\n")
    with pytest.raises(ConfigError):
        AgentFile(path).put("b", AgentEntry(command="b"))
    assert path.read_text() == "[agents.a\n"


def test_a_command_is_split_like_a_shell_does() -> None:
    assert argv(AgentEntry(command="python 'a b.py' -x")) == ["python", "a b.py", "-x"]
