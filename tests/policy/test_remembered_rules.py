"""Remembered rules, in a file that users edit as well."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.fixtures import rules
from support.properties import steady

from accord.config.toml_tables import TomlTables
from accord.errors import RuleError
from accord.policy.remembered_rules import RememberedRules
from accord.policy.rule import Rule, format_rule

NOW = 1_800_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "permissions.toml"


@pytest.fixture
def project(tmp_path: Path) -> str:
    (tmp_path / "app").mkdir()
    return str(tmp_path / "app")


def memory(path: Path, now: float = NOW) -> RememberedRules:
    return RememberedRules(path, clock=lambda: now)


def list_rules(path: Path, project: str, now: float = NOW) -> list[str]:
    return [format_rule(rule) for rule in memory(path, now).rules(project)]


def test_nothing_is_remembered_where_there_is_no_file(path: Path, project: str) -> None:
    assert (memory(path).rules(project), memory(path).problems) == ([], [])
    assert not path.exists()


def test_remembered_rules_are_read_by_the_next_process(path: Path, project: str) -> None:
    texts = [
        "allow command:git commit -m 'a\"b'",
        "deny write:src/**",
        "allow line:a && b\n",
        'deny title:"x\ty" kind:z',
    ]
    memory(path).add(project, [*rules(*texts[:2]), Rule(effect="allow", line=("a\n\u202eb \\",))])
    assert list_rules(path, project) == [*texts[:2], 'allow line:"a\\n\u202eb \\\\"']


def test_the_file_is_for_people(path: Path, project: str) -> None:
    memory(path).add(project, rules("allow command:make test", "deny write:a write:b expires:2030-01-01T00:00:00Z"))
    assert path.read_text() == (
        "# Remembered rules, per project. Accord reloads this file when it changes:\n"
        "# edit it, or remove a rule to be asked again.\n"
        "\n"
        "[[rule]]\n"
        f'project = "{project}"\n'
        'effect = "allow"\n'
        'command = "make test"\n'
        "added = 2027-01-15T08:00:00Z\n"
        "\n"
        "[[rule]]\n"
        f'project = "{project}"\n'
        'effect = "deny"\n'
        'path = ["a", "b"]\n'
        'access = "write"\n'
        "expires = 2030-01-01T00:00:00Z\n"
        "added = 2027-01-15T08:00:00Z\n"
    )


def test_the_file_is_for_its_owner_alone(path: Path, project: str) -> None:
    memory(path).add(project, rules("allow command:a"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert sorted(os.listdir(path.parent)) == ["permissions.toml", "permissions.toml.lock"]


def test_projects_do_not_share(path: Path, project: str, tmp_path: Path) -> None:
    memory(path).add(project, rules("allow command:a"))
    assert list_rules(path, str(tmp_path)) == []
    (tmp_path / "link").symlink_to(project)
    assert list_rules(path, str(tmp_path / "link")) == ["allow command:a"]


def test_hand_edits_count_at_once_and_stay(path: Path, project: str) -> None:
    kept = memory(path)
    kept.add(project, rules("allow command:a", "allow command:b"))
    edited = path.read_text().replace('command = "a"', 'command = "c *"  # wider') + "\n# the end\n"
    path.write_text(edited)
    assert [format_rule(rule) for rule in kept.rules(project)] == ["allow command:c *", "allow command:b"]
    kept.add(project, rules("deny command:d"))
    assert path.read_text().startswith(edited)
    assert len(kept.rules(project)) == 3


def test_comments_go_with_the_rule_below_them(path: Path, project: str) -> None:
    path.parent.mkdir()
    block = '[[rule]]\nproject = "{}"\neffect = "allow"\ncommand = "{}"\n\n'
    path.write_text("# head\n\n# about a\n" + block.format(project, "a") + "# about b\n" + block.format(project, "b"))
    path.chmod(0o600)
    memory(path).forget(project, rules("allow command:a"))
    assert path.read_text() == "# head\n\n# about b\n" + block.format(project, "b")


@pytest.mark.parametrize(
    "line, words",
    [
        ('comand = "x"', ": line 5: unknown key 'comand' in a rule; expected effect,"),
        ('effect = "alow"', ": line 5: effect is 'alow'; expected allow, ask or deny"),
        ('effect = "allow"\nkind = "edit"', ": line 3: the kind of a tool call is what the agent says about itself"),
        ('effect = "allow"\neverything = true', ": line 3: only the user who starts an agent"),
        ('effect = "allow"\ncommand = "a; b"', ": line 6: the command pattern 'a; b' has an unquoted ';'"),
        (
            'effect = "allow"\ncommand = "a"\nscope = "once"',
            ": line 7: scope is 'once'; remembered rules last forever",
        ),
        ('effect = "allow"\ncommand = "a"\nexpires = "soon"', ": line 7: expires is 'soon'"),
    ],
)
def test_an_invalid_rule_is_reported_with_its_line_and_stays(line: str, words: str, path: Path, project: str) -> None:
    path.parent.mkdir()
    head = f'[[rule]]\nproject = "{project}"\n'
    text = f'# a\n\n{head}{line}\n\n{head}effect = "deny"\npath = "x"\n'
    path.write_text(text)
    path.chmod(0o600)
    kept = memory(path)
    assert [format_rule(rule) for rule in kept.rules(project)] == ["deny path:x"]
    assert str(kept.problems[0]).startswith(f"{path}{words}")
    kept.add(project, rules("allow command:z"))
    assert path.read_text().startswith(text)


@pytest.mark.parametrize("project_line", ["", 'project = "app"', "project = 5", 'project = "/a\\u0000b"'])
def test_a_rule_without_a_project_does_not_count(project_line: str, path: Path) -> None:
    path.parent.mkdir()
    path.write_text(f'[[rule]]\n{project_line}\neffect = "allow"\ncommand = "a"\n')
    path.chmod(0o600)
    [fault] = memory(path).problems
    assert "expected the absolute path of a directory" in str(fault)


@pytest.mark.parametrize(
    "text, words",
    [
        ("[[rule]]\nproject = \n", ": line 2, column 11: invalid value; expected TOML with [[rule]] tables"),
        ("rule = 5\n", ": rule isn't a list of tables; expected [[rule]]"),
        ("\udcff", ": isn't UTF-8 text"),
        ("x = " + "[" * 5000, ": is nested too deeply"),
    ],
)
def test_an_invalid_file_is_reported_and_never_written_to(text: str, words: str, path: Path, project: str) -> None:
    path.parent.mkdir()
    data = text.encode("utf-8", "surrogateescape")
    path.write_bytes(data)
    kept = memory(path)
    assert kept.rules(project) == []
    assert str(kept.problems[0]).startswith(f"{path}{words}")
    with pytest.raises(RuleError, match=r"permissions\.toml"):
        kept.add(project, rules("allow command:a"))
    assert path.read_bytes() == data


def test_other_tables_are_reported_and_preserved(path: Path, project: str) -> None:
    path.parent.mkdir()
    text = f'note = "mine"\n[[rule]]\nproject = "{project}"\neffect = "deny"\npath = "x"\n[other]\na = 1\n'
    path.write_text(text)
    path.chmod(0o600)
    kept = memory(path)
    assert [fault.message for fault in kept.problems] == [
        f"has an unknown key {key!r}; expected [[rule]] tables" for key in ("note", "other")
    ]
    kept.add(project, rules("allow command:a"))
    assert path.read_text().startswith(text)
    assert list_rules(path, project) == ["deny path:x", "allow command:a"]
    with pytest.raises(RuleError, match="has a layout that Accord can't edit"):
        kept.forget(project)


def test_a_list_in_one_line_is_read_and_not_added_to(path: Path, project: str) -> None:
    path.parent.mkdir()
    text = f'rule = [{{ project = "{project}", effect = "deny", path = "x" }}]\n'
    path.write_text(text)
    path.chmod(0o600)
    assert list_rules(path, project) == ["deny path:x"]
    with pytest.raises(RuleError, match="expected TOML"):
        memory(path).add(project, rules("allow command:a"))
    assert path.read_text() == text


def test_a_file_that_others_can_write_to_allows_nothing(path: Path, project: str) -> None:
    memory(path).add(project, rules("allow command:a", "deny command:b"))
    path.chmod(0o620)
    kept = memory(path)
    assert [format_rule(rule) for rule in kept.rules(project)] == ["deny command:b"]
    assert str(kept.problems[0]).endswith(f"run: chmod 600 {path}")


def test_the_same_rule_replaces_the_earlier_one(path: Path, project: str, tmp_path: Path) -> None:
    memory(path).add(project, rules("allow command:a", "allow command:b"))
    memory(path).add(str(tmp_path), rules("allow command:a"))
    memory(path).add(project, rules("deny command:a"))
    assert list_rules(path, project) == ["allow command:b", "deny command:a"]
    assert list_rules(path, str(tmp_path)) == ["allow command:a"]


def test_expired_rules_are_ignored_and_removed_by_the_next_write(path: Path, project: str) -> None:
    memory(path).add(project, [Rule(effect="allow", command=("a",), expires=NOW + 60), *rules("allow command:b")])
    assert len(list_rules(path, project, NOW + 59)) == 2
    assert list_rules(path, project, NOW + 60) == ["allow command:b"]
    assert 'command = "a"' in path.read_text()
    memory(path, NOW + 60).add(project, rules("allow command:c"))
    assert 'command = "a"' not in path.read_text()


def test_a_link_to_the_file_stays_a_link(path: Path, project: str, tmp_path: Path) -> None:
    path.parent.mkdir()
    path.symlink_to(tmp_path / "dotfiles.toml")
    memory(path).add(project, rules("allow command:a"))
    assert path.is_symlink() and (tmp_path / "dotfiles.toml").is_file()
    assert list_rules(path, project) == ["allow command:a"]


def test_several_processes_lose_nothing(path: Path, project: str) -> None:
    code = (
        "import sys\nfrom accord.config import locking\n"
        "from accord.policy.remembered_rules import RememberedRules\nfrom accord.policy.rule import Rule\n"
        "locking.TIMEOUT_SECONDS = 300\n"  # locks aren't fair: one of them may get it last each time
        "for n in range(8):\n"
        "    RememberedRules(sys.argv[1]).add(sys.argv[2], [Rule(effect='allow', command=(f'{sys.argv[3]} {n}',))])\n"
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", code, str(path), project, name], stderr=subprocess.PIPE)
        for name in ("a", "b", "c")
    ]
    for worker in workers:
        _, errors = worker.communicate(timeout=300)
        assert worker.returncode == 0, errors
    assert sorted(list_rules(path, project)) == sorted(f"allow command:{name} {n}" for name in "abc" for n in range(8))


def test_a_directory_that_cannot_be_written_is_reported(tmp_path: Path, project: str) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RuleError, match="cannot be written"):
        memory(tmp_path / "file" / "permissions.toml").add(project, rules("allow command:a"))


def test_text_that_is_not_unicode_is_refused(path: Path, project: str) -> None:
    with pytest.raises(RuleError, match="isn't valid Unicode"):
        memory(path).add(project, [Rule(effect="deny", line=("a\ud800",))])
    assert not path.exists()


@steady
@given(st.binary(max_size=80) | st.text(max_size=80).map(lambda text: f"[[rule]]\n{text}".encode("utf-8", "replace")))
def test_no_file_raises(data: bytes) -> None:
    tables = TomlTables("/nowhere/permissions.toml", "rule", "")
    with contextlib.suppress(UnicodeDecodeError, RuleError):
        tables._parse(data.decode())
