"""The settings of each editor, their location, and commands that an editor can start."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from accord.config.command import Resolved
from accord.config.editors import launch
from accord.config.editors.catalog import EDITORS, elisp, elisp_list, lua, lua_key, lua_list
from accord.config.editors.editor import Launch, Machine
from accord.config.editors.launch import built_in, launch_of, startable, this_accord
from accord.errors import LaunchError

HOME = Path("/home/ada")
AGENT = Launch("Accord", "accord", ["agent"])
NASTY = ['a"b', "c\\d", "e\nf\t\r", "\x01" + "2", "\x7f", "é 中 😀", "'; os.exit()", "$(x) `y` #{z}", "]]", ""]


def machine(platform: str, **env: str) -> Machine:
    return Machine(platform, HOME, env)


@pytest.mark.parametrize(
    ("editor", "platform", "env", "path"),
    [
        ("zed", "linux", {}, "/home/ada/.config/zed/settings.json"),
        ("zed", "linux", {"XDG_CONFIG_HOME": "/xdg"}, "/xdg/zed/settings.json"),
        ("zed", "linux", {"XDG_CONFIG_HOME": "relative"}, "/home/ada/.config/zed/settings.json"),
        ("zed", "freebsd14", {}, "/home/ada/.config/zed/settings.json"),
        ("zed", "darwin", {}, "/home/ada/.config/zed/settings.json"),
        ("zed", "win32", {"APPDATA": "/roaming"}, "/roaming/Zed/settings.json"),
        ("zed", "win32", {}, "/home/ada/AppData/Roaming/Zed/settings.json"),
        ("jetbrains", "linux", {"XDG_CONFIG_HOME": "/xdg"}, "/home/ada/.jetbrains/acp.json"),
        ("jetbrains", "darwin", {}, "/home/ada/.jetbrains/acp.json"),
        ("jetbrains", "win32", {"APPDATA": "/roaming"}, "/home/ada/.jetbrains/acp.json"),
        ("vscode", "linux", {}, "/home/ada/.config/Code/User/settings.json"),
        ("vscode", "linux", {"XDG_CONFIG_HOME": "/xdg"}, "/xdg/Code/User/settings.json"),
        ("vscode", "darwin", {}, "/home/ada/Library/Application Support/Code/User/settings.json"),
        ("vscode", "win32", {"APPDATA": "/roaming"}, "/roaming/Code/User/settings.json"),
    ],
)
def test_settings_are_where_the_platform_puts_them(editor: str, platform: str, env: dict[str, str], path: str) -> None:
    settings = EDITORS[editor].json
    assert settings is not None
    assert str(settings.file(machine(platform, **env))) == path


@pytest.mark.parametrize(
    ("editor", "trace"),
    [
        ("zed", ".config/zed"),
        ("jetbrains", ".jetbrains"),
        ("jetbrains", ".config/JetBrains"),
        ("vscode", ".config/Code/User"),
        ("codecompanion", ".local/share/nvim/lazy/codecompanion.nvim"),
        ("codecompanion", ".local/share/nvim/site/pack/any/start/codecompanion.nvim"),
        ("avante", ".local/share/nvim/lazy/avante.nvim"),
        ("agentic.nvim", ".local/share/nvim/lazy/agentic.nvim"),
        ("acpx", ".acpx"),
        ("agent-shell", ".emacs.d/elpa/agent-shell-20260101.1"),
        ("agent-shell", ".emacs.d/straight/repos/agent-shell"),
        ("agent-shell", ".config/emacs/elpaca/repos/agent-shell"),
        ("marimo", ".config/marimo"),
    ],
)
def test_an_editor_is_found_by_what_it_leaves(tmp_path: Path, editor: str, trace: str) -> None:
    here = Machine("linux", tmp_path, {"PATH": str(tmp_path / "bin")})
    assert EDITORS[editor].detect(here) is None
    (tmp_path / trace).mkdir(parents=True)
    assert [name for name in EDITORS if EDITORS[name].detect(here)] == [editor]
    assert EDITORS[editor].detect(here) == str(tmp_path / trace)


def test_an_editor_is_found_by_its_program(tmp_path: Path) -> None:
    (tmp_path / "zeditor").write_text("#!/bin/sh\n")
    (tmp_path / "zeditor").chmod(0o755)
    here = Machine("linux", tmp_path / "home", {"PATH": str(tmp_path)})
    assert EDITORS["zed"].detect(here) == str(tmp_path / "zeditor")


def test_on_macos_an_application_is_enough(tmp_path: Path) -> None:
    (tmp_path / "Applications" / "Zed.app").mkdir(parents=True)
    assert EDITORS["zed"].detect(Machine("darwin", tmp_path, {"PATH": ""})) is not None
    assert EDITORS["zed"].detect(Machine("linux", tmp_path, {"PATH": ""})) is None


@pytest.mark.parametrize(
    ("editor", "entry"),
    [
        ("zed", {"type": "custom", "command": "accord", "args": ["agent"], "env": {}}),
        ("jetbrains", {"command": "accord", "args": ["agent"], "env": {}}),
        ("vscode", {"command": "accord", "args": ["agent"], "env": {}}),
    ],
)
def test_json_settings_hold_command_and_arguments(editor: str, entry: dict[str, object]) -> None:
    settings = EDITORS[editor].json
    assert settings is not None
    assert settings.entry(AGENT) == entry


# -- programs as settings


def unquoted_lua(text: str) -> str:
    """A string of Lua, read as Lua reads it."""
    escapes = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
    assert text[0] == text[-1] == '"' and not re.search(r'(?<!\\)(\\\\)*"', text[1:-1])
    return re.sub(
        r"\\(\d{1,3}|.)", lambda found: chr(int(found[1])) if found[1].isdigit() else escapes[found[1]], text[1:-1]
    )


def unquoted_elisp(text: str) -> str:
    """A string of Emacs Lisp, read as Emacs reads it."""
    escapes = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
    assert text[0] == text[-1] == '"' and not re.search(r'(?<!\\)(\\\\)*"', text[1:-1])
    return re.sub(
        r"\\([0-7]{1,3}|.)",
        lambda found: chr(int(found[1], 8)) if found[1].isdigit() else escapes[found[1]],
        text[1:-1],
    )


@pytest.mark.parametrize("text", NASTY)
def test_strings_come_out_of_their_readers_as_they_went_in(text: str) -> None:
    assert unquoted_lua(lua(text)) == text
    assert unquoted_elisp(elisp(text)) == text
    assert "\n" not in lua(text) + elisp(text)


def test_lists_and_keys_are_written_as_their_languages_want() -> None:
    assert lua_list([]) == "{}"
    assert lua_list(["a", 'b"']) == '{ "a", "b\\"" }'
    assert elisp_list([]) == "nil"
    assert elisp_list(["a", "b c"]) == '\'("a" "b c")'
    assert [lua_key(name) for name in ("accord", "end", "a-b", "1a")] == ["accord", '["end"]', '["a-b"]', '["1a"]']


@pytest.mark.parametrize(
    ("name", "id"), [("Accord", "accord"), ("My Agent-2", "my_agent_2"), ("3 x", "agent_3_x"), ("中", "agent")]
)
def test_a_name_for_programs_is_made_of_the_name(name: str, id: str) -> None:
    assert Launch(name, "x", []).id == id


@pytest.mark.parametrize("editor", ["codecompanion", "avante", "agentic.nvim", "agent-shell"])
@pytest.mark.parametrize("words", [["accord", "agent"], ["/opt/my agent/run", *NASTY]], ids=["plain", "nasty"])
def test_programs_hold_every_word_of_the_command_and_close_what_they_open(editor: str, words: list[str]) -> None:
    text = EDITORS[editor].text
    assert text is not None
    written = text(Launch('An "agent"', words[0], words[1:]))
    quoted = elisp if editor == "agent-shell" else lua
    for word in words:
        assert quoted(word) in written
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", written)
    assert '"' not in outside
    assert all(outside.count(a) == outside.count(b) for a, b in ("()", "{}", "[]"))


def test_codecompanion_gets_a_whole_adapter_that_inherits_no_login_and_no_key() -> None:
    text = EDITORS["codecompanion"].text
    assert text is not None
    written = text(AGENT)
    assert "extend(" not in written and "gemini" not in written.lower()
    for field in ("name", "formatted_name", "type", "roles", "commands", "defaults", "parameters", "handlers"):
        assert re.search(rf"^ +{field} = ", written, re.MULTILINE)
    for handler in ("setup", "form_messages", "on_exit"):
        assert f"{handler} = function(self" in written
    assert "auth_method" not in written and "env" not in written


def test_avante_passes_the_environment_on() -> None:
    text = EDITORS["avante"].text
    assert text is not None
    assert "env = vim.fn.environ()," in text(AGENT)


def test_toad_takes_the_command_as_one_word() -> None:
    text = EDITORS["toad"].text
    assert text is not None
    assert shlex.split(text(Launch("x", "/opt/my agent/run", ["it's"]))) == [
        "toad",
        "acp",
        """'/opt/my agent/run' 'it'"'"'s'""",
        ".",
    ]


# -- a command that an editor can start


def program(folder: Path, name: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return str(folder / name)


@pytest.fixture
def bin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder of programs, outside any environment."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "bin"


def test_a_program_that_everyone_finds_is_called_by_its_name(bin: Path) -> None:
    path = program(bin, "tool")
    assert startable("tool") == "tool"
    assert startable("tool", full_path=True) == path


def test_a_program_of_an_environment_is_called_by_its_path(bin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(bin, "tool")
    monkeypatch.setenv("VIRTUAL_ENV", str(bin.parent))
    assert startable("tool") == path
    monkeypatch.delenv("VIRTUAL_ENV")
    monkeypatch.setattr(sys, "prefix", str(bin.parent))
    assert startable("tool") == path


def test_a_program_named_from_here_is_named_from_everywhere(bin: Path) -> None:
    path = program(bin, "tool")
    assert startable("bin/tool") == path


def test_a_missing_program_is_an_error(bin: Path) -> None:
    with pytest.raises(LaunchError, match="program 'tool' not found, so an editor couldn't start it"):
        startable("tool")


def test_our_own_command_is_the_one_that_is_running(bin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = program(bin.parent / "elsewhere", "accord")
    monkeypatch.setattr(sys, "argv", [ours, "editors"])
    assert this_accord() == [ours]
    program(bin, "accord")
    assert this_accord() == [ours]
    (bin / "accord").unlink()
    (bin / "accord").symlink_to(ours)
    assert this_accord() == ["accord"]
    assert this_accord(full_path=True) == [str(bin / "accord")]


def test_without_a_command_of_our_own_python_starts_it(bin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/x/accord/__main__.py"])
    monkeypatch.setattr(sys, "executable", "/x/bin/python")
    assert built_in() == Launch("Accord", "/x/bin/python", ["-P", "-m", "accord", "agent"])


def test_a_configured_agent_is_started_by_its_name_so_that_nothing_of_it_is_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(launch, "this_accord", lambda full_path: ["accord"])
    agent = Resolved("scribe", ["python", "scribe.py"], {"KEY": "secret"}, "inherit", "configured")
    assert launch_of(agent, "scribe") == Launch("scribe", "accord", ["agents", "run", "scribe"])


def test_the_files_of_a_command_line_are_named_from_everywhere(bin: Path) -> None:
    program(bin, "tool")
    Path("agent.py").write_text("")
    words = ["tool", "agent.py", "-x", "missing.py", "agent"]
    launch = launch_of(Resolved("tool", words, {}, "inherit", "a command line"), "tool …")
    assert launch == Launch("tool", "tool", [os.path.abspath("agent.py"), "-x", "missing.py", "agent"])


@pytest.mark.parametrize(
    ("name", "word"), [("  ", "x"), ("a\x1b[2Jb", "x"), ("a", "x\udcff"), ("a", "x\0y")], ids=ascii
)
def test_invalid_text_is_rejected_in_settings(bin: Path, name: str, word: str) -> None:
    program(bin, "tool")
    with pytest.raises(LaunchError):
        launch_of(Resolved("tool", ["tool", word], {}, "inherit", "a command line"), "tool", name)
