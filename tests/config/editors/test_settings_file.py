"""An agent put into an editor's settings: a change to the text, and to nothing else of it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from accord.config.editors.catalog import EDITORS
from accord.config.editors.editor import Launch
from accord.config.editors.jsonc import read
from accord.config.editors.settings_file import merge, write
from accord.errors import ConfigError

ENTRY = {"command": "accord", "args": ["agent"]}
AGENT = Launch("Accord", "accord", ["agent"])
ZED = EDITORS["zed"].json
JETBRAINS = EDITORS["jetbrains"].json
assert ZED is not None and JETBRAINS is not None


def merge_entry(text: str, entry: dict[str, Any] = ENTRY) -> str:
    return merge(text, "agents", "Accord", entry, {}).text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("{}", '{\n  "agents": {\n    "Accord": {\n      "run": "x"\n    }\n  }\n}'),
        pytest.param(
            '{\n    "a": 1\n}\n',
            '{\n    "a": 1,\n    "agents": {\n        "Accord": {\n            "run": "x"\n        }\n    }\n}\n',
            id="four spaces",
        ),
        pytest.param(
            '{\n\t"a": 1,\n}\n',
            '{\n\t"a": 1,\n\t"agents": {\n\t\t"Accord": {\n\t\t\t"run": "x"\n\t\t}\n\t}\n}\n',
            id="tabs and a trailing comma",
        ),
        pytest.param(
            '// mine\n{\n  "a": 1 // one\n  /* the end */\n}\n// over\n',
            '// mine\n{\n  "a": 1, // one\n  /* the end */\n  "agents": {\n    "Accord": {\n      "run": "x"\n'
            "    }\n  }\n}\n// over\n",
            id="comments",
        ),
        pytest.param(
            '{\r\n  "a": 1\r\n}\r\n',
            '{\r\n  "a": 1,\r\n  "agents": {\r\n    "Accord": {\r\n      "run": "x"\r\n    }\r\n  }\r\n}\r\n',
            id="lines of Windows",
        ),
        pytest.param(
            '{"a":1}',
            '{"a":1, "agents": {\n  "Accord": {\n    "run": "x"\n  }\n}}',
            id="one line",
        ),
        pytest.param(
            '{\n  "agents": {\n    "o": {} // theirs\n  },\n  "b": 2\n}',
            '{\n  "agents": {\n    "o": {}, // theirs\n    "Accord": {\n      "run": "x"\n    }\n  },\n  "b": 2\n}',
            id="beside another agent",
        ),
        pytest.param(
            '{\n  "agents": {},\n  "b": 2\n}',
            '{\n  "agents": {\n    "Accord": {\n      "run": "x"\n    }\n  },\n  "b": 2\n}',
            id="into an empty object",
        ),
        pytest.param(
            '{\n  "agents": {\n    // none yet\n  }\n}',
            '{\n  "agents": {\n    // none yet\n    "Accord": {\n      "run": "x"\n    }\n  }\n}',
            id="after a comment alone",
        ),
        pytest.param(
            "{ /* none */ }",
            '{ /* none */\n  "agents": {\n    "Accord": {\n      "run": "x"\n    }\n  }\n}',
            id="a comment on one line",
        ),
        pytest.param(
            '{\n  "agents": {\n    "Accord": {"command": "old"}, // keep this\n    "x": {}\n  }\n}',
            '{\n  "agents": {\n    "Accord": {\n      "run": "x"\n    }, // keep this\n    "x": {}\n  }\n}',
            id="in place of an old one",
        ),
    ],
)
def test_an_agent_is_added_and_the_rest_stays_as_it_was(before: str, after: str) -> None:
    assert merge_entry(before, {"run": "x"}) == after
    assert merge_entry(after, {"run": "x"}) == after


@pytest.mark.parametrize("before", ["", " \n\t\n", "\ufeff"], ids=["empty", "blank", "a byte order mark alone"])
def test_an_empty_text_becomes_a_whole_one(before: str) -> None:
    after = merge(before, "agents", "Accord", ENTRY, {"more": {}}).text
    assert json.loads(after.removeprefix("\ufeff")) == {"more": {}, "agents": {"Accord": ENTRY}}
    assert after.startswith("\ufeff") == before.startswith("\ufeff")


def test_comments_without_settings_stay_in_front() -> None:
    after = merge_entry("// Settings\n// of mine\n")
    assert after.startswith("// Settings\n// of mine\n{\n")
    assert read(after).root is not None


def test_a_byte_order_mark_stays() -> None:
    after = merge_entry('\ufeff{"a": 1}')
    assert after.startswith('\ufeff{"a": 1, "agents"')
    assert merge_entry(after) == after


def test_a_replaced_entry_is_reported() -> None:
    assert merge('{"agents": {"Accord": {"command": 1.50}}}', "agents", "Accord", ENTRY, {}).replaced is not None
    assert merge('{"agents": {}}', "agents", "Accord", ENTRY, {}).replaced is None


def test_an_entry_with_its_keys_in_another_order_is_the_same() -> None:
    text = '{"agents": {"Accord": {"args": ["agent"], "command": "accord",},}} // so'
    assert merge_entry(text) == text


@pytest.mark.parametrize(
    "before",
    [
        '{"a": "// no comment", "b": "/* nor this */", "c": "\\"}", "d": "{"}',
        '{"a": [1, [2, {"agents": {}}], ], "n": -1.5e+10, "t": true, "f": false, "z": null}',
        '{"a": 1, "a": 2}',
        '{"\\u0061gents2": {}, "\u00e9": "\u4e2d", "\\ud83d\\ude00": "\U0001f600"}',
        '{"a": 123456789012345678901234567890.10}',
        "{/**/}",
        '{"a": {"b": {"c": {}}}}//',
        '{"a":1/**/,/**/}',
        '{"a":1//x\n,//y\n}',
    ],
)
def test_everything_else_in_a_text_is_preserved(before: str) -> None:
    after = merge_entry(before)
    old, new = read(before), read(after)
    assert old.root is not None and new.root is not None
    assert [member.key for member in new.root.members or []] == [m.key for m in old.root.members or []] + ["agents"]
    assert {k: v for k, v in new.root.data.items() if k != "agents"} == old.root.data
    assert [before[a:b] for a, b in old.comments] == [after[a:b] for a, b in new.comments]
    assert new.root.data["agents"] == {"Accord": ENTRY}
    assert merge_entry(after) == after


@pytest.mark.parametrize(
    ("before", "why"),
    [
        ("[]", "it isn't a JSON object"),
        ('"text"', "it isn't a JSON object"),
        ("null", "it isn't a JSON object"),
        ('{"agents": []}', "its 'agents' isn't an object"),
        ('{"agents": null}', "its 'agents' isn't an object"),
        ('{"agents": {}, "agents": {}}', "the key 'agents' is duplicated"),
        ('{"agents": {"Accord": 1, "Accord": 2}}', "the key 'Accord' is duplicated"),
        ('{"a": 1', "line 1: a comma or } is missing"),
        ('{\n"a" 1}', "line 2: missing colon after the key 'a'"),
        ('{"a": }', "line 1: a value is missing"),
        ('{\n\n"a": 1 "b": 2}', "line 3: a comma or } is missing"),
        ("{a: 1}", "line 1: a key is missing"),
        ("{'a': 1}", "line 1: a key is missing"),
        ("{,}", "line 1: a key is missing"),
        ('{"a": [,]}', "line 1: a value is missing"),
        ('{"a": 01}', "line 1: invalid JSON"),
        ('{"a": NaN}', "line 1: invalid JSON"),
        ('{"a": truely}', "line 1: invalid JSON"),
        ('{"a": "b}', "line 1: unterminated or invalid string"),
        ('{"a": "\\x"}', "line 1: unterminated or invalid string"),
        ('{"a": 1} {"b": 2}', "line 1: unexpected text after the end"),
        ('{"a": 1}\x00', "line 1: unexpected text after the end"),
        ("{/* not ended }", "line 1: a key is missing"),
        ('{"a": ' + "[" * 300 + "]" * 300 + "}", "line 1: nested too deeply"),
    ],
)
def test_settings_that_cannot_be_changed_safely_are_left_alone_with_a_reason(before: str, why: str) -> None:
    with pytest.raises(ConfigError) as refused:
        merge_entry(before)
    assert str(refused.value) == why


# -- files


def test_a_new_file_is_made(tmp_path: Path) -> None:
    done = write(tmp_path / "acp.json", JETBRAINS, AGENT)
    entry = {"command": "accord", "args": ["agent"], "env": {}}
    assert json.loads(done.path.read_text()) == {"default_mcp_settings": {}, "agent_servers": {"Accord": entry}}
    assert (done.changed, done.backup, done.replaced) == (True, None, None)
    assert os.listdir(tmp_path) == ["acp.json"]


def test_a_change_keeps_what_was_there_beside_it_and_is_made_once(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"theme": "dark"}')
    file.chmod(0o640)
    first = write(file, ZED, AGENT)
    again = write(file, ZED, AGENT)

    assert first.changed and first.backup == tmp_path / "settings.json.before-accord"
    assert first.backup.read_text() == '{"theme": "dark"}'
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, first.backup)] == [0o640, 0o640]
    assert json.loads(file.read_text())["theme"] == "dark"
    assert not again.changed and again.backup is None
    assert sorted(os.listdir(tmp_path)) == ["settings.json", "settings.json.before-accord"]


def test_another_entry_of_the_same_name_is_replaced_after_it_was_kept(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    write(file, ZED, AGENT)
    write(file, ZED, Launch("Accord", "/opt/accord", []))
    done = write(file, ZED, AGENT)

    assert done.replaced == {"type": "custom", "command": "/opt/accord", "args": [], "env": {}}
    assert done.backup == tmp_path / "settings.json.before-accord.1"
    assert "/opt/accord" in done.backup.read_text()


def test_a_link_stays_one_and_leads_to_the_changed_file(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles" / "zed.json"
    real.write_text("{}")
    link = tmp_path / "settings.json"
    link.symlink_to("dotfiles/zed.json")
    done = write(link, ZED, AGENT)

    assert link.is_symlink() and os.readlink(link) == "dotfiles/zed.json"
    assert "Accord" in json.loads(real.read_text())["agent_servers"]
    assert done.backup == tmp_path / "dotfiles" / "zed.json.before-accord"


def test_a_link_that_leads_nowhere_yet_leads_to_a_new_file(tmp_path: Path) -> None:
    link = tmp_path / "settings.json"
    link.symlink_to("elsewhere.json")
    write(link, ZED, AGENT)
    assert link.is_symlink() and "Accord" in (tmp_path / "elsewhere.json").read_text()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b'{"a": "\xff"}', "it isn't valid UTF-8 (byte 7)"),
        ('{"a": 1}'.encode("utf-16"), "it isn't valid UTF-8 (byte 0)"),
        (b"[1]", "it isn't a JSON object"),
        (b'{"a": 1,,}', "line 1: a key is missing"),
        (b'{"agent_servers": {"Accord": 1, "Accord": 2}}', "the key 'Accord' is duplicated"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_alone(tmp_path: Path, data: bytes, why: str) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(data)
    with pytest.raises(ConfigError) as refused:
        write(file, ZED, AGENT)
    assert str(refused.value) == f"{file}: {why}; nothing was changed"
    assert file.read_bytes() == data
    assert os.listdir(tmp_path) == ["settings.json"]


def test_an_empty_file_and_one_with_a_mark_and_lines_of_windows_are_changed(tmp_path: Path) -> None:
    for name, data in (("empty", b""), ("marked", b'\xef\xbb\xbf{\r\n  "a": 1\r\n}\r\n')):
        file = tmp_path / name
        file.write_bytes(data)
        write(file, ZED, AGENT)
        after = file.read_bytes()
        assert after.startswith(data[:3])
        assert after.count(b"\n") == after.count(b"\r\n") or name == "empty"
        assert "Accord" in json.loads(after.decode("utf-8-sig"))["agent_servers"]


def test_a_missing_directory_or_a_special_file_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, why in (
        (tmp_path / "pipe", "it isn't a regular file"),
        (tmp_path, "it isn't a regular file"),
        (
            tmp_path / "none" / "settings.json",
            f"the directory {tmp_path}/none doesn't exist; start the editor once, or create it",
        ),
        (tmp_path / "pipe" / "settings.json", "cannot be written: Not a directory"),
    ):
        with pytest.raises(ConfigError) as refused:
            write(path, ZED, AGENT)
        assert str(refused.value) == f"{path}: {why}; nothing was changed"
    assert os.listdir(tmp_path) == ["pipe"]


def test_an_unwritable_directory_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")

    def full(*args: Any, **kwargs: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("accord.config.editors.settings_file.os.open", full)
    with pytest.raises(ConfigError, match="cannot be written: Permission denied; nothing was changed"):
        write(file, ZED, AGENT)
    assert file.read_text() == "{}"


def test_a_file_that_may_only_be_read_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")
    monkeypatch.setattr("accord.config.editors.settings_file.os.access", lambda path, mode: False)
    with pytest.raises(ConfigError, match="it is read-only; nothing was changed"):
        write(file, ZED, AGENT)
    assert file.read_text() == "{}"


def test_a_change_that_fails_half_way_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")

    def full(*args: Any) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("accord.config.editors.settings_file.os.replace", full)
    with pytest.raises(ConfigError, match="No space left"):
        write(file, ZED, AGENT)
    assert file.read_text() == "{}"
    assert os.listdir(tmp_path) == ["settings.json"]


def test_a_file_that_the_editor_changes_meanwhile_is_the_editors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "settings.json"
    file.write_text("{}")
    chmod = os.chmod

    def slow(*args: Any) -> None:
        chmod(*args)
        file.write_text('{"theme": "light"}')

    monkeypatch.setattr("accord.config.editors.settings_file.os.chmod", slow)
    with pytest.raises(ConfigError, match="it has just been changed by another program; try again"):
        write(file, ZED, AGENT)
    assert file.read_text() == '{"theme": "light"}'
