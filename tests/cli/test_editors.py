"""accord editors: print the settings for any editor, and write them if that is safe."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
from pathlib import Path

import pytest
from support.cli_runner import Accord, Here, agent

from accord.config.editors.catalog import EDITORS

JSON = {"zed": "agent_servers", "jetbrains": "agent_servers", "vscode": "acp.agents"}
FILES = {
    "zed": ".config/zed/settings.json",
    "jetbrains": ".jetbrains/acp.json",
    "vscode": ".config/Code/User/settings.json",
}


@pytest.fixture(autouse=True)
def no_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)


def test_all_editors_are_listed_with_what_was_found_on_this_machine(
    accord: Accord, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(accord.folder))
    (accord.home / ".config" / "zed").mkdir(parents=True)
    done = here("editors")
    rows = [re.split(r"  +", line) for line in done.out.splitlines()]

    assert done.status == 0
    assert [row[0] for row in rows] == list(EDITORS)
    assert {row[0]: row[2] for row in rows if row[2] != "not found"} == {
        "zed": f"found: {accord.home / '.config' / 'zed'}"
    }


@pytest.mark.parametrize("editor", JSON)
def test_settings_go_to_standard_output_as_json_and_instructions_to_standard_error(
    accord: Accord, here: Here, editor: str
) -> None:
    done = here("editors", editor)
    printed = json.loads(done.out)[JSON[editor]]["Accord"]

    assert done.status == 0
    assert printed["args"][-1] == "agent"
    assert os.path.isabs(printed["command"]) and os.access(printed["command"], os.X_OK)
    assert str(accord.home / FILES[editor]) in done.err and "or use --write" in done.err
    assert os.listdir(accord.home) == []


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        ("codecompanion", '"agent" } }'),
        ("avante", 'args = { "agent" }'),
        ("agent-shell", ':command-params \'("agent")'),
        ("agentic.nvim", 'args = { "agent" }'),
        ("toad", "toad acp "),
        ("marimo", " serve --port 3017 "),
    ],
)
def test_settings_that_are_code_are_printed_and_never_written(here: Here, editor: str, words: str) -> None:
    printed, refused = here("editors", editor), here("editors", editor, "--write")

    assert printed.status == 0 and words in printed.out
    assert refused.status == 1 and refused.out == printed.out
    assert "Nothing was written" in refused.err


def test_marimo_gets_a_server_at_the_port_and_path_where_it_looks(here: Here) -> None:
    words = shlex.split(here("editors", "marimo").out)
    begin = words.index("serve")
    assert words[begin : words.index("--")] == [
        *("serve", "--port", "3017", "--alias", "/message"),
        *("--trust-origin", "http://localhost:2718", "--trust-origin", "http://127.0.0.1:2718"),
    ]
    assert words[-1] == "agent"


@pytest.mark.parametrize("url", ["https://example.org/acp", "wss://example.org:8443/acp"])
def test_a_remote_agent_is_started_by_accord_connect(here: Here, url: str) -> None:
    done = here("editors", "zed", "--agent", url)
    (entry,) = json.loads(done.out)["agent_servers"].items()
    assert entry[0] == "example.org"
    assert entry[1]["args"][-2:] == ["connect", url]


def test_an_editor_can_be_given_by_another_name(accord: Accord, here: Here) -> None:
    assert here("editors", "emacs").out == here("editors", "agent-shell").out
    for name in ("neovim", "nvim", "NVIM"):
        done = here("editors", name)
        assert done.out == here("editors", "codecompanion").out
        assert "This is for codecompanion; also available: avante, agentic.nvim" in done.err
    (accord.home / ".local/share/nvim/lazy/avante.nvim").mkdir(parents=True)
    assert here("editors", "neovim").out == here("editors", "avante").out, "the plugin that was found"
    assert "did you mean neovim" in here("editors", "neovin").err


def test_acpx_gets_an_agent_name_that_is_easy_to_type(accord: Accord, here: Here) -> None:
    file = accord.home / ".acpx" / "config.json"
    file.parent.mkdir()
    assert here("editors", "acpx", "--write", "--name", "My agent").err == f"Added my_agent to {file}\n"
    (words,) = [shlex.split(each["command"]) for each in json.loads(file.read_text())["agents"].values()]
    assert words[-1] == "agent" and os.access(words[0], os.X_OK)
    assert list(json.loads(here("editors", "acpx").out)["agents"]) == ["accord"]


def test_an_unknown_editor_is_reported_with_similar_names(here: Here) -> None:
    assert here("editors", "zeds").err.startswith("accord editors: unknown editor 'zeds'; did you mean zed?")
    assert "available: zed, jetbrains" in here("editors", "qqq").err
    assert here("editors", "qqq").status == 2
    assert here("editors", "Zed").status == 0


@pytest.mark.parametrize("words", [["--write"], ["--agent", "x"], ["--name", "x"], ["--file", "x"]])
def test_options_without_an_editor_are_rejected(here: Here, words: list[str]) -> None:
    done = here("editors", *words)
    assert done.status == 2 and "name an editor" in done.err


def test_a_file_is_rejected_for_an_editor_without_a_settings_file(here: Here) -> None:
    assert here("editors", "avante", "--file", "x").status == 2


@pytest.mark.parametrize("editor", JSON)
def test_settings_are_written_once_and_everything_else_is_preserved(accord: Accord, here: Here, editor: str) -> None:
    file = accord.home / FILES[editor]
    file.parent.mkdir(parents=True)
    before = '// mine\n{\n  "theme": "dark", // at night\n}\n'
    file.write_text(before)
    first, again = here("editors", editor, "--write"), here("editors", editor, "--write")

    backup = file.with_name(f"{file.name}.before-accord")
    assert (first.status, first.out, again.status, again.out) == (0, "", 0, "")
    assert first.err == f"Added Accord to {file}\nBackup: {backup}\n"
    assert again.err == f"{file} is up to date: it already has Accord\n"
    assert file.read_text().startswith(before[:-2])
    assert backup.read_text() == before
    assert len(os.listdir(file.parent)) == 2


def test_replacing_an_entry_of_the_same_name_is_reported(accord: Accord, here: Here) -> None:
    file = accord.project / "settings.json"
    file.write_text('{"agent_servers": {"Accord": {"command": "mine"}}}')
    done = here("editors", "zed", "--write", "--file", str(file))

    assert done.err.startswith("Replaced the existing entry Accord\n")
    assert '"mine"' in Path(f"{file}.before-accord").read_text()
    assert '"mine"' not in file.read_text()


@pytest.mark.parametrize("data", [b"[]", b'{"a": ', b"\xff\xfe{\x00}\x00", b'{"agent_servers": 1}'])
def test_a_settings_file_that_cannot_be_merged_is_left_alone_and_the_settings_are_printed(
    accord: Accord, here: Here, data: bytes
) -> None:
    file = accord.project / "settings.json"
    file.write_bytes(data)
    done = here("editors", "zed", "--write", "--file", str(file))

    assert done.status == 1
    assert json.loads(done.out)["agent_servers"]["Accord"]["args"] == ["agent"]
    assert done.err.startswith(f"accord: {file}: ") and "nothing was changed\nadd this to the file yourself" in done.err
    assert file.read_bytes() == data
    assert os.listdir(accord.project) == ["settings.json"]


def test_a_missing_directory_is_reported(accord: Accord, here: Here) -> None:
    done = here("editors", "zed", "--write")
    assert done.status == 1
    assert f"the directory {accord.home}/.config/zed doesn't exist; start the editor once, or create it" in done.err
    assert os.listdir(accord.home) == []


def test_a_symbolic_link_stays_a_link(accord: Accord, here: Here) -> None:
    real, link = accord.folder / "real.json", accord.project / "settings.json"
    real.write_text("{}")
    real.chmod(0o600)
    link.symlink_to(real)
    here("editors", "zed", "--write", "--file", str(link))

    assert link.is_symlink() and "Accord" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o600


def test_a_configured_agent_is_started_by_its_name(accord: Accord, here: Here) -> None:
    accord.config.write_text(f"[agents.scribe]\ncommand = {agent()!r}\nenv = {{ TOKEN = 'secret' }}\n")
    done = here("editors", "zed", "--agent", "scribe", "--name", "My scribe")
    entry = json.loads(done.out)["agent_servers"]["My scribe"]

    assert entry["args"][-3:] == ["agents", "run", "scribe"]
    assert "secret" not in done.out


def test_the_written_command_starts_the_agent(accord: Accord, here: Here) -> None:
    """The configured command works from any directory."""
    entry = json.loads(here("editors", "jetbrains", "--agent", agent()).out)["agent_servers"]
    (words,) = [[each["command"], *each["args"]] for each in entry.values()]
    done = accord("run", "--agent", shlex.join(words), "echo hello", cwd=accord.home, env={"PATH": "/usr/bin:/bin"})
    assert done.status == 0


def test_an_unknown_agent_is_reported_with_similar_names(here: Here) -> None:
    done = here("editors", "zed", "--agent", "nobody")
    assert (done.status, done.out) == (1, "")
    assert "no agent or program named 'nobody'" in done.err


def test_a_missing_command_is_reported(here: Here) -> None:
    done = here("editors", "zed", "--agent", "no-such-program --acp")
    assert done.status == 1 and "an editor couldn't start it" in done.err
