"""accord editors: printed for all, written where that is safe."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
from pathlib import Path

import pytest
from commands import Accord, Here, agent

from accord.config.editors.table import EDITORS

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


def test_all_editors_are_listed_with_what_was_found_of_them(
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
def test_what_is_printed_is_json_and_what_is_said_stands_elsewhere(accord: Accord, here: Here, editor: str) -> None:
    done = here("editors", editor)
    printed = json.loads(done.out)[JSON[editor]]["Accord"]

    assert done.status == 0
    assert printed["args"][-1] == "agent"
    assert os.path.isabs(printed["command"]) and os.access(printed["command"], os.X_OK)
    assert str(accord.home / FILES[editor]) in done.err and "--write puts it there" in done.err
    assert os.listdir(accord.home) == []


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        ("codecompanion", '"agent" } }'),
        ("avante", 'args = { "agent" }'),
        ("agent-shell", ':command-params \'("agent")'),
    ],
)
def test_what_is_a_program_is_printed_and_never_written(here: Here, editor: str, words: str) -> None:
    printed, refused = here("editors", editor), here("editors", editor, "--write")

    assert printed.status == 0 and words in printed.out
    assert refused.status == 1 and refused.out == printed.out
    assert "are a program: nothing was written" in refused.err


def test_marimo_needs_what_is_not_there_yet(here: Here) -> None:
    done = here("editors", "marimo")
    assert (done.status, done.out) == (1, "")
    assert "accord serve" in done.err


def test_an_unknown_editor_is_told_with_the_nearest(here: Here) -> None:
    assert here("editors", "zeds").err.startswith(
        "accord editors: 'zeds' is no editor that is known here: did you mean zed?"
    )
    assert "there are zed, jetbrains" in here("editors", "qqq").err
    assert here("editors", "qqq").status == 2
    assert here("editors", "Zed").status == 0


@pytest.mark.parametrize("words", [["--write"], ["--agent", "x"], ["--name", "x"], ["--file", "x"]])
def test_options_without_an_editor_are_wrong(here: Here, words: list[str]) -> None:
    done = here("editors", *words)
    assert done.status == 2 and "say which editor" in done.err


def test_a_file_for_what_has_none_is_wrong(here: Here) -> None:
    assert here("editors", "avante", "--file", "x").status == 2


@pytest.mark.parametrize("editor", JSON)
def test_settings_are_written_once_with_all_else_kept(accord: Accord, here: Here, editor: str) -> None:
    file = accord.home / FILES[editor]
    file.parent.mkdir(parents=True)
    before = '// mine\n{\n  "theme": "dark", // at night\n}\n'
    file.write_text(before)
    first, again = here("editors", editor, "--write"), here("editors", editor, "--write")

    backup = file.with_name(f"{file.name}.before-accord")
    assert (first.status, first.out, again.status, again.out) == (0, "", 0, "")
    assert first.err == f"Accord is in {file}\nas it was before: {backup}\n"
    assert again.err == f"{file} has Accord already, exactly so\n"
    assert file.read_text().startswith(before[:-2])
    assert backup.read_text() == before
    assert len(os.listdir(file.parent)) == 2


def test_another_entry_of_the_same_name_is_said_to_be_replaced(accord: Accord, here: Here) -> None:
    file = accord.project / "settings.json"
    file.write_text('{"agent_servers": {"Accord": {"command": "mine"}}}')
    done = here("editors", "zed", "--write", "--file", str(file))

    assert done.err.startswith("another Accord was there, and is replaced\n")
    assert '"mine"' in Path(f"{file}.before-accord").read_text()
    assert '"mine"' not in file.read_text()


@pytest.mark.parametrize("data", [b"[]", b'{"a": ', b"\xff\xfe{\x00}\x00", b'{"agent_servers": 1}'])
def test_settings_that_cannot_be_merged_are_printed_for_and_left_alone(accord: Accord, here: Here, data: bytes) -> None:
    file = accord.project / "settings.json"
    file.write_bytes(data)
    done = here("editors", "zed", "--write", "--file", str(file))

    assert done.status == 1
    assert json.loads(done.out)["agent_servers"]["Accord"]["args"] == ["agent"]
    assert done.err.startswith(f"accord: {file}: ") and "nothing was changed\nput this into it yourself" in done.err
    assert file.read_bytes() == data
    assert os.listdir(accord.project) == ["settings.json"]


def test_a_folder_that_is_not_there_is_said(accord: Accord, here: Here) -> None:
    done = here("editors", "zed", "--write")
    assert done.status == 1
    assert f"there is no folder {accord.home}/.config/zed; start the editor once, or make it" in done.err
    assert os.listdir(accord.home) == []


def test_a_link_stays_a_link(accord: Accord, here: Here) -> None:
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


def test_what_was_written_can_be_started(accord: Accord, here: Here) -> None:
    """The words that an editor gets, started from elsewhere, are an agent."""
    entry = json.loads(here("editors", "jetbrains", "--agent", agent()).out)["agent_servers"]
    (words,) = [[each["command"], *each["args"]] for each in entry.values()]
    done = accord("run", "--agent", shlex.join(words), "echo hello", cwd=accord.home, env={"PATH": "/usr/bin:/bin"})
    assert done.status == 0


def test_an_unknown_agent_is_told_as_everywhere(here: Here) -> None:
    done = here("editors", "zed", "--agent", "nobody")
    assert (done.status, done.out) == (1, "")
    assert "there is no agent 'nobody', and no program of that name" in done.err


def test_a_command_that_is_not_there_is_told(here: Here) -> None:
    done = here("editors", "zed", "--agent", "no-such-program --acp")
    assert done.status == 1 and "no editor could start it" in done.err
